import type { BlockReference } from '../chain/block.js';
import type { LogFilter } from '../chain/log-filter.js';
import { optional, parseAddress, parseHash, requireArray, requireObject } from './parse-params.js';
import { parseBlockReference } from './resolve-block.js';
import { invalidParams } from './rpc-errors.js';

const SUBJECT = 'filter params';
const MAX_POSITIONS = 4;
/** Most alternatives of one topic position, and most addresses. */
const MAX_ALTERNATIVES = 1000;

/** The blocks from one to another; a missing end is undefined. */
export interface LogBounds {
  readonly from: BlockReference | undefined;
  readonly to: BlockReference | undefined;
}

/** The filter object of `eth_getLogs` and `eth_newFilter`: which logs, in one block (hash of 32 bytes) or a range. */
export interface LogRequest {
  readonly range: { readonly blockHash: Uint8Array } | LogBounds;
  readonly filter: LogFilter;
}

/**
 * Addresses: one or several. Topics by position: null and an empty array match any topic, an array matches each of its
 * items (docs/spec/json-rpc.md 2.6).
 *
 * @throws RpcError -32602
 */
export function parseLogRequest(value: unknown): LogRequest {
  const request = inAnyCase(requireObject(value, 'filter', SUBJECT));
  const topics = requireArray(request.topics ?? [], 'topics', SUBJECT);
  if (topics.length > MAX_POSITIONS) throw invalidParams('topics', `has more than ${MAX_POSITIONS} positions`, SUBJECT);
  return {
    range: parseRange(request),
    filter: {
      addresses: oneOrMany(request.address, 'address', parseAddress),
      topics: topics.map((topic, position) => oneOrMany(topic, `topics[${position}]`, parseHash, true)),
    },
  };
}

const MEMBERS = ['fromBlock', 'toBlock', 'blockHash', 'address', 'topics'] as const;
type Members = { readonly [Name in (typeof MEMBERS)[number]]?: unknown };

/** Members under their names in any case, as geth takes them: `blockhash` without an effect would be a search of the head. */
function inAnyCase(request: Readonly<Record<string, unknown>>): Members {
  const given = Object.entries(request).filter(([, value]) => value !== null && value !== undefined);
  const named = given.map(([key, value]) => [
    MEMBERS.find((name) => name.toLowerCase() === key.toLowerCase()) ?? key,
    value,
  ]);
  return { ...Object.fromEntries(named), ...Object.fromEntries(given) };
}

function parseRange({ fromBlock, toBlock, blockHash }: Members): LogRequest['range'] {
  const bound = (end: unknown, name: string) =>
    optional(end, (present) => parseBlockReference(present, undefined, name));
  const [from, to] = [bound(fromBlock, 'fromBlock'), bound(toBlock, 'toBlock')];
  if (blockHash === undefined || blockHash === null) return { from, to };
  if (from === undefined && to === undefined) return { blockHash: parseHash(blockHash, 'blockHash', SUBJECT) };
  throw invalidParams('blockHash', 'cannot be combined with fromBlock or toBlock', SUBJECT);
}

type Parse = (value: unknown, parameter: string, subject: string) => Uint8Array;

/** @param matchesNull - null among the alternatives matches all, as in geth. @returns undefined where everything matches */
function oneOrMany(value: unknown, parameter: string, parse: Parse, matchesNull = false): Uint8Array[] | undefined {
  if (value === undefined || value === null) return undefined;
  if (!Array.isArray(value)) return [parse(value, parameter, SUBJECT)];
  if (value.length > MAX_ALTERNATIVES) {
    throw invalidParams(parameter, `has more than ${MAX_ALTERNATIVES} alternatives`, SUBJECT);
  }
  if (value.length === 0 || (matchesNull && value.includes(null))) return undefined;
  return value.map((item) => parse(item, parameter, SUBJECT));
}
