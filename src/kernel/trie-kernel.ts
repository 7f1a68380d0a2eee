import { invalidParameter, type PlumblineError } from '../errors.js';
import { DIGEST_BYTES, type HashScheme } from './contracts.js';
import { instantiate, type KernelSource } from './instantiate.js';
import type {
  TrieEffect,
  TrieFound,
  TrieKernel,
  TrieKernelOptions,
  TrieLeaf,
  TrieStatistics,
} from './trie-contract.js';
import { ENTRY, JOURNAL, NONE, STATUS, type TrieExports } from './trie-exports.js';
import { TrieMemory } from './trie-memory.js';
import { trieRefusal } from './trie-refusal.js';

/** The builds of the trie module. */
export const TRIE_SOURCE: KernelSource = {
  name: 'trie',
  simd: () => import('./wasm/trie.simd.generated.js'),
  scalar: () => import('./wasm/trie.scalar.generated.js'),
};

const NODE_BYTES = 64;
const DEPTH = 40;
const POSITIONS = 2 ** 32;

/**
 * Loads the trie module for one hash scheme. Each kernel has its own memory, at first 384 KiB, and 640 KiB from the
 * first write on.
 *
 * @throws PlumblineError `KERNEL_UNAVAILABLE`
 */
export async function loadTrieKernel(scheme: HashScheme, options: TrieKernelOptions = {}): Promise<TrieKernel> {
  return trieKernelOf(scheme, await instantiate<TrieExports>(TRIE_SOURCE, options), options);
}

/** The kernel of an unshared instance of the trie module. */
export function trieKernelOf(scheme: HashScheme, wasm: TrieExports, options: TrieKernelOptions): TrieKernel {
  return new WasmTrieKernel(scheme, wasm, options);
}

class WasmTrieKernel implements TrieKernel {
  readonly scheme: HashScheme;
  readonly keeps: TrieKernel['keeps'];
  readonly #wasm: TrieExports;
  readonly #memory: TrieMemory;
  /** Existing tries, and those with uncommitted writes. */
  readonly #tries = new Set<number>();
  readonly #changed = new Set<number>();

  constructor(scheme: HashScheme, wasm: TrieExports, { undo = false, nodes = false }: TrieKernelOptions) {
    this.keeps = { undo, nodes };
    this.scheme = scheme;
    this.#wasm = wasm;
    this.#memory = new TrieMemory(wasm);
    if (wasm.init(scheme === 'mimc' ? 1 : 0) === 0) throw this.#refusal(STATUS.noMemory);
    wasm.recordJournals(undo ? 1 : 0, nodes ? 1 : 0);
  }

  createTrie(): number {
    const trie = this.#wasm.createTrie() >>> 0;
    if (trie === 0) throw this.#refusal(STATUS.noMemory);
    this.#tries.add(trie);
    return trie;
  }

  dropTrie(trie: number): void {
    this.#requireTrie(trie);
    this.#wasm.dropTrie(trie);
    this.#tries.delete(trie);
    this.#changed.delete(trie);
  }

  nextFreeNode(trie: number): number {
    this.#requireTrie(trie);
    return this.#wasm.nextFreeNode(trie) >>> 0;
  }

  leafCount(trie: number): number {
    this.#requireTrie(trie);
    return this.#wasm.leafCount(trie) >>> 0;
  }

  subRoot(trie: number): Uint8Array {
    this.#requireHashed(trie, SUB_STALE);
    return this.#memory.copy(this.#wasm.subRoot(trie) >>> 0, DIGEST_BYTES);
  }

  topRoot(trie: number): Uint8Array {
    this.#requireHashed(trie, SUB_STALE | TOP_STALE);
    return this.#memory.copy(this.#wasm.topRoot(trie) >>> 0, DIGEST_BYTES);
  }

  find(trie: number, hkey: Uint8Array): TrieFound {
    this.#requireTrie(trie);
    this.#memory.writeKey(hkey);
    const status = this.#wasm.find(trie);
    if (status < 0) throw this.#refusal(status);
    const position = this.#position();
    if (status === 1) return { present: true, position };
    const right = this.#memory.nextLeafOf(this.#wasm.leafRecord(trie, position) >>> 0);
    return { present: false, left: position, right };
  }

