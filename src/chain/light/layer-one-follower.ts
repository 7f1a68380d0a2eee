import {
  type LayerOneBlock,
  type LightClientHeader,
  layerOneBlock,
  objectFrom,
  updatesFrom,
} from '../../consensus/containers.js';
import {
  type AnyUpdate,
  initializeLightClientStore,
  type LightClientStore,
  type ProcessedUpdates,
  processLightClientUpdates,
  requireConsistent,
} from '../../consensus/rules.js';
import {
  computeSyncCommitteePeriodAtSlot,
  latestSignatureSlot,
  sizesOf,
  slotAtTime,
  slotsIn,
  timeOfFork,
} from '../../consensus/slots.js';
import { isPlumblineError } from '../../errors.js';
import type { BeaconNetwork } from '../../networks/network.js';
import { equalBytes } from '../../primitives/bytes.js';
import { bytesToHex } from '../../primitives/hex.js';
import type { Clock } from '../../scheduling/clock.js';
import { finish } from '../../scheduling/pieces.js';
import { SharedWork } from '../../scheduling/shared-work.js';
import { nextTurn } from '../../scheduling/turns.js';
import type { EndpointInfo } from '../../upstream/failure.js';
import type { AnswerValidator, UpstreamRequestOptions } from '../../upstream/group.js';
import type { LayerOneEvidence } from '../chain.js';
import { type CheckpointSources, checkpointsOf, type TrustedBeaconBlock } from './checkpoint.js';
import type { FollowedState, LightClientRecord } from './light-client-record.js';
import {
  answerRefused,
  isUnreachable,
  missing,
  notReached,
  requireGenesis,
  withoutLightClientData,
} from './refused.js';

/** Endpoints of the beacon API, as `RestGroup` asks them. */
export interface BeaconEndpoints {
  readonly endpoints: readonly Pick<EndpointInfo, 'id'>[];
  get<T>(path: string, options: UpstreamRequestOptions & { readonly accept: AnswerValidator<unknown, T> }): Promise<T>;
}

/** Settings and dependencies of `LayerOneFollower`. */
export interface LayerOneFollowerParts {
  /** Beacon-API endpoints. */
  readonly beacon: BeaconEndpoints;
  readonly network: BeaconNetwork;
  readonly checkpoints: CheckpointSources;
  /** Oldest checkpoint, or stored state, that is used, milliseconds. */
  readonly checkpointMaxAgeMs: number;
  /** Oldest finalized header that is used, milliseconds. */
  readonly maxAgeMs: number;
  /** Stores the state for later sessions. Without it nothing is stored. */
  readonly record?: LightClientRecord | undefined;
  readonly clock: Clock;
  /** Called while many periods are caught up, with the share that is done. */
  readonly onProgress?: ((fraction: number) => void) | undefined;
}

/** The newest finalized block of layer 1, as consensus proves it. */
export type FollowedLayerOne = LayerOneEvidence & LayerOneBlock;

/** The newest attested block of layer 1. It may still be replaced. */
export interface AttestedLayerOne extends FollowedLayerOne {
  /** Slots from the one that it is of to the present one. */
  readonly behind: number;
}

/** Most updates in one request: about 57 KB of JSON each. */
const UPDATES_AT_ONCE = 16;
/** After a failed update, the endpoints are left alone for this time. */
const RETRY_MS = 10_000;

/**
 * A finalized header older than this may be withheld. While layer 1 finalizes, the newest one that a header names is two to three
 * epochs old; the fourth is for updates that come late.
 */
const LATE_EPOCHS = 4;

/** How long one endpoint may take to name the newest attested header, milliseconds. The others are there by then. */
const ATTESTED_TIMEOUT_MS = 4_000;

/** How long before the last known fork users are warned. @source docs/spec/glamsterdam.md 9 */
const WARNING_SECONDS = 30 * 86_400;

const PATH = '/eth/v1/beacon/light_client';
const GENESIS = '/eth/v1/beacon/genesis';

