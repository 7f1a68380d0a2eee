import { invalidParameter } from '../../../errors.js';
import { withDefaults } from '../../../primitives/option-table.js';
import type { WorldState } from '../../../state/world-state.js';
import type { Block } from '../../block.js';
import { FINALITY_OPTIONS, type FinalityOptions } from '../options.js';
import type { Ledger } from '../records/ledger.js';
import { type BridgedBlocks, bridgedBlocks, type Finalization, HeldFinalization, NONE_ANCHORED } from './rollup-abi.js';
import type { L1Mark, SimulatedL1 } from './simulated-l1.js';

/** What finality needs of layer 1. */
export type FinalizingL1 = Pick<
  SimulatedL1,
  | 'anchoredBy'
  | 'finalize'
  | 'mark'
  | 'markBefore'
  | 'releaseBefore'
  | 'revertTo'
  | 'stateRoot'
  | 'storedAfter'
  | 'storedMessages'
>;

/** Of blocks that nothing finalizes: what a fork has of a layer 1, and layer 1 itself. */
export const NO_LAYER_ONE: FinalizingL1 = {
  mark: undefined,
  markBefore() {
    return undefined;
  },
  anchoredBy: () => NONE_ANCHORED,
  storedMessages() {
    return undefined;
  },
  storedAfter: () => [],
  finalize() {},
  revertTo() {},
  releaseBefore() {},
  stateRoot: () => undefined,
};

/** A block that a finalization ended with. Its state is held. */
interface Provable {
  readonly number: number;
  /** The newest block when it was finalized: the block itself for one that was final on arrival. */
  readonly head: number;
}

/** Finality at one moment, for a snapshot. */
export interface FinalitySnapshot {
  /** Newest finalized block. */
  readonly last: number;
  /** Oldest first. */
  readonly provable: readonly Provable[];
  /** Where the list of blocks of layer 1 ends. */
  readonly layerOne: L1Mark;
}

/** Finalizes blocks on the simulated layer 1 as the chain grows. */
export class DevnetFinality {
  private readonly delay: number;
  private readonly batch: number;
  private readonly held: number;
  private readonly blockHashesFrom: number;
  private last: number;
  /** Oldest first. */
  private provable: Provable[];
  private heldFrom = Number.POSITIVE_INFINITY;

  /** @param messageService - on layer 2, 20 bytes; left out where there are no messages */
  constructor(
    private readonly layerOne: FinalizingL1,
    private readonly ledger: Ledger,
    private readonly state: Pick<WorldState, 'root' | 'releaseBefore'>,
    options: FinalityOptions = {},
    private readonly messageService?: Uint8Array | undefined,
  ) {
    this.last = ledger.first;
    this.provable = [{ number: ledger.first, head: ledger.first }];
    const settings = withDefaults(FINALITY_OPTIONS, options);
    this.delay = atLeast(0, 'delayBlocks', settings.delayBlocks);
    this.batch = atLeast(1, 'batchBlocks', settings.batchBlocks);
    this.held = atLeast(1, 'heldFinalizations', settings.heldFinalizations);
    this.blockHashesFrom = settings.blockHashesFrom;
  }

  /** Number of the newest finalized block. */
  get newest(): number {
    return this.last;
  }

  /** Newest finalized block. @throws PlumblineError `BLOCK_PRUNED` */
  get finalized(): Block {
    return this.ledger.blockByNumber(this.last)!;
  }

  /** Whether layer 1 has a state root of this block, and the state is still held. */
  isProvable(number: number): boolean {
    return number >= this.provable[0]!.number && this.layerOne.stateRoot(number) !== undefined;
  }

  /** Whether layer 1 stores the hash of this finalized block in place of its state root. */
  storesHash(number: number): boolean {
    return number > 0 && number >= this.blockHashesFrom && number <= this.last;
  }

  /** Oldest block whose state must be held. */
  get oldestHeld(): number {
    return Math.min(this.provable[0]!.number, this.heldFrom);
  }

  /** Holds the states from a block on, even if later blocks are finalized; undefined ends that. */
  holdFrom(block: number | undefined): void {
    this.heldFrom = block ?? Number.POSITIVE_INFINITY;
  }

  snapshot(): FinalitySnapshot {
    return { last: this.last, provable: [...this.provable], layerOne: this.layerOne.mark };
  }

  /** Finality as it was when `head` was the newest block; undefined if no state of then is held. */
  at(head: number): FinalitySnapshot | undefined {
    const provable = this.provable.filter((one) => one.head <= head);
    const newest = provable.at(-1);
    if (newest === undefined) return undefined;
    const later = this.provable[provable.length];
    const { mark } = this.layerOne;
    const layerOne = later === undefined ? mark : this.layerOne.markBefore(later.number);
    return { last: newest.number, provable, layerOne };
  }

  /** Keys of what the store has of layer 1 since a moment. */
  storedSince({ layerOne }: FinalitySnapshot): readonly string[] {
    return this.layerOne.storedAfter(layerOne);
  }

  /** Restores finality and layer 1. The states of the provable blocks must have been held since. */
  restore({ last, provable, layerOne }: FinalitySnapshot): void {
    this.layerOne.revertTo(layerOne);
    this.last = last;
    this.provable = [...provable];
  }

  /** Finalizes every complete batch that is old enough. Called after each block. */
  advance(): void {
    const head = this.ledger.headSummary.number;
    while (this.last + this.batch + this.delay <= head) this.finalize(this.last + this.batch);
  }

  /**
   * Finalizes the newest block and all before it. Called instead of `advance` after a block that was final on arrival.
   */
  settle(): void {
    const head = this.ledger.headSummary.number;
    if (this.last < head) this.finalize(head);
  }

  /** What a finalization that ends with this block stores. */
  private stored(end: number): Pick<Finalization, 'kind' | 'parent' | 'final'> {
    const { last, blockHashesFrom: from, ledger, state } = this;
    if (end < from) return { kind: 'stateRoot', parent: state.root(last), final: state.root(end) };
    // Genesis is stored by its state root.
    const parent = last > 0 && last >= from ? ledger.hashOf(last)! : NONE;
    return { kind: 'blockHash', parent, final: ledger.hashOf(end)! };
  }

  private bridged(first: number, last: number): BridgedBlocks {
    const { messageService: service, ledger } = this;
    const anchored = this.layerOne.anchoredBy(first - 1);
    if (service === undefined) return { messages: [], messagingBlocks: [], anchored };
    // Blocks without a body have no logs.
    const stored = first <= ledger.pruned ? this.layerOne.storedMessages(last) : undefined;
    return stored ?? bridgedBlocks(ledger, service, { first, last }, anchored);
  }

  private finalize(end: number): void {
    const { timestamp, number: head } = this.ledger.headSummary;
    const first = this.last + 1;
    const { kind, parent, final } = this.stored(end);
    const bridged = this.bridged(first, end);
    this.layerOne.finalize(new HeldFinalization(first, end, timestamp, kind, parent, final, bridged));
    this.last = end;
    this.provable.push({ number: end, head });
    if (this.provable.length > this.held) this.provable.shift();
    this.state.releaseBefore(this.oldestHeld);
    this.layerOne.releaseBefore(this.oldestHeld);
  }
}

/** A word that no block has. */
const NONE = new Uint8Array(32);

function atLeast(least: number, name: string, value: number): number {
  if (Number.isSafeInteger(value) && value >= least) return value;
  throw invalidParameter(`finality.${name}`, `must be an integer of at least ${least}, got ${value}`);
}
