import { nextTurn } from '../../scheduling/turns.js';
import type { Block } from '../block.js';
import type { ChainCall } from '../chain.js';
import { bloomTest, type FoundLog, type LogQuery } from '../log-filter.js';
import { collectLogs, logsOfBlock, noteLogs } from '../log-search.js';
import type { BlockContentsReader } from './block-contents.js';
import { type HeaderSource, linkedDown, type RangeSource } from './heads/block-range.js';
import type { LightBlock } from './heads/light-block.js';

/** Blocks whose headers are held at the same time. A longer range is searched in such pieces, from its end down. */
const BLOCKS_HELD = 1_024;
/** Blocks whose receipts are fetched at the same time. */
const BLOCKS_AT_ONCE = 16;

/** Where the headers and receipts of a search come from. */
export interface LogSource extends HeaderSource {
  readonly contents: Pick<BlockContentsReader, 'receipts'>;
}

/** All logs of a query. @throws as `logsOfRange`, and as `BlockFinder.required` */
export async function logsOfQuery(
  source: LogSource & RangeSource,
  query: LogQuery,
  call: ChainCall,
): Promise<FoundLog[]> {
  const last = await source.finder.required(query.to, call.signal);
  await source.finder.linkIfNear(query.from, call.signal);
  return logsOfRange(source, last, query, call);
}

/**
 * All logs of a range, verified to be complete. The headers are linked to an accepted block. Blocks without a match in their
 * bloom are skipped. The receipts of the others are verified against their headers. A range of any length is searched, as long as the
 * signal allows.
 *
 * @param last - the highest block of the range, accepted
 * @throws PlumblineError `ANSWER_REFUSED`, `PROOF_MALFORMED`, of the endpoints; `ANSWER_TOO_LARGE`; the reason of the signal.
 *   There are no partial results
 */
export async function logsOfRange(
  source: LogSource,
  last: LightBlock,
  { from, filter, maxBytes }: Omit<LogQuery, 'to'>,
  { signal, note }: ChainCall = {},
): Promise<FoundLog[]> {
  const mayMatch = bloomTest(filter);
  const { headers } = source;
  const { found, add } = collectLogs(maxBytes);
  const receiptsOf = { receipts: (block: Block) => source.contents.receipts(block, signal) };
  const pieces: FoundLog[][] = [];
  let first = last;
  for (let top: LightBlock | undefined = last; top !== undefined; ) {
    const end: number = Math.max(from, top.header.number - BLOCKS_HELD);
    const blocks = await linkedDown(source, top, end, signal);
    first = blocks.at(-1)!;
    // The lowest one begins the next piece, if there is one.
    top = end > from ? blocks.pop() : undefined;
    const matching = blocks.filter(({ header }) => mayMatch(header.logsBloom)).reverse();
    for (let at = 0; at < matching.length; at += BLOCKS_AT_ONCE) {
      await nextTurn();
      signal?.throwIfAborted();
      const some = matching.slice(at, at + BLOCKS_AT_ONCE).map((block) => logsOfBlock(receiptsOf, block, filter));
      for (const logs of await Promise.all(some)) add(logs);
    }
    pieces.push(found.splice(0));
  }
  // It is linked to `last`, so it has the same trust level.
  const level = headers.levelOf(last);
  if (level !== undefined && headers.levelOf(first) === undefined) headers.note({ block: first, level, origins: [] });
  const logs = pieces.reverse().flat();
  noteLogs(logs, [first, last], note);
  return logs;
}
