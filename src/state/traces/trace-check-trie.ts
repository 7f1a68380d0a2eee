import { encodeLeaf, encodeTop, type LeafOpening } from '../../accumulator/leaf-opening.js';
import { ZERO_HASH } from '../../accumulator/scheme.js';
import { isPlumblineError } from '../../errors.js';
import type { Hasher } from '../../kernel/contracts.js';
import { compareBytes, equalBytes } from '../../primitives/bytes.js';
import {
  type BranchProof,
  type DeleteStep,
  type InsertStep,
  type ReadStep,
  type ReadZeroStep,
  type StateTrace,
  traceKeyHash,
  traceValueHash,
  type UpdateStep,
} from '../trace.js';
import { WitnessNodes } from '../witness/witness-nodes.js';
import { ensure, TraceRefusal } from './trace-verdict.js';

/** `nextFreeNode` and sub root of the trie before a trace, according to the trace. */
export function stateBefore(trace: StateTrace): { nextFreeNode: number; subRoot: Uint8Array } {
  switch (trace.type) {
    case 'read':
    case 'read-zero':
      return { nextFreeNode: trace.nextFreeNode, subRoot: trace.subRoot };
    case 'insert':
      return { nextFreeNode: trace.newNextFreeNode - 1, subRoot: trace.oldSubRoot };
    default:
      return { nextFreeNode: trace.newNextFreeNode, subRoot: trace.oldSubRoot };
  }
}

/** One trie while its traces are checked: its current root, and the nodes shown by earlier traces. */
export class CheckedTrie {
  private readonly nodes: WitnessNodes;

  constructor(
    private readonly hasher: Hasher,
    private nextFreeNode: number,
    subRoot: Uint8Array,
  ) {
    this.nodes = WitnessNodes.under(hasher, subRoot);
  }

  get topRoot(): Uint8Array {
    return this.hasher.hash(encodeTop(this.hasher.scheme, this.nextFreeNode, this.nodes.subRoot));
  }

  /**
   * Checks the next trace of this trie and applies its writes.
   *
   * @param at - names the trace in the verdict
   * @throws TraceRefusal
   * @source docs/spec/state-trie.md 10
   */
  step(trace: StateTrace, at: string): void {
    const before = stateBefore(trace);
    const freeAt = 'nextFreeNode' in trace ? `${at}.nextFreeNode` : `${at}.newNextFreeNode`;
    const continues = before.nextFreeNode === this.nextFreeNode;
    ensure(continues, 'NEXT_FREE_NODE_MISMATCH', freeAt, `should continue from ${this.nextFreeNode}`);
    const rootAt = 'subRoot' in trace ? `${at}.subRoot` : `${at}.oldSubRoot`;
    const root = equalBytes(before.subRoot, this.nodes.subRoot);
    ensure(root, 'SUB_ROOT_MISMATCH', rootAt, 'does not continue from the current sub root');
    const hkey = traceKeyHash(this.hasher, trace);
    if (trace.type === 'read') this.read(trace, hkey, at);
    else if (trace.type === 'read-zero') this.readZero(trace, hkey, at);
    else {
      if (trace.type === 'insert') this.insert(trace, hkey, at);
      else if (trace.type === 'update') this.update(trace, hkey, at);
      else this.remove(trace, hkey, at);
      const same = equalBytes(trace.newSubRoot, this.nodes.subRoot);
      ensure(same, 'NEW_SUB_ROOT_MISMATCH', `${at}.newSubRoot`, 'does not result from the writes');
    }
  }

  private read(trace: ReadStep, hkey: Uint8Array, at: string): void {
    this.holds(trace.leaf, hkey, `${at}.leaf`);
    this.isValue(trace.leaf, trace.value, `${at}.value`);
    this.branch(trace.leaf, trace.proof, `${at}.proof`);
  }

  private readZero(trace: ReadZeroStep, hkey: Uint8Array, at: string): void {
    adjacent(trace.leftLeaf, trace.leftProof, trace.rightLeaf, trace.rightProof, at);
    between(trace.leftLeaf, hkey, trace.rightLeaf, at);
    this.branch(trace.leftLeaf, trace.leftProof, `${at}.leftProof`);
    this.branch(trace.rightLeaf, trace.rightProof, `${at}.rightProof`);
  }

  private update(trace: UpdateStep, hkey: Uint8Array, at: string): void {
    const { priorUpdatedLeaf: prior, proof } = trace;
    this.holds(prior, hkey, `${at}.priorUpdatedLeaf`);
    this.isValue(prior, trace.oldValue, `${at}.oldValue`);
    this.branch(prior, proof, `${at}.proof`);
    this.write(proof, { ...prior, hval: this.valueHash(trace.newValue, `${at}.newValue`) });
  }

