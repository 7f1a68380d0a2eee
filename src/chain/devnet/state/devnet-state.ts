import { StateTrie } from '../../../ethereum/state-trie.js';
import { type AccountChange, trieWrites } from '../../../evm/state-overlay.js';
import type { Hasher } from '../../../kernel/contracts.js';
import type { TrieKernel } from '../../../kernel/trie.js';
import { ZERO_WORD } from '../../../primitives/bytes.js';
import { openWorldState } from '../../../state/open-world-state.js';
import type { WorldState, ZkAccountChange } from '../../../state/world-state.js';
import type { ImaginedRoots } from '../../chain.js';
import { FlatState } from './flat-state.js';

/** State roots after a block: of the ordinary trie, for the header, and of the zk state, for layer 1. 32 bytes each. */
export interface StateRoots {
  readonly stateRoot: Uint8Array;
  readonly zkRoot: Uint8Array;
}

/** Approximate share of the zk state in the time to load a genesis. */
const ZK_SHARE = 0.2;

/** What blocks are made on: the state of a devnet, or that of a fork of a network. */
export type BlockState = Pick<DevnetState, 'apply' | 'expectRoot' | 'flat' | 'holds' | 'revertTo' | 'rootOf'>;

/** Hasher and trie kernel of a zk state. */
export interface ZkEngine {
  readonly hasher: Hasher;
  /** Empty, not shared, of the hasher's scheme, with the options `undo` and `nodes`. */
  readonly kernel: TrieKernel;
}

/** The state of a devnet in three forms: flat for execution, Merkle-Patricia trie for headers, zk state for proofs. */
export class DevnetState {
  flat = new FlatState();
  /** Ordinary state roots of the blocks whose ordinary trie is held. */
  private readonly roots = new Map<number, Uint8Array>();
  /** Zk state roots of the blocks that may still be finalized, whether or not their state is held. */
  private readonly zkRoots = new Map<number, Uint8Array>();
  private worldState: WorldState | undefined;
  /** Accounts of the genesis block that the zk state has still to take in. */
  private genesis: readonly AccountChange[] | undefined;
  private zkRootOfGenesis: Uint8Array | undefined;

  private constructor(
    public trie: StateTrie,
    private readonly engine: ZkEngine | undefined,
    private readonly pages: boolean,
  ) {}

  /**
   * @param engine - undefined for a chain without a zk state, whose roots are zero
   * @param pages - track which pages a checkpoint must write
   */
  static async create(engine: ZkEngine | undefined, pages: boolean): Promise<DevnetState> {
    return new DevnetState(new StateTrie(), engine, pages);
  }

  get zk(): WorldState {
    this.worldState ??= openWorldState(this.engine!.hasher, this.engine!.kernel, { pages: this.pages });
    if (this.genesis !== undefined) {
      this.zkRootOfGenesis = this.worldState.applyBlock(0, this.genesis.map(toZkChange));
      this.zkRoots.set(0, this.zkRootOfGenesis);
      this.genesis = undefined;
    }
    return this.worldState;
  }

  /** Zk state root of the genesis block, 32 bytes, whether or not its state is still held. */
  get genesisRoot(): Uint8Array {
    return this.zkRootOfGenesis ?? this.zk.root(0);
  }

  /** Starts from the state after a block, in all three forms. Tries of earlier blocks are not held. */
  start(block: number, stateRoot: Uint8Array, trie: StateTrie, zk: WorldState, flat: FlatState): void {
    this.trie = trie;
    this.worldState = zk;
    this.genesis = undefined;
    this.flat = flat;
    // `trie` holds the root already.
    this.roots.set(block, stateRoot);
  }

  /** Empties all three forms. */
  async reset(): Promise<void> {
    this.trie = new StateTrie();
    this.flat = new FlatState();
    this.roots.clear();
    this.worldState = undefined;
    this.genesis = undefined;
  }

  /** Records the zk state root of a stored block before its state is loaded. */
  expectRoot(block: number, zkRoot: Uint8Array): void {
    this.zkRoots.set(block, zkRoot);
    if (block === 0) this.zkRootOfGenesis = zkRoot;
  }

