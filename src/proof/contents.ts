/**
 * Bodies and receipts of blocks against their headers: transactions, withdrawals and uncles by their roots, receipts and logs by the
 * receipts root. What no root covers, such as the sender of a transaction, is computed anew and compared.
 */

import { RLP } from '@ethereumjs/rlp';
import { EMPTY_UNCLES_HASH } from '../ethereum/constants.js';
import { orderedTrieRoot, type Withdrawal, withdrawalFields } from '../ethereum/ordered-trie.js';
import { encodeReceipt, type Log, logsBloom, type Receipt } from '../ethereum/receipt.js';
import { keccak256 } from '../kernel/keccak.js';
import { equalBytes } from '../primitives/bytes.js';
import type { HashedHeader } from './headers.js';
import { malformed, member, readArray, readBytes, readCount, readNumber256, readObject } from './json-reader.js';
import { readTransaction } from './transaction-answer.js';
import { type ProofFailure, Refusal } from './verdict.js';

/** A transaction in the encoding of its block. */
export interface RawTransaction {
  readonly raw: Uint8Array;
  /** 32 bytes. */
  readonly hash: Uint8Array;
}

/** A body that matches its header. */
interface VerifiedBody {
  readonly verified: true;
  readonly transactions: readonly RawTransaction[];
  /** Undefined before Shanghai. */
  readonly withdrawals: readonly Withdrawal[] | undefined;
}

/** Why a body is refused. */
type BodyFailureReason =
  /** A transaction does not have the hash in the answer. */
  | 'TRANSACTION_HASH_MISMATCH'
  /** The block or index in a transaction is wrong. */
  | 'PLACE_MISMATCH'
  /** The transactions do not match the header: one is changed, missing, added or moved. */
  | 'TRANSACTIONS_ROOT_MISMATCH'
  | 'WITHDRAWALS_ROOT_MISMATCH'
  /** Uncles are listed, or the header has some: answers contain only their hashes, so they cannot be verified. */
  | 'UNCLES_MISMATCH';

/** A body, or why it is refused. */
type BodyVerdict = VerifiedBody | BlockFailure<BodyFailureReason>;

/**
 * Verifies the body of a block against its header. The sender of a transaction is not part of the body: recover it from the
 * bytes (`parseSignedTransaction`), and do not use the sender in the answer.
 *
 * To prove that one transaction is in a block, all transactions of the block are needed.
 *
 * @param block - header with its hash, as `verifyHeader` returns it
 * @param answer - `result` of `eth_getBlockByHash` or `eth_getBlockByNumber` with full transactions, or with raw transactions
 *   as hex
 * @throws PlumblineError `PROOF_MALFORMED`, also for transaction hashes in place of transactions
 */
export function verifyBlockBody(block: HashedHeader, answer: unknown): BodyVerdict {
  const json = readObject(answer, '');
  const list = readArray(json.transactions, 'transactions');
  const transactions = list.map((item, i) => readItem(item, `transactions[${i}]`));
  const uncles = json.uncles === undefined ? [] : readArray(json.uncles, 'uncles');
  const withdrawals = readWithdrawals(json.withdrawals);
  return judgeBlock(block.hash, () => {
    for (const [i, item] of list.entries()) checkClaims(block, item, transactions[i]!, i);
    requireTransactions(block, transactions);
    requireWithdrawals(block, withdrawals);
    if (uncles.length > 0 || !equalBytes(block.header.sha3Uncles, EMPTY_UNCLES_HASH)) {
      throw new Refusal('UNCLES_MISMATCH', 'uncles', 'cannot be verified against the header');
    }
    const shown = block.header.withdrawalsRoot === undefined ? undefined : (withdrawals ?? []);
    return { verified: true, transactions, withdrawals: shown };
  });
}

function readItem(json: unknown, at: string): RawTransaction {
  const raw = typeof json === 'string' ? readBytes(json, at) : readTransaction(json, at);
  if (typeof json === 'string' && raw.length <= 32)
    throw malformed(at, 'is a hash, not a transaction; request full transactions');
  return { raw, hash: keccak256(raw) };
}

