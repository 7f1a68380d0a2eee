import { describe, expect, test } from 'vitest';
import type { TransactionReceipt } from '../../src/chain/block.js';
import { type ChainFileEntry, decodeChainFile, encodeChainFile } from '../../src/chain/devnet/chain-file.js';
import { type BlockRecord, decodeBlockRecord, encodeBlockRecord } from '../../src/chain/devnet/records/block-record.js';
import type { BlockHeader } from '../../src/ethereum/header.js';
import type { SignedTransaction } from '../../src/ethereum/transaction.js';
import type { Account } from '../../src/evm/state-reader.js';
import { concatBytes } from '../../src/primitives/bytes.js';
import { bytesToHex, hexToBytes } from '../../src/primitives/hex.js';
import type { Key, Table } from '../../src/store/page-store.js';
import { accountAt, devNode, KeptStore, stranger } from '../support/dev-node.js';
import {
  BLOCKS,
  CHAIN_ID,
  edited,
  entriesAt,
  expectRefused,
  fileWith,
  OPTIONS,
  theFile,
  withBlock,
  withEntry,
} from '../support/edited-chain-file.js';

/*
 * What an importing devnet takes, and what it does not: files whose checksum fits, and which no devnet has written.
 */

describe('a file with entries that no export writes is refused:', () => {
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

  test('an entry that comes twice is refused', async () => {
    const { entries } = await theFile();
    const { table, key, value } = entries.find((entry) => entry.table === 'blocks' && entry.key === 3)!;
    await expectRefused(await withEntry(table, key, value), /twice/);
  });

  test('bytes after the last entry', async () => {
    await expectRefused(
      await edited((content) => concatBytes(content, Uint8Array.of(0))),
      /bytes after its last entry/,
    );
  });

  test('a key of an unknown kind is refused', async () => {
    const file = edited((content) => content.with(entriesAt(content) + 1, 2));
    await expectRefused(await file, /a key of an unknown kind/);
  });

  test('an invalid header', async () => {
    await expectRefused(await edited((content) => content.with(24, 0x5b)), /header/);
    await expectRefused(await encodeChainFile({ ...(await theFile()), head: 1.5 }), /header/);
    await expectRefused(await encodeChainFile({ ...(await theFile()), head: '36' as never }), /header/);
  });
});

