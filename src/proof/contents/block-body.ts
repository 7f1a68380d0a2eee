import { RLP } from '@ethereumjs/rlp';
import { EMPTY_UNCLES_HASH } from '../../ethereum/constants.js';
import { orderedRoot } from '../../ethereum/ordered-trie.js';
import { type Withdrawal, withdrawalFields } from '../../ethereum/withdrawal.js';
import { keccak256 } from '../../kernel/keccak.js';
import { equalBytes } from '../../primitives/bytes.js';
import type { HashedHeader } from '../headers/header-answer.js';
import { malformed, member, readArray, readBytes, readCount, readNumber256, readObject } from '../json-reader.js';
import { Refusal } from '../verdict.js';
import { type BlockFailure, judgeBlock, TransactionRefusal } from './block-verdict.js';
import { readTransaction } from './transaction-answer.js';

/** A transaction in the encoding of its block. */
export interface RawTransaction {
  readonly raw: Uint8Array;
  /** 32 bytes. */
  readonly hash: Uint8Array;
}

/** A body that matches its header. */
export interface VerifiedBody {
  readonly verified: true;
  readonly transactions: readonly RawTransaction[];
  /** Undefined before Shanghai. */
  readonly withdrawals: readonly Withdrawal[] | undefined;
}

/** Why a body is refused. */
export type BodyFailureReason =
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
export type BodyVerdict = VerifiedBody | BlockFailure<BodyFailureReason>;

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
export function checkPlace(
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
  if (equalBytes(orderedRoot(transactions.map(({ raw }) => raw)), header.transactionsRoot)) return;
  throw new Refusal('TRANSACTIONS_ROOT_MISMATCH', 'transactions', 'do not have the root of the header');
}

function requireWithdrawals({ header }: HashedHeader, withdrawals: readonly Withdrawal[] | undefined): void {
  const root = header.withdrawalsRoot;
  const items = (withdrawals ?? []).map((withdrawal) => RLP.encode(withdrawalFields(withdrawal)));
  if (root === undefined ? items.length === 0 : equalBytes(orderedRoot(items), root)) return;
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
