import { RLP } from '@ethereumjs/rlp';
import { sha256 } from '@noble/hashes/sha2.js';
import { messageOf, PlumblineError } from '../../../errors.js';
import {
  bigIntToMinimalBytes,
  bytesToBigInt,
  bytesToKey,
  concatBytes,
  copyBytes,
  equalBytes,
  keyToBytes,
} from '../../../primitives/bytes.js';
import { nextTurn } from '../../../scheduling/turns.js';
import type { Table } from '../../../store/page-store.js';

/** Describes the state in the tables `state` and `trie`. All of it is written in one commit. */
export interface Checkpoint {
  readonly block: number;
  /** Hash of that block, 32 bytes. */
  readonly blockHash: Uint8Array;
  /** Hash of the genesis settings, chain id included (`findStored`), 32 bytes. */
  readonly genesis: Uint8Array;
  /** Segments of the ordinary trie, oldest first: number and size in bytes. */
  readonly segments: readonly { readonly number: number; readonly bytes: number }[];
  /** Size of the trie in bytes when it was last written as a whole. */
  readonly baseBytes: number;
}

const FORMAT = 1;
const CHECKSUM_BYTES = 8;
const HASH_BYTES = 32;
const HEAD_BYTES = HASH_BYTES + 4;

/** Key of the newest checkpoint in table `meta`. */
export const CHECKPOINT_KEY = 'devnet-checkpoint';

const int = (value: number) => bigIntToMinimalBytes(BigInt(value));
const number = (bytes: Uint8Array) => Number(bytesToBigInt(bytes));

/** Appends a checksum over key and content. */
export function withChecksum(key: string | number, content: Uint8Array): Uint8Array {
  return concatBytes(content, checksum(key, content));
}

function checksum(key: string | number, content: Uint8Array): Uint8Array {
  return named(key).update(content).digest().subarray(0, CHECKSUM_BYTES);
}

/** The checksum over key and content, of contents that may be long. */
export async function checksumInTurns(key: string | number, content: Uint8Array): Promise<Uint8Array> {
  const hash = named(key);
  await hashInTurns(hash, content);
  return hash.digest().subarray(0, CHECKSUM_BYTES);
}

function named(key: string | number) {
  return sha256.create().update(new TextEncoder().encode(`${key}\n`));
}

/** Checks the checksum and removes it. @throws PlumblineError `STORE_CORRUPT` with table and key */
export function withoutChecksum(table: Table, key: string | number, bytes: Uint8Array | undefined): Uint8Array {
  if (bytes === undefined) throw damagedEntry(table, key, 'is missing');
  const content = bytes.subarray(0, Math.max(0, bytes.length - CHECKSUM_BYTES));
  if (!equalBytes(checksum(key, content), bytes.subarray(content.length))) {
    throw damagedEntry(table, key, 'does not match its checksum');
  }
  return content;
}

export function damagedEntry(table: Table, key: string | number, what: string): PlumblineError<'STORE_CORRUPT'> {
  const reason = `${key} ${what}`;
  return new PlumblineError('STORE_CORRUPT', `store table ${table}: ${reason}`, { table, reason });
}

/** Encodes a checkpoint for `CHECKPOINT_KEY`. */
export function encodeCheckpoint(checkpoint: Checkpoint): Uint8Array {
  const { block, blockHash, genesis, segments, baseBytes } = checkpoint;
  const rows = segments.map((segment) => [int(segment.number), int(segment.bytes)]);
  return withChecksum(CHECKPOINT_KEY, RLP.encode([int(FORMAT), int(block), blockHash, genesis, rows, int(baseBytes)]));
}

/** @throws PlumblineError `STORE_CORRUPT`; `STORE_TOO_NEW` */
export function decodeCheckpoint(bytes: Uint8Array): Checkpoint {
  const content = withoutChecksum('meta', CHECKPOINT_KEY, bytes);
  let items: [Uint8Array, Uint8Array, Uint8Array, Uint8Array, [Uint8Array, Uint8Array][], Uint8Array];
  try {
    items = RLP.decode(content) as unknown as typeof items;
  } catch (cause) {
    throw damagedEntry('meta', CHECKPOINT_KEY, `does not decode: ${messageOf(cause)}`);
  }
  const [format, block, blockHash, genesis, rows, baseBytes] = items;
  const version = number(format);
  if (version > FORMAT) {
    const text = `the checkpoint has format ${version}, this version reads up to ${FORMAT}; use a newer version of plumbline`;
    throw new PlumblineError('STORE_TOO_NEW', text, { version, supported: FORMAT });
  }
  const segments = rows.map(([name, size]) => ({ number: number(name), bytes: number(size) }));
  return { block: number(block), blockHash, genesis, segments, baseBytes: number(baseBytes) };
}

/**
 * Encodes trie nodes as one value: hash, length and bytes of each, then a checksum.
 *
 * @param nodes - by `bytesToKey` of their hash
 */
export function encodeSegment(key: number, nodes: ReadonlyMap<string, Uint8Array>): Uint8Array {
  let size = 0;
  for (const node of nodes.values()) size += HEAD_BYTES + node.length;
  const content = new Uint8Array(size);
  const view = new DataView(content.buffer);
  let at = 0;
  for (const [name, node] of nodes) {
    content.set(keyToBytes(name), at);
    view.setUint32(at + HASH_BYTES, node.length);
    content.set(node, at + HEAD_BYTES);
    at += HEAD_BYTES + node.length;
  }
  return withChecksum(key, content);
}

/** @throws PlumblineError `STORE_CORRUPT` with the number of the segment */
export function decodeSegment(key: number, bytes: Uint8Array | undefined, into: Map<string, Uint8Array>): void {
  const content = withoutChecksum('trie', key, bytes);
  const view = new DataView(content.buffer, content.byteOffset, content.byteLength);
  for (let at = 0; at < content.length; ) {
    if (at + HEAD_BYTES > content.length) throw damagedEntry('trie', key, 'ends too soon');
    const end = at + HEAD_BYTES + view.getUint32(at + HASH_BYTES);
    if (end > content.length) throw damagedEntry('trie', key, 'ends too soon');
    into.set(bytesToKey(content.subarray(at, at + HASH_BYTES)), copyBytes(content, at + HEAD_BYTES, end));
    at = end;
  }
}

/** Bytes that are hashed in about a millisecond. */
const HASHED_AT_ONCE = 2 ** 18;

/** Adds bytes to a hash, in as many turns as that takes. */
export async function hashInTurns(hash: { update(bytes: Uint8Array): unknown }, bytes: Uint8Array): Promise<void> {
  for (let at = 0; at < bytes.length; at += HASHED_AT_ONCE) {
    await nextTurn();
    hash.update(bytes.subarray(at, at + HASHED_AT_ONCE));
  }
}
