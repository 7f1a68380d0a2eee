import type { LineaProofJson } from '../../accumulator/proof-shape.js';
import { PlumblineError, stateRootMissing } from '../../errors.js';
import type { TrieProof } from '../../ethereum/state-trie.js';
import type { Block } from '../block.js';
import type { ImaginedRoots } from '../chain.js';
import type { CheckpointLoader } from './checkpoint-loader.js';
import type { DevnetFinality } from './layer-one/finality.js';
import type { BlockMaker } from './mining/block-maker.js';
import type { Ledger } from './records/ledger.js';
import type { DevnetState } from './state/devnet-state.js';
import type { StoredDevnet } from './storage/find-stored.js';

/** The parts of a devnet that proofs need. */
export interface ProofParts {
  readonly ledger: Ledger;
  readonly state: DevnetState;
  readonly finality: DevnetFinality;
  readonly maker: BlockMaker;
  readonly stored: StoredDevnet | undefined;
}

/** Progress of loading the state of a stored devnet. */
export interface StateLoading {
  /** Proves states of the checkpoint while loading goes on. */
  readonly checkpointLoader: CheckpointLoader | undefined;
  stateLoaded(): Promise<void>;
}

/** Proofs of the states that a devnet holds. */
export class DevnetProofs {
  constructor(
    private readonly parts: ProofParts,
    private readonly loading: StateLoading,
  ) {}

  /** As `Chain.proof`. */
  async ordinary(address: Uint8Array, storageKeys: readonly Uint8Array[], block: Block): Promise<TrieProof> {
    await this.loading.stateLoaded();
    this.ensureHeld(block);
    return this.parts.state.trie.prove(block.header.stateRoot, address, storageKeys);
  }

  /** State roots of simulated blocks on top of `block`. */
  async imagined(block: Block): Promise<ImaginedRoots> {
    await this.loading.stateLoaded();
    this.ensureHeld(block);
    const { ledger, state, maker } = this.parts;
    const roots = await state.rootsAfter(block.header.stateRoot);
    if (block === ledger.head) await roots(await maker.pendingChanges());
    return roots;
  }

  /** As `Chain.zkProof`. @param block - undefined if there is no such block */
  async zk(
    address: Uint8Array,
    storageKeys: readonly Uint8Array[],
    block: number | undefined,
  ): Promise<LineaProofJson> {
    if (block !== undefined && this.parts.finality.storesHash(block)) throw stateRootMissing(block);
    if (block === undefined || !this.isProvable(block)) throw this.notProvable(block);
    const proof = await this.loading.checkpointLoader?.prove(block, address, storageKeys);
    if (proof !== undefined) return proof;
    await this.loading.stateLoaded();
    return this.parts.state.zk.prove(block, address, storageKeys);
  }

  private isProvable(block: number): boolean {
    const { finality, state, stored } = this.parts;
    return finality.isProvable(block) && state.holdsZk(block, stored?.checkpoint?.block ?? 0);
  }

  /** A devnet that was opened from its store cannot prove states before that of its checkpoint: the error says from which on. */
  private notProvable(block: number | undefined): PlumblineError<'BLOCK_NOT_PROVABLE'> {
    const text = block === undefined ? 'none' : String(block);
    const { finality, stored } = this.parts;
    if (block === undefined || !finality.isProvable(block)) {
      const reason = `layer 1 has no state root of block ${text}, or its state is no longer held`;
      return new PlumblineError('BLOCK_NOT_PROVABLE', `${reason}; ask for a newer finalized block`, { block: text });
    }
    const from = stored?.checkpoint?.block ?? 0;
    const reason = `this devnet was opened from its store, and can prove states from block ${from} on, not that of block ${text}`;
    return new PlumblineError('BLOCK_NOT_PROVABLE', reason, { block: text, from });
  }

  /** The trie nodes of old blocks are released; their accounts stay readable. */
  private ensureHeld({ header: { number } }: Block): void {
    if (this.parts.state.holds(number)) return;
    throw new PlumblineError(
      'STATE_NOT_HELD',
      `the state trie of block ${number} is no longer held; ask for a newer block`,
      {
        block: number,
      },
    );
  }
}
