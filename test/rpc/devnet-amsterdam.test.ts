import { expect, test } from 'vitest';
import { createInlineNode } from '../../src/hosts/opening/inline.js';
import { devnet } from '../../src/networks/devnet.js';
import { KeptStore } from '../support/dev-node.js';

/** Amsterdam an hour after genesis. */
const network = {
  ...devnet(),
  forks: [
    { hardfork: 'osaka', block: 0 },
    { hardfork: 'amsterdam', timestamp: 3600 },
  ],
} as const;
const amsterdam = { code: 'INVALID_PARAMETER', message: expect.stringMatching(/amsterdam: .*does not make blocks/) };

test('a devnet whose network has Amsterdam is refused, and nothing is stored', async () => {
  const store = new KeptStore();
  await expect(createInlineNode({ store, chain: { kind: 'devnet', network } })).rejects.toMatchObject(amsterdam);
  expect(await store.keys('blocks')).toEqual([]);
});

test('a genesis file with Amsterdam is refused', async () => {
  const genesis = { config: { chainId: 1, amsterdamTime: 0 }, alloc: {} };
  const chain = { kind: 'devnet', genesis } as const;
  await expect(createInlineNode({ chain })).rejects.toMatchObject({
    code: 'INVALID_PARAMETER',
    message: expect.stringContaining('genesis.config.amsterdamTime'),
  });
});
