/**
 * SSZ, the encoding of the consensus layer: types that read and write bytes, read the JSON of the beacon API, and compute roots. A root
 * is that of a binary tree over chunks of 32 bytes; a branch proves one node of it. `toJson` writes the JSON of any value.
 *
 * @source ethereum/consensus-specs@a08d8a6e ssz/simple-serialize.md, ssz/merkle-proofs.md
 */

import { sha256 } from '@noble/hashes/sha2.js';
import { concatBytes, copyBytes, equalBytes, isZeroBytes, ZERO_WORD } from '../primitives/bytes.js';
import { bytesToHex } from '../primitives/hex.js';
import { malformed, member, readArray, readBytes, readObject } from '../proof/json-reader.js';

/**
 * A type of SSZ, read strictly from bytes and from the JSON of the beacon API. `toJson` writes that of any value.
 *
 * @source ethereum/consensus-specs@a08d8a6e ssz/simple-serialize.md
 */
export interface SszType<T> {
  /** Bytes of every value; undefined where values differ in length. */
  readonly size: number | undefined;
  /** @throws PlumblineError `PROOF_MALFORMED` */
  decode(bytes: Uint8Array, path: string): T;
  encode(value: T): Uint8Array;
  /** @throws PlumblineError `PROOF_MALFORMED` */
  fromJson(value: unknown, path: string): T;
  /** 32 bytes. */
  hashTreeRoot(value: T): Uint8Array;
}

/** A container. */
export interface ContainerType<T> extends SszType<T> {
  /** Roots of its members in order, 32 bytes each: the leaves of its tree. */
  memberRoots(value: T): Uint8Array[];
}

/** Throws unless `bytes` has this length. */
function checkLength(bytes: Uint8Array, size: number, path: string): void {
  if (bytes.length !== size) throw malformed(path, `has ${bytes.length} bytes, expected ${size}`);
}

/** An unsigned integer: little-endian in bytes, decimal text in JSON. @param size - bytes, at most 32 */
export function uint(size: number): SszType<bigint> {
  const encode = (value: bigint) =>
    Uint8Array.from({ length: size }, (_, i) => Number(BigInt.asUintN(8, value >> BigInt(8 * i))));
  return {
    size,
    decode(bytes, path) {
      checkLength(bytes, size, path);
      return bytes.reduceRight((value, byte) => (value << 8n) | BigInt(byte), 0n);
    },
    encode,
    fromJson(value, path) {
      // 78 digits hold 2^256 - 1.
      if (typeof value !== 'string' || !/^(?:0|[1-9]\d{0,77})$/.test(value)) {
        throw malformed(path, 'is not decimal text without leading zeros');
      }
      const number = BigInt(value);
      if (number >> BigInt(8 * size) !== 0n) throw malformed(path, `does not fit into ${size} bytes`);
      return number;
    },
    hashTreeRoot: (value) => chunksOf(encode(value))[0]!,
  };
}

/** As many bytes as `size` says; a vector of bits has the same encoding. */
export function byteVector(size: number): SszType<Uint8Array> {
  return {
    size,
    decode(bytes, path) {
      checkLength(bytes, size, path);
      return copyBytes(bytes);
    },
    encode: (value) => value,
    fromJson: (value, path) => readBytes(value, path, size),
    hashTreeRoot: (value) => merkleRoot(chunksOf(value)),
  };
}

/** At most 32 bytes. */
export const bytesUpTo32: SszType<Uint8Array> = {
  size: undefined,
  decode(bytes, path) {
    if (bytes.length > 32) throw malformed(path, `has ${bytes.length} bytes, expected at most 32`);
    return copyBytes(bytes);
  },
  encode: (value) => value,
  fromJson: (value, path) => bytesUpTo32.decode(readBytes(value, path), path),
  hashTreeRoot: (value) => hashPair(chunksOf(value)[0] ?? ZERO_WORD, chunksOf(Uint8Array.of(value.length))[0]!),
};

