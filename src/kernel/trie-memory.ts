import { PlumblineError } from '../errors.js';
import { DIGEST_BYTES } from './contracts.js';
import type { TrieLeaf } from './trie-contract.js';
import { ENTRY, PAGE, RECORD, type TrieExports } from './trie-exports.js';

/** Reads and writes the linear memory of the trie module. Views become invalid when it grows, and are renewed here. */
export class TrieMemory {
  readonly #wasm: TrieExports;
  readonly #operands: number;
  readonly #proof: number;
  #bytes: Uint8Array;
  #words: DataView;

  constructor(wasm: TrieExports) {
    this.#wasm = wasm;
    this.#operands = wasm.operands.value >>> 0;
    this.#proof = wasm.proof.value >>> 0;
    this.#bytes = new Uint8Array(wasm.memory.buffer);
    this.#words = new DataView(wasm.memory.buffer);
  }

  get size(): number {
    return this.#wasm.memory.buffer.byteLength;
  }

  /** Growth detaches the buffer of the old views. */
  #renew(): void {
    if (this.#bytes.length > 0) return;
    this.#bytes = new Uint8Array(this.#wasm.memory.buffer);
    this.#words = new DataView(this.#wasm.memory.buffer);
  }

  copy(at: number, length: number): Uint8Array {
    this.#renew();
    return this.#bytes.slice(at, at + length);
  }

  /** Address at which proofs are collected. */
  get proof(): number {
    return this.#proof;
  }

  /** The first bytes of a proof or of siblings, copied. */
  copyProof(length: number): Uint8Array {
    return this.copy(this.#proof, length);
  }

  /** @param record - address of a leaf record */
  nextLeafOf(record: number): number {
    this.#renew();
    return this.#words.getUint32(record + RECORD.nextLeaf, true);
  }

  readLeaf(record: number): TrieLeaf {
    this.#renew();
    return {
      prevLeaf: this.#words.getUint32(record + RECORD.prevLeaf, true),
      nextLeaf: this.#words.getUint32(record + RECORD.nextLeaf, true),
      hkey: this.copy(record + RECORD.hkey, DIGEST_BYTES),
      hval: this.copy(record + RECORD.hval, DIGEST_BYTES),
    };
  }

  /** @throws PlumblineError `INVALID_LENGTH` */
  writeKey(hkey: Uint8Array): void {
    this.#writeHash(ENTRY.hkey, hkey, 'hkey');
  }

  /** @throws PlumblineError `INVALID_LENGTH` */
  writeValue(hval: Uint8Array): void {
    this.#writeHash(ENTRY.hval, hval, 'hval');
  }

  /** @throws PlumblineError `INVALID_LENGTH` */
  writeLeaf(leaf: TrieLeaf): void {
    this.writeKey(leaf.hkey);
    this.writeValue(leaf.hval);
    this.#words.setUint32(this.#operands + ENTRY.prevLeaf, leaf.prevLeaf, true);
    this.#words.setUint32(this.#operands + ENTRY.nextLeaf, leaf.nextLeaf, true);
  }

  /** Writes a journal entry into the operands. */
  writeEntry(entry: Uint8Array): void {
    this.#renew();
    this.#bytes.set(entry, this.#operands);
  }

  /** A journal's entries, concatenated. */
  copyJournal(journal: number): Uint8Array {
    this.#renew();
    const pages: Uint8Array[] = [];
    let length = 0;
    let page = this.#wasm.journalPages(journal) >>> 0;
    for (; page !== 0; page = this.#words.getUint32(page + PAGE.next, true)) {
      const start = page + PAGE.entries;
      pages.push(this.#bytes.subarray(start, start + this.#words.getUint32(page + PAGE.bytes, true)));
      length += pages.at(-1)!.length;
    }
    const all = new Uint8Array(length);
    let at = 0;
    for (const entries of pages) {
      all.set(entries, at);
      at += entries.length;
    }
    return all;
  }

  #writeHash(field: number, hash: Uint8Array, what: string): void {
    if (hash.length !== DIGEST_BYTES) {
      throw new PlumblineError('INVALID_LENGTH', `${what} must have 32 bytes, got ${hash.length}`, {
        what,
        expected: String(DIGEST_BYTES),
        actual: hash.length,
      });
    }
    this.#renew();
    this.#bytes.set(hash, this.#operands + field);
  }
}
