import { isPlumblineError } from '../../../errors.js';
import { isZeroBytes } from '../../../primitives/bytes.js';
import type { Clock } from '../../../scheduling/clock.js';
import type { EndpointGroup } from '../../../upstream/group.js';
import { answerRefused } from '../refused.js';
import type { FinalizationEvent } from './finality-events.js';
import type { FinalityStore, FinalizedBlock } from './finality-store.js';
import { RollupReader, type RollupReading } from './rollup-reader.js';

/** How finality is read, and for how long a reading holds. */
export interface LayerOneFinalityOptions extends RollupReading {
  /** A reading this old, in ms, is read again. */
  readonly maxAgeMs: number;
  readonly clock: Clock;
  /** Keeps what was read; nothing is kept when left out. */
  readonly store?: FinalityStore | undefined;
}

/** Roots that are remembered. */
const MAX_ROOTS = 4096;

/**
 * What layer 1 holds of the state of layer 2. Everything about one question is read at one of its blocks. What an earlier
 * session has seen stands in only while layer 1 cannot be reached.
 */
export class LayerOneFinality {
  private latest: FinalizedBlock | undefined;
  private readAt = Number.NEGATIVE_INFINITY;
  /** Newest block that was read in this session. */
  private floor = -1;
  /** Newest block against whose root an answer held. */
  private upheld = -1;
  private reading: Promise<FinalizedBlock> | undefined;
  private restoring: Promise<void> | undefined;
  /** Roots read in this session. They never change once they are there. */
  private readonly roots = new Map<number, Uint8Array>();
  /** Roots of an earlier session that were not read again. */
  private readonly earlier = new Map<number, Uint8Array>();
  private readonly rollup: RollupReader;

  constructor(
    group: EndpointGroup,
    private readonly options: LayerOneFinalityOptions,
  ) {
    this.rollup = new RollupReader(group, options);
  }

  /** What was read last, however long ago. */
  get known(): FinalizedBlock | undefined {
    return this.latest;
  }

  /**
   * The newest finalized block; the newest that is known while layer 1 cannot be reached, since what is final stays so.
   *
   * @throws PlumblineError `ANSWER_REFUSED`, of the endpoints
   */
  async newest(): Promise<FinalizedBlock> {
    return (await this.current()).at;
  }

  /** @returns also why layer 1 was not read, where an older reading stands in */
  private async current(): Promise<{ readonly at: FinalizedBlock; readonly offline?: unknown }> {
    await this.restored();
    if (this.latest !== undefined && this.isFresh()) return { at: this.latest };
    this.reading ??= this.read().finally(() => {
      this.reading = undefined;
    });
    try {
      return { at: await this.reading };
    } catch (error) {
      if (this.latest === undefined || !isUnreachable(error)) throw error;
      return { at: this.latest, offline: error };
    }
  }

  /** At one given block there is nothing newer to be read. */
  private isFresh(): boolean {
    const { clock, maxAgeMs, header } = this.options;
    if (header !== undefined) return this.readAt !== Number.NEGATIVE_INFINITY;
    const age = clock.now() - this.readAt;
    // Below zero the clock was set back, and nobody knows how old it is.
    return age >= 0 && age <= maxAgeMs;
  }

  /**
   * Root of the zk state after a block.
   *
   * @returns undefined when no finalization ended there
   * @throws PlumblineError `ANSWER_REFUSED`, of the endpoints
   */
  async rootOf(number: number): Promise<Uint8Array | undefined> {
    const known = this.roots.get(number);
    if (known !== undefined) return known;
    const { at, offline } = await this.current();
    if (number > at.number) return undefined;
    if (number === at.number) return at.root;
    try {
      if (offline !== undefined) throw offline;
      const root = await this.rollup.rootAt(await this.rollup.pin(), number);
      if (!isZeroBytes(root)) {
        await this.remember(number, root);
        return root;
      }
    } catch (error) {
      const root = isUnreachable(error) ? this.earlier.get(number) : undefined;
      if (root === undefined) throw error;
      return root;
    }
    if (this.earlier.delete(number)) await this.save();
    return undefined;
  }

  /**
   * Gives what `work` makes of a finalized block. A root by which an answer was refused is read again next time: where
   * layer 1 is not proved, it may have been layer 1 that lied.
   *
   * @throws what `work` throws
   */
  async using<T>(at: FinalizedBlock, work: (at: FinalizedBlock) => Promise<T>): Promise<T> {
    try {
      const made = await work(at);
      if (this.roots.has(at.number)) this.upheld = Math.max(this.upheld, at.number);
      return made;
    } catch (error) {
      if (isPlumblineError(error, 'ANSWER_REFUSED')) await this.doubt(at.number);
      throw error;
    }
  }

  /** How far layer 1 had come is not forgotten: it may not go back after a lie of layer 2. */
  private async doubt(number: number): Promise<void> {
    const root = this.roots.get(number);
    // One of an earlier session is read again anyway, as soon as that can be done.
    if (root === undefined) return;
    this.roots.delete(number);
    if (number === this.upheld) this.earlier.set(number, root);
    if (this.latest?.number === number) {
      this.readAt = Number.NEGATIVE_INFINITY;
      if (number !== this.upheld) this.latest = undefined;
    }
    await this.save();
  }

  /** As `RollupReader.events`. */
  events(from: number, to: number): Promise<FinalizationEvent[]> {
    return this.rollup.events(from, to);
  }

  private async read(): Promise<FinalizedBlock> {
    const startedAt = this.options.clock.now();
    const pinned = await this.rollup.pin();
    const number = await this.rollup.currentAt(pinned);
    if (number < this.floor) {
      const message = `is ${number}, and was ${this.floor} before`;
      throw answerRefused('finalized block', { verified: false, reason: 'WENT_BACK', at: '', message });
    }
    const root = await this.rollup.rootAt(pinned, number);
    if (isZeroBytes(root)) {
      const message = `has no root for its own newest block ${number}`;
      throw answerRefused('rollup contract', { verified: false, reason: 'ROOT_MISSING', at: '', message });
    }
    this.latest = { number, root, layerOneBlock: pinned.header.number };
    this.readAt = startedAt;
    this.floor = number;
    for (const block of this.earlier.keys()) if (block > number) this.earlier.delete(block);
    await this.remember(number, root);
    return this.latest;
  }

  private async remember(number: number, root: Uint8Array): Promise<void> {
    this.roots.set(number, root);
    this.earlier.delete(number);
    if (this.roots.size > MAX_ROOTS) this.roots.delete(this.roots.keys().next().value!);
    await this.save();
  }

  private async save(): Promise<void> {
    const { latest, roots, earlier } = this;
    await this.options.store?.save(latest && { newest: latest, roots: new Map([...earlier, ...roots]) });
  }

  /** What an earlier session has seen. */
  private restored(): Promise<void> {
    this.restoring ??= Promise.resolve(this.options.store?.load()).then((known) => {
      for (const [number, root] of known?.roots ?? []) this.earlier.set(number, root);
      this.latest ??= known?.newest;
    });
    return this.restoring;
  }
}

/** Whether layer 1 said nothing, as against something wrong. */
export function isUnreachable(error: unknown): boolean {
  return (
    isPlumblineError(error, 'UPSTREAM_UNAVAILABLE') ||
    isPlumblineError(error, 'UPSTREAM_RATE_LIMITED') ||
    isPlumblineError(error, 'REQUEST_TIMED_OUT')
  );
}
