import { isPlumblineError, type PlumblineError } from '../../../errors.js';
import type { Network } from '../../../networks/network.js';
import { bytesToKey, equalBytes } from '../../../primitives/bytes.js';
import type { EndpointGroup } from '../../../upstream/group.js';
import type { BlockLevel } from '../../block.js';
import type { TakenBack } from '../../chain.js';
import { notReached, takesBackFinal, tooDeep } from '../refused.js';
import type { HeaderStore } from './header-store.js';
import type { AcceptedBlock } from './heads.js';
import type { LightBlock } from './light-block.js';
import { AT_ONCE, fetchLinked, fetchParent, missingHeader, requireLink } from './light-block.js';

/** Headers below the head that are kept by default. */
export const KEPT = 8192;
/** Most gaps between heads that are remembered until their headers are linked. */
const MAX_GAPS = 8;

/** Numbers of blocks that layer 1 finalized. */
export interface FinalizedNumbers {
  /** The newest that was read, on the known chain. Nothing is asked. */
  known(): number | undefined;
  /** The newest, asked for: before blocks that no endpoint has any more are taken back. @throws of the endpoints */
  newest(): Promise<number | undefined>;
}

/** The accepted head and its ancestors, linked by their hashes: the hash of an ancestor is the parent hash in its child. */
export class HeaderChain {
  private readonly linked: LinkedSegment;
  /** The segments below gaps that are not linked yet, the newest one last. */
  private readonly olderSegments: HeaderSegment[] = [];
  private linking: Promise<void> | undefined;
  /** Why the chain of the endpoints was refused, until they report the known one again. */
  private contradiction: PlumblineError<'TRUST_LEVEL_NOT_REACHED'> | undefined;
  /** Whether linking in the background failed. The next gap is then linked before its head is accepted. */
  private hasLinkingFailed = false;
  private readonly tooDeep = (level: BlockLevel) => tooDeep(level, this.maxReorgDepth);
  /** A head that has left the chain, and the one that was taken in its place, until it is asked for. */
  private left: TakenBack | undefined;

  constructor(
    readonly group: EndpointGroup,
    readonly network: Network,
    /** Blocks that a reorg may replace. */
    private readonly maxReorgDepth: number,
    /** Headers below the head that are kept. */
    kept = KEPT,
    /** Stores headers for later sessions. */
    private readonly store?: HeaderStore | undefined,
    private readonly finalized: FinalizedNumbers = { known: () => undefined, newest: async () => undefined },
  ) {
    this.linked = new LinkedSegment(group, network, kept, store, () => this.join());
  }

  get head(): LightBlock | undefined {
    return this.linked.top;
  }

  /** Trust level of a block: the level at which it or a descendant was accepted. */
  levelOf(block: { readonly hash: Uint8Array }): BlockLevel | undefined {
    return this.linked.levels.of(block);
  }

  /** The blocks that were taken back since the last call, if there are any. */
  takenBack(): TakenBack | undefined {
    const { left } = this;
    this.left = undefined;
    return left;
  }

  /** Whether all endpoints have lost a head of the chain, and name another one. A seal outlasts that. */
  async isLost(head: LightBlock, { block, level }: Pick<AcceptedBlock, 'block' | 'level'>, signal?: AbortSignal) {
    if (level !== 'plain' && level !== 'linked') return false;
    const { isLostEverywhere } = await import('./left-branch.js');
    return isLostEverywhere(this, head, block, signal);
  }

  /**
   * Remembers an accepted block outside the linked segment, and its level.
   *
   * @throws PlumblineError `TRUST_LEVEL_NOT_REACHED` if it contradicts a segment below a gap
   */
  note({ block, level }: AcceptedBlock): void {
    const index = this.olderSegments.findIndex((older) => contradicts(block, older, this.maxReorgDepth));
    if (index >= 0) {
      // An unlinked block of a single endpoint does not disprove the head.
      if (level === 'plain') throw this.tooDeep(level);
      throw this.fallBack(index, this.tooDeep(level));
    }
    if (this.levelOf(block) === undefined) this.store?.put(block);
    this.linked.levels.set(block, level);
  }

  /** Takes a block that layer-1 consensus settles. A chain with another block at its height is refused from now on. */
  settle(block: LightBlock): void {
    const { head } = this;
    if (this.linked.settle(block)) {
      this.olderSegments.length = 0;
      this.took(head!, block);
    }
    this.note({ block, level: 'settled', origins: [] });
  }

