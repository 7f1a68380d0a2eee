import { sha256 } from '@noble/hashes/sha2.js';
import { PlumblineError } from '../../errors.js';
import { copyBytes, equalBytes } from '../../primitives/bytes.js';

const VERSION = 1;
const CHECKSUM_BYTES = 8;

/** Error about a page, or about pages that do not fit together. */
export function pageCorrupt(key: string, reason: string, cause?: unknown): PlumblineError<'STORE_CORRUPT'> {
  const details = { table: 'state', reason: `page ${key}: ${reason}` };
  return new PlumblineError('STORE_CORRUPT', `stored state, ${details.reason}`, details, { cause });
}

/**
 * The first bytes of SHA-256 over key, version and content. The key is included, so a page under another key is
 * refused.
 */
function checksum(key: string, sealed: Uint8Array): Uint8Array {
  return sha256
    .create()
    .update(new TextEncoder().encode(`${key}\n`))
    .update(sealed)
    .digest()
    .subarray(0, CHECKSUM_BYTES);
}

/** Writes the content of a page. Numbers are big-endian. */
export class PageWriter {
  private bytes = new Uint8Array(1024);
  private length = 0;

  constructor() {
    this.u8(VERSION);
  }

  u8(value: number): this {
    this.reserve(1);
    this.bytes[this.length++] = value;
    return this;
  }

  u32(value: number): this {
    this.reserve(4);
    new DataView(this.bytes.buffer).setUint32(this.length, value);
    this.length += 4;
    return this;
  }

  put(bytes: Uint8Array): this {
    this.reserve(bytes.length);
    this.bytes.set(bytes, this.length);
    this.length += bytes.length;
    return this;
  }

  /** The complete page: version, content, checksum of 8 bytes. */
  seal(key: string): Uint8Array {
    return this.put(checksum(key, this.bytes.subarray(0, this.length))).bytes.slice(0, this.length);
  }

  private reserve(more: number): void {
    if (this.length + more <= this.bytes.length) return;
    const grown = new Uint8Array(2 * (this.length + more));
    grown.set(this.bytes.subarray(0, this.length));
    this.bytes = grown;
  }
}

/** Reads the content of a page. Every method throws `STORE_CORRUPT` if the content is too short. */
export class PageReader {
  private at = 1;
  private readonly end: number;

  /** @throws PlumblineError `STORE_CORRUPT` for a missing or damaged page, `STORE_TOO_NEW` */
  constructor(
    readonly key: string,
    private readonly page: Uint8Array | undefined,
  ) {
    if (page === undefined) throw pageCorrupt(key, 'missing');
    this.end = page.length - CHECKSUM_BYTES;
    if (this.end < 1 || !equalBytes(checksum(key, page.subarray(0, this.end)), page.subarray(this.end))) {
      throw pageCorrupt(key, 'damaged, its checksum does not match');
    }
    if (page[0] !== VERSION) {
      const details = { version: page[0]!, supported: VERSION };
      throw new PlumblineError(
        'STORE_TOO_NEW',
        `page ${key} has format ${page[0]}, this version reads ${VERSION}; use a newer version of plumbline`,
        details,
      );
    }
  }

  get left(): number {
    return this.end - this.at;
  }

  u8(): number {
    return this.take(1)[0]!;
  }

  u32(): number {
    const bytes = this.take(4);
    return new DataView(bytes.buffer, bytes.byteOffset).getUint32(0);
  }

  /** Returns a copy. */
  take(length: number): Uint8Array {
    if (length > this.left) throw pageCorrupt(this.key, 'too short');
    const bytes = copyBytes(this.page!, this.at, this.at + length);
    this.at += length;
    return bytes;
  }

  finish(): void {
    if (this.left !== 0) throw pageCorrupt(this.key, 'too long');
  }
}