/** Compares hash, block and index of a transaction, if the answer has them. */
function checkClaims({ header, hash }: HashedHeader, json: unknown, transaction: RawTransaction, index: number): void {
  if (typeof json === 'string') return;
  const at = `transactions[${index}]`;
  const claims = readObject(json, at);
  const claimed = claims.hash === undefined ? undefined : readBytes(claims.hash, member(at, 'hash'), 32);
  if (claimed !== undefined && !equalBytes(claimed, transaction.hash)) {
    const message = 'is not the hash of the transaction';
    throw new TransactionRefusal('TRANSACTION_HASH_MISMATCH', member(at, 'hash'), message, index);
  }
  checkPlace(claims, at, { header, hash }, index);
}

/**
 * Compares block hash, block number and index of a transaction or receipt, if the answer has them.
 *
 * @throws PlumblineError `PROOF_MALFORMED`; a `Refusal` if one of them is wrong
 */
function checkPlace(
  claims: Readonly<Record<string, unknown>>,
  at: string,
  { header, hash }: HashedHeader,
  index: number,
): void {
  const has = (name: string) => claims[name] !== undefined && claims[name] !== null;
  const count = (name: string) => readCount(claims[name], member(at, name));
  const same = {
    blockHash: !has('blockHash') || equalBytes(readBytes(claims.blockHash, member(at, 'blockHash'), 32), hash),
    blockNumber: !has('blockNumber') || count('blockNumber') === header.number,
    transactionIndex: !has('transactionIndex') || count('transactionIndex') === index,
  };
  for (const [name, fine] of Object.entries(same)) {
    if (!fine)
      throw new TransactionRefusal('PLACE_MISMATCH', member(at, name), 'is not that of this block and index', index);
  }
}

function requireTransactions({ header }: HashedHeader, transactions: readonly RawTransaction[]): void {
  if (equalBytes(orderedTrieRoot(transactions.map(({ raw }) => raw)), header.transactionsRoot)) return;
  throw new Refusal('TRANSACTIONS_ROOT_MISMATCH', 'transactions', 'do not have the root of the header');
}

function requireWithdrawals({ header }: HashedHeader, withdrawals: readonly Withdrawal[] | undefined): void {
  const root = header.withdrawalsRoot;
  const items = (withdrawals ?? []).map((withdrawal) => RLP.encode(withdrawalFields(withdrawal)));
  if (root === undefined ? items.length === 0 : equalBytes(orderedTrieRoot(items), root)) return;
  throw new Refusal('WITHDRAWALS_ROOT_MISMATCH', 'withdrawals', 'do not have the root of the header');
}

function readWithdrawals(json: unknown): Withdrawal[] | undefined {
  if (json === undefined || json === null) return undefined;
  return readArray(json, 'withdrawals').map((item, i) => {
    const at = `withdrawals[${i}]`;
    const entry = readObject(item, at);
    const number = (name: string) => readNumber256(entry[name], member(at, name));
    return {
      index: number('index'),
      validatorIndex: number('validatorIndex'),
      address: readBytes(entry.address, member(at, 'address'), 20),
      amount: number('amount'),
    };
  });
}

type Json = Readonly<Record<string, unknown>>;

/** A receipt, with values that follow from the receipts before it. */
interface PlacedReceipt extends Receipt {
  /** Gas used, after refunds. */
  readonly gasUsed: bigint;
  /** Index within the block of the first of `logs`. */
  readonly firstLogIndex: number;
}

/** Receipts that match the header. */
interface VerifiedReceipts {
  readonly verified: true;
  /** In the order of the transactions. */
  readonly receipts: readonly PlacedReceipt[];
}

/** Why receipts are refused. */
type ReceiptsFailureReason =
  /** The number of receipts differs from the number of transactions. */
  | 'RECEIPT_COUNT_MISMATCH'
  /** The transaction, block or index in a receipt or log is wrong. */
  | 'PLACE_MISMATCH'
  /** The bloom of a receipt is not that of its logs. */
  | 'LOGS_BLOOM_MISMATCH'
  /** The gas of a receipt does not match the cumulative gas. */
  | 'GAS_USED_MISMATCH'
  /** The receipts do not match the header: one is changed, missing, added or moved. */
  | 'RECEIPTS_ROOT_MISMATCH'
  /** The header's bloom or, before Amsterdam, its gas used does not match the receipts it commits to. */
  | 'HEADER_INCONSISTENT';

/** The receipts of a block, or why they are refused. */
type ReceiptsVerdict = VerifiedReceipts | BlockFailure<ReceiptsFailureReason>;

