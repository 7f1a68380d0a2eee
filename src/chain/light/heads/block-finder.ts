import { PlumblineError } from '../../../errors.js';
import { equalBytes } from '../../../primitives/bytes.js';
import { notReached } from '../refused.js';
import type { HeadFollower } from './head-follower.js';
import { type HeaderChain, KEPT } from './header-chain.js';
import type { Heads } from './heads.js';
import type { LightBlock } from './light-block.js';

/** Headers fetched to link an older block to those that are linked already; others are vouched for by themselves. */
export const LINKED_DEPTH = 16;
/**
 * Blocks below the head that are linked to what was sealed: two hours and more at one block a second, as far as what is
 * finalized mostly lies behind. It has to stay within the headers that are kept.
 */
export const SEALED_DEPTH = KEPT;

/** Finds blocks of the chain by number and hash, each linked to the head from below or vouched for by itself. */
export class BlockFinder {
  constructor(
    private readonly follower: HeadFollower,
    private readonly headers: HeaderChain,
    private readonly heads: Heads,
  ) {}

  /** The block of a lower height on the chain of a vouched-for one. */
  async ancestorOf(block: LightBlock, number: number): Promise<LightBlock> {
    const held = this.headers.at(block.header.number);
    if (held !== undefined && equalBytes(held.hash, block.hash)) {
      const linked = await this.linked(number);
      if (linked !== undefined) return linked;
    }
    return this.required(number);
  }

  /** A block that is linked to the head, or near enough to be. */
  private async linked(number: number): Promise<LightBlock | undefined> {
    await this.headers.recall(number);
    const known = this.headers.at(number);
    if (known !== undefined) return known;
    const depth = this.headers.depthBelow(number);
    if (depth === undefined) return undefined;
    // What is sealed has to be linked to what was sealed, unless it carries a seal of its own.
    const { level } = this.heads.rules;
    if (level !== 'sealed' || this.heads.sealsBlock(number))
      return depth > LINKED_DEPTH ? undefined : this.headers.ancestor(number);
    const below = this.headers.head!.header.number - number;
    if (below <= SEALED_DEPTH) return this.headers.ancestor(number);
    const reason = `block ${number} is ${below} blocks below the sealed head, and no more than ${SEALED_DEPTH} are linked`;
    throw notReached('sealed', undefined, reason);
  }

  /**
   * A block of the chain, linked to the head or vouched for by itself.
   *
   * @returns undefined above the head
   * @throws PlumblineError `TRUST_LEVEL_NOT_REACHED`, of the endpoints
   */
  async byNumber(number: number): Promise<LightBlock | undefined> {
    const head = await this.follower.current();
    if (number > head.header.number) return undefined;
    const linked = await this.linked(number);
    if (linked !== undefined) return linked;
    const vouched = await this.heads.byNumber(number);
    this.headers.note(vouched);
    return vouched.block;
  }

  /** As `byNumber`. @throws PlumblineError `BLOCK_NOT_FOUND` above the head */
  async required(number: number): Promise<LightBlock> {
    const found = await this.byNumber(number);
    if (found !== undefined) return found;
    throw new PlumblineError('BLOCK_NOT_FOUND', `no block ${number}`, { block: String(number) });
  }

  /** A block that has left the chain, or never was on it, is none. */
  async byHash(hash: Uint8Array): Promise<LightBlock | undefined> {
    const found = await this.heads.byHash(hash);
    if (found === undefined) return undefined;
    const onChain = await this.byNumber(found.header.number);
    return onChain !== undefined && equalBytes(onChain.hash, hash) ? onChain : undefined;
  }
}
