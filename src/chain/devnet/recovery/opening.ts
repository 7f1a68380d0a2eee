import { equalBytes } from '../../../primitives/bytes.js';
import type { SerialQueue } from '../../../scheduling/serial-queue.js';
import type { DevnetFinality } from '../layer-one/finality.js';
import type { SimulatedL1 } from '../layer-one/simulated-l1.js';
import type { BlockMaker } from '../mining/block-maker.js';
import type { DevnetSettings } from '../options.js';
import type { BlockRecord } from '../records/block-record.js';
import type { StateEdit } from '../records/edits.js';
import type { Ledger } from '../records/ledger.js';
import type { DevnetState } from '../state/devnet-state.js';
import { anotherGenesis, type StoredDevnet } from '../storage/find-stored.js';
import type { Loading } from './devnet-proofs.js';
import { Reopening } from './reopening.js';

/** The parts of a devnet that stands at genesis. */
export interface OpeningParts {
  readonly settings: DevnetSettings;
  readonly ledger: Ledger;
  readonly state: DevnetState;
  readonly finality: DevnetFinality;
  readonly layerOne: SimulatedL1;
  readonly maker: BlockMaker;
  readonly queue: SerialQueue;
}

/**
 * How a devnet takes in what its store holds: by applying each block to the state of genesis, or by loading the state of a
 * checkpoint, which goes on after the devnet has opened.
 */
export class Opening implements Loading {
  reopening: Reopening | undefined;
  /** Done when layer 1 stands where it stood. */
  layerOneSettled: Promise<void> = Promise.resolve();
  private loaded: Promise<void> = Promise.resolve();
  private complete = false;
  private stop: () => void = () => {};

  constructor(private readonly parts: OpeningParts) {}

  /** Whether the state is that of the newest block, and stored. */
  get isComplete(): boolean {
    return this.complete;
  }

  /** Done when the state is there. @throws PlumblineError `STORE_CORRUPT` when it cannot be loaded */
  whenLoaded(): Promise<void> {
    return this.loaded;
  }

  /** Ends what goes on behind. */
  abort(): void {
    this.stop();
  }

  /**
   * Applies the stored blocks to the genesis state; keeps genesis where nothing is stored.
   *
   * @throws PlumblineError `STORE_CORRUPT`, of the store
   */
  async replay({ head, blocks, checkpoints, genesis: held }: StoredDevnet, genesis: BlockRecord): Promise<void> {
    const { settings, state, maker } = this.parts;
    if (held !== undefined && !equalBytes(held.block.hash, genesis.block.hash)) throw anotherGenesis();
    if (head === undefined) await blocks.begin(genesis);
    await checkpoints.afterBlock(genesis.block, state, 0, 0);
    this.complete = head === undefined;
    if (head === undefined) return;
    const report = (fraction: number) => settings.onProgress?.('blocks', fraction);
    await blocks.each(1, head, (record) => maker.replay(record), report);
    await maker.resume(await blocks.edits((repair) => settings.health?.repaired(repair)));
    this.complete = true;
  }

  /** Takes in the stored blocks, and begins to load their state. @throws PlumblineError `STORE_CORRUPT`, of the store */
  async enter(found: StoredDevnet, genesis: BlockRecord): Promise<void> {
    const { settings, state, ledger, finality, layerOne, maker, queue } = this.parts;
    state.expectRoot(0, genesis.zkRoot);
    const report = (fraction: number) => settings.onProgress?.('blocks', fraction);
    const { check = 'sampled' } = settings;
    finality.isDeferring = true;
    await found.blocks.open(1, found.head!, check, (block) => maker.enter(block), report);
    finality.isDeferring = false;
    const edits = await found.blocks.edits((repair) => settings.health?.repaired(repair));
    const reopening = new Reopening(settings, found, { state, ledger, finality });
    await reopening.openPages();
    this.reopening = reopening;
    this.stop = () => reopening.abort();
    const settled = layerOne.settle(() => reopening.turn());
    this.layerOneSettled = settled.catch(() => {});
    this.loaded = this.load(reopening, edits);
    // Whoever needs the state is told.
    this.loaded.catch(() => {});
    // Neither waits for the other: one takes as long as there are blocks, the other as there is state. All else waits.
    const whole = queue.hold(async () => {
      const [failed] = (await Promise.allSettled([this.loaded, settled])).filter(({ status }) => status === 'rejected');
      if (failed !== undefined) queue.fail((failed as PromiseRejectedResult).reason as Error);
    });
    whole.catch(() => {});
  }

  private async load(reopening: Reopening, edits: readonly StateEdit[]): Promise<void> {
    try {
      await reopening.load();
      await this.parts.maker.resume(edits);
      this.complete = true;
    } finally {
      this.reopening = undefined;
    }
  }
}
