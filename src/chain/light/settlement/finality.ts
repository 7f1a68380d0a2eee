import { isPlumblineError, PlumblineError, stateRootMissing } from '../../../errors.js';
import { equalBytes } from '../../../primitives/bytes.js';
import { bytesToHex, type Hex, hexToBytes } from '../../../primitives/hex.js';
import type { HashedHeader } from '../../../proof/headers.js';
import type { Clock } from '../../../scheduling/clock.js';
import { SharedWork } from '../../../scheduling/shared-work.js';
import type { BudgetedTable } from '../../../store/budgeted-table.js';
import { decodeChecked, encodeChecked } from '../../../store/table-usage.js';
import type { EndpointGroup } from '../../../upstream/group.js';
import { isUnreachable } from '../refused.js';
import { type Anchor, type FinalizationEvent, RollupReader, type RollupReading } from './rollup-reader.js';

/** How finality is read, and how long it is cached. */
export interface LayerOneFinalityOptions extends RollupReading {
  /** Older values are read again, milliseconds. */
  readonly maxAgeMs: number;
  /** With `finalHash`: while layer 1 cannot be reached, older values are not used, milliseconds. */
  readonly offlineMaxAgeMs?: number | undefined;
  readonly clock: Clock;
  /** Stores what was read. Without it nothing is stored. */
  readonly store?: FinalityStore | undefined;
}

const NO_HASH = new Uint8Array(0);
/** Most finalizations in memory. */
const MAX_ANCHORS = 4096;

/**
 * The finalized blocks and zk state roots on layer 1. All values for one request are read at the same layer-1 block. Values of
 * an earlier session are used only while layer 1 cannot be reached.
 */
export class LayerOneFinality {
  private latest: FinalizedBlock | undefined;
  /** When `latest` was read, in this session or an earlier one. */
  private latestAt = Number.NEGATIVE_INFINITY;
  /** When layer 1 was read last in this session, unless it has to be read again. */
  private readAt = Number.NEGATIVE_INFINITY;
  /** Hash of the layer-1 block that was read last, 32 bytes. */
  private pinnedHash: Uint8Array = NO_HASH;
  /** Newest finalized block read in this session. */
  private floor = -1;
  /** Newest block whose root an answer was verified against. */
  private verifiedUpTo = -1;
  private reading: SharedWork<FinalizedBlock> | undefined;
  private restoring: Promise<void> | undefined;
  /** What was read in this session. An entry on layer 1 never changes. */
  private readonly anchors = new Map<number, Anchor>();
  /** That of an earlier session, as far as it has not been read again. */
  private readonly earlier = new Map<number, Anchor>();
  private readonly rollup: RollupReader;

  constructor(
    group: EndpointGroup,
    private readonly options: LayerOneFinalityOptions,
  ) {
    this.rollup = new RollupReader(group, options);
  }

  /** The finalized block that was read last, of any age. */
  get known(): FinalizedBlock | undefined {
    return this.latest;
  }

  /**
   * The newest finalized block. While layer 1 cannot be reached, the newest known one: it stays final.
   *
   * @throws PlumblineError `ANSWER_REFUSED`, of the endpoints; as `finalHash`
   */
  async newest(signal?: AbortSignal): Promise<FinalizedBlock> {
    return (await this.current(signal)).at;
  }

  /** @returns with an older value also the error of layer 1 */
  private async current(
    signal: AbortSignal | undefined,
  ): Promise<{ readonly at: FinalizedBlock; readonly offline?: unknown }> {
    await this.restored();
    if (this.latest !== undefined && this.isFresh()) return { at: this.latest };
    if (this.reading?.isOver !== false) this.reading = new SharedWork((shared) => this.read(shared));
    try {
      return { at: await this.reading.wait(signal) };
    } catch (error) {
      if (this.latest === undefined || !isUnreachable(error) || !(await this.mayStandIn())) throw error;
      return { at: this.latest, offline: error };
    }
  }

