import type { EvmExports } from './evm-exports.js';

const LOW_64 = 0xffff_ffff_ffff_ffffn;

/** Reads and writes the linear memory of the EVM. Views become invalid when it grows, and are renewed by `renew`. */
export class EvmMemory {
  bytes: Uint8Array;
  view: DataView;
  /** Addresses of the fixed regions. */
  readonly io: number;
  readonly env: number;
  readonly result: number;
  readonly wants: number;

  constructor(private readonly wasm: EvmExports) {
    this.bytes = new Uint8Array(wasm.memory.buffer);
    this.view = new DataView(wasm.memory.buffer);
    this.io = wasm.IO.value >>> 0;
    this.env = wasm.ENV.value >>> 0;
    this.result = wasm.RESULT.value >>> 0;
    this.wants = wasm.WANTS.value >>> 0;
  }

  get size(): number {
    return this.wasm.memory.buffer.byteLength;
  }

  /** Renews the views after a call that may have grown the memory. Growth detaches the buffer of the old ones. */
  renew(): void {
    if (this.bytes.length > 0) return;
    this.bytes = new Uint8Array(this.wasm.memory.buffer);
    this.view = new DataView(this.wasm.memory.buffer);
  }

  write(at: number, bytes: Uint8Array): void {
    this.bytes.set(bytes, at);
  }

  copy(at: number, length: number): Uint8Array {
    return this.bytes.slice(at, at + length);
  }

  u32(at: number): number {
    return this.view.getUint32(at, true);
  }

  u64(at: number): bigint {
    return this.view.getBigUint64(at, true);
  }

  i64(at: number): bigint {
    return this.view.getBigInt64(at, true);
  }

  /** Writes a number below 2^53 as 8 bytes, little-endian. */
  writeNumber(at: number, value: number): void {
    this.view.setUint32(at, value % 4_294_967_296, true);
    this.view.setUint32(at + 4, Math.floor(value / 4_294_967_296), true);
  }

  /** Writes 8 bytes, little-endian; a value that does not fit becomes the largest. */
  writeUint64(at: number, value: bigint): void {
    this.view.setBigUint64(at, value > LOW_64 ? LOW_64 : value, true);
  }

  /** Writes a word: 32 bytes, big-endian. */
  writeWord(at: number, value: bigint): void {
    const { view } = this;
    if (value <= LOW_64) {
      this.bytes.fill(0, at, at + 24);
      view.setBigUint64(at + 24, value);
      return;
    }
    view.setBigUint64(at, BigInt.asUintN(64, value >> 192n));
    view.setBigUint64(at + 8, BigInt.asUintN(64, value >> 128n));
    view.setBigUint64(at + 16, BigInt.asUintN(64, value >> 64n));
    view.setBigUint64(at + 24, BigInt.asUintN(64, value));
  }

  /** Reads a word: 32 bytes, big-endian. */
  word(at: number): bigint {
    const { view } = this;
    const low = view.getBigUint64(at + 24);
    const next = view.getBigUint64(at + 16);
    const high = view.getBigUint64(at + 8);
    const highest = view.getBigUint64(at);
    if (highest === 0n && high === 0n) return next === 0n ? low : (next << 64n) | low;
    return (((((highest << 64n) | high) << 64n) | next) << 64n) | low;
  }
}
