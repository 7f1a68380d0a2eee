import { RLP } from '@ethereumjs/rlp';
import { PlumblineError } from '../errors.js';
import { keccak256 } from '../kernel/keccak.js';
import {
  bigIntToMinimalBytes,
  bytesToBigInt,
  bytesToKey,
  compareBytes,
  equalBytes,
  isZeroBytes,
} from '../primitives/bytes.js';
import { EMPTY_TRIE_ROOT } from './constants.js';
import {
  HashedNode,
  HeldNode,
  linksOf,
  NODE_HASH_BYTES,
  PatriciaTrie,
  rootHash,
  shareBuffers,
  UnknownNodeError,
} from './patricia-trie.js';

/** An account in the Merkle-Patricia state trie. */
interface TrieAccount {
  readonly nonce: bigint;
  readonly balance: bigint;
  readonly codeHash: Uint8Array;
}

/** First byte of an RLP list. */
const LIST = 0xc0;
/** Accounts between two reports of progress. */
const PROGRESS_STEP = 500;

/** A write of one account. An undefined account is deleted with its storage. Slot keys and values are 32 bytes. */
export interface TrieWrite {
  readonly address: Uint8Array;
  readonly account: TrieAccount | undefined;
  /** Clear the storage before writing `slots`. */
  readonly clearStorage?: boolean;
  readonly slots: readonly { readonly key: Uint8Array; readonly after: Uint8Array }[];
}

/** Account and storage proofs, with the fields of `eth_getProof`; nodes from the root down. */
export interface TrieProof {
  readonly accountProof: Uint8Array[];
  /** Undefined if the account does not exist. */
  readonly account: TrieAccount | undefined;
  readonly storageRoot: Uint8Array;
  readonly storage: { readonly key: Uint8Array; readonly value: bigint; readonly proof: Uint8Array[] }[];
}

/**
 * The ordinary Ethereum state trie with its storage tries, in memory. All written roots stay readable until the first
 * `hold`; from then on, the held ones.
 */
export class StateTrie {
  /** Root nodes by `bytesToKey` of their hash, as often as they are held. */
  private readonly held = new Map<string, { readonly node: HeldNode | undefined; holds: number }>();
  /** Roots written since the last `hold`. */
  private readonly pending = new Map<string, HeldNode | undefined>();
  /** Hash of the current root. */
  private root = EMPTY_TRIE_ROOT;

  /**
   * Restores a trie from stored nodes, with one root held. Nodes not reachable from the root are dropped.
   *
   * @param nodes - by `bytesToKey` of their hash, as from `nodesOf`
   * @returns undefined if one of its nodes is not among them
   */
  static restore(nodes: ReadonlyMap<string, Uint8Array>, root: Uint8Array): StateTrie | undefined {
    const trie = new StateTrie();
    if (!equalBytes(root, EMPTY_TRIE_ROOT)) {
      const node = restoredNode(nodes, root, new Map());
      if (node === undefined) return undefined;
      trie.pending.set(bytesToKey(root), node);
    }
    trie.root = root;
    trie.hold(root);
    return trie;
  }

  /** A trie with one root held. @param node - of the root, such as `partialRoot` gives; undefined for the empty trie */
  static from(root: Uint8Array, node: HeldNode | undefined): StateTrie {
    const trie = new StateTrie();
    trie.pending.set(bytesToKey(root), node);
    trie.root = root;
    trie.hold(root);
    return trie;
  }

  /**
   * Nodes of a held root, storage tries included, by `bytesToKey` of their hash. Known nodes and those below them are skipped.
   *
   * @param known - whether a node is known, and all nodes below it
   */
  nodesOf(root: Uint8Array, known: (name: string) => boolean): Map<string, Uint8Array> {
    const found = new Map<string, Uint8Array>();
    const queue = [{ link: root, node: this.rootNode(root) }];
    for (let next = queue.pop(); next !== undefined; next = queue.pop()) {
      const { link, node } = next;
      if (node === undefined) continue;
      // A shorter link is the node itself, a part of the one above it.
      if (link.length === NODE_HASH_BYTES) {
        const name = bytesToKey(link);
        if (found.has(name) || known(name)) continue;
        found.set(name, node.bytes);
      }
      for (const [i, below] of linksOf(node.bytes, storageRootIn).entries()) {
        if (below !== undefined) queue.push({ link: below, node: node.below[i] });
      }
    }
    return found;
  }

  /** Holds a root that was just written, and drops other roots written since the last `hold`. */
  hold(root: Uint8Array): void {
    const name = bytesToKey(root);
    const entry = this.held.get(name);
    if (entry === undefined) this.held.set(name, { node: this.rootNode(root), holds: 1 });
    else entry.holds++;
    this.pending.clear();
  }

