import { RLP } from '@ethereumjs/rlp';
import type { BatchDBOp, DB } from '@ethereumjs/util';
import { bytesToKey } from '../primitives/bytes.js';
import { hexToBytes } from '../primitives/hex.js';

type Item = Uint8Array | Item[];

interface HeldNode {
  readonly bytes: Uint8Array;
  /** Number of held nodes and held roots that refer to this node. */
  references: number;
}

const HASH_BYTES = 32;
const BRANCH_ITEMS = 17;
const ACCOUNT_ITEMS = 4;
/** First nibble of a leaf's path: 2 or 3. */
const LEAF_FLAG = 2;

/**
 * Nodes of Merkle-Patricia tries by hash, with reference counts. Written nodes are pending. `hold` keeps the pending
 * nodes reachable from a root, storage tries included, and drops the others, which belong to intermediate states.
 * `release` drops nodes reachable only from that root.
 */
export class TrieNodes implements DB<string, Uint8Array> {
  private readonly pending = new Map<string, Uint8Array>();
  private readonly held = new Map<string, HeldNode>();

  /** @param root - hash of a root node, 32 bytes; may be held several times, and must be released as often */
  hold(root: Uint8Array): void {
    this.retain(bytesToKey(root));
    this.pending.clear();
  }

  /** @param root - a held root */
  release(root: Uint8Array): void {
    this.drop(bytesToKey(root));
  }

  /** Drops nodes written since the last `hold`. Before the first `hold` nothing is dropped. */
  dropPending(): void {
    if (this.held.size > 0) this.pending.clear();
  }

  /** Adds nodes as if they were just written. @param nodes - by `bytesToKey` of their hash */
  add(nodes: Iterable<readonly [string, Uint8Array]>): void {
    for (const [name, node] of nodes) this.pending.set(name, node);
  }

  /**
   * Held nodes reachable from a root, by `bytesToKey` of their hash. Known nodes and those below them are skipped.
   *
   * @param root - a held root
   * @param known - whether a node is known, and all nodes below it
   */
  below(root: Uint8Array, known: (name: string) => boolean): Map<string, Uint8Array> {
    const found = new Map<string, Uint8Array>();
    const queue = [bytesToKey(root)];
    for (let name = queue.pop(); name !== undefined; name = queue.pop()) {
      const node = this.held.get(name);
      if (node === undefined || found.has(name) || known(name)) continue;
      found.set(name, node.bytes);
      queue.push(...childrenOf(node.bytes));
    }
    return found;
  }

  has(root: Uint8Array): boolean {
    const name = bytesToKey(root);
    return this.pending.has(name) || this.held.has(name);
  }

  /** Number of held nodes. */
  get size(): number {
    return this.held.size;
  }

  async get(key: string): Promise<Uint8Array | undefined> {
    const name = nameOf(key);
    return this.pending.get(name) ?? this.held.get(name)?.bytes;
  }

  async put(key: string, node: Uint8Array): Promise<void> {
    this.pending.set(nameOf(key), node);
  }

  async del(key: string): Promise<void> {
    this.pending.delete(nameOf(key));
  }

  async batch(operations: BatchDBOp<string, Uint8Array>[]): Promise<void> {
    for (const operation of operations) {
      if (operation.type === 'put') await this.put(operation.key, operation.value);
      else await this.del(operation.key);
    }
  }

  /** Returns itself: tries with other roots share the nodes. */
  shallowCopy(): TrieNodes {
    return this;
  }

  async open(): Promise<void> {}

  private retain(name: string): void {
    const node = this.held.get(name);
    if (node !== undefined) {
      node.references++;
      return;
    }
    // The root of an empty trie has no node.
    const bytes = this.pending.get(name);
    if (bytes === undefined) return;
    this.held.set(name, { bytes, references: 1 });
    for (const child of childrenOf(bytes)) this.retain(child);
  }

  private drop(name: string): void {
    const node = this.held.get(name);
    if (node === undefined || --node.references > 0) return;
    this.held.delete(name);
    for (const child of childrenOf(node.bytes)) this.drop(child);
  }
}

/** The trie library uses hex keys without prefix. One character per byte needs half the memory. */
function nameOf(key: string): string {
  return bytesToKey(hexToBytes(`0x${key}`));
}

/** Keys of the nodes that a node refers to, including an account's storage root. */
function childrenOf(node: Uint8Array): string[] {
  const names: string[] = [];
  collect(RLP.decode(node) as Item[], names);
  return names;
}

function collect(node: readonly Item[], names: string[]): void {
  if (node.length === BRANCH_ITEMS) {
    for (const child of node.slice(0, BRANCH_ITEMS - 1)) follow(child, names);
    return;
  }
  const [path, value] = node as [Uint8Array, Item];
  if (path[0]! >> 4 < LEAF_FLAG) follow(value, names);
  else addStorageRoot(value as Uint8Array, names);
}

/** A child is a hash, an embedded short node, or empty. */
function follow(child: Item, names: string[]): void {
  if (Array.isArray(child)) collect(child, names);
  else if (child.length === HASH_BYTES) names.push(bytesToKey(child));
}

/** The value of an account is a list with its storage root; the value of a slot is not a list. */
function addStorageRoot(value: Uint8Array, names: string[]): void {
  const decoded = RLP.decode(value) as Item;
  if (Array.isArray(decoded) && decoded.length === ACCOUNT_ITEMS) follow(decoded[2]!, names);
}
