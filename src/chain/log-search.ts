import type { Block, Chain, FoundLog, LogQuery, TransactionReceipt } from './chain.js';
import { bloomTest, type LogFilter, matchesLog } from './log-filter.js';

/** Implements `Chain.logs` by blocks and receipts. Only blocks whose bloom may match are searched. */
export async function searchLogs(
  chain: Pick<Chain, 'block' | 'receipts'>,
  { from, to, filter, onEnd, signal }: LogQuery,
): Promise<FoundLog[]> {
  const mayMatch = bloomTest(filter);
  const found: FoundLog[] = [];
  for (let number = from; number <= to; number++) {
    signal?.throwIfAborted();
    const block = await chain.block({ number });
    if (block !== undefined && (number === from || number === to)) onEnd?.(block);
    if (block !== undefined && mayMatch(block.header.logsBloom)) {
      found.push(...selectLogs(await chain.receipts(block), filter));
    }
  }
  return found;
}

/** The logs of one block that match the filter. */
export async function logsOfBlock(
  chain: Pick<Chain, 'receipts'>,
  block: Block,
  filter: LogFilter,
): Promise<FoundLog[]> {
  return bloomTest(filter)(block.header.logsBloom) ? selectLogs(await chain.receipts(block), filter) : [];
}

function selectLogs(receipts: readonly TransactionReceipt[], filter: LogFilter): FoundLog[] {
  return receipts.flatMap((transaction) =>
    transaction.logs
      .map((log, i) => ({ log, transaction, logIndex: transaction.firstLogIndex + i }))
      .filter(({ log }) => matchesLog(filter, log)),
  );
}