/**
 * Follows the finality of layer 1 by the signatures of its sync committees, from a trusted beacon block. Nothing of the
 * endpoints is believed. Nothing is polled: an update is fetched when a block is asked for, at most one in an epoch.
 */
export class LayerOneFollower {
  private state: (FollowedState & { readonly level: LayerOneEvidence['level'] }) | undefined;
  /** When the newest update was asked for, milliseconds. */
  private updatedAt = Number.NEGATIVE_INFINITY;
  private updating: SharedWork<void> | undefined;
  private failed: { readonly at: number; readonly error: unknown } | undefined;

  /** When the newest attested header was asked for, milliseconds. */
  private attestedAt = Number.NEGATIVE_INFINITY;
  private attesting: SharedWork<void> | undefined;
  private readying: SharedWork<void> | undefined;

  constructor(private readonly parts: LayerOneFollowerParts) {}

  /**
   * The newest finalized block of layer 1. While no beacon endpoint answers, the newest known one: it stays final.
   *
   * @throws PlumblineError `CHECKPOINT_NEEDED`, `LAYER_ONE_CONTRADICTS`, `FORK_UNSUPPORTED`; `TRUST_LEVEL_NOT_REACHED` if it
   *   is older than `maxAgeMs`; `ANSWER_REFUSED`, of the endpoints
   */
  async finalized(signal?: AbortSignal): Promise<FollowedLayerOne> {
    if (!this.isRecent()) {
      try {
        await this.updated(signal);
      } catch (error) {
        if (this.state === undefined || !isUnreachable(error)) throw error;
      }
    }
    const { store } = this.state!;
    requireConsistent(store);
    return { ...this.recentBlock(store), ...this.evidence() };
  }

  /**
   * The newest block of layer 1 that two thirds of a sync committee attested, by all endpoints together: one that is honest suffices. It is
   * never of a lower slot than the one before. While no beacon endpoint answers, the newest known one.
   *
   * @throws PlumblineError as `finalized`, but for the age
   */
  async attested(signal?: AbortSignal): Promise<AttestedLayerOne> {
    const { network, clock } = this.parts;
    const age = clock.now() - this.attestedAt;
    // A negative age means that the clock was set back and the real age is unknown.
    if (!(age >= 0 && age < network.secondsPerSlot * 1000)) {
      if (this.attesting?.isOver !== false) this.attesting = new SharedWork((shared) => this.attest(shared));
      try {
        await this.attesting.wait(signal);
      } catch (error) {
        if (this.state === undefined || !isUnreachable(error)) throw error;
      }
    }
    const { store } = this.state!;
    requireConsistent(store);
    const block = layerOneBlock(network, store.optimistic);
    return { ...block, ...this.evidence(), behind: Math.max(0, this.slot - block.slot) };
  }

  private evidence(): Pick<LayerOneEvidence, 'level' | 'checkpoint' | 'lastFork'> {
    const { level, checkpoint } = this.state!;
    const lastFork = this.lastFork();
    return { level, checkpoint, ...(lastFork && { lastFork }) };
  }

  /** Asks all endpoints for the newest attested header, until one has that of the slot before this one: none can be newer. */
  private async attest(signal: AbortSignal): Promise<void> {
    const startedAt = this.parts.clock.now();
    if (this.state === undefined || this.isOfAnotherPeriod(this.state.store))
      await this.ready(signal).catch((error: unknown) => this.explain(error));
    requireConsistent(this.state!.store);
    const ended = new AbortController();
    const asked = this.parts.beacon.endpoints.map(async ({ id }) => {
      const found = await this.attestedOf(id, AbortSignal.any([signal, ended.signal]));
      if (found.beacon.slot > this.state!.store.optimistic.beacon.slot)
        this.state = { ...this.state!, store: { ...this.state!.store, optimistic: found } };
      if (Number(found.beacon.slot) >= this.slot - 1) ended.abort();
    });
    const results = await Promise.allSettled(asked);
    signal.throwIfAborted();
    const failures = results.flatMap((result) => (result.status === 'rejected' ? [result.reason as unknown] : []));
    // What an endpoint withholds or cannot answer, another may have answered.
    if (failures.length === results.length) throw failures.find((failure) => !isUnreachable(failure)) ?? failures[0];
    this.attestedAt = startedAt;
  }

