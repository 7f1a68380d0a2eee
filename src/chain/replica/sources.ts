import { isPlumblineError, messageOf, PlumblineError } from '../../errors.js';
import { equalBytes } from '../../primitives/bytes.js';
import { hexToBytes } from '../../primitives/hex.js';
import { decodeTrieLog, type TrieLog } from '../../state/trie-log.js';
import type { EndpointInfo } from '../../upstream/failure.js';
import type { EndpointGroup } from '../../upstream/group.js';
import type { LayerOneFinality } from '../light/settlement/finality.js';

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

/** Zk state roots on layer 1. They must be proved, or read at a final layer-1 block. */
export interface LayerOneRoots {
  /** Newest block whose root is on layer 1; undefined if there is none yet. */
  newestFinalized(signal: AbortSignal): Promise<number | undefined>;

  /** State root after `block`, 32 bytes; undefined unless a finalization ended there (docs/spec/state-trie.md 9). */
  rootOnLayerOne(block: number, signal: AbortSignal): Promise<Uint8Array | undefined>;

  /**
   * Blocks from `first` to `last` at which finalizations ended, ascending. Without this method, `rootOnLayerOne` is called for
   * every block.
   */
  finalizationsIn?(first: number, last: number, signal: AbortSignal): Promise<readonly number[]>;
}

/** Roots on layer 1 of the blocks `first` to `last`, 32 bytes each, by block number. */
export async function rootsIn(
  layerOne: LayerOneRoots,
  first: number,
  last: number,
  signal: AbortSignal,
): Promise<ReadonlyMap<number, Uint8Array>> {
  if (first > last) return new Map();
  const ends =
    layerOne.finalizationsIn === undefined
      ? Array.from({ length: last - first + 1 }, (_, i) => first + i)
      : await layerOne.finalizationsIn(first, last, signal);
  const roots = new Map<number, Uint8Array>();
  await Promise.all(
    ends.map(async (block) => {
      const root = await layerOne.rootOnLayerOne(block, signal);
      if (root !== undefined) roots.set(block, root);
    }),
  );
  return roots;
}

/** Adapts the light chain's reader of layer 1. It has no `finalizationsIn`. */
export function layerOneOf(finality: Pick<LayerOneFinality, 'newest' | 'anchorOf'>): LayerOneRoots {
  return {
    newestFinalized: async () => (await finality.newest()).number,
    rootOnLayerOne: async (block) => (await finality.anchorOf(block))?.root,
  };
}

/** State roots of a state manager. They are only compared with computed roots; a match proves nothing. */
export interface StateManagerRoots {
  /** State root after `block`, 32 bytes; undefined if it is not available. */
  rootOf(block: number, signal: AbortSignal): Promise<Uint8Array | undefined>;
}

/**
 * State roots of Shomei, by `rollup_getZkEVMStateMerkleProofV0` of single blocks. The traces are not used.
 *
 * @source docs/spec/state-trie.md 10
 */
export function shomeiRoots(group: EndpointGroup): StateManagerRoots {
  const method = 'rollup_getZkEVMStateMerkleProofV0';
  return {
    async rootOf(block, signal) {
      if (group.originsWith(method).length === 0) return undefined;
      try {
        return await group.request(method, [{ startBlockNumber: block, endBlockNumber: block }], {
          signal,
          accept: endRoot,
        });
      } catch (error) {
        // The block is missing, the method is switched off, or the endpoint is down.
        if (isPlumblineError(error) && error.code.startsWith('UPSTREAM_')) return undefined;
        if (isPlumblineError(error, 'REQUEST_TIMED_OUT')) return undefined;
        throw error;
      }
    },
  };
}

function endRoot(answer: unknown): Uint8Array | undefined {
  const root = (answer as { zkEndStateRootHash?: unknown } | null)?.zkEndStateRootHash;
  return typeof root === 'string' && /^0x[\da-f]{64}$/i.test(root) ? hexToBytes(root) : undefined;
}
