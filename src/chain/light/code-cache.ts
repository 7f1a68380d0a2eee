import { bytesToKey } from '../../primitives/bytes.js';

/** Bytes of code that are kept; the least recently used goes first. A contract has 24 KiB at most. */
const MAX_BYTES = 16 * 2 ** 20;

/** Verified code by its hash. It never goes stale: what has the hash is the code. */
export class CodeCache {
  private readonly codes = new Map<string, Uint8Array>();
  private bytes = 0;

  /** @param hash - Keccak-256, 32 bytes */
  get(hash: Uint8Array): Uint8Array | undefined {
    const key = bytesToKey(hash);
    const code = this.codes.get(key);
    if (code === undefined) return undefined;
    this.codes.delete(key);
    this.codes.set(key, code);
    return code;
  }

  /** Keeps code that has been verified to have this hash. */
  put(hash: Uint8Array, code: Uint8Array): void {
    const key = bytesToKey(hash);
    if (this.codes.has(key)) return;
    this.codes.set(key, code);
    this.bytes += code.length;
    for (const [oldest, dropped] of this.codes) {
      if (this.bytes <= MAX_BYTES || oldest === key) break;
      this.codes.delete(oldest);
      this.bytes -= dropped.length;
    }
  }
}
