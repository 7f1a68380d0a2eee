import type { TrieEffect, TrieKernel, TrieLeaf } from './trie.js';

/** One leaf write of an operation: the previous content of the position, and its siblings at that moment. */
export interface LeafStep {
  readonly position: number;
  /** Undefined if the position was unused. */
  readonly prior: TrieLeaf | undefined;
  /** 40 hashes of 32 bytes, level 0 first. */
  readonly siblings: readonly Uint8Array[];
}

/** An operation executed leaf by leaf, as in state traces (docs/spec/state-trie.md 4 and 10). */
export interface SteppedEffect {
  readonly effect: TrieEffect['effect'];
  /** Update: the leaf. Insertion: left, new, right. Removal: left, removed, right. Otherwise empty. */
  readonly steps: readonly LeafStep[];
  /** 32 bytes each. */
  readonly oldSubRoot: Uint8Array;
  readonly newSubRoot: Uint8Array;
  /** After the operation. */
  readonly nextFreeNode: number;
}

type Step = (position: number, change: (prior: TrieLeaf | undefined) => TrieLeaf | undefined) => void;

/** Runs the steps of an operation between two commits. If one is refused, the steps before it are undone. */
function runStepwise(
  kernel: TrieKernel,
  trie: number,
  effect: TrieEffect['effect'],
  run: (step: Step) => void,
): SteppedEffect {
  kernel.commit([trie]);
  const oldSubRoot = kernel.subRoot(trie);
  const free = kernel.nextFreeNode(trie);
  const steps: LeafStep[] = [];
  try {
    run((position, change) => {
      const prior = kernel.leaf(trie, position);
      // Siblings do not depend on the leaf itself, so they are the same before and after the write.
      const siblings = kernel.siblings(trie, position);
      kernel.setLeaf(trie, position, change(prior));
      kernel.commitSubRoot(trie);
      steps.push({ position, prior, siblings });
    });
  } catch (refusal) {
    for (const { position, prior } of steps) kernel.setLeaf(trie, position, prior);
    kernel.setNextFreeNode(trie, free);
    kernel.commit([trie]);
    throw refusal;
  }
  kernel.commit([trie]);
  return { effect, steps, oldSubRoot, newSubRoot: kernel.subRoot(trie), nextFreeNode: kernel.nextFreeNode(trie) };
}

/**
 * Like `TrieKernel.put`, but one leaf at a time. The trie is committed before and after. Errors as in `TrieKernel.put`.
 */
export function putStepwise(kernel: TrieKernel, trie: number, hkey: Uint8Array, hval: Uint8Array): SteppedEffect {
  const found = kernel.find(trie, hkey);
  if (found.present) {
    return runStepwise(kernel, trie, 'update', (step) => step(found.position, (leaf) => leaf && { ...leaf, hval }));
  }
  const { left, right } = found;
  const position = kernel.nextFreeNode(trie);
  return runStepwise(kernel, trie, 'insert', (step) => {
    step(left, (leaf) => leaf && { ...leaf, nextLeaf: position });
    kernel.setNextFreeNode(trie, position + 1);
    step(position, () => ({ prevLeaf: left, nextLeaf: right, hkey, hval }));
    step(right, (leaf) => leaf && { ...leaf, prevLeaf: position });
  });
}

/**
 * Like `TrieKernel.remove`, but one leaf at a time. The trie is committed before and after. Errors as in
 * `TrieKernel.remove`.
 */
export function removeStepwise(kernel: TrieKernel, trie: number, hkey: Uint8Array): SteppedEffect {
  const found = kernel.find(trie, hkey);
  if (!found.present) return runStepwise(kernel, trie, 'none', () => {});
  const { prevLeaf, nextLeaf } = kernel.leaf(trie, found.position)!;
  return runStepwise(kernel, trie, 'remove', (step) => {
    step(prevLeaf, (leaf) => leaf && { ...leaf, nextLeaf });
    step(found.position, () => undefined);
    step(nextLeaf, (leaf) => leaf && { ...leaf, prevLeaf });
  });
}
