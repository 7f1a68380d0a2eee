import type { LineaProofJson } from '../../accumulator/proof-shape.js';
import {
  type ErrorCode,
  invalidParameter,
  isPlumblineError,
  messageOf,
  PlumblineError,
  type ReplicaCheck,
} from '../../errors.js';
import { schemeAt } from '../../networks/network.js';
import { equalBytes } from '../../primitives/bytes.js';
import { bytesToHex } from '../../primitives/hex.js';
import { type Clock, sleep, systemClock } from '../../scheduling/clock.js';
import { nextTurn } from '../../scheduling/turns.js';
import type { TrieLog } from '../../state/trie-log.js';
import type { WorldState } from '../../state/world-state.js';
import type { BlockReference } from '../block.js';
import { type Chain, type ChainCall, forwardingChain } from '../chain.js';
import { isUnreachable } from '../light/refused.js';
import { notProvable, ReplicaState } from './replica-state.js';
import type { FollowerSettings } from './settings.js';
import { MAX_RANGE, rootsIn } from './sources.js';

/**
 * The full zk state of a network, built from the trie logs of your own node, up to the newest block that layer 1 finalized.
 * Blocks between two roots of layer 1 are stored so that following can be resumed; they are discarded if the second root
 * differs. Only states that layer 1 confirmed are proved.
 *
 * @source docs/spec/state-trie.md 5, 6, 9
 */
export class ZkFollower {
  private running: Promise<void> | undefined;
  private failure: PlumblineError<'REPLICA_DIVERGED'> | undefined;
  private storeChecked = false;
  /** The endpoints whose logs were applied since the last block that layer 1 confirmed. */
  private readonly sources = new Set<string>();
  /** Layer 1 could not be reached when a proof was requested. */
  private offline = false;

  private constructor(
    private readonly settings: FollowerSettings,
    private readonly replica: ReplicaState,
  ) {}

  /**
   * Opens the stored state. It can be proved after `ready` or `follow` has compared it with layer 1.
   *
   * @throws PlumblineError `INVALID_PARAMETER` for numbers outside their ranges; `STORE_CORRUPT`, also for the store of another
   *   chain; `STORE_TOO_NEW`; errors of the store
   */
  static async open(settings: FollowerSettings): Promise<ZkFollower> {
    checkNumbers(settings);
    return new ZkFollower(settings, await ReplicaState.open(settings));
  }

  /** Newest block whose root layer 1 has confirmed. */
  get confirmed(): number | undefined {
    return this.replica.confirmed;
  }

  /** Newest applied block; undefined before the first one, and before following has begun. */
  get head(): number | undefined {
    return this.replica.head;
  }

  /** Whether a block can be proved. */
  isProvable(block: number): boolean {
    return this.replica.isProvable(block);
  }

  /**
   * The answer of `linea_getProof` for the state after a block.
   *
   * @param address - 20 bytes
   * @param storageKeys - 32 bytes each
   * @throws PlumblineError `BLOCK_NOT_PROVABLE` unless `isProvable`; `STORE_CORRUPT`
   */
  prove(block: number, address: Uint8Array, storageKeys: readonly Uint8Array[]): Promise<LineaProofJson> {
    return this.replica.prove(block, address, storageKeys);
  }

  /**
   * Compares the stored state with layer 1. If layer 1 has another root, or has not finalized that block, the state is not
   * proved. While layer 1 cannot be reached, the state that it confirmed in an earlier session is proved.
   *
   * @throws PlumblineError `STORE_CORRUPT`, `STORE_TOO_NEW`; of layer 1 and the store
   */
  async ready(signal: AbortSignal = new AbortController().signal): Promise<void> {
    if (this.storeChecked || this.offline || this.failure !== undefined) return;
    try {
      await this.checkStore(await this.settings.layerOne.newestFinalized(signal), signal);
    } catch (error) {
      // `follow` gets the same error and throws it.
      if (isPlumblineError(error, 'REPLICA_DIVERGED')) return;
      if (!isUnreachable(error)) throw error;
      const stored = await this.replica.storedConfirmed();
      if (stored === undefined || this.failure !== undefined) return;
      this.offline = true;
      this.replica.adopt(stored);
    }
  }

  /**
   * Follows up to the newest block that layer 1 finalized. If `signal` stops it, all applied blocks have been stored. A call
   * during a run waits for that run.
   *
   * @throws PlumblineError `REPLICA_DIVERGED`, also at all later calls; the stored state is then that of the newest block that
   *   layer 1 confirmed; `TRIE_LOG_MISSING`, `TRIE_LOG_MALFORMED`, `UPSTREAM_...`, `ABORTED` and errors of the store or
   *   of layer 1, after which it can be called again
   */
  follow(signal: AbortSignal = new AbortController().signal): Promise<void> {
    this.running ??= this.run(signal).finally(() => {
      this.running = undefined;
    });
    return this.running;
  }

