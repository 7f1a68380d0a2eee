import type { TrieLog } from '../../state/trie-log.js';
import { rootsIn } from './layer-one-roots.js';
import type { FollowerSettings } from './settings.js';

/** Trie logs of consecutive blocks, with known hashes and roots of these blocks. */
export interface FetchedRange {
  /** Number of the last block. */
  readonly last: number;
  readonly logs: readonly TrieLog[];
  /** Id of the endpoint the logs came from. */
  readonly endpoint: string;
  /** Known hashes of the blocks, 32 bytes each, in their order. */
  readonly hashes: readonly (Uint8Array | undefined)[];
  /** Roots on layer 1, by block number. */
  readonly layerOne: ReadonlyMap<number, Uint8Array>;
  /** State root of the last block by the state manager, if it answered. */
  readonly stateManager: Uint8Array | undefined;
}

/**
 * Fetches a range that begins with block `first`.
 *
 * @param target - the last block to follow to
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
    // The root of the target is always fetched.
    rootsIn(layerOne, intermediateRoots ? first : Math.max(first, target), wanted, signal),
  ]);
  const last = first + logs.length - 1;
  const [managed, ...hashes] = await Promise.all([
    stateManager?.rootOf(last, signal),
    ...logs.map(({ blockNumber }) => blockHash?.(blockNumber, signal)),
  ]);
  return { last, logs, endpoint, hashes, layerOne: roots, stateManager: managed };
}

/**
 * Fetches the ranges that make up the blocks `first` to `last`, in order. While one range is used, the next one is fetched, but
 * no further ones. When the reader stops, running requests are aborted.
 *
 * @param fetch - fetches a range that begins with the given block
 */
export async function* prefetchRanges<Range extends Pick<FetchedRange, 'last'>>(
  first: number,
  last: number,
  fetch: (first: number, signal: AbortSignal) => Promise<Range>,
  signal: AbortSignal,
): AsyncGenerator<Range, void, void> {
  const stop = new AbortController();
  const abort = () => stop.abort(signal.reason);
  if (signal.aborted) abort();
  signal.addEventListener('abort', abort, { once: true });
  const begin = (from: number) => {
    const fetched = fetch(from, stop.signal);
    // A failure is thrown when this range is awaited, if it is.
    fetched.catch(() => {});
    return fetched;
  };
  try {
    let next = begin(first);
    for (;;) {
      const range = await next;
      const isLast = range.last >= last;
      if (!isLast) next = begin(range.last + 1);
      yield range;
      if (isLast) return;
    }
  } finally {
    signal.removeEventListener('abort', abort);
    stop.abort();
  }
}
