import type { BlockReference } from '../../chain/block-reference.js';
import type { Chain, ChainCall } from '../../chain/chain.js';
import type { FoundLog } from '../../chain/log-filter.js';
import { logsOfBlock } from '../../chain/log-search.js';
import type { LogRequest } from '../parsing/parse-log-filter.js';
import { requireBlock } from '../parsing/resolve-block.js';
import { invalidParams } from '../protocol/rpc-errors.js';

const LATEST: BlockReference = { tag: 'latest' };

/**
 * The logs that a request asks for; without bounds, those of the newest block. A range may have any number of blocks: bytes and time limit
 * the search, and it yields the thread.
 *
 * @param call - its `maxAnswerBytes` count the logs as JSON
 * @throws PlumblineError `BLOCK_NOT_FOUND`, `ANSWER_TOO_LARGE`; RpcError -32602 for an end above the head, or below
 *   the start
 */
export async function findLogs(
  chain: Chain,
  { range, filter }: LogRequest,
  call: ChainCall = {},
): Promise<readonly FoundLog[]> {
  if ('blockHash' in range) {
    return logsOfBlock(chain, await requireBlock({ chain }, { hash: range.blockHash }, call), filter, call);
  }
  const { from = LATEST, to = LATEST } = range;
  const [first, last] = [await numberOf(chain, from, call), await numberOf(chain, to, call)];
  // A tag names a block of the chain. The head is read last: one that was read before may be older than `last`.
  if ('number' in to && last > (await chain.head(call)).header.number)
    throw invalidParams('toBlock', 'is above the head', 'block range params');
  if (first > last) throw invalidParams('fromBlock', 'is above toBlock', 'block range params');
  return chain.logs({ from: first, to: last, filter, maxBytes: call.maxAnswerBytes }, call);
}

/** Number of the block that a bound names. For a number no block is needed: it may be above the head. */
export async function numberOf(chain: Chain, bound: BlockReference, call?: ChainCall): Promise<number> {
  return 'number' in bound ? bound.number : (await requireBlock({ chain }, bound, call)).header.number;
}
