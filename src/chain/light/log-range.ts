import type { Network } from '../../networks/network.js';
import { equalBytes } from '../../primitives/bytes.js';
import type { EndpointGroup } from '../../upstream/group.js';
import type { FoundLog } from '../chain.js';
import { bloomTest, type LogFilter } from '../log-filter.js';
import { logsOfBlock } from '../log-search.js';
import type { BlockContents } from './block-contents.js';
import type { LightBlock } from './light-block.js';
import { AT_ONCE, fetchLinked } from './linked-headers.js';

/** Blocks whose receipts are asked for at the same time. */
const HITS_AT_ONCE = 16;

/** What a search of a light chain works on. */
export interface LogGround {
  readonly group: EndpointGroup;
  readonly network: Network;
  readonly contents: Pick<BlockContents, 'receipts'>;
  /** A header that is held already, if it is; whether it is the right one is checked. */
  held(number: number): LightBlock | undefined;
}

/**
 * The logs of a range, complete: each header has the hash that the one above it names, up to a block that was vouched for;
 * a header's bloom shows where there is nothing; and where there may be something the receipts have the header's root.
 *
 * @param last - the block at the end of the range, vouched for
 * @param first - number of the block at its beginning
 * @throws PlumblineError `ANSWER_REFUSED`, `PROOF_MALFORMED`, of the endpoints: what is not complete is no answer
 */
export async function logsOfRange(
  ground: LogGround,
  last: LightBlock,
  first: number,
  filter: LogFilter,
): Promise<FoundLog[]> {
  const mayMatch = bloomTest(filter);
  const hits = (await linkedDown(ground, last, first)).filter(({ header }) => mayMatch(header.logsBloom)).reverse();
  const found: FoundLog[] = [];
  for (let at = 0; at < hits.length; at += HITS_AT_ONCE) {
    const some = hits.slice(at, at + HITS_AT_ONCE).map((block) => logsOfBlock(ground.contents, block, filter));
    found.push(...(await Promise.all(some)).flat());
  }
  return found;
}

/** From `last` down to `first`. */
async function linkedDown({ group, network, held }: LogGround, last: LightBlock, first: number): Promise<LightBlock[]> {
  const blocks = [last];
  for (let child = last; child.header.number > first; child = blocks.at(-1)!) {
    const { number, parentHash } = child.header;
    const parent = held(number - 1);
    if (parent !== undefined && equalBytes(parent.hash, parentHash)) blocks.push(parent);
    else blocks.push(...(await fetchLinked(group, network, child, Math.max(first, number - AT_ONCE))));
  }
  return blocks;
}
