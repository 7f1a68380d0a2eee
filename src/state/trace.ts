import { ACCOUNT_VALUE_BYTES } from '../accumulator/account-value.js';
import { hashAccountValue, hashAddress, hashWord } from '../accumulator/keys.js';
import type { LeafOpening } from '../accumulator/leaf-opening.js';
import type { Hasher } from '../kernel/contracts.js';

/**
 * State traces: what the operations of a block did to the trees, one by one, each with the branches that show it
 * (docs/spec/state-trie.md 10). Roots and siblings are 32 bytes; values are in compact form, 192 bytes of an account or 32
 * of a slot; sub roots, not top roots.
 */
export interface BranchProof {
  readonly leafIndex: number;
  /** 40 hashes from level 0 up, as they are at that step. */
  readonly siblings: readonly Uint8Array[];
}

/** A key is in the tree. */
export interface ReadStep {
  readonly type: 'read';
  readonly nextFreeNode: number;
  readonly subRoot: Uint8Array;
  readonly leaf: LeafOpening;
  readonly proof: BranchProof;
  readonly value: Uint8Array;
}

/** A key is not in the tree: nothing is between these two leaves. */
export interface ReadZeroStep {
  readonly type: 'read-zero';
  readonly nextFreeNode: number;
  readonly subRoot: Uint8Array;
  readonly leftLeaf: LeafOpening;
  readonly rightLeaf: LeafOpening;
  readonly leftProof: BranchProof;
  readonly rightProof: BranchProof;
}

/** A key took the free position: left neighbour, new leaf, right neighbour, in that order. */
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

/** A key got another value. */
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

/** A key left the tree: left neighbour, the leaf itself, right neighbour, in that order. */
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
  /** Old records leave it out. */
  readonly deletedValue?: Uint8Array;
}

/** What was done to one key of a tree. */
export type TrieStep = ReadStep | ReadZeroStep | InsertStep | UpdateStep | DeleteStep;

/** A step, with the tree and the key it is of. */
export type StateTrace = TrieStep & {
  /** Address (20 bytes) of the account whose storage tree it is; undefined for the account tree. */
  readonly location: Uint8Array | undefined;
  /** Account tree: address, 20 bytes; storage tree: slot, 32 bytes. */
  readonly key: Uint8Array;
};

/**
 * A tree that is changed one operation at a time, each giving its step. Keys are known by `hkey` (32 bytes); the caller
 * hashes keys and values. Reading changes nothing and hashes nothing.
 */
export interface StepTrie {
  readonly nextFreeNode: number;
  readonly subRoot: Uint8Array;
  /** 32 bytes; hashed when asked for. */
  readonly topRoot: Uint8Array;
  read(hkey: Uint8Array): ReadStep | ReadZeroStep;
  /** Inserts or updates. @param content - `hkey`, `hval` and the value behind `hval`, in compact form */
  put(content: { hkey: Uint8Array; hval: Uint8Array; value: Uint8Array }): InsertStep | UpdateStep;
  /** Removes a key that is there. @throws PlumblineError `STATE_MISMATCH` when it is not */
  remove(hkey: Uint8Array): DeleteStep;
}

/** `hkey` of what a trace is of. */
export function traceKeyHash(hasher: Hasher, trace: Pick<StateTrace, 'location' | 'key'>): Uint8Array {
  return trace.location === undefined ? hashAddress(hasher, trace.key) : hashWord(hasher, trace.key);
}

/** `hval` of a value in compact form: 192 bytes are an account, 32 a slot. */
export function traceValueHash(hasher: Hasher, value: Uint8Array): Uint8Array {
  return value.length === ACCOUNT_VALUE_BYTES ? hashAccountValue(hasher, value) : hashWord(hasher, value);
}
