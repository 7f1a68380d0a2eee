import { PlumblineError } from '../errors.js';
import { jsonLength, logBytes } from '../ethereum/receipt.js';
import { nextTurn } from '../scheduling/turns.js';
import type { Block, TransactionReceipt } from './block.js';
import type { AnswerNote, Chain, ChainCall } from './chain.js';
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
  { from, to, filter, maxBytes }: LogQuery,
  { note, signal }: ChainCall = {},
): Promise<FoundLog[]> {
  const mayMatch = bloomTest(filter);
  const { found, add } = collectLogs(maxBytes);
  const ends: Block[] = [];
  for (let number = from; number <= to; number++) {
    await nextTurn();
    signal?.throwIfAborted();
    const bloom = chain.bloom(number);
    if (bloom === undefined) continue;
    // An empty answer rests on the blocks at both ends.
    const isEnd = note !== undefined && (number === from || number === to);
    if (!isEnd && !mayMatch(bloom)) continue;
    const block = await chain.block({ number });
    if (block === undefined) continue;
    if (isEnd) ends.push(block);
    if (mayMatch(bloom)) add(selectLogs(await chain.receipts(block), filter));
  }
  noteLogs(found, ends, note);
  return found;
}

/** @param ends - the blocks at the ends of the range, on which an empty answer rests */
export function noteLogs(found: readonly FoundLog[], ends: readonly Block[], note: AnswerNote | undefined): void {
  if (note === undefined) return;
  if (found.length === 0) for (const end of ends) note.block(end);
  for (const { transaction } of found) note.block(transaction.block);
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
  call?: ChainCall,
): Promise<FoundLog[]> {
  return bloomTest(filter)(block.header.logsBloom) ? selectLogs(await chain.receipts(block, call), filter) : [];
}

/** The logs of these receipts, of one block, that match the filter. */
function selectLogs(receipts: readonly TransactionReceipt[], filter: LogFilter): FoundLog[] {
  return receipts.flatMap((transaction) =>
    transaction.logs
      .map((log, i) => ({ log, transaction, logIndex: transaction.firstLogIndex + i }))
      .filter(({ log }) => matchesLog(filter, log)),
  );
}