  /** Whether the last value may be used while layer 1 cannot be reached. @throws as `finalHash` */
  private async mayStandIn(): Promise<boolean> {
    const { finalHash, offlineMaxAgeMs = Number.POSITIVE_INFINITY, clock } = this.options;
    // Throws where consensus names no final block of layer 1 that is recent.
    await finalHash?.();
    return clock.now() - this.latestAt <= offlineMaxAgeMs;
  }

  /** Whether the last value is recent. At a fixed layer-1 block it never changes. */
  private isFresh(): boolean {
    const { clock, maxAgeMs, header } = this.options;
    if (header !== undefined) return this.readAt !== Number.NEGATIVE_INFINITY;
    const age = clock.now() - this.readAt;
    // A negative age means that the clock was set back and the real age is unknown.
    return age >= 0 && age <= maxAgeMs;
  }

  /**
   * What layer 1 stores of a block.
   *
   * @returns undefined if no finalization ended there
   * @throws PlumblineError `ANSWER_REFUSED`, of the endpoints
   */
  async anchorOf(number: number, signal?: AbortSignal): Promise<Anchor | undefined> {
    const known = this.anchors.get(number);
    if (known !== undefined) return known;
    const { at, offline } = await this.current(signal);
    if (number > at.number) return undefined;
    if (number === at.number) return at;
    try {
      if (offline !== undefined) throw offline;
      const anchor = await this.rollup.anchorAt(await this.rollup.pin(signal), number, signal);
      if (anchor !== undefined) {
        await this.remember(number, anchor);
        return anchor;
      }
    } catch (error) {
      const anchor = isUnreachable(error) ? this.earlier.get(number) : undefined;
      if (anchor === undefined) throw error;
      return anchor;
    }
    if (this.earlier.delete(number)) await this.save();
    return undefined;
  }

  /**
   * Runs `work` with a finalized block. If it throws `ANSWER_REFUSED`, the root is read again next time: without a proof, the
   * layer-1 endpoint may have returned a false root.
   *
   * @throws what `work` throws
   */
  async using<At extends FinalizedBlock, T>(at: At, work: (at: At) => Promise<T>): Promise<T> {
    try {
      const result = await work(at);
      if (this.anchors.has(at.number)) this.verifiedUpTo = Math.max(this.verifiedUpTo, at.number);
      return result;
    } catch (error) {
      if (isPlumblineError(error, 'ANSWER_REFUSED')) await this.forget(at.number);
      throw error;
    }
  }

  /** Keeps `floor`: a false answer of layer 2 must not allow layer 1 to go back. */
  private async forget(number: number): Promise<void> {
    const anchor = this.anchors.get(number);
    // That of an earlier session is read again anyway, as soon as layer 1 can be reached.
    if (anchor === undefined) return;
    this.anchors.delete(number);
    if (number === this.verifiedUpTo) this.earlier.set(number, anchor);
    if (this.latest?.number === number) {
      this.readAt = Number.NEGATIVE_INFINITY;
      if (number !== this.verifiedUpTo) this.latest = undefined;
    }
    await this.save();
  }

  /** As `RollupReader.events`. */
  events(from: number, to: number, signal?: AbortSignal): Promise<FinalizationEvent[]> {
    return this.rollup.events(from, to, signal);
  }

  /** As `RollupReader.pin`. */
  pin(signal?: AbortSignal): Promise<HashedHeader> {
    return this.rollup.pin(signal);
  }

