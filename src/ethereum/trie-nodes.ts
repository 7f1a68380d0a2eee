import { RLP } from '@ethereumjs/rlp';
import type { BatchDBOp, DB } from '@ethereumjs/util';
import { bytesToKey } from '../primitives/bytes.js';
import { hexToBytes } from '../primitives/hex.js';

type Item = Uint8Array | Item[];

interface HeldNode {
  readonly bytes: Uint8Array;
  /** Held nodes that name this one, and roots that are held. */
  references: number;
}

const HASH_BYTES = 32;
const BRANCH_ITEMS = 17;
const ACCOUNT_ITEMS = 4;
/** First nibble of a leaf's path, with its flag: 2 or 3. */
const LEAF_FLAG = 2;

/**
 * Nodes of Merkle-Patricia tries by their hash. What a trie writes is fresh; `hold` keeps what a root leads to, storage
 * tries of accounts included, and drops the rest of what is fresh, the nodes of states in between. `release` lets go of
 * what only that root led to.
 */
export class TrieNodes implements DB<string, Uint8Array> {
  private readonly fresh = new Map<string, Uint8Array>();
  private readonly held = new Map<string, HeldNode>();

  /** @param root - hash of a root node, 32 bytes; may be held several times, and is to be released as often */
  hold(root: Uint8Array): void {
    this.retain(bytesToKey(root));
    this.fresh.clear();
  }

  /** @param root - one that is held */
  release(root: Uint8Array): void {
    this.drop(bytesToKey(root));
  }

  /** Forgets what has been written since the last `hold`; everything stays while nothing has ever been held. */
  forgetFresh(): void {
    if (this.held.size > 0) this.fresh.clear();
  }

  /** Takes nodes in as if they had just been written. @param nodes - by `bytesToKey` of their hash */
  add(nodes: Iterable<readonly [string, Uint8Array]>): void {
    for (const [name, node] of nodes) this.fresh.set(name, node);
  }

  /**
   * Held nodes that a root leads to, by `bytesToKey` of their hash. Nothing below a known node is looked at.
   *
   * @param root - one that is held
   * @param known - whether a node is known, and with it all that it leads to
   */
  below(root: Uint8Array, known: (name: string) => boolean): Map<string, Uint8Array> {
    const found = new Map<string, Uint8Array>();
    const ahead = [bytesToKey(root)];
    for (let name = ahead.pop(); name !== undefined; name = ahead.pop()) {
      const node = this.held.get(name);
      if (node === undefined || found.has(name) || known(name)) continue;
      found.set(name, node.bytes);
      ahead.push(...childrenOf(node.bytes));
    }
    return found;
  }

  has(root: Uint8Array): boolean {
    const name = bytesToKey(root);
    return this.fresh.has(name) || this.held.has(name);
  }

  /** Nodes that are held. */
  get size(): number {
    return this.held.size;
  }

  async get(key: string): Promise<Uint8Array | undefined> {
    const name = nameOf(key);
    return this.fresh.get(name) ?? this.held.get(name)?.bytes;
  }

  async put(key: string, node: Uint8Array): Promise<void> {
    this.fresh.set(nameOf(key), node);
  }

  async del(key: string): Promise<void> {
    this.fresh.delete(nameOf(key));
  }

  async batch(operations: BatchDBOp<string, Uint8Array>[]): Promise<void> {
    for (const operation of operations) {
      if (operation.type === 'put') await this.put(operation.key, operation.value);
      else await this.del(operation.key);
    }
  }

  /** The same nodes: tries at other roots share them. */
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
    // The root of an empty trie is no node.
    const bytes = this.fresh.get(name);
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

/** The trie library names nodes in hex without prefix. One character per byte takes half of the space, in one piece. */
function nameOf(key: string): string {
  return bytesToKey(hexToBytes(`0x${key}`));
}

/** Names of the nodes that a node leads to, that of an account's storage included. */
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

/** A child is a hash, a short node in place, or nothing. */
function follow(child: Item, names: string[]): void {
  if (Array.isArray(child)) collect(child, names);
  else if (child.length === HASH_BYTES) names.push(bytesToKey(child));
}

/** The value of an account is a list with the root of its storage; that of a slot is no list. */
function addStorageRoot(value: Uint8Array, names: string[]): void {
  const decoded = RLP.decode(value) as Item;
  if (Array.isArray(decoded) && decoded.length === ACCOUNT_ITEMS) follow(decoded[2]!, names);
}
