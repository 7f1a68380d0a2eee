import { bloomBits, bloomHasBits, type Log } from '../ethereum/receipt.js';
import { equalBytes } from '../primitives/bytes.js';

/** Which logs are wanted. */
export interface LogFilter {
  /** One of these, 20 bytes each; any when undefined. */
  readonly addresses: readonly Uint8Array[] | undefined;
  /** By position: one of these, 32 bytes each; any when undefined. A log with fewer topics does not match. */
  readonly topics: readonly (readonly Uint8Array[] | undefined)[];
}

/** Whether the filter wants this log (docs/spec/json-rpc.md 2.6). */
export function matchesLog({ addresses, topics }: LogFilter, log: Log): boolean {
  if (log.topics.length < topics.length || !among(addresses, log.address)) return false;
  return topics.every((wanted, position) => among(wanted, log.topics[position]!));
}

/** A test of a block's bloom (256 bytes) that is false only if no log of the block matches. */
export function bloomTest({ addresses, topics }: LogFilter): (bloom: Uint8Array) => boolean {
  const wanted = [addresses, ...topics].filter((items) => items !== undefined).map((items) => items.map(bloomBits));
  return (bloom) => wanted.every((choices) => choices.some((bits) => bloomHasBits(bloom, bits)));
}

function among(wanted: readonly Uint8Array[] | undefined, actual: Uint8Array): boolean {
  return wanted === undefined || wanted.some((item) => equalBytes(item, actual));
}
