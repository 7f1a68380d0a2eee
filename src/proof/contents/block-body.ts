import { RLP } from '@ethereumjs/rlp';
import { keccak_256 } from '@noble/hashes/sha3.js';
import { EMPTY_UNCLES_HASH } from '../../ethereum/constants.js';
import { orderedRoot } from '../../ethereum/ordered-trie.js';
import { type Withdrawal, withdrawalFields } from '../../ethereum/withdrawal.js';
import { equalBytes } from '../../primitives/bytes.js';
import type { HashedHeader } from '../headers/header-answer.js';
import { malformed, member, readArray, readBytes, readCount, readNumber256, readObject } from '../json-reader.js';
import { Refusal } from '../verdict.js';
import { type BlockFailure, judgeBlock, TransactionRefusal } from './block-verdict.js';
import { readTransaction } from './transaction-answer.js';

/** A transaction as its block carries it. */
export interface RawTransaction {
  readonly raw: Uint8Array;
  /** 32 bytes. */
  readonly hash: Uint8Array;
}

/** A body that is the one of its header. */
export interface VerifiedBody {
  readonly verified: true;
  readonly transactions: readonly RawTransaction[];
  /** Undefined for a block of a fork without them. */
  readonly withdrawals: readonly Withdrawal[] | undefined;
}

/** Why a body is refused. */
export type BodyFailureReason =
  /** A transaction does not have the hash the answer gives it. */
  | 'TRANSACTION_HASH_MISMATCH'
  /** A transaction says that it stands elsewhere. */
  | 'PLACE_MISMATCH'
  /** The transactions are not those of the header: one is changed, missing, added or moved. */
  | 'TRANSACTIONS_ROOT_MISMATCH'
  | 'WITHDRAWALS_ROOT_MISMATCH'
  /** Uncles are listed where the header has none, or it has some, which no answer shows. */
  | 'UNCLES_MISMATCH';

/** A body, or why it is refused. */
export type BodyVerdict = VerifiedBody | BlockFailure<BodyFailureReason>;

/**
 * Verifies the body of a block against its header. The sender of a transaction is not part of the body: recover it from
 * the bytes (`parseSignedTransaction`), and do not take the answer's.
 *
 * One transaction is shown to be in a block by all of the block's.
 *
 * @param block - header with its hash, as `verifyHeader` gives it
 * @param answer - `result` of `eth_getBlockByHash` or `eth_getBlockByNumber` with whole transactions; raw ones, as hex,
 *   are taken in their place
 * @throws PlumblineError `PROOF_MALFORMED`, also for hashes in place of transactions
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
      throw new Refusal('UNCLES_MISMATCH', 'uncles', 'are not shown to be those of the header');
    }
    const shown = block.header.withdrawalsRoot === undefined ? undefined : (withdrawals ?? []);
    return { verified: true, transactions, withdrawals: shown };
  });
}

function readItem(json: unknown, at: string): RawTransaction {
  const raw = typeof json === 'string' ? readBytes(json, at) : readTransaction(json, at);
  if (typeof json === 'string' && raw.length <= 32) throw malformed(at, 'is a hash and not a transaction');
  return { raw, hash: keccak_256(raw) };
}

/** Compares the members that say which transaction it is and where it stands, where there are some. */
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
 * Compares the members of a transaction or receipt that say where it stands, where there are some.
 *
 * @throws PlumblineError `PROOF_MALFORMED`. Throws a `Refusal` when one of them is wrong
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
    if (!fine) throw new TransactionRefusal('PLACE_MISMATCH', member(at, name), 'is another place', index);
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
