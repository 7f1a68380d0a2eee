/** A zk state of which only some branches are known, from the traces of a block: enough to apply that block to it. */

import type { AccountValue } from '../accumulator/account-value.js';
import { emptyHashes } from '../accumulator/empty-subtrees.js';
import { decodeIndex, decodeLeaf, type LeafOpening } from '../accumulator/leaf-opening.js';
import { type MerkleProofJson, PROOF_NODES, type ProofItemJson } from '../accumulator/proof-shape.js';
import { MAX_LEAVES, schemeFormat, TREE_DEPTH, ZERO_HASH } from '../accumulator/scheme.js';
import { PlumblineError } from '../errors.js';
import type { Hasher } from '../kernel/contracts.js';
import { copyBytes, equalBytes, isZeroBytes } from '../primitives/bytes.js';
import { bytesToHex, hexToBytes } from '../primitives/hex.js';
import { KeyHashes } from './hash-cache.js';
import type { BranchProof, StateTrace } from './trace.js';
import { stateBefore } from './trace-check.js';
import { applyTraced, type TracedChange, type TracedState } from './traced-application.js';
import { conflict, leafId, parentId, siblingId, WitnessTrie } from './witness-trie.js';

/**
 * A state of which only some branches are known, from proofs or traces. You can apply blocks to it if they touch nothing else.
 *
 * @example
 * const before = witnessBefore(hasher, traces)!;
 * const made = before.copy().apply(changes); // the same traces again
 */
export class WitnessState implements TracedState {
  private readonly keys: KeyHashes;
  private readonly storages: Map<number, WitnessTrie>;

  /**
   * @param accounts - default: an empty trie, the state before the first block
   * @param storages - by leaf position of the account
   */
  constructor(
    private readonly hasher: Hasher,
    readonly accounts: WitnessTrie = WitnessTrie.empty(hasher),
    storages: Iterable<readonly [number, WitnessTrie]> = [],
  ) {
    this.keys = new KeyHashes(hasher);
    this.storages = new Map(storages);
  }

  /**
   * Applies one block, one operation at a time. After an error the state cannot be used any more: apply to a copy if an
   * error is possible. This does not check that the storage of an account is empty if the account is destroyed and
   * recreated without slots.
   *
   * @param changes - in any order, each address once
   * @returns the state traces, in the order of the reference state manager; the state root after them is `accounts.topRoot`
   * @throws PlumblineError `WITNESS_MISSING` for an unknown branch; `STATE_MISMATCH` when a before-value differs from the
   *   state; `INVALID_PARAMETER`, `INVALID_LENGTH`; `OUT_OF_RANGE`, `HASH_INPUT_NOT_CANONICAL` for a number that the trie
   *   cannot hold
   */
  apply(changes: readonly TracedChange[]): StateTrace[] {
    return applyTraced({ hasher: this.hasher, keys: this.keys }, this, changes);
  }

  /** A copy with the same known branches, to try a block on. */
  copy(): WitnessState {
    const storages = [...this.storages].map(([position, trie]) => [position, trie.copy()] as const);
    return new WitnessState(this.hasher, this.accounts.copy(), storages);
  }

  /** @throws PlumblineError `WITNESS_MISSING` if nothing of it is known and it is not empty */
  storageAt(position: number, account: AccountValue): WitnessTrie {
    const known = this.storages.get(position);
    if (known !== undefined) return known;
    if (equalBytes(account.storageRoot, schemeFormat(this.hasher.scheme).emptyRoot)) return this.startStorage(position);
    const message = `the storage of the account at leaf position ${position} is not known`;
    throw new PlumblineError('WITNESS_MISSING', message, { part: 'storage', position });
  }

  startStorage(position: number): WitnessTrie {
    const empty = WitnessTrie.empty(this.hasher);
    this.storages.set(position, empty);
    return empty;
  }
}

/**
 * The part of the state before a block that its traces show: enough to apply the block, and to read what it touched.
 * The traces are not checked here, so check them first (`checkTraces`). The caller must also compare the root of the
 * account trie with the parent state root.
 *
 * @param traces - of one block, in order
 * @returns undefined if there is no trace of the account trie
 * @throws PlumblineError `WITNESS_CONFLICT` for traces that contradict each other
 *
 * @example
 * ```ts
 * import { hexToBytes, loadHasher, openState, witnessBefore } from 'plumbline-l2/state';
 *
 * const state = await openState({ scheme: 'poseidon2' });
 * const parentRoot = state.root();
 * const address = hexToBytes('0x2400000000000000000000000000000000000000');
 * const changes = [{ address, after: { nonce: 1n, balance: 5n }, destroyed: false, slots: [] }];
 * const { traces } = state.applyBlockTraced(0, changes);
 * const before = witnessBefore(await loadHasher('poseidon2'), traces)!;
 * before.accounts.topRoot; // => parentRoot
 * ```
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

/**
 * Builds a trie from the items of a `linea_getProof` answer: their leaves with values, and the sibling leaves.
 * Everything is checked against the top root. Whether an item is about the requested key must be checked by the
 * verifier of the answer.
 *
 * @param topRoot - trusted, 32 bytes: the state root for account items, an account's `storageRoot` for slots
 * @param items - at least one
 * @throws PlumblineError `WITNESS_CONFLICT` for items that do not lead to the root; `PROOF_MALFORMED`, `INVALID_HEX`,
 *   `INVALID_LENGTH`, `HASH_INPUT_NOT_CANONICAL`
 * @source docs/spec/state-trie.md 7.3
 *
 * @example
 * ```ts
 * import { bytesToHex, hexToBytes, loadHasher, openState, witnessFromProofs } from 'plumbline-l2/state';
 *
 * const state = await openState({ scheme: 'poseidon2' });
 * const address = hexToBytes('0x2400000000000000000000000000000000000000');
 * const account = { nonce: 1n, balance: 5n };
 * const root = state.applyBlock(0, [{ address, after: account, destroyed: false, slots: [] }]);
 * const { accountProof } = state.prove(0, address, []);
 * const accounts = witnessFromProofs(await loadHasher('poseidon2'), root, [accountProof]);
 * bytesToHex(accounts.topRoot) === bytesToHex(root); // => true
 * ```
 */
