import type { Log } from '../ethereum/receipt.js';
import { equalBytes } from '../primitives/bytes.js';
import { parseAddress, parseHash, requireArray, requireObject } from './parse-params.js';
import { invalidParams } from './rpc-errors.js';

const SUBJECT = 'filter params';
const MAX_TOPICS = 4;

/** A filter of `eth_getLogs`. The block bounds are left as they came: what they mean is the chain's to say. */
export interface LogFilter {
  readonly fromBlock: unknown;
  readonly toBlock: unknown;
  readonly matches: (log: Log) => boolean;
}

/**
 * Topics by position: null is any, an array is one of several (spec/json-rpc.md 2.6).
 *
 * @throws RpcError -32602
 */
export function parseLogFilter(value: unknown): LogFilter {
  const filter = requireObject(value, 'filter', SUBJECT);
  if (filter.blockHash !== undefined && (filter.fromBlock !== undefined || filter.toBlock !== undefined)) {
    throw invalidParams('blockHash', 'excludes fromBlock and toBlock', SUBJECT);
  }
  const addresses = oneOrMany(filter.address, (item) => parseAddress(item, 'address', SUBJECT));
  const topics = requireArray(filter.topics ?? [], 'topics', SUBJECT).map((topic, index) =>
    oneOrMany(topic, (item) => parseHash(item, `topics[${index}]`, SUBJECT)),
  );
  if (topics.length > MAX_TOPICS) throw invalidParams('topics', `has more than ${MAX_TOPICS} positions`, SUBJECT);
  return {
    fromBlock: filter.blockHash ?? filter.fromBlock,
    toBlock: filter.blockHash ?? filter.toBlock,
    matches: (log) =>
      among(addresses, log.address) && topics.every((wanted, index) => among(wanted, log.topics[index])),
  };
}

/** Undefined takes anything. */
function oneOrMany(value: unknown, parse: (item: unknown) => Uint8Array): Uint8Array[] | undefined {
  if (value === undefined || value === null) return undefined;
  if (!Array.isArray(value)) return [parse(value)];
  return value.length === 0 ? undefined : value.map(parse);
}

function among(wanted: readonly Uint8Array[] | undefined, actual: Uint8Array | undefined): boolean {
  if (wanted === undefined) return true;
  return actual !== undefined && wanted.some((item) => equalBytes(item, actual));
}