  /** Releases a held root. Call it once for each `hold`. */
  release(root: Uint8Array): void {
    const name = bytesToKey(root);
    const entry = this.held.get(name);
    if (entry !== undefined && --entry.holds === 0) this.held.delete(name);
  }

  /** @returns the new state root, 32 bytes */
  write(writes: readonly TrieWrite[]): Uint8Array {
    if (writes.length > 0) this.setRoot(writeAccounts(this.rootNode(this.root), writes));
    return this.root.slice();
  }

  /**
   * Writes the accounts of an empty trie, in order of their hashed keys and in parts, so that it is never in memory as
   * objects.
   *
   * @param onProgress - called with the share that is written, 0 to 1
   * @returns the new state root, 32 bytes
   */
  load(writes: readonly TrieWrite[], onProgress: (fraction: number) => void): Uint8Array {
    const trie = new PatriciaTrie();
    const keyed = writes.map((write) => ({ ...write, hashed: keccak256(write.address) }));
    keyed.sort((a, b) => compareBytes(a.hashed, b.hashed));
    for (const [i, { hashed, account, slots }] of keyed.entries()) {
      if (account === undefined) continue;
      putAccount(trie, hashed, account, writtenStorage(undefined, slots));
      if (i % PROGRESS_STEP !== 0) continue;
      trie.commit();
      onProgress(i / keyed.length);
    }
    const root = trie.commit();
    if (root !== undefined) shareBuffers(root);
    this.setRoot(root);
    return this.root.slice();
  }

  /** Reverts to an earlier root that is still held. */
  revertTo(root: Uint8Array): void {
    this.root = root;
    if (this.held.size > 0) this.pending.clear();
  }

  /**
   * Writes on an earlier or the current root, without changing this trie.
   *
   * @returns a function that writes on what it wrote before, and returns the root, 32 bytes
   */
  fork(root: Uint8Array): (writes: readonly TrieWrite[]) => Uint8Array {
    let current = this.rootNode(root);
    return (writes) => {
      current = writeAccounts(current, writes);
      return rootHash(current);
    };
  }

  /** Proofs under an earlier or the current state root. */
  prove(root: Uint8Array, address: Uint8Array, keys: readonly Uint8Array[]): TrieProof {
    const trie = new PatriciaTrie(this.rootNode(root));
    const hashed = keccak256(address);
    const leaf = trie.get(hashed);
    const { account, storageRoot } = decodeAccount(leaf?.value);
    const slots = new PatriciaTrie(leaf?.below);
    const storage = keys.map((key) => {
      const slot = keccak256(key);
      const value = slots.get(slot)?.value;
      const number = value === undefined ? 0n : bytesToBigInt(RLP.decode(value) as Uint8Array);
      return { key, value: number, proof: slots.path(slot) };
    });
    return { accountProof: trie.path(hashed), account, storageRoot, storage };
  }

  private setRoot(node: HeldNode | undefined): void {
    this.root = rootHash(node);
    this.pending.set(bytesToKey(this.root), node);
  }

  /** @returns undefined for the root of an empty trie */
  private rootNode(root: Uint8Array): HeldNode | undefined {
    if (equalBytes(root, EMPTY_TRIE_ROOT)) return undefined;
    const name = bytesToKey(root);
    const node = this.pending.get(name) ?? this.held.get(name)?.node;
    if (node !== undefined) return node;
    const reason = 'a root of a Merkle-Patricia trie is not held';
    throw new PlumblineError('INTERNAL', reason, { reason });
  }
}

/** @returns undefined if a node is missing. @param made - nodes that were met before, by name */
function restoredNode(
  nodes: ReadonlyMap<string, Uint8Array>,
  link: Uint8Array,
  made: Map<string, HeldNode>,
): HeldNode | undefined {
  const name = bytesToKey(link);
  const known = made.get(name);
  if (known !== undefined) return known;
  const bytes = link.length === NODE_HASH_BYTES ? nodes.get(name) : link;
  if (bytes === undefined) return undefined;
  const below: (HeldNode | undefined)[] = [];
  for (const next of linksOf(bytes, storageRootIn)) {
    const node = next && restoredNode(nodes, next, made);
    if (next !== undefined && node === undefined) return undefined;
    below.push(node);
  }
  const node = new HeldNode(bytes, below);
  made.set(name, node);
  return node;
}