  /** The attested header that one endpoint names, verified; the known one if its own is not newer, or too few have signed it. */
  private async attestedOf(endpoint: string, signal: AbortSignal): Promise<LightClientHeader> {
    const { beacon, network, clock } = this.parts;
    return beacon.get(`${PATH}/optimistic_update`, {
      endpoint,
      signal,
      timeoutMs: ATTESTED_TIMEOUT_MS,
      waits: false,
      accept: async (answer) => {
        const { store } = this.state!;
        const update = objectFrom(network, 'optimisticUpdate', answer);
        if (update.data.attestedHeader.beacon.slot <= store.optimistic.beacon.slot) return store.optimistic;
        const pieces = processLightClientUpdates(network, store, [update], latestSignatureSlot(network, clock.now()));
        const end = await finish(pieces, nextTurn);
        const isLittle = end.refused?.reason === 'PARTICIPATION_LOW' || end.refused?.reason === 'NOT_RELEVANT';
        if (end.refused !== undefined && !isLittle) throw answerRefused('attested header of layer 1', end.refused);
        return end.store.optimistic;
      },
    });
  }

  /** Whether the committee of the present period is not known. */
  private isOfAnotherPeriod(store: LightClientStore): boolean {
    const [known, now] = [this.periodOf(store), computeSyncCommitteePeriodAtSlot(this.parts.network, this.slot)];
    return known < now && !(known + 1 === now && store.next !== undefined);
  }

  /** The last fork that the network knows, shortly before it. */
  private lastFork(): LayerOneEvidence['lastFork'] {
    const { network, clock } = this.parts;
    const name = network.forks.findLast(({ epoch }) => epoch !== undefined)!.name;
    const timestamp = timeOfFork(network, name)!;
    const left = timestamp - clock.now() / 1000;
    return left > 0 && left <= WARNING_SECONDS ? { name, timestamp } : undefined;
  }

  /** Callers during an update share it, and for a while also its failure. */
  private updated(signal: AbortSignal | undefined): Promise<void> {
    const { clock } = this.parts;
    if (this.failed !== undefined) {
      const age = clock.now() - this.failed.at;
      if (age >= 0 && age < RETRY_MS) return Promise.reject(this.failed.error);
      this.failed = undefined;
    }
    if (this.updating?.isOver !== false)
      this.updating = new SharedWork((shared) => {
        return this.update(shared)
          .catch((error: unknown) => this.explain(error))
          .catch((error: unknown) => {
            if (!shared.aborted) this.failed = { at: clock.now(), error };
            throw error;
          });
      });
    return this.updating.wait(signal);
  }

  /** What an endpoint serves may explain its error. @throws that, or else the error */
  private async explain(error: unknown): Promise<never> {
    const { beacon, network } = this.parts;
    if (isPlumblineError(error, 'UPSTREAM_CONFIGURATION')) {
      const [first] = error.details.endpoints;
      if (first !== undefined && error.details.endpoints.every(({ status }) => status === 501))
        throw withoutLightClientData(first);
    }
    const { origin: endpoint } = isPlumblineError(error, 'ANSWER_REFUSED') ? error.details : {};
    if (endpoint !== undefined) {
      // An endpoint of another chain signs and links its objects rightly, for that chain.
      const accept: AnswerValidator<unknown, void> = (answer, from) => requireGenesis(network, from, answer);
      await beacon.get(GENESIS, { endpoint, accept, waits: false }).catch((found: unknown) => {
        if (isPlumblineError(found, 'LAYER_ONE_UNUSABLE')) throw found;
      });
    }
    throw error;
  }

  private isRecent(): boolean {
    const { clock, network } = this.parts;
    const { slotsPerEpoch } = sizesOf(network);
    const age = clock.now() - this.updatedAt;
    // A negative age means that the clock was set back and the real age is unknown.
    return this.state !== undefined && age >= 0 && age < slotsPerEpoch * network.secondsPerSlot * 1000;
  }