  /** A block of the linked segment. */
  at(number: number): LightBlock | undefined {
    return this.linked.headers.get(number);
  }

  /** Headers missing between a lower height and the linked segment; undefined without a head, or for a height above it. */
  depthBelow(number: number): number | undefined {
    const { top, lowest } = this.linked;
    return top === undefined || number > top.header.number ? undefined : Math.max(0, lowest - number);
  }

  /**
   * Takes an accepted head. A known ancestor of the present head changes nothing, unless all endpoints have lost the present head.
   * A head above a gap is linked to the older segment if the gap is at most `MAX_LINKED_GAP` wide: at once if one request is enough,
   * otherwise, or with `lazily`, in the background. If the two turn out to be different chains, the older segment becomes the chain again.
   *
   * @throws PlumblineError `TRUST_LEVEL_NOT_REACHED` if it replaces more blocks than a reorg may; `ANSWER_REFUSED`
   */
  async adopt(accepted: AcceptedBlock, lazily = false, signal?: AbortSignal): Promise<void> {
    await this.insert(accepted, signal);
    const { gap } = this;
    if (gap === undefined) return;
    if (gap > MAX_LINKED_GAP) {
      if (this.contradiction === undefined) return;
      throw this.fallBack(this.olderSegments.length - 1, this.tooDeep(accepted.level));
    }
    const isTrusted = this.contradiction === undefined && !this.hasLinkingFailed;
    const inBackground = isTrusted && (lazily || gap > AT_ONCE);
    this.linking ??= this.closeGap(inBackground ? undefined : signal).finally(() => {
      this.linking = undefined;
    });
    if (!inBackground) return this.linking;
    this.linking.catch(() => {
      this.hasLinkingFailed = true;
    });
  }

  /** Headers between the linked segment and the newest older one. */
  private get gap(): number | undefined {
    const older = this.olderSegments.at(-1);
    return older && this.linked.lowest - older.top.header.number;
  }

  private async insert(accepted: AcceptedBlock, signal: AbortSignal | undefined): Promise<void> {
    const { linked } = this;
    const { block } = accepted;
    const { number } = block.header;
    linked.levels.requireSettled(block);
    const old = linked.top;
    if (old === undefined) return this.restart(accepted);
    const held = linked.headers.get(number);
    if (held !== undefined && equalBytes(held.hash, block.hash)) {
      this.note(accepted);
      if (number === old.header.number || !(await this.isLost(old, accepted, signal))) return;
      if (linked.top === old)
        await this.requireTakable(accepted, { headers: linked.headers, lowest: linked.lowest, top: old }, signal);
      if (linked.top !== old) return this.insert(accepted, signal);
      linked.cut(held);
      this.took(old, held);
      return;
    }
    if (number === old.header.number + 1 && equalBytes(block.header.parentHash, old.hash)) {
      requireLink(this.network, old, block);
      this.extend(accepted);
      return;
    }
    if (number > old.header.number + 1) {
      const before = { headers: linked.headers, lowest: linked.lowest, top: old };
      const isLinkedSoon = number - old.header.number <= MAX_LINKED_GAP;
      this.olderSegments.push(isLinkedSoon ? before : shortened(before, this.maxReorgDepth));
      if (this.olderSegments.length > MAX_GAPS) this.olderSegments.shift();
      this.restart(accepted);
      return;
    }
    if (number < linked.lowest && old.header.number - number <= this.maxReorgDepth) {
      // If endpoints cannot link the present head to that height, they have left its chain.
      const same = await this.ancestor(number, signal).catch(() => undefined);
      if (signal?.aborted) throw signal.reason;
      if (linked.top !== old) return this.insert(accepted, signal);
      if (same !== undefined && equalBytes(same.hash, block.hash)) return this.note(accepted);
    }
    await this.reorganize(accepted, old, signal);
  }

  /**
   * The ancestor of the head at a height, known or fetched and linked.
   *
   * @param number - at most that of the head
   * @throws PlumblineError of the endpoints; `ANSWER_REFUSED` if their headers do not link
   */
  ancestor(number: number, signal?: AbortSignal): Promise<LightBlock> {
    return this.linked.ancestor(number, signal);
  }

  /** Links stored headers of earlier sessions, down to `number` if they are complete. Nothing is fetched. */
  recall(number: number): Promise<void> {
    return this.linked.recall(number);
  }

