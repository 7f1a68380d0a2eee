import { createMerkleProof, createMPT, type MerklePatriciaTrie } from '@ethereumjs/mpt';
import { RLP } from '@ethereumjs/rlp';
import { ValueEncoding } from '@ethereumjs/util';
import { keccak_256 } from '@noble/hashes/sha3.js';
import { bigIntToMinimalBytes, bytesToBigInt, compareBytes, equalBytes, isZeroBytes } from '../primitives/bytes.js';
import { EMPTY_CODE_HASH, EMPTY_TRIE_ROOT } from './constants.js';
import { ScratchDB } from './scratch-db.js';
import { TrieNodes } from './trie-nodes.js';

/** An account in the Merkle-Patricia state trie. */
export interface TrieAccount {
  readonly nonce: bigint;
  readonly balance: bigint;
  readonly codeHash: Uint8Array;
}

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
  private constructor(
    private readonly accounts: MerklePatriciaTrie,
    /** Undefined for a fork, whose nodes exist as long as the fork. */
    private readonly nodes?: TrieNodes,
  ) {}

  static async create(): Promise<StateTrie> {
    const nodes = new TrieNodes();
    const accounts = await createMPT({ db: nodes, useKeyHashing: true, valueEncoding: ValueEncoding.Bytes });
    return new StateTrie(accounts, nodes);
  }

  /**
   * Restores a trie from stored nodes, with one root held. Nodes not reachable from the root are dropped.
   *
   * @param nodes - by `bytesToKey` of their hash, as from `nodesOf`
   * @returns undefined if the root is not among them
   */
  static async restore(nodes: ReadonlyMap<string, Uint8Array>, root: Uint8Array): Promise<StateTrie | undefined> {
    const trie = await StateTrie.create();
    trie.nodes!.add(nodes);
    if (!equalBytes(root, EMPTY_TRIE_ROOT) && !trie.nodes!.has(root)) return undefined;
    trie.accounts.root(root);
    trie.hold(root);
    return trie;
  }

  /** Nodes of a held root, storage tries included, except known nodes and those below them; see `TrieNodes.below`. */
  nodesOf(root: Uint8Array, known: (name: string) => boolean): Map<string, Uint8Array> {
    return this.nodes?.below(root, known) ?? new Map();
  }

  /** Holds a root that was just written, and drops other roots written since the last `hold`. */
  hold(root: Uint8Array): void {
    this.nodes?.hold(root);
  }

  /** Number of nodes reachable from held roots. */
  get heldNodes(): number {
    return this.nodes?.size ?? 0;
  }

  /** Releases a held root. Call it once for each `hold`. */
  release(root: Uint8Array): void {
    this.nodes?.release(root);
  }

  /** @returns the new state root, 32 bytes */
  async write(writes: readonly TrieWrite[]): Promise<Uint8Array> {
    for (const { address, account, clearStorage, slots } of writes) {
      if (account === undefined) {
        await this.accounts.del(address);
        continue;
      }
      const before = clearStorage === true ? EMPTY_TRIE_ROOT : (await this.read(this.accounts, address)).storageRoot;
      await this.accounts.put(address, encodeAccount(account, await this.writeSlots(before, slots)));
    }
    return this.accounts.root();
  }

  /**
   * Writes the accounts of an empty trie, in order of their hashed keys and without keeping intermediate nodes: faster,
   * and a fifth of the memory.
   *
   * @param onProgress - called with the share that is written, 0 to 1
   * @returns the new state root, 32 bytes
   */
  async load(writes: readonly TrieWrite[], onProgress: (fraction: number) => void): Promise<Uint8Array> {
    const { db } = this.accounts.database();
    const loader = await createMPT({ db, useNodePruning: true, valueEncoding: ValueEncoding.Bytes });
    const keyed = writes.map((write) => ({ ...write, hashed: keccak_256(write.address) }));
    keyed.sort((a, b) => compareBytes(a.hashed, b.hashed));
    for (const [i, { hashed, account, slots }] of keyed.entries()) {
      if (account === undefined) continue;
      await loader.put(hashed, encodeAccount(account, await this.writeSlots(EMPTY_TRIE_ROOT, slots)));
      if (i % PROGRESS_STEP === 0) onProgress(i / keyed.length);
    }
    return this.accounts.root(loader.root());
  }

  /** Reverts to an earlier root that is still held. */
  revertTo(root: Uint8Array): void {
    this.accounts.root(root);
    this.nodes?.dropPending();
  }

  /** A trie that continues from an earlier or the current root. Writes to it do not change this one. */
  async fork(root: Uint8Array): Promise<StateTrie> {
    const db = new ScratchDB(this.accounts.database().db);
    return new StateTrie(await createMPT({ db, root, useKeyHashing: true, valueEncoding: ValueEncoding.Bytes }));
  }

  /** Proofs under an earlier or the current state root. */
  async prove(root: Uint8Array, address: Uint8Array, keys: readonly Uint8Array[]): Promise<TrieProof> {
    const trie = this.openAt(root);
    const accountProof = await createMerkleProof(trie, address);
    const { account, storageRoot } = await this.read(trie, address);
    const storageTrie = this.openAt(storageRoot);
    const storage = [];
    for (const key of keys) {
      const value = await storageTrie.get(key);
      const proof = await createMerkleProof(storageTrie, key);
      storage.push({ key, value: value === null ? 0n : bytesToBigInt(RLP.decode(value) as Uint8Array), proof });
    }
    return { accountProof, account, storageRoot, storage };
  }

  private async read(
    trie: MerklePatriciaTrie,
    address: Uint8Array,
  ): Promise<{ account: TrieAccount | undefined; storageRoot: Uint8Array }> {
    const encoded = await trie.get(address);
    if (encoded === null) return { account: undefined, storageRoot: EMPTY_TRIE_ROOT };
    const [nonce, balance, storageRoot, codeHash] = RLP.decode(encoded) as [
      Uint8Array,
      Uint8Array,
      Uint8Array,
      Uint8Array,
    ];
    return { account: { nonce: bytesToBigInt(nonce), balance: bytesToBigInt(balance), codeHash }, storageRoot };
  }

  private async writeSlots(root: Uint8Array, slots: TrieWrite['slots']): Promise<Uint8Array> {
    if (slots.length === 0) return root;
    const trie = this.openAt(root);
    for (const { key, after } of slots) {
      if (isZeroBytes(after)) await trie.del(key);
      else await trie.put(key, RLP.encode(bigIntToMinimalBytes(bytesToBigInt(after))));
    }
    return trie.root();
  }

  /** A trie over the same nodes with another root. */
  private openAt(root: Uint8Array): MerklePatriciaTrie {
    const trie = this.accounts.shallowCopy(false);
    trie.root(root);
    return trie;
  }
}

function encodeAccount({ nonce, balance, codeHash }: TrieAccount, storageRoot: Uint8Array): Uint8Array {
  return RLP.encode([bigIntToMinimalBytes(nonce), bigIntToMinimalBytes(balance), storageRoot, codeHash]);
}

export function plainAccount(nonce: bigint, balance: bigint): TrieAccount {
  return { nonce, balance, codeHash: EMPTY_CODE_HASH };
}
