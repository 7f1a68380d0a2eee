import type { PlumblineError } from '../../../errors.js';
import type { Network } from '../../../networks/network.js';
import { equalBytes } from '../../../primitives/bytes.js';
import type { EndpointGroup } from '../../../upstream/group.js';
import { tooDeep } from '../refused.js';
import { compareSegments, contradicts, type HeaderSegment, MAX_LINKED_GAP, shortened } from './head-gaps.js';
import { HeadLevels } from './head-levels.js';
import type { HeaderStore } from './header-store.js';
import type { AcceptedBlock, HeadLevel } from './heads.js';
import type { LightBlock } from './light-block.js';
import { AT_ONCE, fetchLinked, fetchParent, missingHeader, requireLink } from './linked-headers.js';

/** Headers below the head that are kept by default. */
export const KEPT = 8192;
/** Most gaps between heads that are remembered until their headers are linked. */
const MAX_GAPS = 8;

/** The accepted head and its ancestors, linked by their hashes: the hash of an ancestor is the parent hash in its child. */
export class HeaderChain {
  /** Headers that are linked without a gap from the head down, by number. */
  private segment = new Map<number, LightBlock>();
  private readonly levels: HeadLevels;
  private top: LightBlock | undefined;
  private lowest = 0;
  /** The segments below gaps that are not linked yet, the newest one last. */
  private readonly olderSegments: HeaderSegment[] = [];
  private linking: Promise<void> | undefined;
  /** Why the chain of the endpoints was refused, until they report the known one again. */
  private contradiction: PlumblineError<'TRUST_LEVEL_NOT_REACHED'> | undefined;
  /** Whether linking in the background failed. The next gap is then linked before its head is accepted. */
  private hasLinkingFailed = false;

  constructor(
    private readonly group: EndpointGroup,
    private readonly network: Network,
    /** Blocks that a reorg may replace. */
    private readonly maxReorgDepth: number,
    /** Headers below the head that are kept. */
    private readonly kept = KEPT,
    /** Stores headers for later sessions. */
    private readonly store?: HeaderStore | undefined,
  ) {
    this.levels = new HeadLevels(2 * kept);
  }

  get head(): LightBlock | undefined {
    return this.top;
  }

