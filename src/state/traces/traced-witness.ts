import type { LeafOpening } from '../../accumulator/leaf-opening.js';
import type { Hasher } from '../../kernel/contracts.js';
import { bytesToHex } from '../../primitives/hex.js';
import type { BranchProof, StateTrace } from '../trace.js';
import { leafId, parentId, siblingId } from '../witness/witness-nodes.js';
import { WitnessTrie } from '../witness/witness-trie.js';
import { stateBefore } from './trace-check-trie.js';
import { WitnessState } from './witness-state.js';

/**
 * The part of the state before a block that its traces show: enough to apply the block, and to read what it touched.
 * The traces are not checked here, so check them first (`checkTraces`). The caller must also compare the root of the
 * account trie with the parent state root.
 *
 * @param traces - of one block, in order
 * @returns undefined if there is no trace of the account trie
 * @throws PlumblineError `WITNESS_CONFLICT` for traces that contradict each other
 */
export function witnessBefore(hasher: Hasher, traces: readonly StateTrace[]): WitnessState | undefined {
  let accounts: PriorTrie | undefined;
  /** Storage of accounts by address, with the leaf position once a trace of the account shows it. */
  const storages = new Map<string, { trie?: PriorTrie; position?: number; isNew?: boolean }>();
  const found: [number, WitnessTrie][] = [];
  for (const trace of traces) {
    const address = bytesToHex(trace.location ?? trace.key);
    const storage = storages.get(address) ?? {};
    storages.set(address, storage);
    if (trace.location !== undefined) {
      if (storage.isNew) continue;
      storage.trie ??= new PriorTrie(trieBefore(hasher, trace));
      storage.trie.learn(trace);
      continue;
    }
    accounts ??= new PriorTrie(trieBefore(hasher, trace));
    accounts.learn(trace);
    // An inserted account had no storage before; a deleted account may get a new one.
    if (trace.type === 'insert') storages.delete(address);
    else if (trace.type === 'read' || trace.type === 'update') storage.position = trace.proof.leafIndex;
    else if (trace.type === 'delete') {
      if (storage.trie) found.push([trace.deletedProof.leafIndex, storage.trie.trie]);
      storages.set(address, { isNew: true });
    }
  }
  if (accounts === undefined) return undefined;
  for (const { trie, position } of storages.values()) {
    if (trie && position !== undefined) found.push([position, trie.trie]);
  }
  return new WitnessState(hasher, accounts.trie, found);
}

/** The trie before a trace, with only its root known. */
export function trieBefore(hasher: Hasher, trace: StateTrace): WitnessTrie {
  const { nextFreeNode, subRoot } = stateBefore(trace);
  return WitnessTrie.open(hasher, nextFreeNode, subRoot);
}

/** Adds the branches of a trace that starts from the trie's root. @throws PlumblineError as `WitnessTrie.learn` */
export function learnTrace(trie: WitnessTrie, trace: StateTrace): void {
  new PriorTrie(trie).learn(trace);
}

/** The trie before the block, rebuilt from traces whose siblings are of later moments. */
class PriorTrie {
  /** Nodes (see `WitnessNodes`) that the block has changed so far: as siblings in later traces they have new hashes. */
  private readonly changed = new Set<number>();

  constructor(readonly trie: WitnessTrie) {}

  learn(trace: StateTrace): void {
    switch (trace.type) {
      case 'read':
        this.learnBranch(trace.proof, trace.leaf, trace.value);
        break;
      case 'read-zero':
        this.learnBranch(trace.leftProof, trace.leftLeaf);
        this.learnBranch(trace.rightProof, trace.rightLeaf);
        break;
      case 'update':
        this.learnWrite(trace.proof, trace.priorUpdatedLeaf, trace.oldValue);
        break;
      case 'insert':
        this.learnWrite(trace.leftProof, trace.priorLeftLeaf);
        this.learnWrite(trace.newProof, undefined);
        this.learnWrite(trace.rightProof, trace.priorRightLeaf);
        break;
      case 'delete':
        this.learnWrite(trace.leftProof, trace.priorLeftLeaf);
        this.learnWrite(trace.deletedProof, trace.priorDeletedLeaf, trace.deletedValue);
        this.learnWrite(trace.rightProof, trace.priorRightLeaf);
    }
  }

  private learnWrite(proof: BranchProof, leaf: LeafOpening | undefined, value?: Uint8Array): void {
    this.learnBranch(proof, leaf, value);
    for (let id = leafId(proof.leafIndex); id >= 1; id = parentId(id)) this.changed.add(id);
  }

  private learnBranch({ leafIndex, siblings }: BranchProof, leaf: LeafOpening | undefined, value?: Uint8Array): void {
    const id = leafId(leafIndex);
    if (this.changed.has(id)) {
      // Known since its first write. The value may have been written by this block; then it is ignored.
      if (value !== undefined) this.trie.learnValue(leafIndex, value);
      return;
    }
    let node = id;
    const prior = siblings.map((sibling) => {
      const other = siblingId(node);
      node = parentId(node);
      return this.changed.has(other) ? this.trie.nodeHash(other)! : sibling;
    });
    this.trie.learn(leafIndex, leaf, prior, value);
  }
}