  /** The block of the finalized header. @throws PlumblineError `TRUST_LEVEL_NOT_REACHED` if it is too old */
  private recentBlock({ finalized }: LightClientStore): LayerOneBlock {
    const { network, clock, maxAgeMs } = this.parts;
    const block = layerOneBlock(network, finalized);
    const age = clock.now() - block.timestamp * 1000;
    if (age <= maxAgeMs) return block;
    const minutes = Math.round(age / 60_000);
    const reason = `the newest finalized header of layer 1 is ${minutes} minutes old: the beacon endpoints are behind, layer 1 does not finalize, or the clock of this device is ahead`;
    throw notReached('settled', undefined, reason);
  }

  private get slot(): number {
    return slotAtTime(this.parts.network, this.parts.clock.now());
  }

  private async update(signal: AbortSignal): Promise<void> {
    const startedAt = this.parts.clock.now();
    await this.ready(signal);
    try {
      await this.updateFinality(signal);
    } catch (error) {
      // Status 404: there is no update yet.
      if (!isPlumblineError(error, 'UPSTREAM_ERROR') || error.details.code !== 404) throw error;
    }
    this.updatedAt = startedAt;
  }

  /** Begins, and catches up with the committee of the present period. Callers meanwhile share it. */
  private ready(signal: AbortSignal): Promise<void> {
    if (this.readying?.isOver !== false)
      this.readying = new SharedWork(async (shared) => {
        this.state ??= await this.begin(shared);
        requireConsistent(this.state.store);
        await this.catchUp(this.state.store, shared);
      });
    return this.readying.wait(signal);
  }

  /** The stored state if it is recent and of the wanted checkpoint, else one from a checkpoint. */
  private async begin(signal: AbortSignal) {
    const { checkpoints, record } = this.parts;
    const stored = await record?.load();
    if (stored !== undefined) {
      const { given } = checkpoints;
      const isWanted = given === undefined || equalBytes(given, stored.checkpoint);
      if (isWanted && this.slot - Number(stored.store.finalized.beacon.slot) <= this.maxAgeSlots)
        return { ...stored, level: given === undefined ? ('stored' as const) : ('checkpoint' as const) };
    }
    let failure: unknown;
    for (const source of checkpointsOf(checkpoints)) {
      try {
        return await this.bootstrap(await source(), signal);
      } catch (error) {
        failure = error;
      }
    }
    throw failure;
  }

  private get maxAgeSlots(): number {
    const { network, checkpointMaxAgeMs } = this.parts;
    return slotsIn(network, checkpointMaxAgeMs);
  }

  private async bootstrap({ root, level }: TrustedBeaconBlock, signal: AbortSignal) {
    const { beacon, network } = this.parts;
    const request = { root, currentSlot: this.slot, maxAgeSlots: this.maxAgeSlots };
    const verdict = await beacon.get(`${PATH}/bootstrap/${bytesToHex(root)}`, {
      tryNext: () => true,
      signal,
      accept: (answer) => {
        const judged = initializeLightClientStore(network, objectFrom(network, 'bootstrap', answer), request);
        // The age is that of the checkpoint. The endpoint has answered rightly.
        if (judged.verified || judged.reason === 'CHECKPOINT_TOO_OLD') return judged;
        throw answerRefused('bootstrap of layer 1', judged);
      },
    });
    if (!verdict.verified) throw notReached('settled', undefined, `the checkpoint ${verdict.message}`);
    return { store: verdict.store, checkpoint: root, level };
  }

  /** Fetches the committees of the periods between the finalized header and now. @param from - where it began */
  private async catchUp(from: LightClientStore, signal: AbortSignal): Promise<void> {
    const { network, onProgress } = this.parts;
    const begin = this.periodOf(from);
    for (let requests = 0; ; requests++) {
      const { store } = this.state!;
      const [known, now] = [this.periodOf(store), computeSyncCommitteePeriodAtSlot(network, this.slot)];
      const first = store.next === undefined ? known : known + 1;
      // A finality update of this period or the next one needs no further committee.
      const isDone = !this.isOfAnotherPeriod(store);
      if (!isDone || requests > 0) onProgress?.(isDone ? 1 : (known - begin) / (now - begin));
      if (isDone) return;
      const count = Math.min(UPDATES_AT_ONCE, Math.max(1, now - first));
      const path = `${PATH}/updates?start_period=${first}&count=${count}`;
      await this.apply(path, (answer) => updatesFrom(network, answer), { mayBeKnown: false, signal });
    }
  }

