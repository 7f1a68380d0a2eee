import { PlumblineError } from '../../../errors.js';
import { bigIntToMinimalBytes, bytesToBigInt, bytesToKey, copyBytes } from '../../../primitives/bytes.js';

/** Type of the value that follows, one byte. */
const TAG = {
  undefined: 0,
  null: 1,
  false: 2,
  true: 3,
  integer: 4,
  bigint: 5,
  bytes: 6,
  shared: 7,
  list: 8,
  object: 9,
};

/** Shorter bytes take no more room than a reference to them; longer ones rarely repeat. */
const MIN_SHARED_BYTES = 8;
const MAX_SHARED_BYTES = 1024;
/** Maximum number of shared byte strings. */
const MAX_SHARED = 1024;
/**
 * Number of consecutive values that must contain the same bytes before they are shared. A block hash occurs in two: its
 * block and the next one.
 */
const MIN_RUN = 3;
/** Bytes of a buffer that packed values share: a buffer for each takes a hundred bytes more. */
const SHARED_BUFFER_BYTES = 65_536;
/** Bytes that a packer keeps for writing, enough for most blocks. */
const OUTPUT_BYTES = 16_384;

/**
 * Packs plain values (objects, arrays, bytes, integers, bigints, booleans) into bytes, for values in memory that are
 * rarely read. Unpacked, a block takes about five times as much. Property names and repeated bytes are stored once per
 * packer, so only the packer that packed a value can unpack it.
 */
export class Packer {
  private readonly shapes: (readonly string[])[] = [];
  private readonly shapeIds = new Map<string, number>();
  private readonly shared: Uint8Array[] = [];
  private readonly sharedIds = new Map<string, number>();
  /** Byte strings of the previous and the current value, with the number of consecutive values that contained them. */
  private previousRuns = new Map<string, number>();
  private currentRuns = new Map<string, number>();
  private buffer = new Uint8Array(0);
  private bufferAt = 0;
  private out: Output = { bytes: new Uint8Array(OUTPUT_BYTES), at: 0 };

  /** @throws PlumblineError `INTERNAL` for a value of another type */
  pack(value: unknown): Uint8Array {
    this.out.at = 0;
    this.write(this.out, value);
    [this.previousRuns, this.currentRuns] = [this.currentRuns, new Map()];
    const packed = this.kept(this.out.bytes.subarray(0, this.out.at));
    if (packed.length > OUTPUT_BYTES) this.out = { bytes: new Uint8Array(OUTPUT_BYTES), at: 0 };
    return packed;
  }

  /** A copy in a buffer that others are in, too. */
  private kept(bytes: Uint8Array): Uint8Array {
    const { length } = bytes;
    if (length > SHARED_BUFFER_BYTES / 4) return copyBytes(bytes);
    if (this.bufferAt + length > this.buffer.length) {
      this.buffer = new Uint8Array(SHARED_BUFFER_BYTES);
      this.bufferAt = 0;
    }
    const copy = this.buffer.subarray(this.bufferAt, this.bufferAt + length);
    copy.set(bytes);
    this.bufferAt += length;
    return copy;
  }

  /** The packed value. Shared bytes in it must not be modified. */
  unpack(packed: Uint8Array): unknown {
    return this.read({ packed, at: 0 });
  }

  private write(out: Output, value: unknown): void {
    if (value === undefined) writeByte(out, TAG.undefined);
    else if (value === null) writeByte(out, TAG.null);
    else if (typeof value === 'boolean') writeByte(out, value ? TAG.true : TAG.false);
    else if (typeof value === 'bigint' && value >= 0n) {
      writeByte(out, TAG.bigint);
      writeBytes(out, bigIntToMinimalBytes(value));
    } else if (typeof value === 'number' && Number.isSafeInteger(value) && value >= 0) {
      writeByte(out, TAG.integer);
      writeInteger(out, value);
    } else if (value instanceof Uint8Array) this.writeShared(out, value);
    else if (Array.isArray(value)) {
      writeByte(out, TAG.list);
      writeInteger(out, value.length);
      for (const item of value) this.write(out, item);
    } else if (typeof value === 'object') {
      writeByte(out, TAG.object);
      writeInteger(out, this.shapeOf(Object.keys(value)));
      for (const item of Object.values(value)) this.write(out, item);
    } else
      throw new PlumblineError('INTERNAL', `a value of type ${typeof value} cannot be packed`, {
        reason: `packing of ${typeof value}`,
      });
  }