  /**
   * Applies the accounts of the genesis block.
   *
   * @param zkLater - the zk state surely takes these accounts, and takes them when it is first needed
   * @param onProgress - called with the share that is done, 0 to 1
   * @returns ordinary state root, 32 bytes
   */
  async load(
    changes: readonly AccountChange[],
    zkLater: boolean,
    onProgress: (fraction: number) => void,
  ): Promise<Uint8Array> {
    onProgress(0);
    this.zkRootOfGenesis = undefined;
    if (zkLater && this.engine !== undefined) this.genesis = changes;
    else
      this.expectRoot(
        0,
        this.applyZk(0, changes, (fraction) => onProgress(ZK_SHARE * fraction)),
      );
    const stateRoot = this.trie.load(trieWrites(changes), (fraction) => {
      onProgress(ZK_SHARE + (1 - ZK_SHARE) * fraction);
    });
    this.hold(0, stateRoot);
    this.flat.apply(0, changes);
    onProgress(1);
    return stateRoot;
  }

  /** Applies the changes of a block. If the zk state refuses them, nothing changes. */
  async apply(block: number, changes: readonly AccountChange[]): Promise<StateRoots> {
    const zkRoot = this.applyZk(
      block,
      changes.map((change) => this.withClearedSlots(block, change)),
    );
    this.zkRoots.set(block, zkRoot);
    const stateRoot = this.trie.write(trieWrites(changes));
    this.hold(block, stateRoot);
    this.flat.apply(block, changes);
    return { stateRoot, zkRoot };
  }

  private applyZk(block: number, changes: readonly AccountChange[], onProgress?: (fraction: number) => void) {
    return this.engine === undefined ? ZERO_WORD : this.zk.applyBlock(block, changes.map(toZkChange), onProgress);
  }

  /** Zk state root after `block`, 32 bytes. @throws PlumblineError `STATE_NOT_HELD` */
  root(block: number): Uint8Array {
    return this.zkRoots.get(block) ?? this.zk.root(block);
  }

  /** Whether the zk state after `block` is held, or will be once the checkpoint of block `loading` is loaded. */
  holdsZk(block: number, loading: number): boolean {
    return block >= (this.worldState === undefined ? loading : (this.worldState.oldest ?? 0));
  }

  /** Whether proofs of the ordinary state after `block` can be made, and the state reverted to it. */
  holds(block: number): boolean {
    return this.roots.has(block);
  }

  /** Releases proofs of earlier blocks and reverts to them. Their accounts stay readable. */
  releaseBefore(block: number): void {
    // These iterate in block order.
    for (const number of this.zkRoots.keys()) {
      if (number >= block) break;
      this.zkRoots.delete(number);
    }
    this.worldState?.releaseBefore(block);
    for (const [number, root] of this.roots) {
      if (number >= block) break;
      this.trie.release(root);
      this.roots.delete(number);
    }
  }

  /** Root of the ordinary trie with these changes on the newest state, 32 bytes. The changes are not kept. */
  async rootOf(changes: readonly AccountChange[]): Promise<Uint8Array> {
    const held = this.trie.write([]);
    try {
      return this.trie.write(trieWrites(changes));
    } finally {
      this.trie.revertTo(held);
    }
  }

  /** State roots of simulated blocks, from the block with this ordinary state root. */
  async rootsAfter(stateRoot: Uint8Array): Promise<ImaginedRoots> {
    const write = this.trie.fork(stateRoot);
    return async (changes) => write(trieWrites(changes));
  }

  /** Reverts to the state after `block`, whose ordinary state root is given. */
  revertTo(block: number, stateRoot: Uint8Array): void {
    if (this.engine !== undefined) this.zk.revertTo(block);
    for (const number of this.zkRoots.keys()) if (number > block) this.zkRoots.delete(number);
    for (const [number, root] of this.roots) {
      if (number <= block) continue;
      this.trie.release(root);
      this.roots.delete(number);
    }
    this.trie.revertTo(stateRoot);
    this.flat.revertTo(block);
  }

  /**
   * Besu's trie log lists the slots that a destroyed account had. Without them, an account that is recreated without slots
   * would keep its old storage root (docs/spec/state-trie.md 5.3).
   */
  private withClearedSlots(block: number, change: AccountChange): AccountChange {
    const { address, after, destroyed, slots } = change;
    if (!destroyed || after === undefined || slots.length > 0) return change;
    const keys = this.flat.usedSlots(address, block - 1);
    return { ...change, slots: keys.map((key) => ({ key, before: ZERO_WORD, after: ZERO_WORD })) };
  }

  private hold(block: number, stateRoot: Uint8Array): void {
    this.trie.hold(stateRoot);
    this.roots.set(block, stateRoot);
  }
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