  /**
   * Fetches the newest finality update. Where it is late, the other endpoints are asked, too: an endpoint that withholds newer
   * updates must not decide alone how old the block is.
   */
  private async updateFinality(signal: AbortSignal): Promise<void> {
    const { network } = this.parts;
    const read = (answer: unknown) => [objectFrom(network, 'finalityUpdate', answer)];
    const path = `${PATH}/finality_update`;
    const first = await this.apply(path, read, { mayBeKnown: true, signal });
    const age = this.slot - Number(this.state!.store.finalized.beacon.slot);
    if (age <= LATE_EPOCHS * sizesOf(network).slotsPerEpoch) return;
    // None has a newer one, or a contradiction was found, which the caller looks for.
    await this.apply(path, read, { mayBeKnown: false, exclude: [first], signal }).catch(() => {});
  }

  private periodOf({ finalized }: LightClientStore): number {
    return computeSyncCommitteePeriodAtSlot(this.parts.network, Number(finalized.beacon.slot));
  }

  /**
   * Fetches updates and applies them. Those that an endpoint sends behind a false one are asked for again.
   *
   * @param mayBeKnown - whether they may bring nothing new. They must leave a header that is recent then: otherwise the next
   *   endpoint is asked
   * @param exclude - ids of endpoints that are not asked
   * @returns id of the endpoint whose answer was accepted
   * @throws PlumblineError `LAYER_ONE_CONTRADICTS`, `FORK_UNSUPPORTED`, `ANSWER_REFUSED`, `PROOF_MALFORMED`,
   *   `TRUST_LEVEL_NOT_REACHED`, of the endpoints
   */
  private async apply(
    path: string,
    read: (answer: unknown) => AnyUpdate[],
    {
      mayBeKnown,
      exclude = [],
      signal,
    }: { readonly mayBeKnown: boolean; readonly exclude?: readonly string[]; readonly signal: AbortSignal },
  ): Promise<string> {
    const { beacon, network, record, clock } = this.parts;
    const { store } = this.state!;
    let id = '';
    const advanced = await beacon.get(path, {
      tryNext: () => true,
      exclude,
      signal,
      accept: async (answer, from): Promise<ProcessedUpdates> => {
        id = from.id;
        const updates = read(answer);
        if (updates.length === 0) throw missing('update of layer 1');
        const end = await finish(
          processLightClientUpdates(network, store, updates, latestSignatureSlot(network, clock.now())),
          nextTurn,
        );
        if (end.store.contradiction !== undefined) return end;
        const isOld = mayBeKnown && end.refused?.reason === 'NOT_RELEVANT';
        if (end.refused !== undefined && end.applied.length === 0 && !isOld)
          throw answerRefused('update of layer 1', end.refused);
        if (mayBeKnown) this.recentBlock(end.store);
        else if (!hasProgress(store, end.store)) throw missing('new update of layer 1');
        return end;
      },
    });
    // A newer attested header may have come meanwhile.
    const { optimistic } = this.state!.store;
    const isNewer = optimistic.beacon.slot > advanced.store.optimistic.beacon.slot;
    this.state = { ...this.state!, store: isNewer ? { ...advanced.store, optimistic } : advanced.store };
    if (advanced.store !== store) await record?.save(this.state);
    requireConsistent(advanced.store);
    return id;
  }
}

function hasProgress(before: LightClientStore, after: LightClientStore): boolean {
  const isNewer = after.finalized.beacon.slot > before.finalized.beacon.slot;
  return isNewer || (before.next === undefined && after.next !== undefined);
}
