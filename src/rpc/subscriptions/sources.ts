import type { Chain } from '../../chain/chain.js';
import { logsOfBlock } from '../../chain/log-search.js';
import { bytesToHex } from '../../primitives/hex.js';
import { formatHeader, formatLog, formatPendingTransaction } from '../answers/format.js';
import { parseLogRequest } from '../parsing/parse-log-filter.js';
import { optional, parseBoolean, requireText } from '../parsing/parse-params.js';
import type { Source } from '../protocol/method.js';
import { invalidParams } from '../protocol/rpc-errors.js';
import { followBlocks } from './follow-blocks.js';

/** Receives the reason why a subscription left something out: its subscriber cannot be told. */
type OnError = (error: unknown) => void;
type SourceOf = (chain: Chain, parameter: unknown, onError: OnError) => Source;

/** What `eth_subscribe` can follow, by name. */
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
 * @param onError - receives the reason why the logs of a block were left out
 * @throws RpcError -32602 for an unknown name or a bad filter
 */
export function parseSource(chain: Chain, [name, parameter]: readonly unknown[], onError: OnError = () => {}): Source {
  const kind = requireText(name, 'subscription', 'params');
  const source = Object.hasOwn(SOURCES, kind) ? SOURCES[kind] : undefined;
  if (source === undefined) {
    throw invalidParams('subscription', `must be one of ${Object.keys(SOURCES).join(', ')}`);
  }
  return source(chain, parameter, onError);
}

/** `true`, or `{ includeTransactions: true }`: geth's and Besu's clients differ here. */
function parseWhole(value: unknown): boolean {
  const flag = typeof value === 'object' ? (value as { includeTransactions?: unknown }).includeTransactions : value;
  return optional(flag, (present) => parseBoolean(present, 'includeTransactions')) ?? false;
}
