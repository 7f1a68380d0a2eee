import { PlumblineError } from '../../errors.js';
import type { TrieKernel, TrieLeaf } from '../../kernel/trie.js';
import { type LeafStep, putStepwise, removeStepwise, type SteppedEffect } from '../../kernel/trie-steps.js';
import { bytesToHex } from '../../primitives/hex.js';
import type { BranchProof, DeleteStep, InsertStep, ReadStep, ReadZeroStep, UpdateStep } from '../trace.js';

/** Compact value of the leaf at a position that holds a key. */
type ValueAt = (position: number) => Uint8Array;

const proofOf = ({ position, siblings }: LeafStep): BranchProof => ({ leafIndex: position, siblings });

const after = ({ nextFreeNode, oldSubRoot, newSubRoot }: SteppedEffect) => {
  return { newNextFreeNode: nextFreeNode, oldSubRoot, newSubRoot };
};

/** Reads from a committed trie of the kernel. Nothing is hashed. */
export function readTraced(
  kernel: TrieKernel,
  trie: number,
  hkey: Uint8Array,
  valueAt: ValueAt,
): ReadStep | ReadZeroStep {
  const branch = (position: number): BranchProof => {
    return { leafIndex: position, siblings: kernel.siblings(trie, position) };
  };
  const leaf = (position: number): TrieLeaf => kernel.leaf(trie, position)!;
  const now = { nextFreeNode: kernel.nextFreeNode(trie), subRoot: kernel.subRoot(trie) };
  const found = kernel.find(trie, hkey);
  if (found.present) {
    const { position } = found;
    return { type: 'read', ...now, leaf: leaf(position), proof: branch(position), value: valueAt(position) };
  }
  const { left, right } = found;
  return {
    type: 'read-zero',
    ...now,
    leftLeaf: leaf(left),
    rightLeaf: leaf(right),
    leftProof: branch(left),
    rightProof: branch(right),
  };
}

/**
 * Inserts or updates.
 *
 * @param content - as in `StepTrie.put`
 * @returns the step and the leaf position
 */
export function putTraced(
  kernel: TrieKernel,
  trie: number,
  content: { hkey: Uint8Array; hval: Uint8Array; value: Uint8Array },
  valueAt: ValueAt,
): { position: number; step: InsertStep | UpdateStep } {
  const { value } = content;
  const done = putStepwise(kernel, trie, content.hkey, content.hval);
  if (done.effect === 'update') {
    const [update] = done.steps as readonly [LeafStep];
    const values = { oldValue: valueAt(update.position), newValue: value };
    const step = { ...after(done), proof: proofOf(update), ...values, priorUpdatedLeaf: update.prior! };
    return { position: update.position, step: { type: 'update', ...step } };
  }
  const [left, fresh, right] = done.steps as readonly [LeafStep, LeafStep, LeafStep];
  const step: InsertStep = {
    type: 'insert',
    ...after(done),
    leftProof: proofOf(left),
    newProof: proofOf(fresh),
    rightProof: proofOf(right),
    value,
    priorLeftLeaf: left.prior!,
    priorRightLeaf: right.prior!,
  };
  return { position: fresh.position, step };
}

/**
 * Removes a key.
 *
 * @returns the step and the leaf position
 * @throws PlumblineError `STATE_MISMATCH` if it is not in the trie
 */
export function removeTraced(
  kernel: TrieKernel,
  trie: number,
  hkey: Uint8Array,
  valueAt: ValueAt,
): { position: number; step: DeleteStep } {
  const done = removeStepwise(kernel, trie, hkey);
  if (done.effect === 'none') {
    const details = { what: `key of hash ${bytesToHex(hkey)}`, expected: 'none', actual: 'to be removed' };
    throw new PlumblineError('STATE_MISMATCH', 'a key to remove is not in the trie', details);
  }
  const [left, removed, right] = done.steps as readonly [LeafStep, LeafStep, LeafStep];
  const step: DeleteStep = {
    type: 'delete',
    ...after(done),
    leftProof: proofOf(left),
    deletedProof: proofOf(removed),
    rightProof: proofOf(right),
    priorLeftLeaf: left.prior!,
    priorDeletedLeaf: removed.prior!,
    priorRightLeaf: right.prior!,
    deletedValue: valueAt(removed.position),
  };
  return { position: removed.position, step };
}