  /** Trust level of a block: the level at which it or a descendant was accepted. */
  levelOf(block: { readonly hash: Uint8Array }): HeadLevel | undefined {
    return this.levels.of(block);
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
      if (level === 'plain') throw tooDeep(level, this.maxReorgDepth);
      throw this.fallBack(index, level);
    }
    if (this.levelOf(block) === undefined) this.store?.put(block);
    this.levels.set(block, level);
  }

  /** A block of the linked segment. */
  at(number: number): LightBlock | undefined {
    return this.segment.get(number);
  }

  /** Headers missing between a lower height and the linked segment; undefined without a head, or for a height above it. */
  depthBelow(number: number): number | undefined {
    return this.top === undefined || number > this.top.header.number ? undefined : Math.max(0, this.lowest - number);
  }

  /**
   * Takes an accepted head. A known ancestor of the present head changes nothing. A head above a gap is linked to the older
   * segment if the gap is at most `MAX_LINKED_GAP` wide: at once if one request is enough, otherwise, or with `lazily`, in the
   * background. If the two turn out to be different chains, the older segment becomes the chain again.
   *
   * @throws PlumblineError `TRUST_LEVEL_NOT_REACHED` if it replaces more blocks than a reorg may; `ANSWER_REFUSED`
   */
  async adopt(accepted: AcceptedBlock, lazily = false, signal?: AbortSignal): Promise<void> {
    await this.insert(accepted, signal);
    const { gap } = this;
    if (gap === undefined) return;
    if (gap > MAX_LINKED_GAP) {
      if (this.contradiction !== undefined) throw this.fallBack(this.olderSegments.length - 1, accepted.level);
      return;
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
    return older && this.lowest - older.top.header.number;
  }

  private async insert(accepted: AcceptedBlock, signal: AbortSignal | undefined): Promise<void> {
    const { block } = accepted;
    const { number } = block.header;
    const old = this.top;
    if (old === undefined) return this.restart(accepted);
    const held = this.segment.get(number);
    if (held !== undefined && equalBytes(held.hash, block.hash)) {
      this.note(accepted);
      return;
    }
    if (number === old.header.number + 1 && equalBytes(block.header.parentHash, old.hash)) {
      requireLink(old, block);
      this.extend(accepted);
      return;
    }
    if (number > old.header.number + 1) {
      const before = { headers: this.segment, lowest: this.lowest, top: old };
      const isLinkedSoon = number - old.header.number <= MAX_LINKED_GAP;
      this.olderSegments.push(isLinkedSoon ? before : shortened(before, this.maxReorgDepth));
      if (this.olderSegments.length > MAX_GAPS) this.olderSegments.shift();
      this.restart(accepted);
      return;
    }
    if (number < this.lowest && old.header.number - number <= this.maxReorgDepth) {
      // If endpoints cannot link the present head to that height, they have left its chain.
      const same = await this.ancestor(number, signal).catch(() => undefined);
      if (signal?.aborted) throw signal.reason;
      if (this.top !== old) return this.insert(accepted, signal);
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
  async ancestor(number: number, signal?: AbortSignal): Promise<LightBlock> {
    while (number < this.lowest) await this.descend(Math.max(number, this.lowest - AT_ONCE), signal);
    const found = this.segment.get(number);
    if (found === undefined) throw missingHeader(number);
    return found;
  }

  /** Links stored headers of earlier sessions, down to `number` if they are complete. Nothing is fetched. */
  async recall(number: number): Promise<void> {
    const { store } = this;
    if (store === undefined || this.top === undefined || number >= this.lowest) return;
    const down = Math.max(number, this.top.header.number - this.kept);
    await this.extendDown((child) => store.below(child, down), true);
  }

  private restart(accepted: AcceptedBlock): void {
    const { block } = accepted;
    this.segment = new Map([[block.header.number, block]]);
    this.lowest = block.header.number;
    this.top = block;
    this.note(accepted);
  }

  private extend(accepted: AcceptedBlock): void {
    const { block } = accepted;
    this.segment.set(block.header.number, block);
    this.top = block;
    this.note(accepted);
    this.trim();
    this.clearContradiction();
  }

  private trim(): void {
    for (const top = this.top!.header.number; top - this.lowest > this.kept; this.lowest++)
      this.segment.delete(this.lowest);
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
      if (down !== undefined) await this.descend(Math.max(down, this.lowest - AT_ONCE), signal);
    }
  }

  /**
   * Joins the linked segment with the newest older one if they have a block in common.
   *
   * @returns the height down to which headers have to be linked first; undefined if there is nothing left to compare
   * @throws PlumblineError `TRUST_LEVEL_NOT_REACHED` if they are different chains; the older one is then the chain again
   */
  private join(): number | undefined {
    const older = this.olderSegments.at(-1);
    if (older === undefined) return undefined;
    const relation = compareSegments({ headers: this.segment, lowest: this.lowest }, older, this.maxReorgDepth);
    if (relation.kind === 'gap') return relation.down;
    if (relation.kind === 'forked')
      throw this.fallBack(this.olderSegments.length - 1, this.levelOf(this.top!) ?? 'plain');
    this.olderSegments.pop();
    if (relation.kind === 'joined' && relation.at >= older.lowest) {
      for (const [number, block] of older.headers)
        if (number <= relation.at && number < this.lowest) this.segment.set(number, block);
      this.lowest = Math.min(this.lowest, older.lowest);
      this.trim();
    }
    this.clearContradiction();
    return undefined;
  }

  /** Goes back to an older segment. @returns the reason, to be thrown */
  private fallBack(index: number, level: HeadLevel): PlumblineError<'TRUST_LEVEL_NOT_REACHED'> {
    this.contradiction = tooDeep(level, this.maxReorgDepth);
    for (const block of this.segment.values()) this.levels.delete(block);
    this.restore(this.olderSegments[index]!);
    this.olderSegments.length = index;
    return this.contradiction;
  }

  private restore({ headers, lowest, top }: HeaderSegment): void {
    this.segment = headers;
    this.lowest = lowest;
    this.top = top;
  }

  /** Switches to a head on another branch: fetches its headers down to the common ancestor. */
  private async reorganize(accepted: AcceptedBlock, old: LightBlock, signal: AbortSignal | undefined): Promise<void> {
    const before = this.segment;
    const added = [accepted.block];
    for (;;) {
      const child = added[0]!;
      const below = before.get(child.header.number - 1);
      if (below !== undefined && equalBytes(below.hash, child.header.parentHash)) break;
      const floor = Math.max(this.lowest, old.header.number - this.maxReorgDepth);
      if (child.header.number - 1 <= floor) {
        if (floor !== this.lowest || old.header.number - this.lowest >= this.maxReorgDepth) {
          this.contradiction = tooDeep(accepted.level, this.maxReorgDepth);
          throw this.contradiction;
        }
        // The segment is too short to compare, so the older one decides.
        const older = this.olderSegments.pop();
        if (older === undefined) return this.restart(accepted);
        this.restore(older);
        return this.insert(accepted, signal);
      }
      added.unshift(await fetchParent(this.group, this.network, child, signal));
      // The segment may have been joined or replaced meanwhile.
      if (this.segment !== before) return this.insert(accepted, signal);
    }
    for (let number = added[0]!.header.number; number <= old.header.number; number++) before.delete(number);
    for (const block of added) before.set(block.header.number, block);
    for (const block of added) this.note({ ...accepted, block });
    this.top = accepted.block;
    this.clearContradiction();
  }

  /** Links the headers from `number` up to the linked segment. Those that are not stored are fetched by one request. */
  private async descend(number: number, signal: AbortSignal | undefined): Promise<void> {
    await this.recall(number);
    if (this.lowest <= number) return;
    await this.extendDown((child) => fetchLinked(this.group, this.network, child, number, signal), false);
  }

  /** Adds headers below the linked segment, the highest first. */
  private async extendDown(
    read: (child: LightBlock) => Promise<readonly LightBlock[]>,
    isStored: boolean,
  ): Promise<void> {
    const { lowest, segment } = this;
    const child = segment.get(lowest)!;
    const blocks = await read(child);
    // The segment may have been replaced meanwhile.
    if (blocks.length === 0 || this.segment !== segment || this.lowest !== lowest) return;
    const level = this.levelOf(child);
    for (const block of blocks) {
      segment.set(block.header.number, block);
      if (!isStored) this.store?.put(block);
      if (level !== undefined) this.levels.set(block, level);
    }
    this.lowest -= blocks.length;
    this.join();
  }
}
