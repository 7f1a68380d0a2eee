import { gunzipSync, gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { decodeChainFile, encodeChainFile } from '../../src/chain/devnet/chain-file.js';
import { bytesToHex } from '../../src/primitives/hex.js';
import { countedTurns } from '../support/counted-turns.js';
import { devNode, KeptStore, stranger } from '../support/dev-node.js';

/*
 * Long transfers leave the thread to others: a piece of each is a block, an entry or a slot.
 */

const word = (number: number) => `0x${number.toString(16).padStart(64, '0')}`;
const packed = (accounts: object) => bytesToHex(gzipSync(JSON.stringify({ accounts })));

describe('an exported chain', () => {
  test('takes a turn for each of its blocks, more than once, also as it is imported', async () => {
    const BLOCKS = 300;
    const { ask, node } = await devNode({ store: new KeptStore() });
    await ask('anvil_mine', `0x${BLOCKS.toString(16)}`);
    // Loads the code of it.
    await node.exportChain();
    const { turns, result } = await countedTurns(() => node.exportChain());
    // Read and decoded, written, and copied.
    expect(turns).toBeGreaterThan(6 * BLOCKS);
    const other = await devNode({ store: new KeptStore() });
    const imported = await countedTurns(() => other.node.importChain(result));
    expect(imported.result).toEqual({ head: BLOCKS });
    expect(imported.turns).toBeGreaterThan(5 * BLOCKS);
  });

  test('of 50 000 blocks is a file, written and read with a turn for each', async () => {
    const BLOCKS = 50_000;
    const header = { chainId: 1, network: 'n', scheme: 's', genesis: '0x', head: BLOCKS } as const;
    const value = new Uint8Array(100).fill(7);
    const entries = Array.from({ length: BLOCKS }, (_, key) => ({ table: 'blocks', key, value }) as const);
    const written = await countedTurns(() => encodeChainFile({ ...header, entries }));
    expect(written.turns).toBeGreaterThan(5 * BLOCKS);
    const read = await countedTurns(() => decodeChainFile(written.result));
    expect(read.turns).toBeGreaterThan(BLOCKS);
    expect(read.result.entries).toHaveLength(BLOCKS);
    expect(read.result.entries.at(-1)).toEqual(entries.at(-1));
  });
});

describe('a state of anvil', () => {
  test('with 20 000 slots is loaded and dumped with a turn for each of them, more than once', async () => {
    const SLOTS = 20_000;
    const address = stranger('aa');
    const storage = Object.fromEntries(Array.from({ length: SLOTS }, (_, i) => [word(i), word(i + 1)]));
    const { ask } = await devNode({ store: new KeptStore() });
    const account = { nonce: 1, balance: '0x1', code: '0x', storage };
    await ask('anvil_loadState', packed({}));
    await ask('anvil_dumpState');
    const loaded = await countedTurns(() => ask('anvil_loadState', packed({ [address]: account })));
    // Parsed, applied, and stored.
    expect(loaded.turns).toBeGreaterThan(3 * SLOTS);
    const dumped = await countedTurns(() => ask('anvil_dumpState'));
    // As it is read and as it is written; a few of these turns are those of long pieces of text.
    expect(dumped.turns).toBeGreaterThan(2.5 * SLOTS);
    const state = JSON.parse(gunzipSync(Buffer.from(String(dumped.result).slice(2), 'hex')).toString());
    expect(state.accounts[address]).toEqual(account);
  });

  test('that empties an account of many slots looks at them with a turn for each', async () => {
    const SLOTS = 2_000;
    const address = stranger('ab');
    const { ask } = await devNode();
    const storage = Object.fromEntries(Array.from({ length: SLOTS }, (_, i) => [word(i), word(0)]));
    const account = { nonce: 0, balance: '0x0', code: '0x', storage };
    await ask('anvil_loadState', packed({}));
    const { turns } = await countedTurns(() => ask('anvil_loadState', packed({ [address]: account })));
    expect(turns).toBeGreaterThan(3 * SLOTS);
  });

  test('of 50 000 accounts is stored, and there again after a restart', async () => {
    const addresses = Array.from({ length: 50_000 }, (_, i) => `0x${(i + 4096).toString(16).padStart(40, '0')}`);
    const accounts = Object.fromEntries(addresses.map((address) => [address, { nonce: 1, balance: '0x7' }]));
    const store = new KeptStore();
    const before = await devNode({ store });
    const loaded = await countedTurns(() => before.ask('anvil_loadState', packed(accounts)));
    expect(loaded.result).toBe(true);
    expect(loaded.turns).toBeGreaterThan(10 * addresses.length);
    await before.node.close();
    const after = await devNode({ store });
    expect(await after.ask('eth_getBalance', addresses.at(-1), 'latest')).toBe('0x7');
  });
});
