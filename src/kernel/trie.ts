/**
 * Sparse Merkle tries of the zk state, in the linear memory of one instance (assembly/trie.ts, docs/spec/state-trie.md 2 to 4).
 *
 * `TrieKernel` is all that the rest of the library sees: tries by handle, leaves by position, hashes at the next commit. The
 * module writes two journals. One has the leaves that changed: `takeUndo` gives it out as a record, `undo` takes it back,
 * `readUndo` decodes it. The other has the hashes that commits replaced (`takeNodes`). Both together show the tries as they
 * were before: `readTriesBefore` indexes them, and `PastTries` reads through them.
 */

import { invalidParameter, PlumblineError } from '../errors.js';
import { compareBytes, equalBytes } from '../primitives/bytes.js';
import {
  DIGEST_BYTES,
  type ExportedNumber,
  type Hasher,
  type HashScheme,
  type KernelOptions,
  type LinearMemory,
} from './contracts.js';
import { type HashExports, hashKernelOf } from './hash-kernel.js';
import { compile, instanceOf, instantiate, type KernelSource } from './instantiate.js';

/** Content of a used leaf: positions of its neighbours in `hkey` order, and the hashes of key and value. */
export interface TrieLeaf {
  readonly prevLeaf: number;
  readonly nextLeaf: number;
  /** 32 bytes, canonical. */
  readonly hkey: Uint8Array;
  /** 32 bytes, canonical. */
  readonly hval: Uint8Array;
}

/** Position of a key, or the positions of the two leaves around it if it is absent. */
export type TrieFound =
  | { readonly present: true; readonly position: number }
  | { readonly present: false; readonly left: number; readonly right: number };

/** Effect of an operation, and the leaf position; `none` if the key to remove was absent. */
export type TrieEffect =
  | { readonly effect: 'insert' | 'update' | 'remove'; readonly position: number }
  | { readonly effect: 'none' };

/** Figures of a trie kernel. */
interface TrieStatistics {
  /** Compressions whose result was used, since the kernel was loaded. */
  readonly compressions: number;
  /** Compressions in SIMD lanes without work. */
  readonly idleCompressions: number;
  /** Size of the linear memory. It never shrinks; the memory of dropped tries is reused. */
  readonly memoryBytes: number;
  /** Bytes used by tries and undo records. */
  readonly usedBytes: number;
}

/** Options for loading a trie kernel. */
export interface TrieKernelOptions extends KernelOptions {
  /** Record the previous content of changed positions, for `takeUndo`. Default false. */
  undo?: boolean;
  /** Record the hashes that commits replace, for `takeNodes`: 44 bytes each. Default false. */
  nodes?: boolean;
}

/**
 * Depth-40 tries of one hash scheme in one linear memory (docs/spec/state-trie.md 2 to 4). A trie is identified by a
 * handle, which is valid until the trie is dropped. Writes change leaves at once, and hashes at the next commit.
 *
 * Every method throws PlumblineError `INVALID_PARAMETER` for an invalid handle, and for byte arguments `INVALID_LENGTH`
 * unless they are 32 bytes, and `HASH_INPUT_NOT_CANONICAL`. An operation that throws has changed nothing.
 */
export interface TrieKernel {
  readonly scheme: HashScheme;
  /** The options with which it was loaded. */
  readonly keeps: { readonly undo: boolean; readonly nodes: boolean };

  /** Creates an empty trie, committed, with head and tail. @throws PlumblineError `KERNEL_OUT_OF_MEMORY` */
  createTrie(): number;

  /**
   * Frees the trie's memory. Its records of `takeUndo` can no longer be undone, and their handle may later belong to
   * another trie: keep a trie as long as such records.
   */
  dropTrie(trie: number): void;

  /** Position of the next insertion. */
  nextFreeNode(trie: number): number;

  /** Number of used leaves, head and tail included. */
  leafCount(trie: number): number;

  /** 32 bytes. @throws PlumblineError `INVALID_PARAMETER` while there are uncommitted writes */
  subRoot(trie: number): Uint8Array;

  /** 32 bytes. @throws PlumblineError `INVALID_PARAMETER` while there are uncommitted writes */
  topRoot(trie: number): Uint8Array;

  /** Includes uncommitted writes, like `leaf`. */
  find(trie: number, hkey: Uint8Array): TrieFound;