/** `length` values of a type of fixed size. */
export function vector<T>(type: SszType<T>, length: number): SszType<readonly T[]> {
  const each = type.size!;
  const size = each * length;
  return {
    size,
    decode(bytes, path) {
      checkLength(bytes, size, path);
      return Array.from({ length }, (_, i) => type.decode(bytes.subarray(i * each, (i + 1) * each), `${path}[${i}]`));
    },
    encode(values) {
      const bytes = new Uint8Array(size);
      for (const [i, value] of values.entries()) bytes.set(type.encode(value), i * each);
      return bytes;
    },
    fromJson(value, path) {
      const items = readArray(value, path);
      if (items.length !== length) throw malformed(path, `has ${items.length} entries, expected ${length}`);
      return items.map((item, i) => type.fromJson(item, `${path}[${i}]`));
    },
    hashTreeRoot: (values) => merkleRoot(values.map((value) => type.hashTreeRoot(value))),
  };
}

/** Whether everything of a value is zero. */
export function isZero(value: unknown): boolean {
  return typeof value === 'object' ? Object.values(value!).every(isZero) : !value;
}

/** Stands in the place of a member of variable length, and says where it begins. */
const offset = uint(4);
const OFFSET_BYTES = 4;

type Members<T> = { readonly [K in keyof T]-?: SszType<T[K]> };

/** `blockHash` as the beacon API writes it: `block_hash`. */
const jsonName = (name: string): string => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

/**
 * A container.
 *
 * @param members - types in order, by names in camel case; JSON has them in snake case
 */
export function container<T extends object>(members: Members<T>): ContainerType<T> {
  const fields = (Object.entries(members) as [keyof T & string, SszType<T[keyof T]>][]).map(([name, type]) => ({
    name,
    json: jsonName(name),
    type,
  }));
  const fixedLength = fields.reduce((sum, { type }) => sum + (type.size ?? OFFSET_BYTES), 0);
  const build = (read: (field: (typeof fields)[number], place: number) => T[keyof T]): T =>
    Object.fromEntries(fields.map((field, i) => [field.name, read(field, i)])) as T;

  /** Bytes of each member, from the last to the first: what follows the fixed part is divided without a gap. */
  function split(bytes: Uint8Array, path: string): Uint8Array[] {
    if (bytes.length < fixedLength) throw malformed(path, `has ${bytes.length} bytes, expected ${fixedLength} or more`);
    const view = new DataView(bytes.buffer, bytes.byteOffset);
    const parts: Uint8Array[] = [];
    let at = fixedLength;
    let end = bytes.length;
    for (let i = fields.length; i-- > 0; ) {
      const { json, type } = fields[i]!;
      at -= type.size ?? OFFSET_BYTES;
      if (type.size !== undefined) {
        parts[i] = bytes.subarray(at, at + type.size);
        continue;
      }
      const start = view.getUint32(at, true);
      if (start > end) throw malformed(member(path, json), `begins at ${start}, behind its end at ${end}`);
      parts[i] = bytes.subarray(start, end);
      end = start;
    }
    if (end !== fixedLength) throw malformed(path, `has a fixed part of ${end} bytes, expected ${fixedLength}`);
    return parts;
  }

  const memberRoots = (value: T) => fields.map(({ name, type }) => type.hashTreeRoot(value[name]));
  return {
    size: fields.every(({ type }) => type.size !== undefined) ? fixedLength : undefined,
    decode(bytes, path) {
      const parts = split(bytes, path);
      return build(({ json, type }, i) => type.decode(parts[i]!, member(path, json)));
    },
    encode(value) {
      const fixed: Uint8Array[] = [];
      const variable: Uint8Array[] = [];
      let end = fixedLength;
      for (const { name, type } of fields) {
        const bytes = type.encode(value[name]);
        if (type.size !== undefined) {
          fixed.push(bytes);
          continue;
        }
        fixed.push(offset.encode(BigInt(end)));
        variable.push(bytes);
        end += bytes.length;
      }
      return concatBytes(...fixed, ...variable);
    },
    fromJson(value, path) {
      const object = readObject(value, path);
      return build(({ json, type }) => {
        if (!Object.hasOwn(object, json)) throw malformed(member(path, json), 'is missing');
        return type.fromJson(object[json], member(path, json));
      });
    },
    memberRoots,
    hashTreeRoot: (value) => merkleRoot(memberRoots(value)),
  };
}

