import { keccak256 } from '../kernel/keccak.js';
import { bigIntToMinimalBytes, concatBytes } from '../primitives/bytes.js';
import { encodeRlp } from '../primitives/rlp-list.js';

/** One event log: address of 20 bytes, up to four topics of 32 bytes. */
export interface Log {
  readonly address: Uint8Array;
  readonly topics: readonly Uint8Array[];
  readonly data: Uint8Array;
}

/** Bytes of a log's JSON beside its topics and data: the names of its members, its address, its hashes and its place. */
const LOG_JSON = 400;

/** Length of return data and logs as JSON, about: two characters for each byte. @param bytes - of data and topics together */
export function jsonLength(logs: number, bytes: number): number {
  return LOG_JSON * logs + 2 * bytes;
}

/** Bytes of a log's topics and data. */
export function logBytes({ topics, data }: Log): number {
  return 32 * topics.length + data.length;
}

/** The part of a receipt that the receipts root commits to. */
export interface Receipt {
  readonly type: number;
  readonly succeeded: boolean;
  /** State root after the transaction, 32 bytes: before Byzantium, in place of the success flag (EIP-658). */
  readonly stateRoot?: Uint8Array | undefined;
  /** Gas of this transaction and all before it in the block. */
  readonly cumulativeGasUsed: bigint;
  readonly logs: readonly Log[];
}

/** The 2048-bit bloom of logs, 256 bytes: three bits for each address and topic (yellow paper 4.3.1). */
export function logsBloom(logs: readonly Log[]): Uint8Array {
  const bloom = new Uint8Array(256);
  const add = (item: Uint8Array) => {
    for (const bit of bloomBits(item)) bloom[255 - (bit >> 3)]! |= 1 << (bit & 7);
  };
  for (const log of logs) {
    add(log.address);
    for (const topic of log.topics) add(topic);
  }
  return bloom;
}

/** The three bits that an address or topic sets in a bloom, 0 to 2047. */
export function bloomBits(item: Uint8Array): readonly number[] {
  const hash = keccak256(item);
  return [0, 2, 4].map((i) => ((hash[i]! << 8) | hash[i + 1]!) & 2047);
}

/** Whether all these bits are set. If not, no log under the bloom has the item. */
export function bloomHasBits(bloom: Uint8Array, bits: readonly number[]): boolean {
  return bits.every((bit) => (bloom[255 - (bit >> 3)]! & (1 << (bit & 7))) !== 0);
}

/** Consensus encoding of a receipt: RLP, with the type in front for typed transactions (EIP-2718). */
export function encodeReceipt(receipt: Receipt): Uint8Array {
  const body = encodeRlp([
    receipt.stateRoot ?? (receipt.succeeded ? Uint8Array.of(1) : new Uint8Array(0)),
    bigIntToMinimalBytes(receipt.cumulativeGasUsed),
    logsBloom(receipt.logs),
    receipt.logs.map((log) => [log.address, [...log.topics], log.data]),
  ]);
  return receipt.type === 0 ? body : concatBytes(Uint8Array.of(receipt.type), body);
}
