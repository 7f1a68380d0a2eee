import { isPlumblineError, messageOf, PlumblineError } from '../../errors.js';
import { equalBytes } from '../../primitives/bytes.js';
import { hexToBytes } from '../../primitives/hex.js';
import { decodeTrieLog, type TrieLog } from '../../state/trie-log.js';
import type { EndpointInfo } from '../../upstream/fault.js';
import type { EndpointGroup } from '../../upstream/group.js';

/** Most blocks in one answer of Besu. */
export const MAX_RANGE = 1000;

/** Trie logs of consecutive blocks, from the first requested one on. */
export interface TrieLogs {
  /** At least one; fewer than requested if the endpoint does not have all. */
  readonly logs: readonly TrieLog[];
  /** Id of the endpoint that returned them. */
  readonly endpoint: string;
}

/** A source of trie logs. */
export interface TrieLogSource {
  /**
   * @param first - at most `last`, and less than 1000 blocks before it
   * @throws PlumblineError `TRIE_LOG_MISSING` if `first` is missing, or a block before one that is present;
   *   `TRIE_LOG_MALFORMED`; `UPSTREAM_...`; `ABORTED`
   */
  range(first: number, last: number, signal: AbortSignal): Promise<TrieLogs>;
  /** Reports that logs of this endpoint turned out to be wrong. */
  refute(endpoint: string, reason: string): void;
}

/**
 * Trie logs of a Besu node with the Shomei plugin, by `shomei_getTrieLogsByRange`. If an answer is too large, the range is
 * halved.
 *
 * @source docs/spec/state-trie.md 6
 */
export function besuTrieLogs(group: EndpointGroup): TrieLogSource {
  return {
    async range(first, last, signal) {
      for (let to = last; ; to = first + Math.floor((to - first) / 2)) {
        try {
          return await group.request('shomei_getTrieLogsByRange', [first, to + 1], {
            signal,
            accept: (answer: unknown, { id }: EndpointInfo) => ({
              logs: parseTrieLogs(answer, first, to),
              endpoint: id,
            }),
          });
        } catch (error) {
          if (to === first || !isPlumblineError(error, 'UPSTREAM_MALFORMED')) throw error;
        }
      }
    },
    refute: (endpoint, reason) => group.reportFalse(endpoint, reason),
  };
}

/**
 * Reads an answer of `shomei_getTrieLogsByRange`. The blocks must begin with `first`, have no gaps or duplicates, and be inside
 * the range. Number and hash beside each log must equal those in it. The node leaves out blocks that it does not have yet.
 *
 * @param last - the last block of the range
 * @throws PlumblineError `TRIE_LOG_MALFORMED`, `TRIE_LOG_MISSING`
 */
export function parseTrieLogs(answer: unknown, first: number, last: number): TrieLog[] {
  if (!Array.isArray(answer)) throw malformed('logs', 'is not a list');
  const logs = answer.map((item: unknown, i) => parseLog(item, `logs[${i}]`));
  for (const [i, { blockNumber }] of logs.entries()) {
    const path = `logs[${i}].blockNumber`;
    if (blockNumber < first || blockNumber > last) throw malformed(path, `is ${blockNumber}, outside the range`);
    const before = logs[i - 1]?.blockNumber ?? first - 1;
    if (blockNumber <= before) throw malformed(path, `is ${blockNumber}, out of order`);
  }
  const missing = logs.length === 0 ? first : logs.findIndex(({ blockNumber }, i) => blockNumber !== first + i) + first;
  if (logs.length > 0 && missing < first) return logs;
  throw new PlumblineError('TRIE_LOG_MISSING', `the trie log of block ${missing} is missing at the endpoint`, {
    block: missing,
  });
}

function parseLog(item: unknown, path: string): TrieLog {
  if (typeof item !== 'object' || item === null) throw malformed(path, 'is not an object');
  const { blockNumber, blockHash, trieLog } = item as Record<string, unknown>;
  const log = decodeTrieLog(parseHex(trieLog, `${path}.trieLog`));
  if (parseNumber(blockNumber) !== log.blockNumber) {
    throw malformed(`${path}.blockNumber`, `is not ${log.blockNumber}, as in the log itself`);
  }
  if (!equalBytes(parseHex(blockHash, `${path}.blockHash`), log.blockHash)) {
    throw malformed(`${path}.blockHash`, 'is not the one in the log itself');
  }
  return log;
}

/** A JSON number, or a decimal or hex string. */
function parseNumber(value: unknown): unknown {
  return typeof value === 'string' && /^(\d+|0x[\da-f]+)$/i.test(value) ? Number(value) : value;
}

function parseHex(value: unknown, path: string): Uint8Array {
  if (typeof value !== 'string') throw malformed(path, 'is not a string');
  try {
    return hexToBytes(value);
  } catch (error) {
    throw malformed(path, messageOf(error), error);
  }
}

function malformed(path: string, reason: string, cause?: unknown): PlumblineError<'TRIE_LOG_MALFORMED'> {
  return new PlumblineError('TRIE_LOG_MALFORMED', `trie logs: ${path} ${reason}`, { path, reason }, { cause });
}
