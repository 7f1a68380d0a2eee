import { copyBytes, ZERO_WORD } from '../../primitives/bytes.js';
import { malformed, readArray, readBytes } from '../../proof/json-reader.js';
import { chunksOf, hashPair, merkleRoot } from './merkle.js';

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
