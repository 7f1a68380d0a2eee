import { sha256 } from '@noble/hashes/sha2.js';
import { describe, expect, test } from 'vitest';
import { type BlockRecord, decodeBlockRecord, encodeBlockRecord } from '../../src/chain/devnet/block-record.js';
import {
  type ChainFile,
  type ChainFileEntry,
  decodeChainFile,
  encodeChainFile,
} from '../../src/chain/devnet/chain-file.js';
import type { InlineOptions } from '../../src/hosts/inline.js';
import { concatBytes } from '../../src/primitives/bytes.js';
import type { Key, Table } from '../../src/store/page-store.js';
import { TABLES } from '../../src/store/schema.js';
import { accountAt, devNode, KeptStore, stranger } from '../support/dev-node.js';

/*
 * What an importing devnet takes, and what it does not: files whose checksum fits, and which no devnet has written.
 */

const CHAIN_ID = 59139;
const OPTIONS: InlineOptions = { chain: { kind: 'devnet', scheme: 'poseidon2' } };
const BLOCKS = 36;

let made: Promise<ChainFile> | undefined;

/** A file of some blocks: transfers, one of somebody who never signed, tokens, an edit that waits. */
async function exported(): Promise<ChainFile> {
  const dev = await devNode({ ...OPTIONS, store: new KeptStore() });
  for (let nonce = 0; nonce < BLOCKS - 1; nonce++) {
    await dev.transfer(0, { nonce, to: stranger((0x20 + (nonce % 9)).toString(16)) });
  }
  await dev.ask('anvil_impersonateAccount', stranger('22'));
  await dev.ask('anvil_setBalance', stranger('22'), '0x10000000000000000');
  await dev.ask('eth_sendTransaction', { from: stranger('22'), to: stranger('23'), value: '0x1' });
  await dev.ask('anvil_setBalance', stranger('7a'), '0x5');
  return decodeChainFile(await dev.node.exportChain());
}

function theFile(): Promise<ChainFile> {
  made ??= exported();
  return made;
}

/** The file with some entries replaced. */
async function fileWith(change: (entry: ChainFileEntry) => ChainFileEntry | undefined): Promise<Uint8Array> {
  const file = await theFile();
  const entries = file.entries.flatMap((entry) => change(entry) ?? []);
  return encodeChainFile({ ...file, entries });
}

/** The file with another record of a block. */
function withBlock(number: number, change: (record: BlockRecord) => BlockRecord): Promise<Uint8Array> {
  return fileWith((entry) => {
    if (entry.table !== 'blocks' || entry.key !== number) return entry;
    const { block, receipts, changes, zkRoot } = decodeBlockRecord(entry.value, CHAIN_ID);
    return { ...entry, value: encodeBlockRecord(change({ block, receipts, changes, zkRoot })) };
  });
}

async function withEntry(table: Table, key: Key, value = Uint8Array.of(1)): Promise<Uint8Array> {
  const file = await theFile();
  return encodeChainFile({ ...file, entries: [...file.entries, { table, key, value }] });
}

/** Bytes of a file whose checksum fits, whatever they are. */
async function edited(edit: (content: Uint8Array<ArrayBuffer>) => Uint8Array): Promise<Uint8Array> {
  const content = edit(new Uint8Array(encodeChainFile(await theFile()).slice(0, -32)));
  return concatBytes(content, sha256(content));
}

/** Where the entries begin, after their number. */
function entriesAt(content: Uint8Array<ArrayBuffer>): number {
  return 16 + 4 + 4 + new DataView(content.buffer).getUint32(20) + 4;
}

async function expectRefused(file: Uint8Array, reason: RegExp): Promise<void> {
  const store = new KeptStore();
  const dev = await devNode({ ...OPTIONS, store });
  await dev.ask('evm_mine');
  const contents = async () => Promise.all(TABLES.map(async (table) => store.getMany(table, await store.keys(table))));
  const before = await contents();
  const refused = { code: 'CHAIN_FILE_REFUSED', message: expect.stringMatching(reason) };
  await expect(dev.node.importChain(file)).rejects.toMatchObject(refused);
  expect(await contents()).toEqual(before);
  expect(await dev.ask('evm_mine')).toBe('0x0');
  expect(await dev.number()).toBe(2);
}

describe('a file with entries that no export writes', () => {
  const foreign: [Table, Key][] = [
    ['meta', 'writer'],
    ['meta', 'writer-lease'],
    ['meta', 'usage'],
    ['meta', 'index-codes'],
    ['meta', 'devnet-other'],
    ['meta', 0],
    ['blocks', -1],
    ['blocks', -0],
    ['blocks', 1.5],
    ['blocks', Number.NaN],
    ['blocks', 'other'],
    ['state', 'page'],
    ['state', '0/5'],
    ['state', 1],
    ['trie', -1],
    ['trie', '0'],
    ['dictionaries', '1'],
    ['codes', '1'],
  ];
  test.each(foreign)('%s %s', async (table, key) => {
    await expectRefused(await withEntry(table, key), /that no export writes|of an unknown table/);
  });

  test('an entry twice', async () => {
    const { entries } = await theFile();
    const { table, key, value } = entries.find((entry) => entry.table === 'blocks' && entry.key === 3)!;
    await expectRefused(await withEntry(table, key, value), /twice/);
  });

  test('bytes after the last', async () => {
    await expectRefused(await edited((content) => concatBytes(content, Uint8Array.of(0))), /more than its entries/);
  });

  test('a key of an unknown kind', async () => {
    const file = edited((content) => content.with(entriesAt(content) + 1, 2));
    await expectRefused(await file, /a key of an unknown kind/);
  });

  test('a header that is none', async () => {
    await expectRefused(await edited((content) => content.with(24, 0x5b)), /header/);
    await expectRefused(encodeChainFile({ ...(await theFile()), head: 1.5 }), /header/);
    await expectRefused(encodeChainFile({ ...(await theFile()), head: '36' as never }), /header/);
  });
});

describe('a file whose records do not decode', () => {
  test('changes of a block that are none', async () => {
    const bad = { address: new Uint8Array(3), before: undefined, after: undefined, destroyed: false, code: undefined };
    const file = withBlock(35, (record) => ({ ...record, changes: [{ ...bad, slots: [] }] }));
    await expectRefused(await file, /does not open/);
  });

  test('changes that do not fit the state before them', async () => {
    const file = withBlock(35, (record) => ({
      ...record,
      changes: record.changes.map((one) => ({ ...one, before: one.before && { ...one.before, nonce: 77n } })),
    }));
    await expectRefused(await file, /does not open/);
  });

  test('a pointer or edits that are damaged', async () => {
    for (const key of ['devnet-head', 'devnet-edits']) {
      const file = fileWith((entry) => {
        return entry.key === key ? { ...entry, value: entry.value.with(0, entry.value[0]! ^ 1) } : entry;
      });
      await expectRefused(await file, /head pointer was damaged|devnet-edits/);
    }
    const headless = fileWith((entry) => (entry.key === 'devnet-head' ? undefined : entry));
    await expectRefused(await headless, /head pointer was missing/);
  });
});

test('the file itself is taken', async () => {
  const dev = await devNode({ ...OPTIONS, store: new KeptStore() });
  expect(await dev.node.importChain(encodeChainFile(await theFile()))).toEqual({ head: BLOCKS });
  expect(await dev.ask('eth_getBalance', stranger('7a'), 'latest')).toBe('0x5');
  expect(Number(await dev.ask('eth_getTransactionCount', accountAt(0), 'latest'))).toBe(BLOCKS - 1);
});
