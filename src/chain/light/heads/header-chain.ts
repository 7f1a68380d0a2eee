import type { PlumblineError } from '../../../errors.js';
import type { Network } from '../../../networks/network.js';
import { equalBytes } from '../../../primitives/bytes.js';
import type { EndpointGroup } from '../../../upstream/group.js';
import { tooDeep } from '../refused.js';
import { contradicts, LINKED_LEAP, meeting, type Stretch, shortened } from './head-gaps.js';
import { HeadLevels } from './head-levels.js';
import type { HeaderStore } from './header-store.js';
import type { HeadLevel, VouchedBlock } from './heads.js';
import type { LightBlock } from './light-block.js';
import { AT_ONCE, fetchLinked, fetchParent, missingHeader, requireLink } from './linked-headers.js';

/** Headers below the head that are kept when nothing else is told. */
export const KEPT = 8192;
/** Leaps that are remembered while the headers between are not linked. */
const LEAPS = 8;

/**
 * The vouched-for head and its ancestors, linked by their hashes. An ancestor proves itself: its hash is the one its child
 * names.
 */
export class HeaderChain {
  /** Linked without a gap from the head down. */
  private segment = new Map<number, LightBlock>();
  private readonly levels: HeadLevels;
  private top: LightBlock | undefined;
  private lowest = 0;
  /** What was known before leaps that are not linked yet, the last one at the end. */
  private readonly anchors: Stretch[] = [];
  private linking: Promise<void> | undefined;
  /** Why the chain that endpoints tell of was refused, until they tell of the known one again. */
  private contradiction: PlumblineError<'TRUST_LEVEL_NOT_REACHED'> | undefined;
  /** Whether a leap could not be linked in the background: the next one has to be before it is taken. */
  private isDoubtful = false;

  constructor(
    private readonly group: EndpointGroup,
    private readonly network: Network,
    /** Blocks that a re-organization may take back. */
    private readonly maxReorgDepth: number,
    /** Headers below the head that are kept. */
    private readonly kept = KEPT,
    /** Where they are kept for other sessions. */
    private readonly store?: HeaderStore | undefined,
  ) {
    this.levels = new HeadLevels(2 * kept);
  }

  get head(): LightBlock | undefined {
    return this.top;
  }

  /** Level at which a block of this chain was vouched for, or a descendant of it. */
  levelOf(block: { readonly hash: Uint8Array }): HeadLevel | undefined {
    return this.levels.of(block);
  }

  /**
   * Remembers the level of a block outside the segment.
   *
   * @throws PlumblineError `TRUST_LEVEL_NOT_REACHED` for one that contradicts what was linked before a leap
   */
  note({ block, level }: VouchedBlock): void {
    const against = this.anchors.findIndex((anchor) => contradicts(block, anchor, this.maxReorgDepth));
    if (against >= 0) {
      // One endpoint alone, which has not even linked it, says nothing of the head.
      if (level === 'plain') throw tooDeep(level, this.maxReorgDepth);
      throw this.fallBack(against, level);
    }
    if (this.levelOf(block) === undefined) this.store?.put(block);
    this.levels.set(block, level);
  }

  /** A block of the linked part. */
  at(number: number): LightBlock | undefined {
    return this.segment.get(number);
  }

  /** Headers missing between a lower height and the linked part; undefined without a head, or for a height above. */
  depthBelow(number: number): number | undefined {
    return this.top === undefined || number > this.top.header.number ? undefined : Math.max(0, this.lowest - number);
  }

  /**
   * Takes a head that has been vouched for. One that only lies behind the present head changes nothing. One that leaps over
   * blocks is linked to what was known before up to a bound: before it is taken where one request does it, or `lazily` in
   * the background; when they do not meet, the node is back at what it knew before.
   *
   * @throws PlumblineError `TRUST_LEVEL_NOT_REACHED` when it takes back more blocks than a re-organization may; of the
   *   endpoints, `ANSWER_REFUSED`
   */
  async adopt(vouched: VouchedBlock, lazily = false, signal?: AbortSignal): Promise<void> {
    await this.place(vouched, signal);
    const leap = this.leap;
    if (leap === undefined) return;
    if (leap > LINKED_LEAP) {
      if (this.contradiction !== undefined) throw this.fallBack(this.anchors.length - 1, vouched.level);
      return;
    }
    const isFirm = this.contradiction === undefined && !this.isDoubtful;
    const inBackground = isFirm && (lazily || leap > AT_ONCE);
    this.linking ??= this.link(inBackground ? undefined : signal).finally(() => {
      this.linking = undefined;
    });
    if (!inBackground) return this.linking;
    this.linking.catch(() => {
      this.isDoubtful = true;
    });
  }

