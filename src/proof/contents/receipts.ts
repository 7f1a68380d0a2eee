import { orderedRoot } from '../../ethereum/ordered-trie.js';
import { encodeReceipt, logsBloom, type Receipt } from '../../ethereum/receipt.js';
import { equalBytes } from '../../primitives/bytes.js';
import type { HashedHeader } from '../headers/header-answer.js';
import { member, readArray, readBytes, readCount, readNumber256, readObject } from '../json-reader.js';
import { Refusal } from '../verdict.js';
import { checkPlace, type RawTransaction } from './block-body.js';
import { type BlockFailure, judgeBlock, TransactionRefusal } from './block-verdict.js';
import { readReceipt } from './receipt-answer.js';

/** A receipt, with values that follow from the receipts before it. */
export interface PlacedReceipt extends Receipt {
  /** Gas used, after refunds. */
  readonly gasUsed: bigint;
  /** Index within the block of the first of `logs`. */
  readonly firstLogIndex: number;
}

/** Receipts that match the header. */
export interface VerifiedReceipts {
  readonly verified: true;
  /** In the order of the transactions. */
  readonly receipts: readonly PlacedReceipt[];
}

/** Why receipts are refused. */
export type ReceiptsFailureReason =
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
  /** The header's bloom or gas used does not match the receipts it commits to. */
  | 'HEADER_INCONSISTENT';

/** The receipts of a block, or why they are refused. */
export type ReceiptsVerdict = VerifiedReceipts | BlockFailure<ReceiptsFailureReason>;

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
    if (!equalBytes(orderedRoot(receipts.map(encodeReceipt)), block.header.receiptsRoot)) {
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

type Json = Readonly<Record<string, unknown>>;

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
  if ((receipts.at(-1)?.cumulativeGasUsed ?? 0n) !== header.gasUsed) {
    throw new Refusal('HEADER_INCONSISTENT', 'gasUsed', 'of the header is not the gas of its receipts');
  }
}
