import type { Block, FoundLog, LogQuery } from '../../chain.js';
import { bloomTest } from '../../log-filter.js';
import { logsOfBlock } from '../../log-search.js';
import { linkedDown, type RangeGround } from '../heads/block-range.js';
import type { LightBlock } from '../heads/light-block.js';
import type { BlockContentsReader } from './block-contents.js';

/** Blocks whose receipts are asked for at the same time. */
const HITS_AT_ONCE = 16;

/** What a search of a light chain works on. */
export interface LogGround extends RangeGround {
  readonly contents: Pick<BlockContentsReader, 'receipts'>;
}

/**
 * The logs of a range, complete: each header has the hash that the one above it names, up to a block that was vouched for;
 * a header's bloom shows where there is nothing; and where there may be something the receipts have the header's root.
 *
 * @param last - the block at the end of the range, vouched for
 * @throws PlumblineError `ANSWER_REFUSED`, `PROOF_MALFORMED`, of the endpoints: what is not complete is no answer; the
 *   reason of the signal
 */
export async function logsOfRange(
  ground: LogGround,
  last: LightBlock,
  { from, filter, onEnd, signal }: Pick<LogQuery, 'from' | 'filter' | 'onEnd' | 'signal'>,
): Promise<FoundLog[]> {
  const mayMatch = bloomTest(filter);
  const { headers } = ground;
  const blocks = await linkedDown(ground, last, from, signal);
  const first = blocks.at(-1)!;
  // Linked to `last`, it is as good as that.
  const level = headers.levelOf(last);
  if (level !== undefined && headers.levelOf(first) === undefined) headers.note({ block: first, level, origins: [] });
  onEnd?.(first);
  onEnd?.(last);
  const hits = blocks.filter(({ header }) => mayMatch(header.logsBloom)).reverse();
  const found: FoundLog[] = [];
  const receiptsOf = { receipts: (block: Block) => ground.contents.receipts(block, signal) };
  for (let at = 0; at < hits.length; at += HITS_AT_ONCE) {
    signal?.throwIfAborted();
    const some = hits.slice(at, at + HITS_AT_ONCE).map((block) => logsOfBlock(receiptsOf, block, filter));
    found.push(...(await Promise.all(some)).flat());
  }
  return found;
}
