import { equalBytes } from '../../primitives/bytes.js';
import type { SerialQueue } from '../../scheduling/serial-queue.js';
import type { StateEdit } from '../state-edits.js';
import type { CheckpointLoader } from './checkpoint-loader.js';
import type { StateLoading } from './devnet-proofs.js';
import type { DevnetFinality } from './layer-one/finality.js';
import type { BlockMaker } from './mining/block-maker.js';
import type { BlockRecord } from './records/block-record.js';
import type { Ledger } from './records/ledger.js';
import type { DevnetSettings } from './settings.js';
import type { DevnetState } from './state/devnet-state.js';
import { anotherGenesis } from './storage/devnet-store.js';
import type { StoredDevnet } from './storage/find-stored.js';

/** The parts of a devnet at genesis. */
export interface RecoveryParts {
  readonly settings: DevnetSettings;
  readonly ledger: Ledger;
  readonly state: DevnetState;
  readonly finality: DevnetFinality;
  readonly maker: BlockMaker;
  readonly queue: SerialQueue;
}

/**
 * Restores a devnet from its store: by applying each block to the genesis state, or by loading the state of a
 * checkpoint. The latter continues after the devnet has opened.
 */
export class StoreRecovery implements StateLoading {
  checkpointLoader: CheckpointLoader | undefined;
  private loaded: Promise<void> = Promise.resolve();
  private complete = false;
  private stop: () => void = () => {};

  constructor(private readonly parts: RecoveryParts) {}

  /** Whether the state is loaded up to the newest block, and stored. */
  get isComplete(): boolean {
    return this.complete;
  }

  /** Resolves when the state is loaded. @throws PlumblineError `STORE_CORRUPT` when it cannot be loaded */
  stateLoaded(): Promise<void> {
    return this.loaded;
  }

  /** Stops background work. */
  abort(): void {
    this.stop();
  }

  /**
   * Applies the stored blocks to the genesis state. If nothing is stored, stores genesis.
   *
   * @throws PlumblineError `STORE_CORRUPT`, and errors of the store
   */
  async replay({ head, blocks, checkpoints, genesis: held }: StoredDevnet, genesis: BlockRecord): Promise<void> {
    const { settings, state, maker } = this.parts;
    if (held !== undefined && !equalBytes(held.block.hash, genesis.block.hash)) throw anotherGenesis();
    if (head === undefined) await blocks.writeGenesis(genesis);
    await checkpoints.afterBlock(genesis.block, state, 0, 0);
    this.complete = head === undefined;
    if (head === undefined) return;
    const report = (fraction: number) => settings.onProgress?.('blocks', fraction);
    await blocks.each(1, head, (record) => maker.replay(record), report);
    await maker.resume(await blocks.edits((repair) => settings.health?.repaired(repair)));
    this.complete = true;
  }

  /**
   * Appends the stored blocks, and starts to load the state.
   *
   * @throws PlumblineError `STORE_CORRUPT`, and errors of the store
   */
  async openAtCheckpoint(found: StoredDevnet, genesis: BlockRecord): Promise<void> {
    const { settings, state, ledger, finality, maker, queue } = this.parts;
    state.expectRoot(0, genesis.zkRoot);
    const report = (fraction: number) => settings.onProgress?.('blocks', fraction);
    const { check = 'sampled' } = settings;
    await found.blocks.open(1, found.head!, check, (block) => maker.appendStored(block), report);
    const edits = await found.blocks.edits((repair) => settings.health?.repaired(repair));
    const { CheckpointLoader } = await import('./checkpoint-loader.js');
    const loader = new CheckpointLoader(settings, found, { state, ledger, finality });
    await loader.openPages();
    this.checkpointLoader = loader;
    this.stop = () => loader.abort();
    this.loaded = this.load(loader, edits);
    // Callers of `stateLoaded` get the error.
    this.loaded.catch(() => {});
    // Everything else in the queue waits.
    const whole = queue.hold(() => this.loaded.catch((reason: Error) => queue.fail(reason)));
    whole.catch(() => {});
  }

  private async load(loader: CheckpointLoader, edits: readonly StateEdit[]): Promise<void> {
    try {
      await loader.load();
      await this.parts.maker.resume(edits);
      this.complete = true;
    } finally {
      this.checkpointLoader = undefined;
    }
  }
}