/**
 * Verifies the receipts of a block against its header. The header does not commit to sender, recipient, contract address and
 * price of a receipt: compute them from the transaction, and do not use those in the answer.
 *
 * To prove one receipt, all receipts of the block are needed.
 *
 * @param block - header with its hash, as `verifyHeader` returns it
 * @param transactions - of the block, as `verifyBlockBody` returns them
 * @param answer - `result` of `eth_getBlockReceipts`, or the results of `eth_getTransactionReceipt` in order
 * @throws PlumblineError `PROOF_MALFORMED`; its path begins with the index of the receipt
 */
export function verifyReceipts(
  block: HashedHeader,
  transactions: readonly RawTransaction[],
  answer: unknown,
): ReceiptsVerdict {
  const list = readArray(answer, 'the answer');
  const receipts = place(list.map((item, i) => readReceipt(item, `[${i}]`)));
  return judgeBlock(block.hash, () => {
    if (receipts.length !== transactions.length) {
      const message = `${receipts.length} receipts for ${transactions.length} transactions`;
      throw new Refusal('RECEIPT_COUNT_MISMATCH', '', message);
    }
    const bloom = new Uint8Array(256);
    for (const [i, receipt] of receipts.entries()) {
      const json = readObject(list[i], `[${i}]`);
      checkReceiptPlace(json, block, transactions[i]!.hash, i);
      checkLogPlaces(json, block, receipt, transactions[i]!.hash, i);
      const own = logsBloom(receipt.logs);
      checkSums(json, receipt, own, i);
      own.forEach((byte, at) => {
        bloom[at]! |= byte;
      });
    }
    if (!equalBytes(orderedTrieRoot(receipts.map(encodeReceipt)), block.header.receiptsRoot)) {
      throw new Refusal('RECEIPTS_ROOT_MISMATCH', '', 'the receipts do not have the root of the header');
    }
    checkHeader(block, receipts, bloom);
    return { verified: true, receipts };
  });
}

function place(receipts: readonly Receipt[]): PlacedReceipt[] {
  let [gasBefore, firstLogIndex] = [0n, 0];
  return receipts.map((receipt) => {
    const placed = { ...receipt, gasUsed: receipt.cumulativeGasUsed - gasBefore, firstLogIndex };
    gasBefore = receipt.cumulativeGasUsed;
    firstLogIndex += receipt.logs.length;
    return placed;
  });
}

function checkReceiptPlace(json: Json, block: HashedHeader, transactionHash: Uint8Array, index: number): void {
  const at = `[${index}]`;
  checkPlace(json, at, block, index);
  checkTransactionHash(json, at, transactionHash, index);
}

function checkTransactionHash(json: Json, at: string, transactionHash: Uint8Array, index: number): void {
  if (json.transactionHash === undefined) return;
  const claimed = readBytes(json.transactionHash, member(at, 'transactionHash'), 32);
  if (equalBytes(claimed, transactionHash)) return;
  throw new TransactionRefusal('PLACE_MISMATCH', member(at, 'transactionHash'), 'is of another transaction', index);
}

function checkLogPlaces(
  json: Json,
  block: HashedHeader,
  receipt: PlacedReceipt,
  transactionHash: Uint8Array,
  index: number,
): void {
  for (const [i, item] of readArray(json.logs, `[${index}].logs`).entries()) {
    const at = `[${index}].logs[${i}]`;
    const log = readObject(item, at);
    checkPlace(log, at, block, index);
    checkTransactionHash(log, at, transactionHash, index);
    const logIndex = log.logIndex === undefined ? undefined : readCount(log.logIndex, member(at, 'logIndex'));
    if (logIndex !== undefined && logIndex !== receipt.firstLogIndex + i) {
      throw new TransactionRefusal('PLACE_MISMATCH', member(at, 'logIndex'), 'is not its index in the block', index);
    }
  }
}

/** Compares bloom and gas of one receipt, if the answer has them. */
function checkSums(json: Json, receipt: PlacedReceipt, bloom: Uint8Array, index: number): void {
  const [bloomAt, gasAt] = [`[${index}].logsBloom`, `[${index}].gasUsed`];
  if (json.logsBloom !== undefined && !equalBytes(readBytes(json.logsBloom, bloomAt, 256), bloom)) {
    throw new TransactionRefusal('LOGS_BLOOM_MISMATCH', bloomAt, 'is not that of the logs', index);
  }
  if (json.gasUsed !== undefined && readNumber256(json.gasUsed, gasAt) !== receipt.gasUsed) {
    throw new TransactionRefusal('GAS_USED_MISMATCH', gasAt, 'does not match the cumulative gas', index);
  }
}