export function witnessFromProofs(hasher: Hasher, topRoot: Uint8Array, items: readonly ProofItemJson[]): WitnessTrie {
  const branches = items.flatMap((item, i) => {
    const at = `items[${i}]`;
    if ('leafIndex' in item) return [readBranch(hasher, item.leafIndex, item.proof, `${at}.proof`)];
    return [
      readBranch(hasher, item.leftLeafIndex, item.leftProof, `${at}.leftProof`),
      readBranch(hasher, item.rightLeafIndex, item.rightProof, `${at}.rightProof`),
    ];
  });
  const first = branches[0];
  if (first === undefined) throw malformed('items', 'must not be empty');
  const { indexBytes } = schemeFormat(hasher.scheme);
  for (const { position, top } of branches) {
    const isTop = equalBytes(top, first.top) && equalBytes(hasher.hash(top), topRoot);
    if (!isTop) throw conflict(position, 'its proof leads to another top root');
  }
  const nextFreeNode = decodeIndex(hasher.scheme, first.top.subarray(0, indexBytes));
  if (nextFreeNode === undefined) throw malformed('items[0]', 'has a top node without a valid nextFreeNode');
  const trie = WitnessTrie.open(hasher, nextFreeNode, copyBytes(first.top, indexBytes));
  for (const branch of branches) {
    trie.learn(branch.position, branch.leaf, branch.siblings, branch.value);
    if (branch.beside === undefined) continue;
    const beside = branch.position % 2 === 0 ? branch.position + 1 : branch.position - 1;
    trie.learn(beside, branch.beside, [branch.leafHash, ...branch.siblings.slice(1)]);
  }
  return trie;
}

interface Branch {
  readonly position: number;
  readonly top: Uint8Array;
  readonly siblings: readonly Uint8Array[];
  readonly leaf: LeafOpening;
  readonly leafHash: Uint8Array;
  readonly value: Uint8Array;
  /** The leaf at the other child of the same parent. */
  readonly beside: LeafOpening | undefined;
}

function readBranch(hasher: Hasher, position: number, proof: MerkleProofJson, at: string): Branch {
  const { scheme } = hasher;
  const { leafBytes, topBytes } = schemeFormat(scheme);
  if (!Number.isInteger(position) || position < 0 || position >= MAX_LEAVES)
    throw malformed(at, 'must have a leaf position from 0 to 2^40 - 1');
  if (proof.proofRelatedNodes.length !== PROOF_NODES) throw malformed(at, `must have ${PROOF_NODES} nodes`);
  const nodes = proof.proofRelatedNodes.map((node, i) => {
    const unusedLeaf = i === TREE_DEPTH && node.length === 2 + 64;
    const bytes = i === 0 ? topBytes : i < TREE_DEPTH ? 64 : unusedLeaf ? 32 : leafBytes;
    return hexToBytes(node, bytes);
  });
  const empties = emptyHashes(hasher);
  const siblings: Uint8Array[] = [];
  for (let level = 0; level < TREE_DEPTH; level++) {
    siblings.push(siblingHash(hasher, nodes[TREE_DEPTH - level]!, level, empties));
  }
  const beside = nodes[TREE_DEPTH]!;
  const preimage = nodes[TREE_DEPTH + 1]!;
  const leaf = decodeLeaf(scheme, preimage);
  if (leaf === undefined) throw malformed(at, 'has a leaf with invalid neighbour positions');
  return {
    position,
    top: nodes[0]!,
    siblings,
    leaf,
    leafHash: hasher.hash(preimage),
    value: hexToBytes(proof.value),
    beside: beside.length === leafBytes ? decodeLeaf(scheme, beside) : undefined,
  };
}

/** Hash of a sibling from its preimage; looked up for an empty subtree. */
function siblingHash(hasher: Hasher, preimage: Uint8Array, level: number, empties: readonly Uint8Array[]): Uint8Array {
  if (level === 0) return preimage.length === 32 && isZeroBytes(preimage) ? ZERO_HASH : hasher.hash(preimage);
  const below = empties[level - 1]!;
  const isEmpty = equalBytes(preimage.subarray(0, 32), below) && equalBytes(preimage.subarray(32), below);
  return isEmpty ? empties[level]! : hasher.hash(preimage);
}

function malformed(path: string, reason: string): PlumblineError<'PROOF_MALFORMED'> {
  return new PlumblineError('PROOF_MALFORMED', `malformed proof: ${path} ${reason}`, { path, reason });
}