  private insert(trace: InsertStep, hkey: Uint8Array, at: string): void {
    const { priorLeftLeaf: left, priorRightLeaf: right, leftProof, newProof, rightProof } = trace;
    const position = newProof.leafIndex;
    const isFree = position === this.nextFreeNode;
    ensure(isFree, 'LEAF_INDEX_MISMATCH', `${at}.newProof.leafIndex`, `should be ${this.nextFreeNode}`);
    adjacent(left, leftProof, right, rightProof, at);
    between(left, hkey, right, at);
    const hval = this.valueHash(trace.value, `${at}.value`);
    this.branch(left, leftProof, `${at}.leftProof`);
    this.write(leftProof, { ...left, nextLeaf: position });
    this.branch(undefined, newProof, `${at}.newProof`);
    this.write(newProof, { prevLeaf: leftProof.leafIndex, nextLeaf: rightProof.leafIndex, hkey, hval });
    this.branch(right, rightProof, `${at}.rightProof`);
    this.write(rightProof, { ...right, prevLeaf: position });
    this.nextFreeNode = position + 1;
  }

  private remove(trace: DeleteStep, hkey: Uint8Array, at: string): void {
    const { priorLeftLeaf: left, priorDeletedLeaf: deleted, priorRightLeaf: right } = trace;
    const { leftProof, deletedProof, rightProof } = trace;
    this.holds(deleted, hkey, `${at}.priorDeletedLeaf`);
    if (trace.deletedValue !== undefined) this.isValue(deleted, trace.deletedValue, `${at}.deletedValue`);
    adjacent(left, leftProof, deleted, deletedProof, at);
    adjacent(deleted, deletedProof, right, rightProof, at);
    between(left, hkey, right, at);
    this.branch(left, leftProof, `${at}.leftProof`);
    this.write(leftProof, { ...left, nextLeaf: rightProof.leafIndex });
    this.branch(deleted, deletedProof, `${at}.deletedProof`);
    this.write(deletedProof, undefined);
    this.branch(right, rightProof, `${at}.rightProof`);
    this.write(rightProof, { ...right, prevLeaf: leftProof.leafIndex });
  }

  private holds(leaf: LeafOpening, hkey: Uint8Array, at: string): void {
    ensure(equalBytes(leaf.hkey, hkey), 'KEY_MISMATCH', `${at}.hkey`, 'is not the hash of the key');
  }

  private isValue(leaf: LeafOpening, value: Uint8Array, at: string): void {
    const same = equalBytes(leaf.hval, this.valueHash(value, at));
    ensure(same, 'VALUE_MISMATCH', at, 'does not match the hash in the leaf');
  }

  private branch(leaf: LeafOpening | undefined, { leafIndex, siblings }: BranchProof, at: string): void {
    canonical(at, () => {
      try {
        this.nodes.learn(leafIndex, this.leafHash(leaf), siblings);
      } catch (error) {
        if (!isPlumblineError(error, 'WITNESS_CONFLICT')) throw error;
        throw new TraceRefusal('BRANCH_MISMATCH', at, error.details.reason);
      }
    });
  }

  private write(proof: BranchProof, leaf: LeafOpening | undefined): void {
    this.nodes.write(proof.leafIndex, this.leafHash(leaf));
  }

  private valueHash(value: Uint8Array, at: string): Uint8Array {
    return canonical(at, () => traceValueHash(this.hasher, value));
  }

  private leafHash(leaf: LeafOpening | undefined): Uint8Array {
    return leaf === undefined ? ZERO_HASH : this.hasher.hash(encodeLeaf(this.hasher.scheme, leaf));
  }
}

function adjacent(left: LeafOpening, leftProof: BranchProof, right: LeafOpening, rightProof: BranchProof, at: string) {
  const linkedForward = left.nextLeaf === rightProof.leafIndex;
  ensure(linkedForward, 'LEAF_LINK_BROKEN', at, `leaf ${leftProof.leafIndex} does not link to ${rightProof.leafIndex}`);
  const linkedBack = right.prevLeaf === leftProof.leafIndex;
  ensure(
    linkedBack,
    'LEAF_LINK_BROKEN',
    at,
    `leaf ${rightProof.leafIndex} does not link back to ${leftProof.leafIndex}`,
  );
}

function between(left: LeafOpening, hkey: Uint8Array, right: LeafOpening, at: string): void {
  const inOrder = compareBytes(left.hkey, hkey) < 0 && compareBytes(hkey, right.hkey) < 0;
  ensure(inOrder, 'LEAF_ORDER_BROKEN', at, 'the key is not between its neighbours');
}

/** Runs `body`. @throws TraceRefusal `NOT_CANONICAL` when a word to hash is not canonical */
export function canonical<Result>(at: string, body: () => Result): Result {
  try {
    return body();
  } catch (error) {
    if (!isPlumblineError(error, 'HASH_INPUT_NOT_CANONICAL')) throw error;
    throw new TraceRefusal('NOT_CANONICAL', at, 'a word is not below the modulus of the hash');
  }
}