describe('a file whose records cannot be decoded is refused:', () => {
  test('invalid changes of a block', async () => {
    const bad = { address: new Uint8Array(3), before: undefined, after: undefined, destroyed: false, code: undefined };
    const file = withBlock(35, (record) => ({ ...record, changes: [{ ...bad, slots: [] }] }));
    await expectRefused(await file, /does not open/);
  });

  test('changes that contradict the state before them', async () => {
    const file = withBlock(35, (record) => ({
      ...record,
      changes: record.changes.map((one) => ({ ...one, before: one.before && { ...one.before, nonce: 77n } })),
    }));
    await expectRefused(await file, /does not open/);
  });

  test('a damaged head pointer or damaged edits', async () => {
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

/** Blocks before the checkpoint in the file, and after it. */
const NUMBERS = [5, 34];

describe('a file that contradicts its headers is refused if it differs in', () => {
  const receipt = (change: (receipt: TransactionReceipt) => Partial<TransactionReceipt>) => (record: BlockRecord) => ({
    ...record,
    receipts: record.receipts.map((one) => ({ ...one, ...change(one) })),
  });
  const transaction = (change: Partial<SignedTransaction>) => (record: BlockRecord) => ({
    ...record,
    block: { ...record.block, transactions: record.block.transactions.map((one) => ({ ...one, ...change })) },
  });
  const account = (change: Partial<Account>) => (record: BlockRecord) => ({
    ...record,
    changes: record.changes.map((one, i) => (i > 0 ? one : { ...one, after: { ...one.after!, ...change } })),
  });
  const log = { address: new Uint8Array(20), topics: [], data: new Uint8Array(1) };
  const forgeries: [string, (record: BlockRecord) => BlockRecord, RegExp][] = [
    ['of success', receipt(() => ({ succeeded: false })), /list of receipts/],
    ['of logs', receipt(() => ({ logs: [log] })), /list of receipts/],
    ['of gas', receipt(() => ({ gasUsed: 1n })), /gas of a transaction/],
    ['of all gas', receipt(() => ({ cumulativeGasUsed: 1n })), /list of receipts/],
    ['of the price', receipt((one) => ({ effectiveGasPrice: one.effectiveGasPrice + 1n })), /receipt of a transaction/],
    ['of a contract', receipt(() => ({ contractAddress: new Uint8Array(20) })), /receipt of a transaction/],
    ['of blob gas', receipt(() => ({ blobGasUsed: 1n, blobGasPrice: 1n })), /receipt of a transaction/],
    ['of the sender', transaction({ from: new Uint8Array(20).fill(1) }), /sender of a transaction/],
    ['of a signature', transaction({ impersonated: true }), /sender of a transaction/],
    [
      'of transactions',
      (record) => ({ ...record, block: { ...record.block, transactions: [] }, receipts: [] }),
      /list/,
    ],
    ['of uncles', (record) => ({ ...record, uncles: [record.block.header] }), /list of uncles/],
    ['of a balance', account({ balance: 12345n }), /does not follow|does not open/],
    ['of a nonce', account({ nonce: 12345n }), /does not follow|does not open/],
    ['of no change', (record) => ({ ...record, changes: [] }), /does not follow/],
    ['of code it lacks', account({ codeHash: new Uint8Array(32).fill(1) }), /lacks the code/],
    ['of its zk root', (record) => ({ ...record, zkRoot: new Uint8Array(32).fill(1) }), /does not follow/],
    ['of being pruned', (record) => ({ ...record, changes: [], pruned: 'changes' }), /not pruned as the rest/],
  ];
  test.each(forgeries)('%s', async (_, change, reason) => {
    for (const number of NUMBERS) await expectRefused(await withBlock(number, change), reason);
  });

  test('code with another hash, while all roots match', async () => {
    const code = hexToBytes('0x6001600155');
    const dev = await devNode({ ...OPTIONS, store: new KeptStore() });
    await dev.ask('anvil_setCode', stranger('55'), bytesToHex(code));
    await dev.ask('evm_mine');
    const file = await decodeChainFile(await dev.node.exportChain());
    const entries = file.entries.map((entry) => {
      if (entry.table !== 'blocks' || entry.key !== 1) return entry;
      const { block, receipts, changes, zkRoot } = decodeBlockRecord(entry.value, CHAIN_ID);
      const other = changes.map((one) => (one.code === undefined ? one : { ...one, code: one.code.with(0, 0) }));
      return { ...entry, value: encodeBlockRecord({ block, receipts, changes: other, zkRoot }) };
    });
    await expectRefused(
      await encodeChainFile({ ...file, entries }),
      /has code in block 1 that does not match its hash/,
    );
  });

  test('the sender of an unsigned transaction', async () => {
    const file = withBlock(BLOCKS, transaction({ from: new Uint8Array(20).fill(1) }));
    await expectRefused(await file, /sender of a transaction/);
  });

  test('the newest header, whose hash no other block contains', async () => {
    const header = (change: Partial<BlockHeader>) => (record: BlockRecord) => ({
      ...record,
      block: { ...record.block, header: { ...record.block.header, ...change } },
    });
    const headers: [Partial<BlockHeader>, RegExp][] = [
      [{ timestamp: 0 }, /the time of block/],
      [{ gasUsed: 1n }, /gas used/],
      [{ gasLimit: 1n }, /gas used/],
      [{ baseFeePerGas: undefined as never, withdrawalsRoot: undefined as never }, /base fee|list|does not open/],
      [{ logsBloom: new Uint8Array(256).fill(1) }, /bloom/],
      [{ stateRoot: new Uint8Array(32) }, /does not follow/],
      [{ transactionsRoot: new Uint8Array(32) }, /list of transactions/],
      [{ parentHash: new Uint8Array(32) }, /does not follow/],
    ];
    for (const [change, reason] of headers) await expectRefused(await withBlock(BLOCKS, header(change)), reason);
  });

  test('genesis: the accounts of the importing devnet are used, and another zk state root is refused', async () => {
    const rich = await withBlock(0, account({ balance: 1n }));
    const dev = await devNode({ ...OPTIONS, store: new KeptStore() });
    const before = await dev.ask('eth_getBalance', accountAt(0), 'earliest');
    await dev.node.importChain(rich);
    expect(await dev.ask('eth_getBalance', accountAt(0), 'earliest')).toBe(before);
    const zkRoot = new Uint8Array(32).fill(1);
    await expectRefused(await withBlock(0, (record) => ({ ...record, zkRoot })), /zk state root at genesis/);
  });
});

describe('the state in a file', () => {
  test('is ignored and rebuilt from the blocks', async () => {
    const store = new KeptStore();
    const dev = await devNode({ ...OPTIONS, store });
    await dev.node.importChain(await encodeChainFile(await theFile()));
    const proof = await dev.ask('linea_getProof', accountAt(0), [], 'latest');
    const foreign = new KeptStore();
    const other = await devNode({ ...OPTIONS, store: foreign });
    for (let i = 0; i < 40; i++) await other.ask('evm_mine');
    const checkpoint = { table: 'meta', key: 'devnet-checkpoint' } as const;
    const state: ChainFileEntry[] = [{ ...checkpoint, value: (await foreign.get('meta', checkpoint.key))! }];
    for (const table of ['state', 'trie'] as const) {
      for (const key of await foreign.keys(table)) state.push({ table, key, value: (await foreign.get(table, key))! });
    }
    const { entries, ...header } = await theFile();
    const again = new KeptStore();
    const taking = await devNode({ ...OPTIONS, store: again });
    await taking.node.importChain(await encodeChainFile({ ...header, entries: [...entries, ...state] }));
    for (const each of [taking, await devNode({ ...OPTIONS, store: again })]) {
      expect(await each.ask('linea_getProof', accountAt(0), [], 'latest')).toEqual(proof);
      expect(await each.ask('eth_getBalance', stranger('23'), 'latest')).toBe('0x5');
    }
  });
});

test('a chain whose first finalizations are no longer held is accepted', async () => {
  const chain = { kind: 'devnet', scheme: 'poseidon2', finality: { heldFinalizations: 2 } } as const;
  const dev = await devNode({ chain, store: new KeptStore() });
  for (let i = 0; i < 20; i++) await dev.ask('evm_mine');
  const { node } = await devNode({ chain, store: new KeptStore() });
  expect(await node.importChain(await dev.node.exportChain())).toEqual({ head: 20 });
});

test('the unmodified file is accepted', async () => {
  const dev = await devNode({ ...OPTIONS, store: new KeptStore() });
  expect(await dev.node.importChain(await encodeChainFile(await theFile()))).toEqual({ head: BLOCKS });
  expect(await dev.ask('eth_getBalance', stranger('7a'), 'latest')).toBe('0x5');
  expect(Number(await dev.ask('eth_getTransactionCount', accountAt(0), 'latest'))).toBe(BLOCKS - 1);
});
