import { describe, expect, it } from 'vitest';
import { EMPTY_TRIE_ROOT, EMPTY_UNCLES_HASH } from '../../src/ethereum/constants.js';
import type { BlockHeader } from '../../src/ethereum/header.js';
import { orderedTrieRoot } from '../../src/ethereum/ordered-trie.js';
import { encodeReceipt, logsBloom } from '../../src/ethereum/receipt.js';
import { bytesToHex, hexToBytes } from '../../src/primitives/hex.js';
import { readReceipt, verifyBlockBody, verifyReceipts } from '../../src/proof/contents.js';
import { readHeader } from '../../src/proof/headers.js';
import { readTransaction } from '../../src/proof/transaction-answer.js';
import { type Changes, changed } from '../support/changed.js';
import { headerJson } from '../support/zero-header.js';

const bytes = (count: number) => `0x${'11'.repeat(count)}`;
const hash = new Uint8Array(32).fill(7);
const refusal = (reason: string, at: string, message: string, transactionIndex?: number) => ({
  verified: false,
  reason,
  at,
  message,
  blockHash: hash,
  ...(transactionIndex !== undefined && { transactionIndex }),
});
/** A legacy transaction of zeros; its RLP is a list of nine empty strings. */
const ZEROS = Object.fromEntries(['nonce', 'gasPrice', 'gas', 'value', 'v', 'r', 's'].map((name) => [name, '0x0']));
const TRANSACTION = { ...ZEROS, input: '0x' };
const RAW = hexToBytes('0xc9808080808080808080');
/** A block of 5 with the transactions of the tests, and these fields. */
const blockOf = (fields: Partial<BlockHeader>) => ({
  header: { ...readHeader(headerJson(5)), sha3Uncles: EMPTY_UNCLES_HASH, ...fields },
  hash,
});

