import { StateTrie, type TrieWrite } from '../../ethereum/state-trie.js';
import type { AccountChange } from '../../evm/state-overlay.js';
import type { WorldState, AccountChange as ZkAccountChange } from '../../state/world-state.js';
import { FlatState } from './flat-state.js';

/** Roots after a block: of the ordinary trie for the header, of the zk state for layer 1. 32 bytes each. */
export interface StateRoots {
  readonly stateRoot: Uint8Array;
  readonly zkRoot: Uint8Array;
}

/** The three forms the devnet keeps its state in: flat for execution, Merkle-Patricia for headers, zk for proofs. */
export class DevnetState {
  readonly flat = new FlatState();

  private constructor(
    readonly trie: StateTrie,
    readonly zk: WorldState,
  ) {}

  /** @param zk - empty */
  static async create(zk: WorldState): Promise<DevnetState> {
    return new DevnetState(await StateTrie.create(), zk);
  }

  /** Takes in the accounts of the genesis block. @param onProgress - told the share that is done, 0 to 1 */
  async load(changes: readonly AccountChange[], onProgress: (fraction: number) => void): Promise<StateRoots> {
    const zkRoot = this.zk.applyBlock(0, changes.map(toZkChange));
    const stateRoot = await this.trie.load(changes.map(toTrieWrite), onProgress);
    this.flat.apply(0, changes);
    onProgress(1);
    return { stateRoot, zkRoot };
  }

  /** Takes in what a block changed. Nothing is changed when the zk state refuses it. */
  async apply(block: number, changes: readonly AccountChange[]): Promise<StateRoots> {
    const zkRoot = this.zk.applyBlock(block, changes.map(toZkChange));
    const stateRoot = await this.trie.write(changes.map(toTrieWrite));
    this.flat.apply(block, changes);
    return { stateRoot, zkRoot };
  }

  /** Goes back to the state after `block`, whose ordinary root is given. */
  revertTo(block: number, stateRoot: Uint8Array): void {
    this.zk.revertTo(block);
    this.trie.revertTo(stateRoot);
    this.flat.revertTo(block);
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
