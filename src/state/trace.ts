import { ACCOUNT_VALUE_BYTES } from '../accumulator/account-value.js';
import { hashAccountValue, hashAddress, hashWord } from '../accumulator/keys.js';
import type { LeafOpening } from '../accumulator/leaf-opening.js';
import type { Hasher } from '../kernel/contracts.js';

/**
 * State traces: the operations of a block on the tries, one by one, each with the branches that prove it
 * (docs/spec/state-trie.md 10). Roots and siblings are 32 bytes. Values are in compact form, 192 bytes of an account or 32
 * of a slot. Roots are sub roots, not top roots.
 */
export interface BranchProof {
  readonly leafIndex: number;
  /** 40 hashes from level 0 up, as they are at that step. */
  readonly siblings: readonly Uint8Array[];
}

/** The key is in the trie. */
export interface ReadStep {
  readonly type: 'read';
  readonly nextFreeNode: number;
  readonly subRoot: Uint8Array;
  readonly leaf: LeafOpening;
  readonly proof: BranchProof;
  readonly value: Uint8Array;
}

/** The key is not in the trie: these two leaves are neighbours. */
export interface ReadZeroStep {
  readonly type: 'read-zero';
  readonly nextFreeNode: number;
  readonly subRoot: Uint8Array;
  readonly leftLeaf: LeafOpening;
  readonly rightLeaf: LeafOpening;
  readonly leftProof: BranchProof;
  readonly rightProof: BranchProof;
}

/** The key was inserted at the free position. Order of writes: left neighbour, new leaf, right neighbour. */
export interface InsertStep {
  readonly type: 'insert';
  readonly newNextFreeNode: number;
  readonly oldSubRoot: Uint8Array;
  readonly newSubRoot: Uint8Array;
  readonly leftProof: BranchProof;
  readonly newProof: BranchProof;
  readonly rightProof: BranchProof;
  readonly value: Uint8Array;
  readonly priorLeftLeaf: LeafOpening;
  readonly priorRightLeaf: LeafOpening;
}

/** The key's value was replaced. */
export interface UpdateStep {
  readonly type: 'update';
  readonly newNextFreeNode: number;
  readonly oldSubRoot: Uint8Array;
  readonly newSubRoot: Uint8Array;
  readonly proof: BranchProof;
  readonly oldValue: Uint8Array;
  readonly newValue: Uint8Array;
  readonly priorUpdatedLeaf: LeafOpening;
}

/** The key was removed. Order of writes: left neighbour, the leaf itself, right neighbour. */
export interface DeleteStep {
  readonly type: 'delete';
  readonly newNextFreeNode: number;
  readonly oldSubRoot: Uint8Array;
  readonly newSubRoot: Uint8Array;
  readonly leftProof: BranchProof;
  readonly deletedProof: BranchProof;
  readonly rightProof: BranchProof;
  readonly priorLeftLeaf: LeafOpening;
  readonly priorDeletedLeaf: LeafOpening;
  readonly priorRightLeaf: LeafOpening;
  /** Absent in old records. */
  readonly deletedValue?: Uint8Array;
}

/** One operation on one key of a trie. */
export type TrieStep = ReadStep | ReadZeroStep | InsertStep | UpdateStep | DeleteStep;

/** A step with its trie and key. */
export type StateTrace = TrieStep & {
  /** Address (20 bytes) of the account whose storage trie this is; undefined for the account trie. */
  readonly location: Uint8Array | undefined;
  /** Account trie: address, 20 bytes; storage trie: slot, 32 bytes. */
  readonly key: Uint8Array;
};

/**
 * A trie that is changed one operation at a time; each operation returns its step. Keys are given by `hkey` (32 bytes);
 * the caller hashes keys and values. Reading changes nothing and hashes nothing.
 */
export interface StepTrie {
  readonly nextFreeNode: number;
  readonly subRoot: Uint8Array;
  /** 32 bytes; computed on each call. */
  readonly topRoot: Uint8Array;
  read(hkey: Uint8Array): ReadStep | ReadZeroStep;
  /** Inserts or updates. @param content - `hkey`, `hval` and the value behind `hval`, in compact form */
  put(content: { hkey: Uint8Array; hval: Uint8Array; value: Uint8Array }): InsertStep | UpdateStep;
  /** Removes a key. @throws PlumblineError `STATE_MISMATCH` if it is not in the trie */
  remove(hkey: Uint8Array): DeleteStep;
}

/** `hkey` of a trace's key, 32 bytes. */
export function traceKeyHash(hasher: Hasher, trace: Pick<StateTrace, 'location' | 'key'>): Uint8Array {
  return trace.location === undefined ? hashAddress(hasher, trace.key) : hashWord(hasher, trace.key);
}

/** `hval` of a value in compact form, 32 bytes: 192 bytes are an account, 32 a slot. */
export function traceValueHash(hasher: Hasher, value: Uint8Array): Uint8Array {
  return value.length === ACCOUNT_VALUE_BYTES ? hashAccountValue(hasher, value) : hashWord(hasher, value);
}