  /**
   * Inserts a key at `nextFreeNode`, or updates it.
   *
   * @throws PlumblineError `OUT_OF_RANGE` for the keys of head and tail, and for more than 2^32 - 1 positions;
   *   `KERNEL_OUT_OF_MEMORY`
   */
  put(trie: number, hkey: Uint8Array, hval: Uint8Array): TrieEffect;

  /** Removes a key if it is present. Errors as in `put`. */
  remove(trie: number, hkey: Uint8Array): TrieEffect;

  /** Content of a position; undefined if it is unused. */
  leaf(trie: number, position: number): TrieLeaf | undefined;

  /**
   * Sets or empties a position, and updates the key order. Links are not checked, and neighbours are not changed: use
   * this to load leaves, to restore them, or for single steps of an operation.
   *
   * @param position - below `nextFreeNode`
   * @throws PlumblineError `OUT_OF_RANGE` for another position, for emptying head or tail, and for their keys
   *   elsewhere; `KERNEL_OUT_OF_MEMORY`
   */
  setLeaf(trie: number, position: number, leaf: TrieLeaf | undefined): void;

  /**
   * Sets the next free position, 2 to 2^32 - 2. No leaf may be at or after it.
   *
   * @throws PlumblineError `OUT_OF_RANGE`
   */
  setNextFreeNode(trie: number, next: number): void;

  /**
   * Hashes all changed nodes of these tries together, each node once. Tries without changes are skipped.
   *
   * @param tries - default: all with changes
   * @throws PlumblineError `KERNEL_OUT_OF_MEMORY`, only with the option `nodes`
   */
  commit(tries?: Iterable<number>): void;

  /**
   * Like `commit` of one trie, but without its top root: for the steps of an operation, which need sub roots only.
   * Errors as in `commit`.
   */
  commitSubRoot(trie: number): void;

  /**
   * The 42 preimages for a used position, from the top down (docs/spec/state-trie.md 7.3): top node, sibling nodes of
   * levels 39 to 1, the sibling leaf's opening or 32 zero bytes, the leaf's opening. Nothing is hashed.
   *
   * @throws PlumblineError `INVALID_PARAMETER` while there are uncommitted writes; `OUT_OF_RANGE` for an unused
   *   position
   */
  gatherProof(trie: number, position: number): Uint8Array[];

  /**
   * Sibling hashes on the path up from a position, used or not: 40 of 32 bytes, level 0 first (docs/spec/state-trie.md
   * 10).
   *
   * @throws PlumblineError `INVALID_PARAMETER` while there are uncommitted writes; `OUT_OF_RANGE` from 2^32 on
   */
  siblings(trie: number, position: number): Uint8Array[];

  /**
   * Hash of one node, 32 bytes; for an unused subtree, the hash of an empty one. Not valid for a node above the trie's
   * height that contains all its leaves: there the trie stores only the sub root.
   *
   * @param level - 0 (leaves) to 39
   * @param index - below 2^(40 - level)
   * @throws PlumblineError `INVALID_PARAMETER` while there are uncommitted writes; `OUT_OF_RANGE`
   */
  node(trie: number, level: number, index: number): Uint8Array;

  /**
   * Preimages of the sibling nodes on the path up from a position: levels 39 to 1, 64 bytes each. Errors as in
   * `siblings`.
   */
  siblingPairs(trie: number, position: number): Uint8Array[];

  /**
   * The undo record of all changes since the last call: opaque bytes, 80 for each changed leaf and each change of a
   * trie's `nextFreeNode`. Empty without the option `undo`.
   *
   * @throws PlumblineError `INVALID_PARAMETER` while there are uncommitted writes
   */
  takeUndo(): Uint8Array;

  /**
   * Hashes that commits replaced since the last call: opaque bytes for `readTriesBefore`, with which earlier states can
   * be proved. Empty without the option `nodes`.
   *
   * @throws PlumblineError `INVALID_PARAMETER` while there are uncommitted writes
   */
  takeNodes(): Uint8Array;

  /**
   * Undoes a record of `takeUndo`: restores leaves, their order and `nextFreeNode`. Records must be undone newest
   * first, while their tries exist. Commit afterwards. The restored values count as new changes for `takeUndo`.
   *
   * @throws PlumblineError `INVALID_PARAMETER` for bytes that are not a record of existing tries. Modified bytes are
   *   noticed entry by entry (`OUT_OF_RANGE`, `HASH_INPUT_NOT_CANONICAL`), when later entries are already restored; so
   *   is `KERNEL_OUT_OF_MEMORY`. Call `takeBack` then
   */
  undo(record: Uint8Array): void;