  private restart(accepted: AcceptedBlock): void {
    this.linked.restart(accepted.block);
    this.note(accepted);
  }

  private extend(accepted: AcceptedBlock): void {
    this.linked.extend(accepted.block);
    this.note(accepted);
    this.linked.trim();
    this.clearContradiction();
  }

  /** Forgets earlier contradictions once the endpoints' chain is the known one. */
  private clearContradiction(): void {
    if (this.olderSegments.length > 0) return;
    this.contradiction = undefined;
    this.hasLinkingFailed = false;
  }

  /** Links the segment down to the older one. @throws as `join`, of the endpoints */
  private async closeGap(signal: AbortSignal | undefined): Promise<void> {
    while ((this.gap ?? Number.POSITIVE_INFINITY) <= MAX_LINKED_GAP) {
      const down = this.join();
      if (down === 'unknown') await this.lowerOlder(signal);
      else if (down !== undefined) await this.linked.descend(Math.max(down, this.linked.lowest - AT_ONCE), signal);
    }
  }

  /** Adds the next header below the newest older segment. @throws as `lower`; that segment is then the chain again */
  private async lowerOlder(signal: AbortSignal | undefined): Promise<void> {
    const index = this.olderSegments.length - 1;
    const older = this.olderSegments[index]!;
    try {
      const lowest = await this.lower(older, this.topLevel, signal);
      if (this.olderSegments[index] === older) this.olderSegments[index] = { ...older, lowest };
    } catch (error) {
      if (error !== this.contradiction || this.olderSegments[index] !== older) throw error;
      const taken = { block: this.head!, level: this.topLevel };
      let reason = this.contradiction!;
      if (await this.isLost(older.top, taken, signal)) {
        try {
          await this.requireTakable(taken, older, signal);
          if (this.olderSegments[index] !== older) return;
          this.olderSegments.length = 0;
          return this.took(older.top, taken.block);
        } catch (error) {
          if (!isPlumblineError(error, 'TRUST_LEVEL_NOT_REACHED')) throw error;
          reason = error;
        }
      }
      throw this.fallBack(index, reason);
    }
  }

  /**
   * Adds the next header below a segment.
   *
   * @returns its height
   * @throws as `leftParent`. That no endpoint has it counts as a contradiction
   */
  private async lower(segment: Omit<HeaderSegment, 'top'>, level: BlockLevel, signal: AbortSignal | undefined) {
    const { group, network, store, maxReorgDepth } = this;
    const { leftParent } = await import('./left-branch.js');
    try {
      const child = segment.headers.get(segment.lowest)!;
      const parent = await leftParent({ group, network, store, maxReorgDepth, level }, child, signal);
      segment.headers.set(parent.header.number, parent);
      return parent.header.number;
    } catch (error) {
      if (isPlumblineError(error, 'TRUST_LEVEL_NOT_REACHED')) this.contradiction = error;
      throw error;
    }
  }

  /**
   * Joins the linked segment with the newest older one if they have a block in common.
   *
   * @returns the height down to which headers have to be linked first; `unknown` if the older one is too short to compare;
   *   undefined if there is nothing left to compare
   * @throws PlumblineError `TRUST_LEVEL_NOT_REACHED` if they are different chains; the older one is then the chain again
   */
  private join(): number | 'unknown' | undefined {
    const older = this.olderSegments.at(-1);
    if (older === undefined) return undefined;
    const relation = compareSegments(this.linked, older, this.maxReorgDepth);
    if (relation.kind === 'gap') return relation.down;
    if (relation.kind === 'forked') throw this.fallBack(this.olderSegments.length - 1, this.tooDeep(this.topLevel));
    if (relation.kind === 'unknown' && older.top.header.number > this.maxReorgDepth) return 'unknown';
    const { final } = this;
    const isFinalLeft = final !== undefined && relation.kind === 'joined' && relation.at < final;
    if (isFinalLeft && older.headers.has(final))
      throw this.fallBack(
        this.olderSegments.length - 1,
        takesBackFinal(this.topLevel, this.head!.header.number, final),
      );
    this.olderSegments.pop();
    if (relation.kind === 'joined' && relation.at >= older.lowest) this.linked.join(older, relation.at);
    if (relation.kind === 'joined' && relation.at < older.top.header.number) this.took(older.top, this.head!);
    this.clearContradiction();
    return undefined;
  }

  private get topLevel(): BlockLevel {
    return this.levelOf(this.head!) ?? 'plain';
  }