describe('a body', () => {
  const block = blockOf({ transactionsRoot: orderedTrieRoot([RAW]) });
  const answer = { transactions: [TRANSACTION], uncles: [] };
  const verify = (changes: Changes = {}, of = block) => verifyBlockBody(of, changed(answer, changes));
  const place = { blockHash: bytesToHex(hash), blockNumber: '0x5', transactionIndex: '0x0' };

  it('has the transactions of its header, as JSON or as bytes', () => {
    const [transaction] = [{ raw: RAW, hash: expect.any(Uint8Array) }];
    expect(verify()).toEqual({ verified: true, transactions: [transaction], withdrawals: undefined });
    expect(verify({ uncles: undefined, 'transactions[0]': { ...TRANSACTION, ...place } }).verified).toBe(true);
    const nulls = { blockHash: null, blockNumber: null, transactionIndex: null };
    expect(verify({ 'transactions[0]': { ...TRANSACTION, ...nulls } }).verified).toBe(true);
    const long = `0xe0${'80'.repeat(32)}`;
    const raws = blockOf({ transactionsRoot: orderedTrieRoot([hexToBytes(long as `0x${string}`)]) });
    expect(verify({ 'transactions[0]': long }, raws).verified).toBe(true);
  });

  it.each<[Changes, string]>([
    [{ transactions: 3 }, 'transactions is not a list'],
    [{ 'transactions[1]': 3 }, 'transactions[1] is not an object'],
    [{ 'transactions[0]': 'x' }, 'transactions[0] does not start with 0x'],
    [{ 'transactions[0]': bytes(32) }, 'transactions[0] is a hash, not a transaction; request full transactions'],
    [{ 'transactions[0].hash': '0x' }, 'transactions[0].hash has 0 bytes, expected 32'],
    [{ 'transactions[0].blockHash': '0x' }, 'transactions[0].blockHash has 0 bytes, expected 32'],
    [{ 'transactions[0].blockNumber': 5 }, 'transactions[0].blockNumber is not 0x and 1 to 64 hex digits'],
    [{ uncles: 3 }, 'uncles is not a list'],
    [{ withdrawals: 3 }, 'withdrawals is not a list'],
    [{ withdrawals: [3] }, 'withdrawals[0] is not an object'],
    [{ withdrawals: [{}] }, 'withdrawals[0].index is not 0x and 1 to 64 hex digits'],
    [
      { withdrawals: [{ index: '0x0', validatorIndex: '0x0', address: '0x' }] },
      'withdrawals[0].address has 0 bytes, expected 20',
    ],
  ])('is malformed with %j', (changes, words) => {
    expect(() => verify(changes)).toThrow(`malformed proof: ${words}`);
  });

  const elsewhere = 'is not that of this block and index';
  const root = 'do not have the root of the header';
  it.each<[Changes, ReturnType<typeof refusal>]>([
    [
      { 'transactions[0].hash': bytes(32) },
      refusal('TRANSACTION_HASH_MISMATCH', 'transactions[0].hash', 'is not the hash of the transaction', 0),
    ],
    ...(
      [
        ['blockHash', bytes(32)],
        ['blockNumber', '0x6'],
        ['transactionIndex', '0x1'],
      ] as const
    ).map(([name, value]): [Changes, ReturnType<typeof refusal>] => [
      { [`transactions[0].${name}`]: value },
      refusal('PLACE_MISMATCH', `transactions[0].${name}`, elsewhere, 0),
    ]),
    [{ transactions: [] }, refusal('TRANSACTIONS_ROOT_MISMATCH', 'transactions', root)],
    [
      { withdrawals: [{ index: '0x0', validatorIndex: '0x0', address: bytes(20), amount: '0x0' }] },
      refusal('WITHDRAWALS_ROOT_MISMATCH', 'withdrawals', root),
    ],
    [{ uncles: ['0x'] }, refusal('UNCLES_MISMATCH', 'uncles', 'cannot be verified against the header')],
  ])('is refused with %j', (changes, verdict) => {
    expect(verify(changes)).toEqual(verdict);
  });

  it('is an object', () => {
    expect(() => verifyBlockBody(block, null)).toThrow('malformed proof: the answer is not an object');
  });

  it('shows the withdrawals that the header has, and none before Shanghai', () => {
    const shanghai = blockOf({ ...block.header, withdrawalsRoot: EMPTY_TRIE_ROOT });
    for (const withdrawals of [undefined, null, []])
      expect(verify({ withdrawals }, shanghai)).toMatchObject({ withdrawals: [] });
    expect(verify({ withdrawals: [] })).toMatchObject({ verified: true, withdrawals: undefined });
    const shown = { index: '0x1', validatorIndex: '0x2', address: bytes(20), amount: '0x3' };
    // EIP-4895: RLP of index, validator index, address and amount.
    const item = hexToBytes(`0xd80102${'94'}${'11'.repeat(20)}03`);
    const one = blockOf({ ...block.header, withdrawalsRoot: orderedTrieRoot([item]) });
    expect(verify({ withdrawals: [shown] }, one)).toMatchObject({
      withdrawals: [{ index: 1n, validatorIndex: 2n, address: hexToBytes(shown.address as `0x${string}`), amount: 3n }],
    });
  });
});

const LOG = { address: bytes(20), topics: [bytes(32)], data: '0x' };
const RECEIPT = { status: '0x1', cumulativeGasUsed: '0x5', logs: [LOG] };

