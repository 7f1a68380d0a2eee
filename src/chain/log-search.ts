import { PlumblineError } from '../errors.js';
import { jsonLength, logBytes } from '../ethereum/receipt.js';
import { nextTurn } from '../scheduling/turns.js';
import type { Block, TransactionReceipt } from './block.js';
import type { Chain } from './chain.js';
import { bloomTest, type FoundLog, type LogFilter, type LogQuery, matchesLog } from './log-filter.js';

/** A chain that has its blocks and receipts at hand. */
interface LogSource extends Pick<Chain, 'block' | 'receipts'> {
  /** Bloom of the block of this number, 256 bytes, without reading the block; undefined if there is none. */
  bloom(number: number): Uint8Array | undefined;
}

/**
 * Implements `Chain.logs` by blocks and receipts. Of the blocks between the ends, only those whose bloom may match are
 * read.
 *
 * @throws PlumblineError `ANSWER_TOO_LARGE`; the reason of the signal
 */
export async function searchLogs(
  chain: LogSource,
  { from, to, filter, onEnd, signal, maxBytes }: LogQuery,
): Promise<FoundLog[]> {
  const mayMatch = bloomTest(filter);
  const { found, add } = collectLogs(maxBytes);
  for (let number = from; number <= to; number++) {
    await nextTurn();
    signal?.throwIfAborted();
    const bloom = chain.bloom(number);
    if (bloom === undefined) continue;
    const isEnd = onEnd !== undefined && (number === from || number === to);
    if (!isEnd && !mayMatch(bloom)) continue;
    const block = await chain.block({ number });
    if (block === undefined) continue;
    if (isEnd) onEnd(block);
    if (mayMatch(bloom)) add(selectLogs(await chain.receipts(block), filter));
  }
  return found;
}

/** A list of logs with a limit of their bytes as JSON. `add` throws PlumblineError `ANSWER_TOO_LARGE` above it. */
export function collectLogs(limit = Number.POSITIVE_INFINITY): {
  readonly found: FoundLog[];
  readonly add: (logs: readonly FoundLog[]) => void;
} {
  const found: FoundLog[] = [];
  let size = 0;
  const add = (logs: readonly FoundLog[]) => {
    for (const one of logs) {
      size += jsonLength(1, logBytes(one.log));
      if (size > limit) {
        const message = `the logs have more than ${limit} bytes: ask for fewer blocks, or allow more with maxAnswerBytes`;
        throw new PlumblineError('ANSWER_TOO_LARGE', message, { limit });
      }
      found.push(one);
    }
  };
  return { found, add };
}

/** The logs of one block that match the filter. */
export async function logsOfBlock(
  chain: Pick<Chain, 'receipts'>,
  block: Block,
  filter: LogFilter,
): Promise<FoundLog[]> {
  return bloomTest(filter)(block.header.logsBloom) ? selectLogs(await chain.receipts(block), filter) : [];
}

/** The logs of these receipts, of one block, that match the filter. */
export function selectLogs(receipts: readonly TransactionReceipt[], filter: LogFilter): FoundLog[] {
  return receipts.flatMap((transaction) =>
    transaction.logs
      .map((log, i) => ({ log, transaction, logIndex: transaction.firstLogIndex + i }))
      .filter(({ log }) => matchesLog(filter, log)),
  );
}