  /** Goes back to an older segment. @returns the reason, to be thrown */
  private fallBack(index: number, reason: PlumblineError<'TRUST_LEVEL_NOT_REACHED'>) {
    this.contradiction = reason;
    for (const block of this.linked.headers.values()) this.linked.levels.delete(block);
    this.linked.restore(this.olderSegments[index]!);
    this.olderSegments.length = index;
    return this.contradiction;
  }

  /** Switches to a head on another branch: fetches its headers down to the common ancestor. */
  private async reorganize(accepted: AcceptedBlock, old: LightBlock, signal: AbortSignal | undefined): Promise<void> {
    const { linked } = this;
    const before = linked.headers;
    const added = [accepted.block];
    for (;;) {
      const child = added[0]!;
      const below = before.get(child.header.number - 1);
      if (below !== undefined && equalBytes(below.hash, child.header.parentHash)) break;
      const floor = Math.max(linked.lowest, old.header.number - this.maxReorgDepth);
      if (child.header.number - 1 <= floor) {
        if (floor !== linked.lowest || old.header.number - linked.lowest >= this.maxReorgDepth) {
          this.contradiction = this.tooDeep(accepted.level);
          throw this.contradiction;
        }
        // The segment is too short to compare, so the older one decides.
        const older = this.olderSegments.pop();
        if (older !== undefined) {
          this.linked.restore(older);
          return this.insert(accepted, signal);
        }
        // Down to genesis the blocks are few enough.
        if (old.header.number <= this.maxReorgDepth) {
          this.restart(accepted);
          return this.took(old, accepted.block);
        }
        const known = { headers: before, lowest: linked.lowest, top: old };
        try {
          const lower = await this.lower(known, accepted.level, signal);
          if (linked.headers === before) linked.lowest = lower;
        } catch (error) {
          if (error !== this.contradiction || !(await this.isLost(old, accepted, signal))) throw error;
          await this.requireTakable(accepted, known, signal);
          if (linked.headers !== before) return this.insert(accepted, signal);
          this.restart(accepted);
          return this.took(old, accepted.block);
        }
        if (linked.headers !== before) return this.insert(accepted, signal);
        continue;
      }
      added.unshift(await fetchParent(this.group, this.network, child, signal));
      // The segment may have been joined or replaced meanwhile.
      if (linked.headers !== before) return this.insert(accepted, signal);
    }
    const { final } = this;
    if (final !== undefined && final >= added[0]!.header.number && before.has(final)) {
      throw takesBackFinal(accepted.level, accepted.block.header.number, final);
    }
    for (let number = added[0]!.header.number; number <= old.header.number; number++) before.delete(number);
    for (const block of added) before.set(block.header.number, block);
    for (const block of added) this.note({ ...accepted, block });
    linked.top = accepted.block;
    this.took(old, accepted.block);
  }

  /**
   * Requires that a head may take the place of one that all endpoints have lost.
   *
   * @throws PlumblineError `TRUST_LEVEL_NOT_REACHED` if that takes back more blocks than a reorg may replace, or one that layer 1
   *   finalized; of the endpoints
   */
  private async requireTakable(
    taken: Pick<AcceptedBlock, 'block' | 'level'>,
    known: HeaderSegment,
    signal: AbortSignal | undefined,
  ): Promise<void> {
    if (known.top.header.number - taken.block.header.number > this.maxReorgDepth) {
      this.contradiction = this.tooDeep(taken.level);
      throw this.contradiction;
    }
    const { final } = this;
    const newest = await this.finalized.newest();
    const { requireKept } = await import('./left-branch.js');
    if (final !== undefined) await requireKept(this, taken, known.headers, final, signal);
    // The newest may be of the new branch by now, so only its number counts.
    const { number } = taken.block.header;
    if (newest !== undefined && number < newest) throw takesBackFinal(taken.level, number, newest);
  }

  /** The newest final block of the known headers, as it is known without a request. */
  private get final(): number | undefined {
    const [known, settled] = [this.finalized.known(), this.linked.levels.settledNumber];
    return known === undefined || settled === undefined ? (known ?? settled) : Math.max(known, settled);
  }

  private took(from: LightBlock, to: LightBlock): void {
    this.left = { from: this.left?.from ?? from, to };
    this.clearContradiction();
  }
}

/** Widest gap between two heads whose headers are linked even if no request needs them. */
const MAX_LINKED_GAP = 256;