  private writeShared(out: Output, bytes: Uint8Array): void {
    const id = bytes.length < MIN_SHARED_BYTES ? undefined : this.sharedId(bytes);
    writeByte(out, id === undefined ? TAG.bytes : TAG.shared);
    if (id === undefined) writeBytes(out, bytes);
    else writeInteger(out, id);
  }

  private sharedId(bytes: Uint8Array): number | undefined {
    if (bytes.length > MAX_SHARED_BYTES) return undefined;
    const key = bytesToKey(bytes);
    const id = this.sharedIds.get(key);
    if (id !== undefined) return id;
    const run = (this.previousRuns.get(key) ?? 0) + 1;
    this.currentRuns.set(key, run);
    if (run < MIN_RUN || this.shared.length === MAX_SHARED) return undefined;
    this.sharedIds.set(key, this.shared.length);
    return this.shared.push(copyBytes(bytes)) - 1;
  }

  private shapeOf(names: readonly string[]): number {
    const key = names.join();
    let id = this.shapeIds.get(key);
    if (id === undefined) {
      id = this.shapes.push(names) - 1;
      this.shapeIds.set(key, id);
    }
    return id;
  }

  private read(from: { readonly packed: Uint8Array; at: number }): unknown {
    switch (from.packed[from.at++]) {
      case TAG.null:
        return null;
      case TAG.false:
        return false;
      case TAG.true:
        return true;
      case TAG.integer:
        return readInteger(from);
      case TAG.bigint:
        return bytesToBigInt(readBytes(from));
      case TAG.bytes:
        return readBytes(from);
      case TAG.shared:
        return this.shared[readInteger(from)];
      case TAG.list:
        return Array.from({ length: readInteger(from) }, () => this.read(from));
      case TAG.object:
        return Object.fromEntries(this.shapes[readInteger(from)]!.map((name) => [name, this.read(from)]));
      default:
        return undefined;
    }
  }
}

/** Bytes that are being written, and where the next one goes. */
interface Output {
  bytes: Uint8Array;
  at: number;
}

/** Makes room for this many bytes. */
function reserve(out: Output, count: number): void {
  if (out.at + count <= out.bytes.length) return;
  const larger = new Uint8Array(2 * (out.at + count));
  larger.set(out.bytes);
  out.bytes = larger;
}

function writeByte(out: Output, byte: number): void {
  reserve(out, 1);
  out.bytes[out.at++] = byte;
}

/** Seven bits per byte, lowest first. The eighth bit is set if more bytes follow. */
function writeInteger(out: Output, value: number): void {
  let rest = value;
  for (; rest >= 128; rest = Math.floor(rest / 128)) writeByte(out, (rest % 128) + 128);
  writeByte(out, rest);
}

function writeBytes(out: Output, bytes: Uint8Array): void {
  writeInteger(out, bytes.length);
  reserve(out, bytes.length);
  out.bytes.set(bytes, out.at);
  out.at += bytes.length;
}

function readInteger(from: { readonly packed: Uint8Array; at: number }): number {
  let value = 0;
  for (let unit = 1; ; unit *= 128) {
    const byte = from.packed[from.at++]!;
    value += (byte % 128) * unit;
    if (byte < 128) return value;
  }
}

function readBytes(from: { readonly packed: Uint8Array; at: number }): Uint8Array {
  const length = readInteger(from);
  from.at += length;
  return copyBytes(from.packed, from.at - length, from.at);
}
