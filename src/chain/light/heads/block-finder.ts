import { PlumblineError } from '../../../errors.js';
import { defaultPrices, parseExtraData } from '../../../fees/prices.js';
import type { Network } from '../../../networks/network.js';
import { equalBytes } from '../../../primitives/bytes.js';
import type { CurrentPrices } from '../../chain.js';
import { notReached } from '../refused.js';
import type { HeadFollower } from './head-follower.js';
import { type HeaderChain, KEPT } from './header-chain.js';
import type { Heads } from './heads.js';
import type { LightBlock } from './light-block.js';

/** Largest number of headers fetched to link an older block to the linked headers. Deeper blocks are accepted by themselves. */
const LINKED_DEPTH = 16;
/**
 * Blocks below the head that are linked to a sealed or attested block. 8192 blocks are more than two hours at one block a second, about
 * as far as finalization is behind. It must not exceed the number of headers that are kept.
 */
export const SEALED_DEPTH = KEPT;

/** Finds blocks of the chain by number or hash. Each is linked to the head by its headers, or accepted by itself. */
export class BlockFinder {
  constructor(
    private readonly follower: HeadFollower,
    private readonly headers: HeaderChain,
    private readonly heads: Heads,
  ) {}

  /** The ancestor of an accepted block at a lower height. */
  async ancestorOf(block: LightBlock, number: number, signal?: AbortSignal): Promise<LightBlock> {
    const held = this.headers.at(block.header.number);
    if (held !== undefined && equalBytes(held.hash, block.hash)) {
      const linked = await this.linked(number, signal);
      if (linked !== undefined) return linked;
    }
    return this.required(number, signal);
  }

  /** Hash of an accepted block (32 bytes), or of its ancestor at a lower height. */
  async hashAt(block: LightBlock, number: number): Promise<Uint8Array> {
    const { header, hash } = block;
    if (number === header.number) return hash;
    return number === header.number - 1 ? header.parentHash : (await this.ancestorOf(block, number)).hash;
  }

  /** A block that is linked to the head, or close enough to link it. */
  private async linked(number: number, signal?: AbortSignal): Promise<LightBlock | undefined> {
    await this.headers.recall(number);
    const known = this.headers.at(number);
    if (known !== undefined) return known;
    const depth = this.headers.depthBelow(number);
    if (depth === undefined) return undefined;
    // At these levels a block has to be linked to the head, unless it carries a seal of its own.
    const { level } = this.heads.rules;
    if ((level !== 'sealed' && level !== 'attested') || this.heads.sealsBlock(number))
      return depth > LINKED_DEPTH ? undefined : this.headers.ancestor(number, signal);
    const below = this.headers.head!.header.number - number;
    if (below <= SEALED_DEPTH) return this.headers.ancestor(number, signal);
    const reason = `block ${number} is ${below} blocks below the ${level} head, and at most ${SEALED_DEPTH} blocks are linked to it`;
    throw notReached(level, undefined, reason);
  }

  /**
   * A block of the chain, linked to the head or accepted by itself.
   *
   * @returns undefined above the head
   * @throws PlumblineError `TRUST_LEVEL_NOT_REACHED`, of the endpoints
   */
  async byNumber(number: number, signal?: AbortSignal): Promise<LightBlock | undefined> {
    const head = await this.follower.current(signal);
    if (number > head.header.number) return undefined;
    const linked = await this.linked(number, signal);
    if (linked !== undefined) return linked;
    const accepted = await this.heads.byNumber(number, signal);
    this.headers.note(accepted);
    return accepted.block;
  }

  /** Links the headers from the head down to `number`, if it is close enough. @throws of the endpoints */
  async linkIfNear(number: number, signal?: AbortSignal): Promise<void> {
    const head = await this.follower.current(signal);
    if (head.header.number - number <= LINKED_DEPTH) await this.headers.ancestor(number, signal);
  }

  /** As `byNumber`. @throws PlumblineError `BLOCK_NOT_FOUND` above the head */
  async required(number: number, signal?: AbortSignal): Promise<LightBlock> {
    const found = await this.byNumber(number, signal);
    if (found !== undefined) return found;
    throw new PlumblineError('BLOCK_NOT_FOUND', `there is no block ${number} yet`, { block: String(number) });
  }

  /** @returns undefined for a block that is not on the chain */
  async byHash(hash: Uint8Array, signal?: AbortSignal): Promise<LightBlock | undefined> {
    const found = await this.heads.byHash(hash, signal);
    return found && this.onChain(found, signal);
  }

  /** @returns undefined for a block that is not on the chain */
  async onChain({ header, hash }: LightBlock, signal?: AbortSignal): Promise<LightBlock | undefined> {
    const there = await this.byNumber(header.number, signal);
    return there !== undefined && equalBytes(there.hash, hash) ? there : undefined;
  }
}

/** Most headers read to find prices. */
const LOOK_BACK = 16;

/** The prices in the header of `block`, else in the newest header before it that has some, else those of the profile. */
export async function pricesAt(
  block: LightBlock,
  network: Network,
  finder: Pick<BlockFinder, 'ancestorOf'>,
  signal?: AbortSignal,
): Promise<CurrentPrices> {
  if (network.pricing?.model !== 'extra-data') return { prices: defaultPrices(network), sourceBlock: undefined };
  const { number } = block.header;
  for (let back = 0; back <= Math.min(LOOK_BACK, number); back++) {
    const { header } = back === 0 ? block : await finder.ancestorOf(block, number - back, signal);
    const reading = parseExtraData(header.extraData);
    if (reading.status === 'prices') return { prices: reading.prices, sourceBlock: header.number };
  }
  return { prices: defaultPrices(network), sourceBlock: undefined };
}