/** Headers that are linked without a gap from `top` down to `lowest`, by number. */
interface HeaderSegment {
  readonly headers: Map<number, LightBlock>;
  readonly lowest: number;
  readonly top: LightBlock;
}

/**
 * How a newer segment relates to an older one:
 *
 * - `joined`: both have the same block at the height `at`
 * - `forked`: they differ down to the deepest block that a reorg may replace
 * - `unknown`: the older segment is too short to tell
 * - `gap`: headers down to `down` have to be linked first
 */
type SegmentRelation =
  | { readonly kind: 'joined'; readonly at: number }
  | { readonly kind: 'forked' }
  | { readonly kind: 'unknown' }
  | { readonly kind: 'gap'; readonly down: number };

/** @param maxReorgDepth - blocks below the top of `older` that a reorg may replace */
function compareSegments(
  newer: Omit<HeaderSegment, 'top'>,
  older: HeaderSegment,
  maxReorgDepth: number,
): SegmentRelation {
  const top = older.top.header.number;
  const deepest = Math.max(0, top - maxReorgDepth);
  const floor = Math.max(deepest, older.lowest - 1);
  for (let at = top; at >= Math.max(floor, newer.lowest - 1); at--) {
    const [hash, known] = [hashAt(newer, at), hashAt(older, at)];
    if (hash !== undefined && known !== undefined && equalBytes(hash, known)) return { kind: 'joined', at };
  }
  if (newer.lowest - 1 <= floor) return { kind: older.lowest - 1 <= deepest ? 'forked' : 'unknown' };
  return { kind: 'gap', down: newer.lowest > top + 1 ? top + 1 : floor + 1 };
}

/** Whether a block contradicts a segment deeper than a reorg may replace blocks. */
function contradicts({ header, hash }: LightBlock, known: HeaderSegment, maxReorgDepth: number): boolean {
  const { number } = header;
  const there = number <= known.top.header.number - maxReorgDepth ? hashAt(known, number) : undefined;
  return there !== undefined && !equalBytes(there, hash);
}

/** The segment without headers deeper than a reorg may replace blocks. */
function shortened({ headers, lowest, top }: HeaderSegment, maxReorgDepth: number): HeaderSegment {
  const from = Math.max(lowest, top.header.number - maxReorgDepth);
  return { headers: new Map([...headers].filter(([number]) => number >= from)), lowest: from, top };
}

/** Hash of a block of the segment, or of the block right below it. */
function hashAt({ headers, lowest }: Omit<HeaderSegment, 'top'>, number: number): Uint8Array | undefined {
  return headers.get(number)?.hash ?? (number === lowest - 1 ? headers.get(lowest)?.header.parentHash : undefined);
}

/** The headers that are linked without a gap from the head down, with trust levels: how they grow, up by heads and down. */
export class LinkedSegment {
  /** By number. Another map after a restart or a return to an older segment. */
  headers = new Map<number, LightBlock>();
  readonly levels: HeadLevels;
  top: LightBlock | undefined;
  lowest = 0;

  constructor(
    private readonly group: EndpointGroup,
    private readonly network: Network,
    /** Headers below the head that are kept. */
    private readonly kept: number,
    /** Stores headers for later sessions. */
    private readonly store: HeaderStore | undefined,
    /** Called when headers were added below. What it throws ends that. */
    private readonly onLower: () => void,
  ) {
    this.levels = new HeadLevels(2 * kept);
  }

  restart(block: LightBlock): void {
    this.restore({ headers: new Map([[block.header.number, block]]), lowest: block.header.number, top: block });
  }

  restore({ headers, lowest, top }: HeaderSegment): void {
    this.headers = headers;
    this.lowest = lowest;
    this.top = top;
  }

  /** Takes a block that layer-1 consensus settles. @returns whether the segment had another one, and was emptied */
  settle(block: LightBlock): boolean {
    this.levels.settle(block);
    const held = this.headers.get(block.header.number);
    if (held === undefined || equalBytes(held.hash, block.hash)) return false;
    this.headers = new Map();
    this.top = undefined;
    this.lowest = 0;
    return true;
  }

  /** Makes a header of the segment its head again. */
  cut(block: LightBlock): void {
    for (let number = this.top!.header.number; number > block.header.number; number--) this.headers.delete(number);
    this.top = block;
  }

