import { StateTrie, type TrieWrite } from '../../../ethereum/state-trie.js';
import type { AccountChange } from '../../../evm/state/state-overlay.js';
import type { Hasher } from '../../../kernel/contracts.js';
import type { TrieKernel } from '../../../kernel/trie-contract.js';
import { openWorldState } from '../../../state/open-world-state.js';
import type { WorldState, ZkAccountChange } from '../../../state/world-state.js';
import type { ImaginedRoots } from '../../chain.js';
import { FlatState } from './flat-state.js';

/** Roots after a block: of the ordinary trie for the header, of the zk state for layer 1. 32 bytes each. */
export interface StateRoots {
  readonly stateRoot: Uint8Array;
  readonly zkRoot: Uint8Array;
}

/** About what of the time of loading a genesis is that of its zk state. */
const ZK_SHARE = 0.2;

/** What a zk state is made with. */
export interface ZkEngine {
  readonly hasher: Hasher;
  /** Of the hasher's scheme, with the options `undo` and `nodes`, empty, and used by nobody else. */
  readonly kernel: TrieKernel;
}

/** The three forms the devnet keeps its state in: flat for execution, Merkle-Patricia for headers, zk for proofs. */
export class DevnetState {
  flat = new FlatState();
  /** Ordinary roots of the blocks whose ordinary state is held. */
  private readonly roots = new Map<number, Uint8Array>();
  /** Roots of the zk state that may still be finalized, held or not. */
  private readonly zkRoots = new Map<number, Uint8Array>();
  private worldState: WorldState | undefined;

  private constructor(
    public trie: StateTrie,
    private readonly engine: ZkEngine,
    private readonly pages: boolean,
  ) {}

  /** @param pages - keep track of what a checkpoint has to write */
  static async create(engine: ZkEngine, pages: boolean): Promise<DevnetState> {
    return new DevnetState(await StateTrie.create(), engine, pages);
  }

  get zk(): WorldState {
    this.worldState ??= openWorldState(this.engine.hasher, this.engine.kernel, { pages: this.pages });
    return this.worldState;
  }

  /** Begins with the state after a block, of all three forms, as the only one whose tries are held. */
  start(block: number, stateRoot: Uint8Array, trie: StateTrie, zk: WorldState, flat: FlatState): void {
    this.trie = trie;
    this.worldState = zk;
    this.flat = flat;
    // `trie` holds the root already.
    this.roots.set(block, stateRoot);
  }

  /** Empties all three. */
  async reset(): Promise<void> {
    this.trie = await StateTrie.create();
    this.flat = new FlatState();
    this.roots.clear();
    this.worldState = undefined;
  }

  /** Notes the zk root that a stored block had, before its state is there. */
  expectRoot(block: number, zkRoot: Uint8Array): void {
    this.zkRoots.set(block, zkRoot);
  }

  /** Takes in the accounts of the genesis block. @param onProgress - told the share that is done, 0 to 1 */
  async load(changes: readonly AccountChange[], onProgress: (fraction: number) => void): Promise<StateRoots> {
    onProgress(0);
    const zkRoot = this.zk.applyBlock(0, changes.map(toZkChange), (fraction) => onProgress(ZK_SHARE * fraction));
    this.zkRoots.set(0, zkRoot);
    const stateRoot = await this.trie.load(changes.map(toTrieWrite), (fraction) => {
      onProgress(ZK_SHARE + (1 - ZK_SHARE) * fraction);
    });
    this.hold(0, stateRoot);
    this.flat.apply(0, changes);
    onProgress(1);
    return { stateRoot, zkRoot };
  }

  /** Takes in what a block changed. Nothing is changed when the zk state refuses it. */
  async apply(block: number, changes: readonly AccountChange[]): Promise<StateRoots> {
    const zkRoot = this.zk.applyBlock(block, changes.map(toZkChange));
    this.zkRoots.set(block, zkRoot);
    const stateRoot = await this.trie.write(changes.map(toTrieWrite));
    this.hold(block, stateRoot);
    this.flat.apply(block, changes);
    return { stateRoot, zkRoot };
  }

  /** Root of the zk state after `block`, 32 bytes. @throws PlumblineError `STATE_NOT_HELD` */
  root(block: number): Uint8Array {
    return this.zkRoots.get(block) ?? this.zk.root(block);
  }

  /** Whether the zk state after `block` is held, or would be after loading from a checkpoint of block `loading`. */
  holdsZk(block: number, loading: number): boolean {
    return block >= (this.worldState === undefined ? loading : (this.worldState.oldest ?? 0));
  }

  /** Whether proofs of the ordinary state after `block` can be made. */
  holds(block: number): boolean {
    return this.roots.has(block);
  }

  /** Lets go of what proofs of blocks before this one need, and of the way back to them. Their accounts stay readable. */
  releaseBefore(block: number): void {
    for (const number of this.zkRoots.keys()) if (number < block) this.zkRoots.delete(number);
    this.worldState?.releaseBefore(block);
    // In the order of the blocks.
    for (const [number, root] of this.roots) {
      if (number >= block) break;
      this.trie.release(root);
      this.roots.delete(number);
    }
  }

  /** Root the ordinary trie would have with changes on top of the newest state; 32 bytes. Nothing of them is kept. */
  async rootOf(changes: readonly AccountChange[]): Promise<Uint8Array> {
    const held = await this.trie.write([]);
    try {
      return await this.trie.write(changes.map(toTrieWrite));
    } finally {
      this.trie.revertTo(held);
    }
  }

  /** `imaginedRoots` of the chain, from the block with this ordinary root. */
  async rootsAfter(stateRoot: Uint8Array): Promise<ImaginedRoots> {
    const trie = await this.trie.fork(stateRoot);
    return (changes) => trie.write(changes.map(toTrieWrite));
  }

  /** Goes back to the state after `block`, whose ordinary root is given. */
  revertTo(block: number, stateRoot: Uint8Array): void {
    this.zk.revertTo(block);
    for (const number of this.zkRoots.keys()) if (number > block) this.zkRoots.delete(number);
    for (const [number, root] of this.roots) {
      if (number <= block) continue;
      this.trie.release(root);
      this.roots.delete(number);
    }
    this.trie.revertTo(stateRoot);
    this.flat.revertTo(block);
  }

  private hold(block: number, stateRoot: Uint8Array): void {
    this.trie.hold(stateRoot);
    this.roots.set(block, stateRoot);
  }
}

function toTrieWrite({ address, after, destroyed, slots }: AccountChange): TrieWrite {
  return { address, account: after, clearStorage: destroyed, slots };
}

function toZkChange({ address, before, after, destroyed, code, slots }: AccountChange): ZkAccountChange {
  return {
    address,
    destroyed,
    slots,
    ...(before !== undefined && {
      before: { nonce: before.nonce, balance: before.balance, keccakCodeHash: before.codeHash },
    }),
    ...(after !== undefined && {
      after: {
        nonce: after.nonce,
        balance: after.balance,
        keccakCodeHash: after.codeHash,
        ...(code !== undefined && { code }),
      },
    }),
  };
}