  /**
   * Undoes all changes since the last `takeUndo`, committed or not, and commits; no record includes them. It needs no
   * memory, so it works when an operation ran out of memory. No trie may have been dropped since.
   *
   * @throws PlumblineError `INVALID_PARAMETER` without the option `undo`
   */
  takeBack(): void;

  statistics(): TrieStatistics;
}

/** Exports of assembly/trie.ts. Pointers are returned as signed numbers: use `>>> 0`. */
export interface TrieExports {
  readonly memory: LinearMemory;
  /** Address of the operands: an entry of the journal of leaves, 80 bytes. */
  readonly operands: ExportedNumber;
  /** Address of proofs and siblings. */
  readonly proof: ExportedNumber;
  /** Position of the last operation. */
  readonly position: ExportedNumber;
  init(isMimc: number): number;
  createTrie(): number;
  dropTrie(trie: number): void;
  state(trie: number): number;
  nextFreeNode(trie: number): number;
  leafCount(trie: number): number;
  subRoot(trie: number): number;
  topRoot(trie: number): number;
  leafRecord(trie: number, position: number): number;
  find(trie: number): number;
  put(trie: number): number;
  remove(trie: number): number;
  setLeaf(trie: number, position: number, used: number): number;
  setNextFree(trie: number, next: number): number;
  enlist(trie: number): void;
  commit(tops: number): number;
  gatherProof(trie: number, position: number): number;
  gatherSiblings(trie: number, position: number): void;
  gatherNode(trie: number, level: number, index: number): void;
  gatherPairs(trie: number, position: number, to: number): number;
  recordJournals(leaves: number, nodes: number): void;
  /** First page of a journal; 0 if it is empty. */
  journalPages(journal: number): number;
  clearJournal(journal: number): void;
  takeBack(): void;
  compressions(): number;
  idleCompressions(): number;
  usedBytes(): number;
}

/** The two journals: leaves that changed, and hashes that commits replaced. */
const JOURNAL = { leaves: 0, nodes: 1 } as const;

/** Layout of an entry of the journal of leaves, and of the operands. */
const ENTRY = { trie: 0, position: 4, prevLeaf: 8, nextLeaf: 12, hkey: 16, hval: 48, bytes: 80 } as const;

/** Layout of an entry of the journal of nodes. */
const NODE = { trie: 0, level: 4, index: 8, hash: 12, bytes: 44 } as const;

/** `prevLeaf` of an unused position; `position` of an entry about the trie's `nextFreeNode`. */
const NONE = 0xffffffff;

/** Layout of a leaf record. */
const RECORD = { prevLeaf: 0, nextLeaf: 4, hkey: 8, hval: 40 } as const;

/** Layout of a page of a journal. */
const PAGE = { next: 0, bytes: 4, entries: 16 } as const;

/** Results of operations; a negative one means that nothing was changed. */
export const STATUS = {
  nothing: 0,
  inserted: 1,
  updated: 2,
  removed: 3,
  notCanonical: -1,
  reservedKey: -2,
  trieFull: -3,
  noMemory: -4,
  badPosition: -5,
} as const;

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