  private async read(signal: AbortSignal): Promise<FinalizedBlock> {
    const startedAt = this.options.clock.now();
    const pinned = await this.rollup.pin(signal);
    // At a block that consensus proves, nothing has changed.
    const isProved = this.options.finalHash !== undefined && equalBytes(pinned.hash, this.pinnedHash);
    if (isProved && this.latest !== undefined && this.anchors.has(this.latest.number)) {
      this.latestAt = startedAt;
      this.readAt = startedAt;
      return this.latest;
    }
    const number = await this.rollup.currentAt(pinned, signal);
    if (number < this.floor) {
      const hint = `it is ${number}, and was ${this.floor} before`;
      const details = { what: 'finalized block', check: 'WENT_BACK', at: '', origin: this.rollup.origins, hint };
      throw new PlumblineError('ANSWER_REFUSED', `finalized block: ${hint}`, details);
    }
    const anchor = await this.rollup.anchorAt(pinned, number, signal);
    if (anchor === undefined) {
      const { stateRootsSlot, blockHashesSlot } = this.options.rollup;
      const slots = [stateRootsSlot, blockHashesSlot].filter((slot) => slot !== undefined).join(' and ');
      const hint = `it has neither a state root nor a hash of its own newest block ${number} (slot ${slots}); check rollup of the profile`;
      const details = { what: 'rollup contract', check: 'ROOT_MISSING', at: '', origin: this.rollup.origins, hint };
      throw new PlumblineError('ANSWER_REFUSED', `rollup contract: ${hint}`, details);
    }
    this.latest = { number, ...anchor, layerOneBlock: pinned.header.number };
    this.latestAt = startedAt;
    this.readAt = startedAt;
    this.pinnedHash = pinned.hash;
    this.floor = number;
    for (const block of this.earlier.keys()) if (block > number) this.earlier.delete(block);
    await this.remember(number, anchor);
    return this.latest;
  }

  private async remember(number: number, anchor: Anchor): Promise<void> {
    this.anchors.set(number, anchor);
    this.earlier.delete(number);
    if (this.anchors.size > MAX_ANCHORS) this.anchors.delete(this.anchors.keys().next().value!);
    await this.save();
  }

  private async save(): Promise<void> {
    const { latest, anchors, earlier } = this;
    const known = latest && { newest: latest, readAt: this.latestAt, anchors: new Map([...earlier, ...anchors]) };
    await this.options.store?.save(known);
  }

  /** Loads the values of an earlier session, once. */
  private restored(): Promise<void> {
    this.restoring ??= Promise.resolve(this.options.store?.load()).then((known) => {
      for (const [number, anchor] of known?.anchors ?? []) this.earlier.set(number, anchor);
      if (known === undefined) return;
      this.latest ??= known.newest;
      this.latestAt = known.readAt;
    });
    return this.restoring;
  }
}

/** What is read of the finality of a chain. */
export type Finality = Pick<LayerOneFinality, 'known' | 'newest' | 'anchorOf' | 'events' | 'using'> &
  Partial<Pick<LayerOneFinality, 'pin'>>;

/** A finalized block and what layer 1 stores of it. */
export interface FinalizedBlock extends Anchor {
  /** Of layer 2. */
  readonly number: number;
  /** Number of the layer-1 block at which it was read. */
  readonly layerOneBlock: number;
}

/** A finalized block of which layer 1 stores the root of the zk state. */
export interface RootedBlock extends FinalizedBlock {
  readonly root: Uint8Array;
}

/**
 * A finalized block with its root.
 *
 * @throws PlumblineError `STATE_ROOT_MISSING` if layer 1 has its hash alone, so that nothing there binds the zk state after it
 */
export function rooted({ root, ...at }: FinalizedBlock): RootedBlock {
  if (root !== undefined) return { root, ...at };
  throw stateRootMissing(at.number);
}

export function blockNotProvable(block: string, reason: string): PlumblineError<'BLOCK_NOT_PROVABLE'> {
  return new PlumblineError('BLOCK_NOT_PROVABLE', `block ${block} ${reason}`, { block });
}

/** What was read from layer 1. It never changes there. */
interface KnownFinality {
  readonly newest: FinalizedBlock;
  /** When `newest` was read, milliseconds since 1970. */
  readonly readAt: number;
  /** By layer-2 block number. */
  readonly anchors: ReadonlyMap<number, Anchor>;
}