  /** Headers between the linked part and what was known before it. */
  private get leap(): number | undefined {
    const anchor = this.anchors.at(-1);
    return anchor && this.lowest - anchor.top.header.number;
  }

  private async place(vouched: VouchedBlock, signal: AbortSignal | undefined): Promise<void> {
    const { block } = vouched;
    const { number } = block.header;
    const old = this.top;
    if (old === undefined) return this.begin(vouched);
    const held = this.segment.get(number);
    if (held !== undefined && equalBytes(held.hash, block.hash)) {
      this.note(vouched);
      return;
    }
    if (number === old.header.number + 1 && equalBytes(block.header.parentHash, old.hash)) {
      requireLink(old, block);
      this.extend(vouched);
      return;
    }
    if (number > old.header.number + 1) {
      const before = { segment: this.segment, lowest: this.lowest, top: old };
      const isLinkedSoon = number - old.header.number <= LINKED_LEAP;
      this.anchors.push(isLinkedSoon ? before : shortened(before, this.maxReorgDepth));
      if (this.anchors.length > LEAPS) this.anchors.shift();
      this.begin(vouched);
      return;
    }
    if (number < this.lowest && old.header.number - number <= this.maxReorgDepth) {
      // Where endpoints do not link the present head to that height any more, they have left it.
      const same = await this.ancestor(number, signal).catch(() => undefined);
      if (signal?.aborted) throw signal.reason;
      if (this.top !== old) return this.place(vouched, signal);
      if (same !== undefined && equalBytes(same.hash, block.hash)) return this.note(vouched);
    }
    await this.reorganize(vouched, old, signal);
  }

  /**
   * The ancestor of the head at a height, from the linked part or fetched and linked.
   *
   * @param number - at most that of the head
   * @throws PlumblineError of the endpoints; `ANSWER_REFUSED` where the headers they give do not link
   */
  async ancestor(number: number, signal?: AbortSignal): Promise<LightBlock> {
    while (number < this.lowest) await this.descend(Math.max(number, this.lowest - AT_ONCE), signal);
    const found = this.segment.get(number);
    if (found === undefined) throw missingHeader(number);
    return found;
  }

  /** Links headers that are kept of an earlier session, down to `number` as far as they go. Nothing is fetched. */
  async recall(number: number): Promise<void> {
    const { store } = this;
    if (store === undefined || this.top === undefined || number >= this.lowest) return;
    const down = Math.max(number, this.top.header.number - this.kept);
    await this.sink((child) => store.below(child, down), true);
  }

  private begin(vouched: VouchedBlock): void {
    const { block } = vouched;
    this.segment = new Map([[block.header.number, block]]);
    this.lowest = block.header.number;
    this.top = block;
    this.note(vouched);
  }

  private extend(vouched: VouchedBlock): void {
    const { block } = vouched;
    this.segment.set(block.header.number, block);
    this.top = block;
    this.note(vouched);
    this.trim();
    this.settle();
  }

  private trim(): void {
    for (const top = this.top!.header.number; top - this.lowest > this.kept; this.lowest++)
      this.segment.delete(this.lowest);
  }

  /** Endpoints tell of the known chain. */
  private settle(): void {
    if (this.anchors.length > 0) return;
    this.contradiction = undefined;
    this.isDoubtful = false;
  }

  /** Links what was leapt to down to what was known before. @throws as `join`, of the endpoints */
  private async link(signal: AbortSignal | undefined): Promise<void> {
    while ((this.leap ?? Number.POSITIVE_INFINITY) <= LINKED_LEAP) {
      const down = this.join();
      if (down !== undefined) await this.descend(Math.max(down, this.lowest - AT_ONCE), signal);
    }
  }