/** Reads and writes the linear memory of the trie module. Views become invalid when it grows, and are renewed here. */
class TrieMemory {
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

/** The error for a negative result of the trie module. */
export function trieRefusal(scheme: HashScheme, status: number, memoryBytes: number): PlumblineError {
  switch (status) {
    case STATUS.notCanonical:
      return new PlumblineError('HASH_INPUT_NOT_CANONICAL', `a word of the ${scheme} input is not below the modulus`, {
        scheme,
      });
    case STATUS.reservedKey:
      return outOfRange('hkey', 'that of head or tail', 'between the keys of head and tail');
    case STATUS.trieFull:
      return outOfRange('leaf position', String(2 ** 32 - 1), '2^32 - 2');
    case STATUS.badPosition:
      return outOfRange('leaf position', 'not in use', 'below nextFreeNode');
    case STATUS.noMemory:
      return new PlumblineError(
        'KERNEL_OUT_OF_MEMORY',
        `the kernel needs more than ${memoryBytes} bytes of memory, and the engine gives no more`,
        {
          kernel: 'trie',
          memoryBytes,
        },
      );
    default:
      return new PlumblineError('INTERNAL', `the trie kernel returned the unknown status ${status}`, {
        reason: `status ${status}`,
      });
  }
}

function outOfRange(what: string, value: string, limit: string): PlumblineError<'OUT_OF_RANGE'> {
  return new PlumblineError('OUT_OF_RANGE', `${what} is ${value}, must be ${limit}`, { what, value, limit });
}

/** Hasher and trie kernel of a zk state. */
export interface ZkKernels {
  readonly hasher: Hasher;
  readonly kernel: TrieKernel;
}

/**
 * Loads a trie kernel and a hasher from the trie module alone, compiled once, with one instance for each.
 *
 * @throws PlumblineError `KERNEL_UNAVAILABLE`
 */
export async function loadZkKernels(scheme: HashScheme, options: TrieKernelOptions = {}): Promise<ZkKernels> {
  const module = await compile(TRIE_SOURCE, options);
  const [tries, hashes] = await Promise.all([
    instanceOf<TrieExports>(TRIE_SOURCE, module),
    instanceOf<HashExports>(TRIE_SOURCE, module),
  ]);
  return { hasher: hashKernelOf(hashes)[scheme], kernel: trieKernelOf(scheme, tries, options) };
}

/** One entry of a record of `TrieKernel.takeUndo`. */
export type UndoneChange =
  /** Content of the position before; undefined if it was unused. */
  | { readonly trie: number; readonly position: number; readonly leaf: TrieLeaf | undefined }
  | { readonly trie: number; readonly nextFreeNode: number };

/** Decodes a record of `TrieKernel.takeUndo`, without undoing it. */
export function readUndo(record: Uint8Array): UndoneChange[] {
  const words = new DataView(record.buffer, record.byteOffset, record.length);
  const changes: UndoneChange[] = [];
  for (let at = 0; at < record.length; at += ENTRY.bytes) {
    const word = (field: number) => words.getUint32(at + field, true);
    const trie = word(ENTRY.trie);
    const position = word(ENTRY.position);
    const prevLeaf = word(ENTRY.prevLeaf);
    if (position === NONE) changes.push({ trie, nextFreeNode: prevLeaf });
    else if (prevLeaf === NONE) changes.push({ trie, position, leaf: undefined });
    else {
      const hash = (field: number) => record.slice(at + field, at + field + 32);
      const leaf = { prevLeaf, nextLeaf: word(ENTRY.nextLeaf), hkey: hash(ENTRY.hkey), hval: hash(ENTRY.hval) };
      changes.push({ trie, position, leaf });
    }
  }
  return changes;
}

/** Content of one trie before the commits of a record. */
interface TrieBefore {
  nextFreeNode?: number;
  readonly leaves: Map<number, TrieLeaf | undefined>;
  /** By `nodeKey`. */
  readonly nodes: Map<number, Uint8Array>;
}

/** Content of tries before some commits, by handle: records of `takeUndo` and `takeNodes` of one moment, indexed. */
export type TriesBefore = ReadonlyMap<number, TrieBefore>;

/** A branch of an earlier trie. With its leaves encoded, these are the 42 preimages of docs/spec/state-trie.md 7.3. */
interface PastBranch {
  readonly nextFreeNode: number;
  readonly subRoot: Uint8Array;
  /** Preimages of the sibling nodes, levels 39 to 1: 39 of 64 bytes. */
  readonly pairs: readonly Uint8Array[];
  /** Sibling leaf; undefined if unused. */
  readonly beside: TrieLeaf | undefined;
  readonly leaf: TrieLeaf;
}

/** A level below 2^6 and an index below 2^32 in one number. */
function nodeKey(level: number, index: number): number {
  return level * 2 ** 32 + index;
}

/**
 * Indexes records. Both are kept, not copied.
 *
 * @param undo - from `takeUndo`.
 * @param nodes - from `takeNodes` directly before or after it
 */
export function readTriesBefore(undo: Uint8Array, nodes: Uint8Array): TriesBefore {
  const tries = new Map<number, TrieBefore>();
  const of = (trie: number): TrieBefore => {
    const known = tries.get(trie) ?? { leaves: new Map(), nodes: new Map() };
    tries.set(trie, known);
    return known;
  };
  const words = new DataView(undo.buffer, undo.byteOffset, undo.length);
  // From last to first, so that the earliest entry of a position or node counts.
  for (let at = undo.length - ENTRY.bytes; at >= 0; at -= ENTRY.bytes) {
    const before = of(words.getUint32(at + ENTRY.trie, true));
    const position = words.getUint32(at + ENTRY.position, true);
    const prevLeaf = words.getUint32(at + ENTRY.prevLeaf, true);
    const hash = (offset: number) => undo.subarray(at + offset, at + offset + 32);
    if (position === NONE) before.nextFreeNode = prevLeaf;
    else if (prevLeaf === NONE) before.leaves.set(position, undefined);
    else {
      const nextLeaf = words.getUint32(at + ENTRY.nextLeaf, true);
      before.leaves.set(position, { prevLeaf, nextLeaf, hkey: hash(ENTRY.hkey), hval: hash(ENTRY.hval) });
    }
  }
  const places = new DataView(nodes.buffer, nodes.byteOffset, nodes.length);
  for (let at = nodes.length - NODE.bytes; at >= 0; at -= NODE.bytes) {
    const key = nodeKey(places.getUint32(at + NODE.level, true), places.getUint32(at + NODE.index, true));
    const hash = nodes.subarray(at + NODE.hash, at + NODE.hash + 32);
    of(places.getUint32(at + NODE.trie, true)).nodes.set(key, hash);
  }
  return tries;
}

/**
 * The tries of a kernel at an earlier moment, read through the changes since. Nothing is copied or hashed. Valid until
 * the kernel's tries change. Tries that did not exist then show their current content.
 */
export class PastTries {
  readonly #kernel: TrieKernel;
  readonly #records: readonly TriesBefore[];

