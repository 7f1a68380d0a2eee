import { sha256 } from '@noble/hashes/sha2.js';
import { expect } from 'vitest';
import {
  type ChainFile,
  type ChainFileEntry,
  decodeChainFile,
  encodeChainFile,
} from '../../src/chain/devnet/chain-file.js';
import { type BlockRecord, decodeBlockRecord, encodeBlockRecord } from '../../src/chain/devnet/records/block-record.js';
import type { InlineOptions } from '../../src/hosts/opening/inline.js';
import { concatBytes } from '../../src/primitives/bytes.js';
import type { Key, Table } from '../../src/store/page-store.js';
import { TABLES } from '../../src/store/schema.js';
import { devNode, KeptStore, stranger } from './dev-node.js';

export const CHAIN_ID = 59139;
export const OPTIONS: InlineOptions = { chain: { kind: 'devnet', scheme: 'poseidon2' } };
export const BLOCKS = 36;

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

export function theFile(): Promise<ChainFile> {
  made ??= exported();
  return made;
}

/** The file with some entries replaced. */
export async function fileWith(change: (entry: ChainFileEntry) => ChainFileEntry | undefined): Promise<Uint8Array> {
  const file = await theFile();
  const entries = file.entries.flatMap((entry) => change(entry) ?? []);
  return encodeChainFile({ ...file, entries });
}

/** The file with another record of a block. */
export function withBlock(number: number, change: (record: BlockRecord) => BlockRecord): Promise<Uint8Array> {
  return fileWith((entry) => {
    if (entry.table !== 'blocks' || entry.key !== number) return entry;
    const { block, receipts, changes, zkRoot } = decodeBlockRecord(entry.value, CHAIN_ID);
    return { ...entry, value: encodeBlockRecord(change({ block, receipts, changes, zkRoot })) };
  });
}

export async function withEntry(table: Table, key: Key, value: Uint8Array = Uint8Array.of(1)): Promise<Uint8Array> {
  const file = await theFile();
  return encodeChainFile({ ...file, entries: [...file.entries, { table, key, value }] });
}

/** Bytes of a file whose checksum fits, whatever they are. */
export async function edited(edit: (content: Uint8Array<ArrayBuffer>) => Uint8Array): Promise<Uint8Array> {
  const content = edit(new Uint8Array((await encodeChainFile(await theFile())).slice(0, -32)));
  return concatBytes(content, sha256(content));
}

/** Where the entries begin, after their number. */
export function entriesAt(content: Uint8Array<ArrayBuffer>): number {
  return 16 + 4 + 4 + new DataView(content.buffer).getUint32(20) + 4;
}

export async function expectRefused(file: Uint8Array, reason: RegExp): Promise<void> {
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
