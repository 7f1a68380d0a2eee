import { expect, test } from 'vitest';
import { createInlineNode } from '../../src/hosts/opening/inline.js';
import type { UntypedMethod } from '../../src/hosts/provider/provider.js';

/* Slow because of its 100 000 accounts, under both schemes. */

test.each(['poseidon2', 'mimc'] as const)('a genesis of 100 000 accounts loads with progress (%s)', async (scheme) => {
  const accounts = Array.from({ length: 100_000 }, (_, i) => {
    const address = (0x1000000000n + BigInt(i) * 7919n).toString(16).padStart(40, '0');
    return [`0x${address}`, { balance: BigInt(i + 1) }];
  });
  const fractions: number[] = [];
  const node = await createInlineNode({
    chain: { kind: 'devnet', scheme, alloc: Object.fromEntries(accounts) },
    onProgress: ({ stage, fraction }) => {
      if (stage === 'genesis') fractions.push(fraction);
    },
  });
  expect(fractions.length).toBeGreaterThan(100);
  expect(fractions[0]).toBe(0);
  expect(fractions.at(-1)).toBe(1);
  // The zk state, which comes first, tells of itself as well.
  expect(fractions.findIndex((fraction) => fraction > 0.2)).toBeGreaterThan(50);
  const last = accounts.at(-1)![0];
  expect(await node.request<UntypedMethod>({ method: 'eth_getBalance', params: [last, 'latest'] })).toBe('0x186a0');
  const proof = await node.request<UntypedMethod>({ method: 'linea_getProof', params: [last, [], 'earliest'] });
  expect(proof).toMatchObject({ accountProof: { key: last, proof: { value: expect.stringMatching(/186a0/) } } });
  await node.close();
});
