import { keccak_256 } from '@noble/hashes/sha3.js';
import { type Digits, word, ZERO, type ZkFormat } from './zk-hash.js';

/** An account as the EVM has it. Slots of value zero are not in the map. Never changed after it was made. */
export interface PlainAccount {
  readonly nonce: bigint;
  readonly balance: bigint;
  readonly code: Digits;
  readonly slots: ReadonlyMap<Digits, Digits>;
}

/** All accounts by address, 40 digits. */
export type PlainAccounts = ReadonlyMap<Digits, PlainAccount>;

interface Leaf {
  prev: number;
  next: number;
  readonly hkey: Digits;
  hval: Digits;
}

const bytesOf = (digits: Digits) => Uint8Array.from(digits.match(/../g) ?? [], (byte) => Number.parseInt(byte, 16));

export function keccak(digits: Digits): Digits {
  return [...keccak_256(bytesOf(digits))].map((byte) => byte.toString(16).padStart(2, '0')).join('');
}

/** A sparse Merkle tree of depth 40 with its leaves in a linked list (docs/spec/state-trie.md 2 to 4), in plain form. */
class ZkTree {
  private readonly leaves: (Leaf | undefined)[];

  constructor(private readonly format: ZkFormat) {
    this.leaves = [
      { prev: 0, next: 1, hkey: ZERO, hval: ZERO },
      { prev: 0, next: 1, hkey: format.tailKey, hval: ZERO },
    ];
  }

  get nextFreeNode(): number {
    return this.leaves.length;
  }

  position(hkey: Digits): number {
    return this.leaves.findIndex((leaf) => leaf?.hkey === hkey);
  }

  put(hkey: Digits, hval: Digits): void {
    const present = this.leaves[this.position(hkey)];
    if (present !== undefined) {
      present.hval = hval;
      return;
    }
    const position = this.leaves.length;
    const right = this.leaves.reduce((best, leaf, at) => {
      return leaf !== undefined && leaf.hkey > hkey && leaf.hkey <= this.leaves[best]!.hkey ? at : best;
    }, 1);
    const left = this.leaves[right]!.prev;
    this.leaves.push({ prev: left, next: right, hkey, hval });
    this.leaves[left]!.next = position;
    this.leaves[right]!.prev = position;
  }

  remove(hkey: Digits): void {
    const position = this.position(hkey);
    const { prev, next } = this.leaves[position]!;
    this.leaves[prev]!.next = next;
    this.leaves[next]!.prev = prev;
    this.leaves[position] = undefined;
  }

  root(): Digits {
    let nodes = this.leaves.map((leaf) => {
      if (leaf === undefined) return ZERO;
      const { index, hash } = this.format;
      return hash(index(leaf.prev) + index(leaf.next) + leaf.hkey + leaf.hval);
    });
    let empty = ZERO;
    for (let level = 0; level < 40; level++) {
      const pairs = Array.from({ length: Math.ceil(nodes.length / 2) }, (_, i) => [nodes[2 * i]!, nodes[2 * i + 1]]);
      nodes = pairs.map(([left, right]) => this.format.hash(left! + (right ?? empty)));
      empty = this.format.hash(empty + empty);
    }
    return this.format.hash(this.format.index(this.nextFreeNode) + nodes[0]!);
  }
}

/** The zk state of a chain, from the accounts after each block (docs/spec/state-trie.md 5). */
export class ZkState {
  private readonly accounts: ZkTree;
  /** By leaf position of the account. */
  private readonly storages = new Map<number, ZkTree>();
  private readonly emptyRoot: Digits;
  /** Storage root and zk code hash by address. */
  private readonly written = new Map<Digits, { storageRoot: Digits; zkCodeHash: Digits }>();

  constructor(private readonly format: ZkFormat) {
    this.accounts = new ZkTree(format);
    this.emptyRoot = new ZkTree(format).root();
  }

  root(): Digits {
    return this.accounts.root();
  }

  /**
   * Applies one block.
   *
   * @param destroyed - accounts of `before` that were destroyed in the block, whether or not they were created again
   */
  apply(before: PlainAccounts, after: PlainAccounts, destroyed: ReadonlySet<Digits>): void {
    const addresses = new Set([...before.keys(), ...after.keys()]);
    const keyed = [...addresses].map((address) => [this.format.accountKey(address), address] as const);
    for (const [hkey, address] of keyed.sort(([a], [b]) => (a < b ? -1 : 1))) {
      const [old, now] = [before.get(address), after.get(address)];
      if (old !== now || destroyed.has(address)) this.change(hkey, address, old, now, destroyed.has(address));
    }
  }

  private change(
    hkey: Digits,
    address: Digits,
    old: PlainAccount | undefined,
    now: PlainAccount | undefined,
    destroyed: boolean,
  ): void {
    const recreated = old !== undefined && destroyed;
    if (old !== undefined && (now === undefined || recreated)) this.accounts.remove(hkey);
    if (now === undefined) return;
    const found = this.accounts.position(hkey);
    const position = found < 0 ? this.accounts.nextFreeNode : found;
    const keys = new Set([...(old?.slots.keys() ?? []), ...now.slots.keys()]);
    // Besu lists the slots that a destroyed account had, also those that its successor does not have.
    const touched = [...keys].filter((key) => recreated || old?.slots.get(key) !== now.slots.get(key));
    const hashed = touched.map((key) => [this.format.slotHash(key), key] as const);
    let storageRoot = (old && this.written.get(address)?.storageRoot) ?? this.emptyRoot;
    if (touched.length > 0) {
      const tree = this.storages.get(position) ?? new ZkTree(this.format);
      this.storages.set(position, tree);
      for (const [slotKey, key] of hashed.sort(([a], [b]) => (a < b ? -1 : 1))) {
        const value = now.slots.get(key);
        if (value !== undefined) tree.put(slotKey, this.format.slotHash(value));
        else if (!recreated) tree.remove(slotKey);
      }
      storageRoot = tree.root();
    }
    const { codeHash, emptyCodeHash } = this.format;
    const unchanged = old === undefined ? now.code === '' : old.code === now.code;
    // Code that a block set to zero bytes is hashed as it is, which gives 32 zero bytes (docs/spec/state-trie.md 3).
    const kept = (old && this.written.get(address)?.zkCodeHash) ?? emptyCodeHash;
    const zkCodeHash = unchanged ? kept : codeHash(now.code);
    this.written.set(address, { storageRoot, zkCodeHash });
    const code = keccak(now.code) + word(now.code.length / 2);
    this.accounts.put(
      hkey,
      this.format.accountHash(word(now.nonce) + word(now.balance) + storageRoot + zkCodeHash + code),
    );
  }
}
