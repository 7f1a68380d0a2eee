import type { TrieLog } from '../../state/trie-log.js';
import { rootsIn } from './layer-one-roots.js';
import type { FollowerSettings } from './settings.js';

/** Trie logs of some blocks, with what is known of the blocks otherwise. */
export interface FetchedRange {
  readonly last: number;
  readonly logs: readonly TrieLog[];
  /** Id of the endpoint the logs came from. */
  readonly endpoint: string;
  /** Known hashes of the blocks, in their order. */
  readonly hashes: readonly (Uint8Array | undefined)[];
  /** Roots that layer 1 holds, by block. */
  readonly layerOne: ReadonlyMap<number, Uint8Array>;
  /** Root of the last block as the state manager tells it. */
  readonly stateManager: Uint8Array | undefined;
}

/**
 * Fetches a range that begins with `first`.
 *
 * @param target - where following ends
 * @throws PlumblineError as `TrieLogSource.range`; of layer 1
 */
export async function fetchRange(
  settings: FollowerSettings,
  first: number,
  target: number,
  signal: AbortSignal,
): Promise<FetchedRange> {
  const { logs: source, layerOne, stateManager, blockHash, rangeBlocks = 64, intermediateRoots = true } = settings;
  const wanted = Math.min(target, first + rangeBlocks - 1);
  const [{ logs, endpoint }, roots] = await Promise.all([
    source.range(first, wanted, signal),
    // The root of the target is asked for in any case.
    rootsIn(layerOne, intermediateRoots ? first : Math.max(first, target), wanted, signal),
  ]);
  const last = first + logs.length - 1;
  const [managed, ...hashes] = await Promise.all([
    stateManager?.rootOf(last, signal),
    ...logs.map(({ blockNumber }) => blockHash?.(blockNumber, signal)),
  ]);
  return { last, logs, endpoint, hashes, layerOne: roots, stateManager: managed };
}