  private async run(signal: AbortSignal): Promise<void> {
    if (this.failure !== undefined) throw this.failure;
    try {
      throwIfStopped(signal);
      const target = await this.settings.layerOne.newestFinalized(signal);
      if (!(await this.checkStore(target, signal))) return;
      const state = await this.replica.load(signal);
      const first = (state.head ?? -1) + 1;
      if (target === undefined || target < first) return;
      // Whose logs led to what an earlier session stored is not known.
      if (this.sources.size === 0 && first - 1 > (this.confirmed ?? -1)) this.sources.add('');
      await this.applyAll(state, first, target, signal);
    } catch (error) {
      if (isPlumblineError(error, 'REPLICA_DIVERGED')) this.failure = error;
      else throwIfStopped(signal);
      throw error;
    }
  }

  private async applyAll(state: WorldState, first: number, target: number, signal: AbortSignal): Promise<void> {
    const fetch = (from: number, stop: AbortSignal) => fetchRange(this.settings, from, target, stop);
    try {
      for await (const range of prefetchRanges(first, target, fetch, signal)) {
        await this.applyRange(state, range, target, signal);
      }
      await this.replica.keep(state);
    } catch (error) {
      if (isPlumblineError(error, 'REPLICA_DIVERGED')) await this.replica.discardUnconfirmed();
      else await this.replica.keep(state);
      throw error;
    }
  }

  private async applyRange(state: WorldState, range: FetchedRange, target: number, signal: AbortSignal): Promise<void> {
    for (const [i, log] of range.logs.entries()) {
      throwIfStopped(signal);
      this.sources.add(range.endpoint);
      try {
        await this.applyLog(state, log, range, range.hashes[i]);
      } catch (error) {
        if (isPlumblineError(error, 'REPLICA_DIVERGED')) this.refute(error.details.what);
        throw error;
      }
      if (this.confirmed === log.blockNumber) this.sources.clear();
      this.settings.onProgress?.({ block: log.blockNumber, target, confirmed: this.confirmed });
      await nextTurn();
    }
  }

  /**
   * Reports the endpoint whose logs are false, if that is proved: they lead to another root than layer 1 has, or do not fit each other,
   * and all of them are its own. A state manager and a block hash may be false themselves.
   */
  private refute(what: ReplicaCheck): void {
    const [endpoint, ...others] = this.sources;
    if (endpoint === undefined || others.length > 0 || what === 'state-manager-root' || what === 'block-hash') return;
    this.settings.logs.refute(endpoint, what);
  }

  /** Applies one block and compares it with its known hash and roots. */
  private async applyLog(
    state: WorldState,
    log: TrieLog,
    range: FetchedRange,
    hash: Uint8Array | undefined,
  ): Promise<void> {
    const { blockNumber: block, blockHash, changes } = log;
    const kept = this.confirmed;
    mustAgree('block-hash', block, hash, blockHash, kept);
    let root: Uint8Array;
    try {
      root = state.applyBlock(block, changes);
    } catch (error) {
      throw asDivergence(error, block, kept);
    }
    if (block === range.last) mustAgree('state-manager-root', block, range.stateManager, root, kept);
    // Roots from before a change of the network's hash scheme are of another tree.
    const known = schemeAt(this.settings.network, block) === state.scheme ? range.layerOne.get(block) : undefined;
    mustAgree('layer-one-root', block, known, root, kept);
    await this.replica.applied(state, known !== undefined);
  }

  /**
   * Compares the stored state with layer 1, once: it may have been written for another layer 1. The store is not changed.
   *
   * @returns false while layer 1 has not finalized the stored block
   */
  private async checkStore(target: number | undefined, signal: AbortSignal): Promise<boolean> {
    if (this.storeChecked) return true;
    const stored = await this.replica.storedConfirmed();
    if (stored !== undefined) {
      if (target === undefined || target < stored.block) return false;
      // The contract holds zero for blocks at which no finalization ended.
      const known = (await this.settings.layerOne.rootOnLayerOne(stored.block, signal)) ?? new Uint8Array(32);
      try {
        mustAgree('layer-one-root', stored.block, known, stored.root, undefined);
      } catch (error) {
        this.replica.disown();
        throw error;
      }
      if (!this.storeChecked) this.replica.adopt(stored);
    }
    this.storeChecked = true;
    return true;
  }
}

/** @throws PlumblineError `INVALID_PARAMETER` for a number of blocks outside its range */
function checkNumbers({ rangeBlocks, commitBlocks, heldBlocks }: FollowerSettings): void {
  const within = (parameter: string, value: number, least: number, most: number) => {
    if (Number.isInteger(value) && value >= least && value <= most) return;
    throw invalidParameter(parameter, `must be an integer from ${least} to ${most}`);
  };
  within('rangeBlocks', rangeBlocks, 1, MAX_RANGE);
  within('commitBlocks', commitBlocks, 1, Number.MAX_SAFE_INTEGER);
  within('heldBlocks', heldBlocks, 0, Number.MAX_SAFE_INTEGER);
}