  /** Adds the child of the head. */
  extend(block: LightBlock): void {
    this.headers.set(block.header.number, block);
    this.top = block;
  }

  /** Takes over the headers of a segment below, which has the same block at the height `at`. */
  join(below: HeaderSegment, at: number): void {
    for (const [number, block] of below.headers)
      if (number <= at && number < this.lowest) this.headers.set(number, block);
    this.lowest = Math.min(this.lowest, below.lowest);
    this.trim();
  }

  /** Drops headers that are too far below the head to be kept. */
  trim(): void {
    for (const top = this.top!.header.number; top - this.lowest > this.kept; this.lowest++)
      this.headers.delete(this.lowest);
  }

  /**
   * The ancestor of the head at a height, known or fetched and linked.
   *
   * @param number - at most that of the head
   * @throws PlumblineError of the endpoints; `ANSWER_REFUSED` if their headers do not link
   */
  async ancestor(number: number, signal?: AbortSignal): Promise<LightBlock> {
    while (number < this.lowest) await this.descend(Math.max(number, this.lowest - AT_ONCE), signal);
    const found = this.headers.get(number);
    if (found === undefined) throw missingHeader(number);
    return found;
  }

  /** Links stored headers of earlier sessions, down to `number` if they are complete. Nothing is fetched. */
  async recall(number: number): Promise<void> {
    const { store, top } = this;
    if (store === undefined || top === undefined || number >= this.lowest) return;
    const down = Math.max(number, top.header.number - this.kept);
    await this.extendDown((child) => store.below(child, down), true);
  }

  /** Links the headers from `number` up to the segment. Those that are not stored are fetched by one request. */
  async descend(number: number, signal: AbortSignal | undefined): Promise<void> {
    await this.recall(number);
    if (this.lowest <= number) return;
    await this.extendDown((child) => fetchLinked(this.group, this.network, child, number, signal), false);
  }

  /** Adds headers below, the highest first. */
  private async extendDown(
    read: (child: LightBlock) => Promise<readonly LightBlock[]>,
    isStored: boolean,
  ): Promise<void> {
    const { lowest, headers } = this;
    const child = headers.get(lowest)!;
    const blocks = await read(child);
    // The segment may have been replaced meanwhile.
    if (blocks.length === 0 || this.headers !== headers || this.lowest !== lowest) return;
    for (const block of blocks) this.levels.requireSettled(block);
    const level = this.levels.of(child);
    for (const block of blocks) {
      headers.set(block.header.number, block);
      if (!isStored) this.store?.put(block);
      if (level !== undefined) this.levels.set(block, level);
    }
    this.lowest -= blocks.length;
    this.onLower();
  }
}

interface Hashed {
  /** 32 bytes. */
  readonly hash: Uint8Array;
}

/** Trust levels at which blocks were accepted, by block hash. The oldest entries are dropped first. */
export class HeadLevels {
  private readonly levels = new Map<string, BlockLevel>();
  /** The newest settled block. */
  private settled: LightBlock | undefined;

  constructor(private readonly most: number) {}

  of({ hash }: Hashed): BlockLevel | undefined {
    return this.levels.get(bytesToKey(hash));
  }

  /** A settled block stays settled. */
  set({ hash }: Hashed, level: BlockLevel): void {
    const key = bytesToKey(hash);
    if (this.levels.get(key) === 'settled') return;
    this.levels.delete(key);
    this.levels.set(key, level);
    if (this.levels.size > this.most) this.levels.delete(this.levels.keys().next().value!);
  }

  /** Takes a block that layer-1 consensus settles. */
  settle(block: LightBlock): void {
    if (this.settled === undefined || block.header.number > this.settled.header.number) this.settled = block;
    this.set(block, 'settled');
  }

  /** Number of the newest settled block. */
  get settledNumber(): number | undefined {
    return this.settled?.header.number;
  }

  /** @throws PlumblineError `TRUST_LEVEL_NOT_REACHED` for another block at the height of the newest settled one */
  requireSettled({ header: { number }, hash }: LightBlock): void {
    if (this.settled?.header.number !== number || equalBytes(this.settled.hash, hash)) return;
    const reason = `the chain of the endpoints has another block ${number} than the settled one`;
    throw notReached('settled', undefined, reason);
  }

  /** A settled block stays settled. */
  delete({ hash }: Hashed): void {
    const key = bytesToKey(hash);
    if (this.levels.get(key) !== 'settled') this.levels.delete(key);
  }
}