/** Input of every compression, used again. */
const PAIR = new Uint8Array(64);

/** Roots of subtrees of zero chunks, by depth. */
const ZERO_ROOTS: Uint8Array[] = [ZERO_WORD];

/** SHA-256 of two words of 32 bytes. */
export function hashPair(left: Uint8Array, right: Uint8Array): Uint8Array {
  PAIR.set(left);
  PAIR.set(right, 32);
  return sha256(PAIR);
}

/** Root of a subtree of this depth that is all zero. */
export function zeroRoot(depth: number): Uint8Array {
  while (ZERO_ROOTS.length <= depth) ZERO_ROOTS.push(hashPair(ZERO_ROOTS.at(-1)!, ZERO_ROOTS.at(-1)!));
  return ZERO_ROOTS[depth]!;
}

/** Root of a tree over at least one chunk of 32 bytes, padded with zero chunks to the next power of two. */
export function merkleRoot(chunks: readonly Uint8Array[]): Uint8Array {
  let layer = chunks;
  for (let depth = 0; layer.length > 1; depth++) {
    const above: Uint8Array[] = [];
    for (let i = 0; i < layer.length; i += 2) above.push(hashPair(layer[i]!, layer[i + 1] ?? zeroRoot(depth)));
    layer = above;
  }
  return layer[0]!;
}

/** Bytes in chunks of 32, the last one padded with zeros. */
export function chunksOf(bytes: Uint8Array): Uint8Array[] {
  const chunks: Uint8Array[] = [];
  for (let at = 0; at < bytes.length; at += 32) {
    const chunk = new Uint8Array(32);
    chunk.set(bytes.subarray(at, at + 32));
    chunks.push(chunk);
  }
  return chunks;
}

/**
 * The root that a leaf has under a branch.
 *
 * @param gindex - generalized index of the leaf: 1 is the root, 2n and 2n + 1 are the children of n
 * @param branch - siblings from the leaf upwards, as many as the leaf is deep
 * @source ethereum/consensus-specs@a08d8a6e ssz/merkle-proofs.md
 */
export function rootFromBranch(leaf: Uint8Array, gindex: number, branch: readonly Uint8Array[]): Uint8Array {
  let node = leaf;
  for (const [i, sibling] of branch.entries()) {
    node = (gindex >> i) % 2 === 1 ? hashPair(sibling, node) : hashPair(node, sibling);
  }
  return node;
}

/**
 * Whether a branch proves a leaf. It may be longer than the leaf is deep: what is too much stands in front and must be zero.
 *
 * @param branch - siblings from the leaf upwards
 * @source ethereum/consensus-specs@a08d8a6e specs/electra/light-client/fork.md, normalize_merkle_branch; specs/altair/light-client/sync-protocol.md
 */
export function isValidNormalizedMerkleBranch(
  leaf: Uint8Array,
  branch: readonly Uint8Array[],
  gindex: number,
  root: Uint8Array,
): boolean {
  const surplus = branch.length - Math.floor(Math.log2(gindex));
  if (surplus < 0 || !branch.slice(0, surplus).every(isZeroBytes)) return false;
  return equalBytes(rootFromBranch(leaf, gindex, branch.slice(surplus)), root);
}

/** A value of any type of SSZ as the beacon API writes it: integers in decimal, bytes in hex, names in snake case. */
export function toJson(value: unknown): unknown {
  if (typeof value === 'bigint') return value.toString();
  if (value instanceof Uint8Array) return bytesToHex(value);
  if (Array.isArray(value)) return value.map(toJson);
  return Object.fromEntries(Object.entries(value as object).map(([name, member]) => [jsonName(name), toJson(member)]));
}