function throwIfStopped(signal: AbortSignal): void {
  if (signal.aborted)
    throw new PlumblineError('ABORTED', 'following was stopped by its caller', {}, { cause: signal.reason });
}

/** Options of `keepFollowing`. */
interface KeepFollowingOptions {
  /** Milliseconds between two polls for a newer finalization. */
  readonly pollMs: number;
  readonly clock?: Clock | undefined;
  /** Called with each error. `REPLICA_DIVERGED` ends following; after others it goes on at the next poll. */
  readonly onError?: ((error: unknown) => void) | undefined;
}

/** Follows layer 1 in the background. @returns a function that stops it, and resolves when running commits are done */
export function keepFollowing(follower: ZkFollower, options: KeepFollowingOptions): () => Promise<void> {
  const { pollMs, clock = systemClock, onError } = options;
  const stop = new AbortController();
  const { signal } = stop;

  async function run(): Promise<void> {
    while (!signal.aborted) {
      try {
        await follower.follow(signal);
      } catch (error) {
        if (signal.aborted) return;
        onError?.(error);
        if (isPlumblineError(error, 'REPLICA_DIVERGED')) return;
      }
      await sleep(clock, pollMs, signal).catch(() => {});
    }
  }

  const running = run();
  return async () => {
    stop.abort();
    await running;
  };
}

/** Errors of `WorldState.applyBlock` that are caused by the changes, not by this machine. */
const CHANGE_ERRORS: readonly ErrorCode[] = [
  'STATE_MISMATCH',
  'INVALID_PARAMETER',
  'OUT_OF_RANGE',
  'INVALID_LENGTH',
  'HASH_INPUT_NOT_CANONICAL',
];

/**
 * Compares a known hash or root of a block with the one that its trie log leads to.
 *
 * @param expected - undefined if it is not known; then nothing is compared
 * @param kept - newest block before it that layer 1 confirmed
 * @throws PlumblineError `REPLICA_DIVERGED`
 */
function mustAgree(
  what: ReplicaCheck,
  block: number,
  expected: Uint8Array | undefined,
  actual: Uint8Array,
  kept: number | undefined,
): void {
  if (expected === undefined || equalBytes(expected, actual)) return;
  throw diverged(what, block, bytesToHex(expected), bytesToHex(actual), kept);
}

/** Converts an error about a block's changes to `REPLICA_DIVERGED`. Other errors are returned unchanged. */
function asDivergence(error: unknown, block: number, kept: number | undefined): unknown {
  if (!isPlumblineError(error) || !CHANGE_ERRORS.includes(error.code)) return error;
  const { expected, actual } = isPlumblineError(error, 'STATE_MISMATCH')
    ? error.details
    : { expected: 'changes that fit', actual: messageOf(error) };
  return diverged('changes', block, expected, actual, kept, error);
}

function diverged(
  what: ReplicaCheck,
  block: number,
  expected: string,
  actual: string,
  kept: number | undefined,
  cause?: unknown,
): PlumblineError<'REPLICA_DIVERGED'> {
  const found = `the replica differs at block ${block} (${what}): ${expected} expected, ${actual} found`;
  const message = `${found}; check the node that gives trie logs, then open the replica again`;
  const details = { block, what, expected, actual, ...(kept !== undefined && { kept }) };
  return new PlumblineError('REPLICA_DIVERGED', message, details, { cause });
}

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
  const { logs: source, layerOne, stateManager, blockHash, rangeBlocks, intermediateRoots } = settings;
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

/**
 * A light chain with zk proofs from its own state. Everything else is done by the light chain.
 *
 * A block can be proved if layer 1 confirmed its root and its state is held. A tag other than `earliest` names the newest such
 * block (docs/decisions.md 6).
 *
 * @param light - closed with the replica
 * @param close - stops following and releases its resources; called before `light` is closed
 */
export function openReplicaChain(light: Chain, follower: ZkFollower, close: () => Promise<void>): Chain {
  const own: Pick<Chain, 'kind' | 'zkProof' | 'close'> = {
    kind: 'replica',

    async zkProof(address, storageKeys, reference, call = {}) {
      await follower.ready();
      const block = await numberOf(reference, call);
      if (block === undefined || !follower.isProvable(block)) throw notProvable(nameOf(reference));
      const proof = await follower.prove(block, address, storageKeys);
      call.note?.zk(block, 'finalized');
      return proof;
    },

    async close() {
      try {
        await close();
      } finally {
        await light.close();
      }
    },
  };

  async function numberOf(reference: BlockReference, { signal }: ChainCall): Promise<number | undefined> {
    if ('number' in reference) return reference.number;
    if ('hash' in reference) return (await light.block(reference, { signal }))?.header.number;
    return reference.tag === 'earliest' ? 0 : follower.confirmed;
  }

  return { ...forwardingChain(() => light), ...own };
}

function nameOf(reference: BlockReference): string {
  if ('number' in reference) return String(reference.number);
  return 'tag' in reference ? reference.tag : 'hash';
}
