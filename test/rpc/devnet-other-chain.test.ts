import { describe, expect, onTestFinished, test } from 'vitest';
import type { DevnetChainOptions } from '../../src/chain/devnet/options.js';
import { createInlineNode } from '../../src/hosts/opening/inline.js';
import type { UntypedMethod } from '../../src/hosts/provider/provider.js';
import { devnet } from '../../src/networks/devnet.js';
import { KeptStore } from '../support/dev-node.js';
import { copyOf } from '../support/stored-devnet.js';

const OTHERS: readonly (readonly [string, DevnetChainOptions])[] = [
  ['hash of the zk state', { kind: 'devnet', scheme: 'mimc' }],
  ['chain id', { kind: 'devnet', network: devnet({ chainId: 4242 }) }],
  ['genesis accounts', { kind: 'devnet', alloc: { [`0x${'a1'.repeat(20)}`]: { balance: 1n } } }],
];

describe('the store of a devnet with other settings', () => {
  test.each(OTHERS)('another %s: opening is refused, and the store is unchanged', async (_, chain) => {
    const store = new KeptStore();
    const first = await createInlineNode({ store });
    const [from, to] = (await first.request({ method: 'eth_accounts' })) as string[];
    await first.request<UntypedMethod>({ method: 'eth_sendTransaction', params: [{ from, to, value: '0x1' }] });
    await first.close();
    const before = await copyOf(store);
    await expect(createInlineNode({ store, chain })).rejects.toMatchObject({ code: 'STORE_CORRUPT' });
    for (const table of ['blocks', 'state', 'trie'] as const) {
      const keys = await before.keys(table);
      expect(await store.keys(table)).toEqual(keys);
      expect(await store.getMany(table, keys)).toEqual(await before.getMany(table, keys));
    }
    const again = await createInlineNode({ store });
    onTestFinished(() => again.close());
    expect(await again.request({ method: 'eth_blockNumber' })).toBe('0x1');
  });
});