function checkHeader({ header }: HashedHeader, receipts: readonly PlacedReceipt[], bloom: Uint8Array): void {
  if (!equalBytes(bloom, header.logsBloom)) {
    throw new Refusal('HEADER_INCONSISTENT', 'logsBloom', 'of the header is not that of the logs');
  }
  // From Amsterdam on the header counts the larger of two kinds of gas, before refunds; receipts tell what was paid (EIP-7778, EIP-8037).
  if (header.blockAccessListHash !== undefined) return;
  if ((receipts.at(-1)?.cumulativeGasUsed ?? 0n) !== header.gasUsed) {
    throw new Refusal('HEADER_INCONSISTENT', 'gasUsed', 'of the header is not the gas of its receipts');
  }
}

const MAX_TOPICS = 4;
/** A transaction type is at most 0x7f (EIP-2718). */
const MAX_TYPE = 0x7f;

/**
 * Reads the fields of a JSON-RPC receipt that the receipts root commits to. A receipt has a status, or a state root before
 * Byzantium.
 *
 * @param at - its path in the answer
 * @throws PlumblineError `PROOF_MALFORMED`
 * @source ethereum/execution-apis@033ca6e6 src/schemas/receipt.yaml; EIP-658
 */
export function readReceipt(json: unknown, at: string): Receipt {
  const receipt = readObject(json, at);
  const type = receipt.type === undefined ? 0 : readCount(receipt.type, member(at, 'type'));
  if (type > MAX_TYPE) throw malformed(member(at, 'type'), `is above ${MAX_TYPE}`);
  const list = member(at, 'logs');
  return {
    type,
    ...readOutcome(receipt, at),
    cumulativeGasUsed: readNumber256(receipt.cumulativeGasUsed, member(at, 'cumulativeGasUsed')),
    logs: readArray(receipt.logs, list).map((log, i) => readLog(log, `${list}[${i}]`)),
  };
}

function readOutcome(receipt: Readonly<Record<string, unknown>>, at: string) {
  if (receipt.status === undefined || receipt.status === null) {
    return { succeeded: true, stateRoot: readBytes(receipt.root, member(at, 'root'), 32) };
  }
  const status = readCount(receipt.status, member(at, 'status'));
  if (status > 1) throw malformed(member(at, 'status'), 'is neither 0 nor 1');
  return { succeeded: status === 1 };
}

function readLog(json: unknown, at: string): Log {
  const log = readObject(json, at);
  const topics = readArray(log.topics, member(at, 'topics'));
  if (topics.length > MAX_TOPICS) throw malformed(member(at, 'topics'), `has ${topics.length} entries`);
  return {
    address: readBytes(log.address, member(at, 'address'), 20),
    topics: topics.map((topic, i) => readBytes(topic, `${at}.topics[${i}]`, 32)),
    data: readBytes(log.data, member(at, 'data')),
  };
}

/** Why a part of a block does not match the block's header. */
interface BlockFailure<Reason extends string> extends ProofFailure<Reason> {
  /** 32 bytes. */
  readonly blockHash: Uint8Array;
  /** Index of the transaction, if a single transaction or its receipt is wrong. */
  readonly transactionIndex?: number;
}

/** A refusal of one transaction of a block, or of its receipt. */
class TransactionRefusal<Reason extends string> extends Refusal<Reason> {
  constructor(
    reason: Reason,
    at: string,
    message: string,
    readonly transactionIndex: number,
  ) {
    super(reason, at, message);
  }
}

/** As `judge`; the failure also names the block, and the transaction if there is one. */
function judgeBlock<Result, Reason extends string>(
  blockHash: Uint8Array,
  body: () => Result,
): Result | BlockFailure<Reason> {
  try {
    return body();
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    const { reason, at, message } = error as Refusal<Reason>;
    const place = error instanceof TransactionRefusal ? { transactionIndex: error.transactionIndex } : {};
    return { verified: false, reason, at, message, blockHash, ...place };
  }
}
