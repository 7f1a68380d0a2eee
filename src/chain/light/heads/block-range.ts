import type { Network } from '../../../networks/network.js';
import { equalBytes } from '../../../primitives/bytes.js';
import { nextTurn } from '../../../scheduling/turns.js';
import type { EndpointGroup } from '../../../upstream/group.js';
import type { ChainCall } from '../../chain.js';
import type { BlockFinder } from './block-finder.js';
import type { HeaderChain } from './header-chain.js';
import type { LightBlock } from './light-block.js';
import { AT_ONCE, fetchLinked } from './light-block.js';

/** Where the headers of a range come from. */
export interface HeaderSource {
  readonly group: EndpointGroup;
  readonly network: Network;
  /** Headers that are known already. They are used only where they link. */
  readonly headers: Pick<HeaderChain, 'at' | 'levelOf' | 'note'>;
}

/** The same, with what finds the end of a range. */
export interface RangeSource extends HeaderSource {
  readonly finder: Pick<BlockFinder, 'required' | 'linkIfNear'>;
}

/**
 * The blocks of a range, the lowest first. They are linked to the last one and get its trust level.
 *
 * @throws PlumblineError `ANSWER_REFUSED`, `PROOF_MALFORMED`, of the endpoints; the reason of the signal
 */
export async function blocksOfRange(
  source: RangeSource,
  first: number,
  last: number,
  { signal, note }: ChainCall,
): Promise<LightBlock[]> {
  const { headers, finder } = source;
  const top = await finder.required(last, signal);
  const blocks = (await linkedDown(source, top, first, signal)).reverse();
  const level = headers.levelOf(top);
  for (const block of blocks) {
    if (level !== undefined && headers.levelOf(block) === undefined) headers.note({ block, level, origins: [] });
    note?.block(block);
  }
  return blocks;
}

/** From `last` down to `first`. @throws as `blocksOfRange` */
export async function linkedDown(
  { group, network, headers }: HeaderSource,
  last: LightBlock,
  first: number,
  signal: AbortSignal | undefined,
): Promise<LightBlock[]> {
  const blocks = [last];
  for (let child = last; child.header.number > first; child = blocks.at(-1)!) {
    await nextTurn();
    signal?.throwIfAborted();
    const { number, parentHash } = child.header;
    const parent = headers.at(number - 1);
    if (parent !== undefined && equalBytes(parent.hash, parentHash)) blocks.push(parent);
    else blocks.push(...(await fetchLinked(group, network, child, Math.max(first, number - AT_ONCE), signal)));
  }
  return blocks;
}