describe('a receipt', () => {
  const read = (changes: Changes) => readReceipt(changed(RECEIPT, changes), '[3]');

  it('has a type, and a status or the state root of older blocks', () => {
    expect(read({})).toMatchObject({ type: 0, succeeded: true, cumulativeGasUsed: 5n });
    expect(read({ type: '0x7f', status: '0x0' })).toMatchObject({ type: 127, succeeded: false });
    const stateRoot = hexToBytes(bytes(32) as `0x${string}`);
    for (const status of [undefined, null])
      expect(read({ status, root: bytes(32) })).toMatchObject({ succeeded: true, stateRoot });
  });

  it.each<[Changes, string]>([
    [{ type: 'x' }, '[3].type is not 0x and 1 to 64 hex digits'],
    [{ type: '0x80' }, '[3].type is above 127'],
    [{ status: 'x' }, '[3].status is not 0x and 1 to 64 hex digits'],
    [{ status: '0x2' }, '[3].status is neither 0 nor 1'],
    [{ status: null, root: '0x' }, '[3].root has 0 bytes, expected 32'],
    [{ cumulativeGasUsed: 5 }, '[3].cumulativeGasUsed is not 0x and 1 to 64 hex digits'],
    [{ logs: 3 }, '[3].logs is not a list'],
    [{ 'logs[0]': 3 }, '[3].logs[0] is not an object'],
    [{ 'logs[0].topics': 3 }, '[3].logs[0].topics is not a list'],
    [{ 'logs[0].topics': Array(5).fill(bytes(32)) }, '[3].logs[0].topics has 5 entries'],
    [{ 'logs[0].topics[0]': '0x' }, '[3].logs[0].topics[0] has 0 bytes, expected 32'],
    [{ 'logs[0].address': '0x' }, '[3].logs[0].address has 0 bytes, expected 20'],
    [{ 'logs[0].data': 3 }, '[3].logs[0].data is not hex text'],
  ])('is malformed with %j', (changes, words) => {
    expect(() => read(changes)).toThrow(`malformed proof: ${words}`);
  });

  it('may have four topics', () => {
    expect(read({ 'logs[0].topics': Array(4).fill(bytes(32)) }).logs[0]!.topics).toHaveLength(4);
  });
});

describe('the receipts of a block', () => {
  const two = [RECEIPT, { ...RECEIPT, cumulativeGasUsed: '0x9', logs: [] }];
  const transactions = [1, 2].map((byte) => ({ raw: RAW, hash: new Uint8Array(32).fill(byte) }));
  const receipts = two.map((json) => readReceipt(json, ''));
  const block = blockOf({
    receiptsRoot: orderedTrieRoot(receipts.map(encodeReceipt)),
    gasUsed: 9n,
    logsBloom: logsBloom(receipts[0]!.logs),
  });
  const verify = (changes: Changes = {}, of = block) => verifyReceipts(of, transactions, changed(two, changes));

  it('have gas and indices that follow from those before', () => {
    expect(verify()).toMatchObject({
      receipts: [
        { gasUsed: 5n, firstLogIndex: 0 },
        { gasUsed: 4n, firstLogIndex: 1 },
      ],
    });
    const told = { '[1].gasUsed': '0x4', '[1].transactionHash': `0x${'02'.repeat(32)}`, '[0].logs[0].logIndex': '0x0' };
    expect(verify(told).verified).toBe(true);
    expect(verifyReceipts(blockOf({ receiptsRoot: EMPTY_TRIE_ROOT }), [], [])).toEqual({
      verified: true,
      receipts: [],
    });
  });

  it.each<[Changes, string]>([
    [{ '[1]': 3 }, '[1] is not an object'],
    [{ '[1].transactionHash': '0x' }, '[1].transactionHash has 0 bytes, expected 32'],
    [{ '[0].logs[0].logIndex': 0 }, '[0].logs[0].logIndex is not 0x and 1 to 64 hex digits'],
  ])('are malformed with %j', (changes, words) => {
    expect(() => verify(changes)).toThrow(`malformed proof: ${words}`);
  });

  it('are refused with what is wrong', () => {
    expect(() => verifyReceipts(block, [], null)).toThrow('malformed proof: the answer is not a list');
    expect(verifyReceipts(block, [], two)).toEqual(
      refusal('RECEIPT_COUNT_MISMATCH', '', '2 receipts for 0 transactions'),
    );
    expect(verify({ '[1].transactionHash': bytes(32) })).toEqual(
      refusal('PLACE_MISMATCH', '[1].transactionHash', 'is of another transaction', 1),
    );
    expect(verify({ '[0].logs[0].logIndex': '0x1' })).toEqual(
      refusal('PLACE_MISMATCH', '[0].logs[0].logIndex', 'is not its index in the block', 0),
    );
    expect(verify({ '[1].logsBloom': bytes(256) })).toEqual(
      refusal('LOGS_BLOOM_MISMATCH', '[1].logsBloom', 'is not that of the logs', 1),
    );
    expect(verify({ '[1].gasUsed': '0x9' })).toEqual(
      refusal('GAS_USED_MISMATCH', '[1].gasUsed', 'does not match the cumulative gas', 1),
    );
    expect(verify({ '[1].status': '0x0' })).toEqual(
      refusal('RECEIPTS_ROOT_MISMATCH', '', 'the receipts do not have the root of the header'),
    );
    expect(verify({}, blockOf({ ...block.header, logsBloom: new Uint8Array(256) }))).toEqual(
      refusal('HEADER_INCONSISTENT', 'logsBloom', 'of the header is not that of the logs'),
    );
    expect(verify({}, blockOf({ ...block.header, gasUsed: 8n }))).toEqual(
      refusal('HEADER_INCONSISTENT', 'gasUsed', 'of the header is not the gas of its receipts'),
    );
  });
});

