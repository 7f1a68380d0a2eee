import { gunzipSync, gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { bytesToHex } from '../../src/primitives/hex.js';
import { turnsOf } from '../support/counted-turns.js';
import { devNode, KeptStore, stranger } from '../support/dev-node.js';

/* Slow because a chain of 50 000 blocks is made, exported and opened again, and a state of 150 000 slots. */

const BLOCKS = 50_000;
const SLOTS = 150_000;
const word = (number: number) => `0x${number.toString(16).padStart(64, '0')}`;

test('a chain of 50 000 blocks is exported and opened again in slices', async () => {
  const { node, ask } = await devNode({ store: new KeptStore() });
  await node.exportChain();
  // A request may take a minute.
  for (let mined = 0; mined < BLOCKS; mined += 5_000) await ask('anvil_mine', '0x1388');
  const { turns, result } = await turnsOf(() => node.exportChain());
  console.log(`${BLOCKS} blocks: ${result.length} bytes in ${turns} turns`);
  expect(turns).toBeGreaterThan(50);
  const other = await devNode({ store: new KeptStore() });
  expect(await other.node.importChain(result)).toEqual({ head: BLOCKS });
  const newest = (dev: typeof other) => dev.ask('eth_getBlockByNumber', 'latest', false);
  expect(await newest(other)).toEqual(await newest({ node, ask } as typeof other));
});

test('a state of 150 000 slots is loaded and dumped in slices', async () => {
  const address = stranger('aa');
  const storage = Object.fromEntries(Array.from({ length: SLOTS }, (_, i) => [word(i), word(i + 1)]));
  const account = { nonce: 1, balance: '0x1', code: '0x', storage };
  const state = bytesToHex(gzipSync(JSON.stringify({ accounts: { [address]: account } })));
  const { ask } = await devNode({ store: new KeptStore() });
  const loaded = await turnsOf(() => ask('anvil_loadState', state));
  expect(loaded.result).toBe(true);
  const dumped = await turnsOf(() => ask('anvil_dumpState'));
  console.log(`${SLOTS} slots: loaded in ${loaded.turns} turns, dumped in ${dumped.turns}`);
  for (const { turns } of [loaded, dumped]) expect(turns).toBeGreaterThan(20);
  const text = gunzipSync(Buffer.from(String(dumped.result).slice(2), 'hex')).toString();
  expect(JSON.parse(text).accounts[address]).toEqual(account);
});
