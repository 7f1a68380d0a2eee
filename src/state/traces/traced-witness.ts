import type { LeafOpening } from '../../accumulator/leaf-opening.js';
import type { Hasher } from '../../kernel/contracts.js';
import { bytesToHex } from '../../primitives/hex.js';
import type { BranchProof, StateTrace } from '../trace.js';
import { leafId, parentId, siblingId } from '../witness/witness-nodes.js';
import { WitnessTrie } from '../witness/witness-trie.js';
import { stateBefore } from './trace-check-trie.js';
import { WitnessState } from './witness-state.js';

/**
 * What the traces of one block show of the state before it: enough to apply that block, and to read what it touched. The
 * traces are taken as they are, so check them first (`checkTraces`); that the account trie has the parent state root is
 * left to the caller to compare.
 *
 * @param traces - of one block, in their order
 * @returns undefined when no trace is of the account tree
 * @throws PlumblineError `WITNESS_CONFLICT` for traces that contradict each other
 */
export function witnessBefore(hasher: Hasher, traces: readonly StateTrace[]): WitnessState | undefined {
  let accounts: PriorTrie | undefined;
  /** Storage of accounts by address, with the leaf position as soon as a trace of the account shows it. */
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
    // An inserted account had no storage before; a deleted one may get another one.
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

/** The tree of a trace as it is before it, of which nothing is known but the root. */
export function trieBefore(hasher: Hasher, trace: StateTrace): WitnessTrie {
  const { nextFreeNode, subRoot } = stateBefore(trace);
  return WitnessTrie.open(hasher, nextFreeNode, subRoot);
}

/** Adds to a tree what a trace that starts from its root shows of it. @throws PlumblineError as `WitnessTrie.learn` */
export function learnTrace(trie: WitnessTrie, trace: StateTrace): void {
  new PriorTrie(trie).learn(trace);
}

/** A tree before the block, from traces whose siblings are those of each moment. */
class PriorTrie {
  /** Nodes (see `WitnessNodes`) that the block has changed so far: their siblings in later traces are not the prior ones. */
  private readonly changed = new Set<number>();

  constructor(readonly trie: WitnessTrie) {}

  learn(trace: StateTrace): void {
    switch (trace.type) {
      case 'read':
        this.see(trace.proof, trace.leaf, trace.value);
        break;
      case 'read-zero':
        this.see(trace.leftProof, trace.leftLeaf);
        this.see(trace.rightProof, trace.rightLeaf);
        break;
      case 'update':
        this.seeWrite(trace.proof, trace.priorUpdatedLeaf, trace.oldValue);
        break;
      case 'insert':
        this.seeWrite(trace.leftProof, trace.priorLeftLeaf);
        this.seeWrite(trace.newProof, undefined);
        this.seeWrite(trace.rightProof, trace.priorRightLeaf);
        break;
      case 'delete':
        this.seeWrite(trace.leftProof, trace.priorLeftLeaf);
        this.seeWrite(trace.deletedProof, trace.priorDeletedLeaf, trace.deletedValue);
        this.seeWrite(trace.rightProof, trace.priorRightLeaf);
    }
  }

  private seeWrite(proof: BranchProof, leaf: LeafOpening | undefined, value?: Uint8Array): void {
    this.see(proof, leaf, value);
    for (let id = leafId(proof.leafIndex); id >= 1; id = parentId(id)) this.changed.add(id);
  }

  private see({ leafIndex, siblings }: BranchProof, leaf: LeafOpening | undefined, value?: Uint8Array): void {
    const id = leafId(leafIndex);
    if (this.changed.has(id)) {
      // Known since its first write. The value may be one that the block wrote: then it is not taken.
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