  /**
   * Joins the linked part with what was known before where they meet.
   *
   * @returns the height down to which headers have to be linked to tell; undefined when there is nothing more to tell
   * @throws PlumblineError `TRUST_LEVEL_NOT_REACHED` when they do not meet; what was known before is then the chain again
   */
  private join(): number | undefined {
    const older = this.anchors.at(-1);
    if (older === undefined) return undefined;
    const met = meeting({ segment: this.segment, lowest: this.lowest }, older, this.maxReorgDepth);
    if (met.kind === 'open') return met.down;
    if (met.kind === 'apart') throw this.fallBack(this.anchors.length - 1, this.levelOf(this.top!) ?? 'plain');
    this.anchors.pop();
    if (met.kind === 'met' && met.at >= older.lowest) {
      for (const [number, block] of older.segment)
        if (number <= met.at && number < this.lowest) this.segment.set(number, block);
      this.lowest = Math.min(this.lowest, older.lowest);
      this.trim();
    }
    this.settle();
    return undefined;
  }

  /** Goes back to what was known before a leap. @returns the reason, to be thrown */
  private fallBack(index: number, level: HeadLevel): PlumblineError<'TRUST_LEVEL_NOT_REACHED'> {
    this.contradiction = tooDeep(level, this.maxReorgDepth);
    for (const block of this.segment.values()) this.levels.delete(block);
    this.restore(this.anchors[index]!);
    this.anchors.length = index;
    return this.contradiction;
  }

  private restore({ segment, lowest, top }: Stretch): void {
    this.segment = segment;
    this.lowest = lowest;
    this.top = top;
  }

  /** Follows a head that stands beside the present chain down to where the two meet. */
  private async reorganize(vouched: VouchedBlock, old: LightBlock, signal: AbortSignal | undefined): Promise<void> {
    const before = this.segment;
    const added = [vouched.block];
    for (;;) {
      const child = added[0]!;
      const below = before.get(child.header.number - 1);
      if (below !== undefined && equalBytes(below.hash, child.header.parentHash)) break;
      const floor = Math.max(this.lowest, old.header.number - this.maxReorgDepth);
      if (child.header.number - 1 <= floor) {
        if (floor !== this.lowest || old.header.number - this.lowest >= this.maxReorgDepth) {
          this.contradiction = tooDeep(vouched.level, this.maxReorgDepth);
          throw this.contradiction;
        }
        // Nothing below is held: a chain that was only just begun has nothing to defend but what it leapt from.
        const anchor = this.anchors.pop();
        if (anchor === undefined) return this.begin(vouched);
        this.restore(anchor);
        return this.place(vouched, signal);
      }
      added.unshift(await fetchParent(this.group, this.network, child, signal));
      // A leap may have been linked meanwhile, or refused.
      if (this.segment !== before) return this.place(vouched, signal);
    }
    for (let number = added[0]!.header.number; number <= old.header.number; number++) before.delete(number);
    for (const block of added) before.set(block.header.number, block);
    for (const block of added) this.note({ ...vouched, block });
    this.top = vouched.block;
    this.settle();
  }

  /** Links the headers from `number` up to below the linked part, in one request where they are not kept. */
  private async descend(number: number, signal: AbortSignal | undefined): Promise<void> {
    await this.recall(number);
    if (this.lowest <= number) return;
    await this.sink((child) => fetchLinked(this.group, this.network, child, number, signal), false);
  }

  /** Takes headers that are linked to the linked part from below, the highest first. */
  private async sink(read: (child: LightBlock) => Promise<readonly LightBlock[]>, isKept: boolean): Promise<void> {
    const { lowest, segment } = this;
    const child = segment.get(lowest)!;
    const blocks = await read(child);
    // The head may have gone elsewhere meanwhile.
    if (blocks.length === 0 || this.segment !== segment || this.lowest !== lowest) return;
    const level = this.levelOf(child);
    for (const block of blocks) {
      segment.set(block.header.number, block);
      if (!isKept) this.store?.put(block);
      if (level !== undefined) this.levels.set(block, level);
    }
    this.lowest -= blocks.length;
    this.join();
  }
}
