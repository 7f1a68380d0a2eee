import type { Network } from '../../../networks/network.js';
import { equalBytes } from '../../../primitives/bytes.js';
import type { EndpointGroup } from '../../../upstream/group.js';
import type { HeaderSegment } from './head-gaps.js';
import { HeadLevels } from './head-levels.js';
import type { HeaderStore } from './header-store.js';
import type { LightBlock } from './light-block.js';
import { AT_ONCE, fetchLinked, missingHeader } from './linked-headers.js';

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
