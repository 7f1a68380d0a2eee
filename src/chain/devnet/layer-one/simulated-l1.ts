import { PlumblineError } from '../../../errors.js';
import { nextTurn } from '../../../scheduling/turns.js';
import type { Block } from '../../block.js';
import type { Chain } from '../../chain.js';
import { type AnchoredMessage, type BridgedBlocks, type Finalization, NONE_ANCHORED } from './rollup-abi.js';

/** Chain id of the simulated layer 1. */
export const L1_CHAIN_ID = 1337;

/** Transactions that were sent to layer 1, of one block. */
export interface SentBlock {
  /** In order, as they were sent. */
  readonly transactions: readonly Uint8Array[];
  /** Seconds. */
  readonly timestamp: number;
}

/** What a block of layer 1 is made from. */
export type L1Entry = Finalization | SentBlock;

/** The chain that layer 1 is: a devnet on a profile without a rollup. */
export interface LayerOneChain<Own extends Chain = Chain> {
  readonly chain: Own;
  readonly head: Block;
  blockAt(number: number): Block | undefined;
  /** Seals a block on top of the block before it, unless there is one. */
  seal(number: number, entry: L1Entry): Promise<void>;
  /** Removes blocks. @throws PlumblineError `STATE_NOT_HELD` if they are too many */
  rollback(depth: number): Promise<void>;
  /** Holds the states from a block on. */
  holdFrom(number: number): void;
  end(): Promise<void>;
}

/** What layer 1 takes from its devnet. */
export interface LayerOneParts<Own extends Chain> {
  /** Has the state root of layer 2 that its contract begins with, 32 bytes. */
  readonly genesis: { readonly zkRoot: Uint8Array };
  /** @param onSent - called for each block that was sealed for transactions that were sent */
  open(onSent: (block: Block) => void): Promise<LayerOneChain<Own>>;
  /** Called after a block with transactions that were sent, also for those of a store. */
  readonly onSent: () => void;
}

/**
 * What a store keeps of layer 1: the blocks with transactions that were sent, and the messages of finalizations, whose blocks may lose
 * their logs. All else follows from the blocks of layer 2.
 */
export interface L1Journal {
  /** As they were when the store was opened, by number. */
  readonly sent: ReadonlyMap<number, SentBlock>;
  /** By the last block of the finalization. */
  readonly bridged: Map<number, BridgedBlocks>;
  save(number: number, block: SentBlock): void;
  saveBridged(last: number, bridged: BridgedBlocks): void;
  /** @param sent - numbers of blocks */
  remove(sent: readonly number[]): void;
  /** Keys of what the store has of the blocks of a list, from a place on. */
  keysOf(entries: readonly L1Entry[], from: number): readonly string[];
}

/** Names a place in the list of blocks of layer 1: after this one, or at its start. */
export type L1Mark = L1Entry | undefined;

/**
 * The layer 1 of a devnet. Here is only the list of what its blocks are made from: one for each finalization, and one for
 * the transactions that somebody sent. Most devnets are never asked for their layer 1, so the chain is opened, and its blocks are
 * executed, before the first request for it.
 */
export class SimulatedL1<Own extends Chain = Chain> {
  private readonly entries: L1Entry[] = [];
  /** Those of the list that are finalizations. A map would take four times the memory. */
  private readonly finalizations: Finalization[] = [];
  /** Blocks of the store that are not in the list yet, by number. */
  private readonly waiting = new Map<number, SentBlock>();
  private chain: LayerOneChain<Own> | undefined;
  /** Number of the newest block of the chain that is still in the list; infinity after a block was added. */
  private kept = Number.POSITIVE_INFINITY;
  private releaseTo = 0;
  private heldFrom = 0;
  private settling: Promise<unknown> = Promise.resolve();

  constructor(
    private readonly parts: LayerOneParts<Own>,
    private readonly journal?: L1Journal | undefined,
  ) {
    for (const [number, entry] of journal?.sent ?? []) this.waiting.set(number, entry);
    this.addWaiting();
  }

  /** Adds the block that finalizes layer-2 blocks. */
  finalize(finalization: Finalization): void {
    const { first, last, messages, anchored } = finalization;
    const { journal } = this;
    const isBridged = messages.length > 0 || anchored !== this.anchoredBy(first - 1);
    if (isBridged && journal?.bridged.has(last) === false) journal.saveBridged(last, finalization);
    this.finalizations.push(finalization);
    this.entries.push(finalization);
    this.addWaiting();
  }

  private addWaiting(): void {
    for (let next = this.takeWaiting(); next !== undefined; next = this.takeWaiting()) this.entries.push(next);
  }

  private takeWaiting(): SentBlock | undefined {
    const number = this.entries.length + 1;
    const entry = this.waiting.get(number);
    this.waiting.delete(number);
    return entry;
  }

  /** Called when the finalizations of all stored blocks were added. What the store has beyond them belongs to no chain. */
  recovered(): void {
    this.journal?.remove([...this.waiting.keys()]);
    this.waiting.clear();
  }