describe('a transaction', () => {
  const priced = { ...TRANSACTION, type: '0x3', chainId: '0x1', maxFeePerGas: '0x0', maxPriorityFeePerGas: '0x0' };
  const blob = { ...priced, accessList: [], maxFeePerBlobGas: '0x0', blobVersionedHashes: [] };
  const entry = { address: bytes(20), storageKeys: [] };
  // EIP-155: v is 35 or 36 and twice the chain id.
  it.each([
    [null, '0x1b'],
    [undefined, '0x25'],
    ['0x0', '0x23'],
    ['0x1', '0x25'],
    ['0x1', '0x26'],
    // Redundant, and not part of the encoding.
    ['0x1', '0x1b'],
    ['0xe708', '0x1c'],
  ])('of chain %s has %s as v', (chainId, v) => {
    expect(readTransaction({ ...TRANSACTION, chainId, v }, 'tx').at(-3)).toBe(Number(v));
  });

  it.each<[object, string]>([
    [{ ...TRANSACTION, type: '0x5' }, 'tx.type is 5, which is not a known transaction type'],
    [{ ...TRANSACTION, type: 'x' }, 'tx.type is not 0x and 1 to 64 hex digits'],
    [{ ...TRANSACTION, to: '0x' }, 'tx.to has 0 bytes, expected 20'],
    [{ ...TRANSACTION, input: 3 }, 'tx.input is not hex text'],
    [{ ...TRANSACTION, v: 3 }, 'tx.v is not 0x and 1 to 64 hex digits'],
    [{ ...TRANSACTION, chainId: 'x' }, 'tx.chainId is not 0x and 1 to 64 hex digits'],
    [{ ...TRANSACTION, v: '0x22', chainId: '0x0' }, 'tx.chainId differs from the chain id in v'],
    [{ ...TRANSACTION, chainId: '0x1' }, 'tx.chainId differs from the chain id in v'],
    [{ ...blob, blobVersionedHashes: 3 }, 'tx.blobVersionedHashes is not a list'],
    [{ ...blob, blobVersionedHashes: ['0x'] }, 'tx.blobVersionedHashes[0] has 0 bytes, expected 32'],
    [{ ...blob, accessList: 3 }, 'tx.accessList is not a list'],
    [{ ...blob, accessList: [3] }, 'tx.accessList[0] is not an object'],
    [{ ...blob, accessList: [{ ...entry, address: '0x' }] }, 'tx.accessList[0].address has 0 bytes, expected 20'],
    [{ ...blob, accessList: [{ ...entry, storageKeys: 3 }] }, 'tx.accessList[0].storageKeys is not a list'],
    [{ ...blob, type: '0x4' }, 'tx.authorizationList is not a list'],
    [{ ...blob, type: '0x4', authorizationList: [3] }, 'tx.authorizationList[0] is not an object'],
    [
      { ...blob, type: '0x4', authorizationList: [{ chainId: '0x1', address: '0x' }] },
      'tx.authorizationList[0].address has 0 bytes, expected 20',
    ],
  ])('is malformed as %j', (json, words) => {
    expect(() => readTransaction(json, 'tx')).toThrow(`malformed proof: ${words}`);
  });
});
