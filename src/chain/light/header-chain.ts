import type { Network } from '../../networks/network.js';
import { bytesToKey, equalBytes } from '../../primitives/bytes.js';
import { toQuantity } from '../../primitives/quantity.js';
import type { EndpointGroup } from '../../upstream/group.js';
import { type HeadLevel, notReached, type VouchedBlock } from './heads.js';
import { type LightBlock, readLightBlock } from './light-block.js';
import { AT_ONCE, fetchLinked, missingHeader, requireLink } from './linked-headers.js';

/** Headers below the head that are kept. */
const KEPT = 4096;

/**
 * The vouched-for head and its ancestors, linked by their hashes. An ancestor proves itself: its hash is the one its child
 * names.
 */
export class HeaderChain {
  /** Linked without a gap from the head down. */
  private segment = new Map<number, LightBlock>();
  private readonly levels = new Map<string, HeadLevel>();
  private top: LightBlock | undefined;
  private lowest = 0;

  constructor(
    private readonly group: EndpointGroup,
    private readonly network: Network,
    /** Blocks that a re-organization may take back. */
    private readonly maxReorgDepth: number,
  ) {}

  get head(): LightBlock | undefined {
    return this.top;
  }

  /** Level at which a block of this chain was vouched for, or a descendant of it. */
  levelOf(block: { readonly hash: Uint8Array }): HeadLevel | undefined {
    return this.levels.get(bytesToKey(block.hash));
  }

  /** Remembers the level of a block outside the segment. */
  note({ block, level }: VouchedBlock): void {
    this.levels.set(bytesToKey(block.hash), level);
    if (this.levels.size > 2 * KEPT) this.levels.delete(this.levels.keys().next().value!);
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
   * Takes a head that has been vouched for. One that only lies behind the present head changes nothing.
   *
   * @throws PlumblineError `TRUST_LEVEL_NOT_REACHED` when it takes back more blocks than a re-organization may
   */
  async adopt(vouched: VouchedBlock): Promise<void> {
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
      // The blocks between are linked when somebody asks for them.
      this.begin(vouched);
      return;
    }
    if (number < this.lowest && old.header.number - number <= this.maxReorgDepth) {
      // Where endpoints do not link the present head to that height any more, they have left it.
      const same = await this.ancestor(number).catch(() => undefined);
      if (same !== undefined && equalBytes(same.hash, block.hash)) return this.note(vouched);
    }
    await this.reorganize(vouched, old);
  }

  /**
   * The ancestor of the head at a height, from the linked part or fetched and linked.
   *
   * @param number - at most that of the head
   * @throws PlumblineError of the endpoints; `ANSWER_REFUSED` where the headers they give do not link
   */
  async ancestor(number: number, signal?: AbortSignal): Promise<LightBlock> {
    while (number < this.lowest) await this.descend(Math.max(number, this.lowest - AT_ONCE), signal);
    return this.segment.get(number)!;
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
    for (; block.header.number - this.lowest > KEPT; this.lowest++) this.segment.delete(this.lowest);
  }

  /** Follows a head that stands beside the present chain down to where the two meet. */
  private async reorganize(vouched: VouchedBlock, old: LightBlock): Promise<void> {
    const before = this.segment;
    const lowestBefore = this.lowest;
    const added = [vouched.block];
    const floor = Math.max(lowestBefore, old.header.number - this.maxReorgDepth);
    for (;;) {
      const child = added[0]!;
      const below = before.get(child.header.number - 1);
      if (below !== undefined && equalBytes(below.hash, child.header.parentHash)) break;
      if (child.header.number - 1 <= floor) {
        // Nothing below is held: a chain that was only just begun has nothing to defend.
        if (floor === lowestBefore && old.header.number - lowestBefore < this.maxReorgDepth) return this.begin(vouched);
        const reason = `the new head takes back more than ${this.maxReorgDepth} blocks`;
        throw notReached(vouched.level, undefined, reason);
      }
      added.unshift(await this.parentOf(child));
    }
    for (let number = added[0]!.header.number; number <= old.header.number; number++) before.delete(number);
    for (const block of added) before.set(block.header.number, block);
    for (const block of added) this.note({ ...vouched, block });
    this.top = vouched.block;
  }

  private async parentOf(child: LightBlock): Promise<LightBlock> {
    const number = child.header.number - 1;
    return this.group.request('eth_getBlockByNumber', [toQuantity(number), false], {
      accept: (answer) => {
        const block = readLightBlock(this.network, answer, { number, hash: child.header.parentHash });
        if (block === undefined) throw missingHeader(number);
        return block;
      },
    });
  }

  /** Links the headers from `number` up to below the linked part, in one request. */
  private async descend(number: number, signal: AbortSignal | undefined): Promise<void> {
    const { lowest, segment } = this;
    const blocks = await fetchLinked(this.group, this.network, segment.get(lowest)!, number, signal);
    // The head may have gone elsewhere meanwhile.
    if (this.segment !== segment || this.lowest !== lowest) return;
    const level = this.levelOf(segment.get(lowest)!);
    for (const block of blocks) {
      segment.set(block.header.number, block);
      if (level !== undefined) this.levels.set(bytesToKey(block.hash), level);
    }
    this.lowest = number;
  }
}
