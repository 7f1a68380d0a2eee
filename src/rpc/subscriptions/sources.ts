import type { Chain } from '../../chain/chain.js';
import { logsOfBlock } from '../../chain/log-search.js';
import { bytesToHex } from '../../primitives/hex.js';
import { formatHeader, formatLog, formatPendingTransaction } from '../answers/format.js';
import { parseLogRequest } from '../parsing/parse-log-filter.js';
import { optional, parseBoolean, requireText } from '../parsing/parse-params.js';
import type { Source } from '../protocol/method.js';
import { invalidParams } from '../protocol/rpc-errors.js';
import { followBlocks } from './follow-blocks.js';

/** Told what a subscription had to leave out, and why: it has no way to tell its subscriber. */
type OnError = (error: unknown) => void;
type SourceOf = (chain: Chain, parameter: unknown, onError: OnError) => Source;

/** What `eth_subscribe` can follow, by the name it is asked for. */
const SOURCES: Readonly<Record<string, SourceOf>> = {
  newHeads: (chain) => (emit) => chain.onHead((block) => emit(formatHeader(block))),

  logs: (chain, parameter, onError) => {
    const { filter } = parseLogRequest(parameter ?? {});
    return (emit) =>
      followBlocks(
        chain,
        (block) => logsOfBlock(chain, block, filter),
        (logs) => {
          for (const log of logs) emit(formatLog(log));
        },
        onError,
      );
  },

  newPendingTransactions: (chain, parameter) => {
    const whole = optional(parameter, parseWhole) ?? false;
    return (emit) =>
      chain.onPendingTransaction((transaction) =>
        emit(whole ? formatPendingTransaction(transaction) : bytesToHex(transaction.hash)),
      );
  },
};

/**
 * The source that the parameters of `eth_subscribe` name.
 *
 * @param onError - told why logs of a block could not be told
 * @throws RpcError -32602 for an unknown name or a bad filter
 */
export function parseSource(chain: Chain, [name, parameter]: readonly unknown[], onError: OnError = () => {}): Source {
  const kind = requireText(name, 'subscription', 'params');
  const source = Object.hasOwn(SOURCES, kind) ? SOURCES[kind] : undefined;
  if (source === undefined) {
    throw invalidParams('subscription', `is none of ${Object.keys(SOURCES).join(', ')}`);
  }
  return source(chain, parameter, onError);
}

/** `true`, or `{ includeTransactions: true }`: clients of the two big nodes say it differently. */
function parseWhole(value: unknown): boolean {
  const flag = typeof value === 'object' ? (value as { includeTransactions?: unknown }).includeTransactions : value;
  return optional(flag, (present) => parseBoolean(present, 'includeTransactions')) ?? false;
}