/** The storage root in the value of an account, a list of four, unless its storage is empty. The value of a slot is no list. */
function storageRootIn(value: Uint8Array): Uint8Array | undefined {
  if (value[0]! < LIST) return undefined;
  const { storageRoot } = decodeAccount(value);
  return equalBytes(storageRoot, EMPTY_TRIE_ROOT) ? undefined : storageRoot;
}

/** Writes accounts with their storage. @returns the new root node */
function writeAccounts(root: HeldNode | undefined, writes: readonly TrieWrite[]): HeldNode | undefined {
  const trie = new PatriciaTrie(root);
  const deleted: Uint8Array[] = [];
  for (const { address, account, clearStorage, slots } of writes) {
    const key = keccak256(address);
    if (account === undefined) deleted.push(key);
    else {
      const before = clearStorage === true ? undefined : trie.get(key)?.below;
      putAccount(trie, key, account, storageOf(address, before, slots));
    }
  }
  // Last: fewer branches are left with one child in between.
  for (const key of deleted) trie.delete(key);
  return trie.commit();
}

/** As `writtenStorage`. @throws UnknownNodeError that names the account */
function storageOf(address: Uint8Array, root: HeldNode | undefined, slots: TrieWrite['slots']): HeldNode | undefined {
  try {
    return writtenStorage(root, slots);
  } catch (error) {
    if (error instanceof UnknownNodeError) error.account = address;
    throw error;
  }
}

/** @param storage - root of its storage trie; undefined for the empty one */
function putAccount(trie: PatriciaTrie, key: Uint8Array, account: TrieAccount, storage: HeldNode | undefined): void {
  trie.put(key, encodeAccount(account, rootHash(storage)), storage);
}

/** @param root - of the storage before; undefined for the empty trie */
function writtenStorage(root: HeldNode | undefined, slots: TrieWrite['slots']): HeldNode | undefined {
  if (slots.length === 0) return root;
  const trie = new PatriciaTrie(root);
  const deleted: Uint8Array[] = [];
  for (const { key, after } of slots) {
    const hashed = keccak256(key);
    if (isZeroBytes(after)) deleted.push(hashed);
    else trie.put(hashed, RLP.encode(bigIntToMinimalBytes(bytesToBigInt(after))));
  }
  for (const hashed of deleted) trie.delete(hashed);
  return trie.commit();
}

function decodeAccount(encoded: Uint8Array | undefined): Pick<TrieProof, 'account' | 'storageRoot'> {
  if (encoded === undefined) return { account: undefined, storageRoot: EMPTY_TRIE_ROOT };
  const [nonce, balance, storageRoot, codeHash] = RLP.decode(encoded) as [
    Uint8Array,
    Uint8Array,
    Uint8Array,
    Uint8Array,
  ];
  return { account: { nonce: bytesToBigInt(nonce), balance: bytesToBigInt(balance), codeHash }, storageRoot };
}

function encodeAccount({ nonce, balance, codeHash }: TrieAccount, storageRoot: Uint8Array): Uint8Array {
  return RLP.encode([bigIntToMinimalBytes(nonce), bigIntToMinimalBytes(balance), storageRoot, codeHash]);
}

/**
 * Writes on a state trie of which some nodes are known, such as those of proofs. They may become more between two writes.
 *
 * @param nodes - by `bytesToKey` of their hash
 * @returns a function that writes on what it wrote before, and returns the root, 32 bytes. It throws an `UnknownNodeError`, and
 *   has written nothing, if it needs a node that is not known
 */
export function partialTrie(
  nodes: ReadonlyMap<string, Uint8Array>,
  root: Uint8Array,
): (writes: readonly TrieWrite[]) => Uint8Array {
  let current = partialRoot(nodes, root);
  return (writes) => {
    current = writeAccounts(current, writes);
    return rootHash(current);
  };
}

/**
 * The root node of a state trie of which some nodes are known. They may become more, or fewer, between two uses.
 *
 * @param nodes - by `bytesToKey` of their hash
 * @returns undefined for the empty trie
 */
export function partialRoot(
  nodes: Pick<ReadonlyMap<string, Uint8Array>, 'get'>,
  root: Uint8Array,
): HeldNode | undefined {
  const linked = (link: Uint8Array): HeldNode =>
    link.length === NODE_HASH_BYTES ? new HashedNode(link, find) : read(link);
  const read = (bytes: Uint8Array) =>
    new HeldNode(
      bytes,
      linksOf(bytes, storageRootIn).map((link) => link && linked(link)),
    );
  const find = (hash: Uint8Array) => {
    const bytes = nodes.get(bytesToKey(hash));
    return bytes && read(bytes);
  };
  return equalBytes(root, EMPTY_TRIE_ROOT) ? undefined : linked(root);
}
