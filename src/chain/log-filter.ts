import { bloomBits, bloomHasBits, type Log } from '../ethereum/receipt.js';
import { equalBytes, isZeroBytes } from '../primitives/bytes.js';
import type { IncludedTransaction } from './block.js';

/** A filter for logs. */
export interface LogFilter {
  /** Allowed addresses, 20 bytes each; undefined for any. */
  readonly addresses: readonly Uint8Array[] | undefined;
  /** Allowed topics by position, 32 bytes each; undefined for any. A log with fewer topics does not match. */
  readonly topics: readonly (readonly Uint8Array[] | undefined)[];
}

/** A range of blocks, both ends included, and a filter for their logs. */
export interface LogQuery {
  readonly from: number;
  readonly to: number;
  readonly filter: LogFilter;
  /** Most bytes of the logs as JSON; more are `ANSWER_TOO_LARGE`. No limit when left out. */
  readonly maxBytes?: number | undefined;
}

/** A log and its position. */
export interface FoundLog {
  readonly log: Log;
  readonly transaction: IncludedTransaction;
  /** Index within the block. */
  readonly logIndex: number;
  /** Its block has left the chain. */
  readonly removed?: true;
}

/** Whether the filter matches this log (docs/spec/json-rpc.md 2.6). */
export function matchesLog({ addresses, topics }: LogFilter, log: Log): boolean {
  if (log.topics.length < topics.length || !among(addresses, log.address)) return false;
  return topics.every((wanted, position) => among(wanted, log.topics[position]!));
}

/**
 * A test for a block's bloom (256 bytes). If it returns false, no log of the block matches. Without logs a bloom is
 * empty: every log sets the bits of its address.
 */
export function bloomTest({ addresses, topics }: LogFilter): (bloom: Uint8Array) => boolean {
  const wanted = [addresses, ...topics].filter((items) => items !== undefined).map((items) => items.map(bloomBits));
  return (bloom) => !isZeroBytes(bloom) && wanted.every((choices) => choices.some((bits) => bloomHasBits(bloom, bits)));
}

function among(wanted: readonly Uint8Array[] | undefined, actual: Uint8Array): boolean {
  return wanted === undefined || wanted.some((item) => equalBytes(item, actual));
}
