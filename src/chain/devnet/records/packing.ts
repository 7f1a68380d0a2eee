import { PlumblineError } from '../../../errors.js';
import { bigIntToMinimalBytes, bytesToBigInt, bytesToKey } from '../../../primitives/bytes.js';

/** What stands before a value, one byte. */
const TAG = {
  undefined: 0,
  null: 1,
  false: 2,
  true: 3,
  integer: 4,
  bigint: 5,
  bytes: 6,
  common: 7,
  list: 8,
  object: 9,
};

/** Shorter bytes are not worth a place among the common ones, longer ones hardly come again. */
const MIN_COMMON_BYTES = 8;
const MAX_COMMON_BYTES = 1024;
/** Most bytes that are common. */
const MAX_COMMON = 1024;
/**
 * Values in a row that have to have the same bytes before these are common. The hash of a block comes in two: the next
 * names it.
 */
const RUN = 3;

/**
 * Packs plain values (objects, arrays, bytes, integers, big integers, booleans) into bytes, for the memory of those that are
 * seldom read: a block as objects takes about five times as much. What one packer packs only it can unpack: names of members,
 * and bytes that come again from value to value, are told once.
 */
export class Packer {
  private readonly shapes: (readonly string[])[] = [];
  private readonly shapeIds = new Map<string, number>();
  private readonly common: Uint8Array[] = [];
  private readonly commonIds = new Map<string, number>();
  /** Bytes of the value before this one, and of how many in a row; the same of this one. */
  private before = new Map<string, number>();
  private now = new Map<string, number>();

  /** @throws PlumblineError `INTERNAL` for a value of another kind */
  pack(value: unknown): Uint8Array {
    const out: number[] = [];
    this.write(out, value);
    [this.before, this.now] = [this.now, new Map()];
    return Uint8Array.from(out);
  }

  /** The value that was packed; bytes that are common to several are shared and must not be written to. */
  unpack(packed: Uint8Array): unknown {
    return this.read({ packed, at: 0 });
  }

  private write(out: number[], value: unknown): void {
    if (value === undefined) out.push(TAG.undefined);
    else if (value === null) out.push(TAG.null);
    else if (typeof value === 'boolean') out.push(value ? TAG.true : TAG.false);
    else if (typeof value === 'bigint' && value >= 0n) {
      out.push(TAG.bigint);
      writeBytes(out, bigIntToMinimalBytes(value));
    } else if (typeof value === 'number' && Number.isSafeInteger(value) && value >= 0) {
      out.push(TAG.integer);
      writeInteger(out, value);
    } else if (value instanceof Uint8Array) this.writeShared(out, value);
    else if (Array.isArray(value)) {
      out.push(TAG.list);
      writeInteger(out, value.length);
      for (const item of value) this.write(out, item);
    } else if (typeof value === 'object') {
      out.push(TAG.object);
      writeInteger(out, this.shapeOf(Object.keys(value)));
      for (const item of Object.values(value)) this.write(out, item);
    } else throw new PlumblineError('INTERNAL', 'a value cannot be packed', { reason: `packing of ${typeof value}` });
  }

  private writeShared(out: number[], bytes: Uint8Array): void {
    const id = bytes.length < MIN_COMMON_BYTES ? undefined : this.commonId(bytes);
    out.push(id === undefined ? TAG.bytes : TAG.common);
    if (id === undefined) writeBytes(out, bytes);
    else writeInteger(out, id);
  }

  private commonId(bytes: Uint8Array): number | undefined {
    if (bytes.length > MAX_COMMON_BYTES) return undefined;
    const key = bytesToKey(bytes);
    const id = this.commonIds.get(key);
    if (id !== undefined) return id;
    const run = (this.before.get(key) ?? 0) + 1;
    this.now.set(key, run);
    if (run < RUN || this.common.length === MAX_COMMON) return undefined;
    this.commonIds.set(key, this.common.length);
    return this.common.push(bytes.slice()) - 1;
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
      case TAG.common:
        return this.common[readInteger(from)];
      case TAG.list:
        return Array.from({ length: readInteger(from) }, () => this.read(from));
      case TAG.object:
        return Object.fromEntries(this.shapes[readInteger(from)]!.map((name) => [name, this.read(from)]));
      default:
        return undefined;
    }
  }
}

/** Seven bits a byte, lowest first; the eighth says that more follow. */
function writeInteger(out: number[], value: number): void {
  let rest = value;
  for (; rest >= 128; rest = Math.floor(rest / 128)) out.push((rest % 128) + 128);
  out.push(rest);
}

function writeBytes(out: number[], bytes: Uint8Array): void {
  writeInteger(out, bytes.length);
  for (const byte of bytes) out.push(byte);
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
  return from.packed.slice(from.at - length, from.at);
}