  put(trie: number, hkey: Uint8Array, hval: Uint8Array): TrieEffect {
    this.#requireTrie(trie);
    this.#memory.writeKey(hkey);
    this.#memory.writeValue(hval);
    return this.#effect(trie, this.#wasm.put(trie));
  }

  remove(trie: number, hkey: Uint8Array): TrieEffect {
    this.#requireTrie(trie);
    this.#memory.writeKey(hkey);
    return this.#effect(trie, this.#wasm.remove(trie));
  }

  leaf(trie: number, position: number): TrieLeaf | undefined {
    this.#requireTrie(trie);
    if (!isPosition(position)) return undefined;
    const record = this.#wasm.leafRecord(trie, position) >>> 0;
    return record === 0 ? undefined : this.#memory.readLeaf(record);
  }

  setLeaf(trie: number, position: number, leaf: TrieLeaf | undefined): void {
    if (!isPosition(position) || position >= this.nextFreeNode(trie)) throw this.#refusal(STATUS.badPosition);
    if (leaf !== undefined) {
      if (!isPosition(leaf.prevLeaf) || !isPosition(leaf.nextLeaf)) throw this.#refusal(STATUS.badPosition);
      this.#memory.writeLeaf(leaf);
    }
    this.#effect(trie, this.#wasm.setLeaf(trie, position, leaf === undefined ? 0 : 1));
  }

  setNextFreeNode(trie: number, next: number): void {
    this.#requireTrie(trie);
    if (!isPosition(next)) throw this.#refusal(STATUS.badPosition);
    this.#effect(trie, this.#wasm.setNextFree(trie, next));
  }