  /** @param records - of everything that was committed since, oldest first */
  constructor(kernel: TrieKernel, records: readonly TriesBefore[]) {
    this.#kernel = kernel;
    this.#records = records;
  }

  nextFreeNode(trie: number): number {
    for (const record of this.#records) {
      const next = record.get(trie)?.nextFreeNode;
      if (next !== undefined) return next;
    }
    return this.#kernel.nextFreeNode(trie);
  }

  /** 32 bytes. */
  subRoot(trie: number): Uint8Array {
    return this.#node(trie, DEPTH, 0) ?? this.#kernel.subRoot(trie);
  }

  leaf(trie: number, position: number): TrieLeaf | undefined {
    for (const record of this.#records) {
      const leaves = record.get(trie)?.leaves;
      if (leaves?.has(position)) return leaves.get(position);
    }
    return this.#kernel.leaf(trie, position);
  }

  /** As `TrieKernel.find`. */
  find(trie: number, hkey: Uint8Array): TrieFound {
    const now = this.#kernel.find(trie, hkey);
    let position = now.present ? now.position : now.left;
    let leaf = this.leaf(trie, position);
    // Skip leaves inserted since, to the left; then find leaves removed since, to the right, up to the tail: it is next to itself.
    while (leaf === undefined || compareBytes(leaf.hkey, hkey) > 0) {
      position = this.#kernel.leaf(trie, position)!.prevLeaf;
      leaf = this.leaf(trie, position);
    }
    while (leaf.nextLeaf !== position) {
      const next: TrieLeaf = this.leaf(trie, leaf.nextLeaf)!;
      if (compareBytes(next.hkey, hkey) > 0) break;
      position = leaf.nextLeaf;
      leaf = next;
    }
    if (equalBytes(leaf.hkey, hkey)) return { present: true, position };
    return { present: false, left: position, right: leaf.nextLeaf };
  }

  /** Undefined if the position was unused. */
  branch(trie: number, position: number): PastBranch | undefined {
    const leaf = this.leaf(trie, position);
    if (leaf === undefined) return undefined;
    const pairs = this.#kernel.siblingPairs(trie, position);
    for (const [i, pair] of pairs.entries()) {
      const level = DEPTH - 1 - i;
      const index = Math.floor(position / 2 ** level);
      const child = 2 * (index % 2 === 0 ? index + 1 : index - 1);
      for (const side of [0, 1]) {
        const hash = this.#node(trie, level - 1, child + side);
        if (hash !== undefined) pair.set(hash, 32 * side);
      }
    }
    const beside = this.leaf(trie, position % 2 === 0 ? position + 1 : position - 1);
    return { nextFreeNode: this.nextFreeNode(trie), subRoot: this.subRoot(trie), pairs, beside, leaf };
  }

  #node(trie: number, level: number, index: number): Uint8Array | undefined {
    const key = nodeKey(level, index);
    for (const record of this.#records) {
      const hash = record.get(trie)?.nodes.get(key);
      if (hash !== undefined) return hash;
    }
    return undefined;
  }
}