/** First byte of JSON. Entries with a checksum begin with another byte. */
const OPENING_BRACE = 0x7b;
/** Most roots that are stored. */
const MAX_STORED = 256;

/** How and from where roots were read. Roots with different identities are stored separately. */
interface FinalityIdentity {
  /** Of layer 2. */
  readonly chainId: number;
  /** Address of the rollup contract. */
  readonly rollup: Hex;
  /** Whether they are read by `eth_getProof`, not by `eth_call`. */
  readonly prove: boolean;
  /** Number of layer-1 origins that agreed. */
  readonly agreeing: number;
  /** Hash of the trusted layer-1 block, 32 bytes. */
  readonly header?: Uint8Array | undefined;
  /** Present where layer-1 consensus proves the block at which they are read. */
  readonly finalHash?: unknown;
}

/** Stores roots for times when layer 1 cannot be reached. If the store fails, nothing is stored and nothing else changes. */
export class FinalityStore {
  private readonly key: string;
  private readonly header: Hex | null;

  constructor(
    private readonly table: BudgetedTable | undefined,
    { chainId, rollup, prove, agreeing, header, finalHash }: FinalityIdentity,
  ) {
    const way = header !== undefined ? 'header' : finalHash !== undefined ? 'consensus' : prove ? 'proved' : 'called';
    this.key = `${chainId} ${rollup.toLowerCase()} ${way} ${agreeing}`;
    this.header = header === undefined ? null : bytesToHex(header);
  }

  /** @returns undefined if there are none, or only those of another trusted layer-1 block */
  async load(): Promise<KnownFinality | undefined> {
    try {
      const bytes = await this.table?.get(this.key);
      const text = bytes && textOf(bytes);
      if (text === undefined) return undefined;
      const { header, number, layerOneBlock, readAt, roots } = JSON.parse(text) as {
        header: Hex | null;
        number: number;
        layerOneBlock: number;
        // Entries of earlier versions do not have it.
        readAt?: number;
        // A root is null where layer 1 stores a hash, which is the third item. Earlier versions have no third.
        roots: [number, string | null, string?][];
      };
      if (header !== this.header) return undefined;
      const read = (text: string | null | undefined) => (typeof text === 'string' ? hexToBytes(text, 32) : undefined);
      const anchors = new Map(roots.map(([block, root, hash]) => [block, { root: read(root), hash: read(hash) }]));
      const anchor = anchors.get(number);
      return anchor && { newest: { number, ...anchor, layerOneBlock }, readAt: readAt ?? 0, anchors };
    } catch {
      return undefined;
    }
  }

  /** @param known - undefined deletes the stored roots */
  async save(known: KnownFinality | undefined): Promise<void> {
    if (known === undefined) await this.table?.delete(this.key);
    else await this.table?.put(this.key, this.encode(known));
  }

  private encode({ newest, readAt, anchors }: KnownFinality): Uint8Array {
    const { number, layerOneBlock } = newest;
    // The newest one comes last, so that it is never cut off.
    const ordered = [...anchors].filter(([block]) => block !== number).slice(1 - MAX_STORED);
    const kept = [...ordered, [number, newest] as const].map(([block, { root, hash }]) => [
      ...[block, root === undefined ? null : bytesToHex(root)],
      ...(hash === undefined ? [] : [bytesToHex(hash)]),
    ]);
    return encodeChecked(JSON.stringify({ header: this.header, number, layerOneBlock, readAt, roots: kept }));
  }
}

/** Entries of earlier versions have no checksum. @returns undefined if the checksum is wrong */
function textOf(bytes: Uint8Array): string | undefined {
  return bytes[0] === OPENING_BRACE ? new TextDecoder().decode(bytes) : decodeChecked(bytes);
}