  async end(): Promise<void> {
    await this.chain?.end();
  }

  /** The end of the list. */
  get mark(): L1Mark {
    return this.entries.at(-1);
  }

  /** The place before the block that finalizes `last`; the end of the list if there is none. */
  markBefore(last: number): L1Mark {
    const finalization = this.endingAt(last);
    return finalization === undefined ? this.mark : this.entries[this.entries.indexOf(finalization) - 1];
  }

  /** The finalization whose last block this is. */
  private endingAt(block: number): Finalization | undefined {
    let low = 0;
    let high = this.finalizations.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.finalizations[middle]!.last < block) low = middle + 1;
      else high = middle;
    }
    const found = this.finalizations[low];
    return found?.last === block ? found : undefined;
  }

  private lengthAt(mark: L1Mark): number {
    return mark === undefined ? 0 : this.entries.lastIndexOf(mark) + 1;
  }

  /** Keys of what the store has of the blocks after a place. */
  storedAfter(mark: L1Mark): readonly string[] {
    return this.journal?.keysOf(this.entries, this.lengthAt(mark)) ?? [];
  }

  /** Removes the blocks after a place. The store has removed what it had of them. */
  revertTo(mark: L1Mark): void {
    const length = this.lengthAt(mark);
    for (const entry of this.entries.splice(length)) {
      if (!('last' in entry)) continue;
      this.finalizations.pop();
      this.journal?.bridged.delete(entry.last);
    }
    this.kept = Math.min(this.kept, length);
  }

  /** `stateRootHashes(block)` after the newest block; undefined if no finalization ended at `block` with a state root. */
  stateRoot(block: number): Uint8Array | undefined {
    if (block === 0) return this.parts.genesis.zkRoot;
    const finalization = this.endingAt(block);
    return finalization?.kind === 'stateRoot' ? finalization.final : undefined;
  }

  /** The last message of layer 1 that layer 2 has anchored in blocks up to the one that a finalization ended with. */
  anchoredBy(block: number): AnchoredMessage {
    return this.endingAt(block)?.anchored ?? NONE_ANCHORED;
  }

  /** The messages of a finalization, as they were stored. */
  storedMessages(last: number): BridgedBlocks | undefined {
    return this.journal?.bridged.get(last);
  }

  /** Releases the states of layer 1 before the finalization of this layer-2 block. */
  releaseBefore(block: number): void {
    this.releaseTo = block;
  }

  /**
   * Opens the chain and executes its blocks. May run several times at once.
   *
   * @param before - awaited before each block; throws to end the work
   */
  settle(before: () => Promise<void> | undefined = nextTurn): Promise<LayerOneChain<Own>> {
    const settled = this.settling.then(() => this.sealAll(before));
    this.settling = settled.catch(() => {});
    return settled;
  }

  /** The chain, if it was asked for before. */
  get opened(): LayerOneChain<Own> | undefined {
    return this.chain;
  }

  private async sealAll(before: () => Promise<void> | undefined): Promise<LayerOneChain<Own>> {
    const { entries } = this;
    let chain = await this.reverted();
    let isSent = false;
    while (chain.head.header.number < entries.length) {
      await before();
      chain = await this.reverted();
      const { number } = chain.head.header;
      const entry = entries[number];
      if (entry === undefined) continue;
      await chain.seal(number + 1, entry);
      isSent ||= !('last' in entry);
    }
    this.release(chain);
    if (isSent) this.parts.onSent();
    return chain;
  }

  /** The chain without the blocks that are not in the list any more. */
  private async reverted(): Promise<LayerOneChain<Own>> {
    let { chain } = this;
    const depth = (chain?.head.header.number ?? 0) - this.kept;
    if (chain !== undefined && depth > 0) {
      try {
        await chain.rollback(depth);
      } catch (error) {
        if (!(error instanceof PlumblineError) || error.code !== 'STATE_NOT_HELD') throw error;
        // The same blocks come of the same list.
        await chain.end();
        chain = undefined;
      }
    }
    this.kept = Number.POSITIVE_INFINITY;
    this.chain = chain ?? (await this.parts.open((block) => this.added(block)));
    return this.chain;
  }

  /** A block for transactions that were sent is in the chain already. Finalizations that are not sealed come after it. */
  private added({ header: { number, timestamp }, transactions }: Block): void {
    const entry = { transactions: transactions.map(({ raw }) => raw), timestamp };
    this.entries.splice(number - 1, 0, entry);
    this.journal?.save(number, entry);
    this.parts.onSent();
  }

  private release(chain: LayerOneChain): void {
    const { entries } = this;
    const isOlder = (entry: L1Entry | undefined) =>
      entry !== undefined && (!('last' in entry) || entry.last < this.releaseTo);
    if (this.heldFrom > entries.length) this.heldFrom = 0;
    while (isOlder(entries[this.heldFrom])) this.heldFrom++;
    chain.holdFrom(Math.min(this.heldFrom + 1, entries.length));
  }
}