  commit(tries: Iterable<number> = this.#changed): void {
    const named = [...tries];
    for (const trie of named) this.#requireTrie(trie);
    for (const trie of named) this.#wasm.enlist(trie);
    if (this.#wasm.commit(1) === 0) throw this.#refusal(STATUS.noMemory);
    for (const trie of named) this.#changed.delete(trie);
  }

  commitSubRoot(trie: number): void {
    this.#requireTrie(trie);
    this.#wasm.enlist(trie);
    if (this.#wasm.commit(0) === 0) throw this.#refusal(STATUS.noMemory);
  }

  gatherProof(trie: number, position: number): Uint8Array[] {
    this.#requireHashed(trie, SUB_STALE | TOP_STALE);
    const besideBytes = isPosition(position) ? this.#wasm.gatherProof(trie, position) : 0;
    if (besideBytes === 0) throw this.#refusal(STATUS.badPosition);
    const indexBytes = this.scheme === 'mimc' ? 32 : 64;
    const topBytes = indexBytes + DIGEST_BYTES;
    const leafBytes = 2 * indexBytes + 2 * DIGEST_BYTES;
    const besideAt = topBytes + (DEPTH - 1) * NODE_BYTES;
    const leafAt = besideAt + besideBytes;
    const all = this.#memory.copyProof(leafAt + leafBytes);
    const preimages = [all.subarray(0, topBytes)];
    for (let at = topBytes; at < besideAt; at += NODE_BYTES) preimages.push(all.subarray(at, at + NODE_BYTES));
    preimages.push(all.subarray(besideAt, leafAt), all.subarray(leafAt));
    return preimages;
  }

  siblings(trie: number, position: number): Uint8Array[] {
    this.#requireHashed(trie, SUB_STALE);
    if (!isPosition(position)) throw this.#refusal(STATUS.badPosition);
    this.#wasm.gatherSiblings(trie, position);
    const all = this.#memory.copyProof(DEPTH * DIGEST_BYTES);
    return Array.from({ length: DEPTH }, (_, level) => all.subarray(DIGEST_BYTES * level, DIGEST_BYTES * (level + 1)));
  }

  node(trie: number, level: number, index: number): Uint8Array {
    this.#requireHashed(trie, SUB_STALE);
    const inTree = level >= 0 && level < DEPTH && index >= 0 && index < 2 ** (DEPTH - level);
    if (!Number.isInteger(level) || !Number.isInteger(index) || !inTree) throw this.#refusal(STATUS.badPosition);
    this.#wasm.gatherNode(trie, level, index);
    return this.#memory.copyProof(DIGEST_BYTES);
  }

  siblingPairs(trie: number, position: number): Uint8Array[] {
    this.#requireHashed(trie, SUB_STALE);
    if (!isPosition(position)) throw this.#refusal(STATUS.badPosition);
    this.#wasm.gatherPairs(trie, position, this.#memory.proof);
    const all = this.#memory.copyProof((DEPTH - 1) * NODE_BYTES);
    return Array.from({ length: DEPTH - 1 }, (_, i) => all.subarray(NODE_BYTES * i, NODE_BYTES * (i + 1)));
  }

  takeUndo(): Uint8Array {
    return this.#takeJournal(JOURNAL.leaves);
  }

  takeNodes(): Uint8Array {
    return this.#takeJournal(JOURNAL.nodes);
  }

  #takeJournal(journal: number): Uint8Array {
    if (this.#changed.size > 0) throw uncommitted();
    const record = this.#memory.copyJournal(journal);
    this.#wasm.clearJournal(journal);
    return record;
  }

  undo(record: Uint8Array): void {
    const entries = new DataView(record.buffer, record.byteOffset, record.length);
    if (record.length % ENTRY.bytes !== 0) throw notARecord();
    for (let at = 0; at < record.length; at += ENTRY.bytes) {
      if (!this.#tries.has(entries.getUint32(at + ENTRY.trie, true))) throw notARecord();
    }
    for (let at = record.length - ENTRY.bytes; at >= 0; at -= ENTRY.bytes) {
      const trie = entries.getUint32(at + ENTRY.trie, true);
      const position = entries.getUint32(at + ENTRY.position, true);
      const first = entries.getUint32(at + ENTRY.prevLeaf, true);
      this.#memory.writeEntry(record.subarray(at, at + ENTRY.bytes));
      const status =
        position === NONE
          ? this.#wasm.setNextFree(trie, first)
          : this.#wasm.setLeaf(trie, position, first === NONE ? 0 : 1);
      this.#effect(trie, status);
    }
  }

  takeBack(): void {
    if (!this.keeps.undo) {
      throw invalidParameter('undo', 'load the kernel with the option `undo` to take changes back');
    }
    this.#wasm.takeBack();
    this.#changed.clear();
  }

  statistics(): TrieStatistics {
    return {
      compressions: this.#wasm.compressions(),
      idleCompressions: this.#wasm.idleCompressions(),
      memoryBytes: this.#memory.size,
      usedBytes: this.#wasm.usedBytes(),
    };
  }

  #effect(trie: number, status: number): TrieEffect {
    if (status < 0) throw this.#refusal(status);
    if (status === STATUS.nothing) return { effect: 'none' };
    this.#changed.add(trie);
    const effect = status === STATUS.inserted ? 'insert' : status === STATUS.updated ? 'update' : 'remove';
    return { effect, position: this.#position() };
  }

  #position(): number {
    return this.#wasm.position.value >>> 0;
  }

  #requireTrie(trie: number): void {
    if (!this.#tries.has(trie)) {
      throw invalidParameter('trie', `${trie} must be the handle of a trie of this kernel that was not dropped`);
    }
  }

  #requireHashed(trie: number, flags: number): void {
    this.#requireTrie(trie);
    if ((this.#wasm.state(trie) & flags) !== 0) throw uncommitted();
  }

  #refusal(status: number): PlumblineError {
    return trieRefusal(this.scheme, status, this.#memory.size);
  }
}

// Bits of `state`.
const SUB_STALE = 1;
const TOP_STALE = 2;

function isPosition(value: number): boolean {
  return Number.isInteger(value) && value >= 0 && value < POSITIONS;
}

function uncommitted(): PlumblineError<'INVALID_PARAMETER'> {
  return invalidParameter('trie', 'has uncommitted writes; commit first');
}

function notARecord(): PlumblineError<'INVALID_PARAMETER'> {
  return invalidParameter('record', 'must be an undo record of tries that exist');
}
