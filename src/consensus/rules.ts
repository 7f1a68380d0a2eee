/**
 * The rules of a light client of layer 1 (docs/spec/consensus.md 6 and 7): how a trusted block begins a store, and when an update moves
 * it on. A rule that fails is a refusal with its name and place; only what cannot be read throws.
 *
 * Functions have the names of the specification. `processLightClientUpdates` is the way in for updates: it validates them one after the
 * other, each on the store that the one before would give, and verifies their signatures together at the end.
 */

import { PlumblineError } from '../errors.js';
import type { BeaconNetwork } from '../networks/network.js';
import { equalBytes, isZeroBytes, ZERO_WORD } from '../primitives/bytes.js';
import { malformed } from '../proof/json-reader.js';
import { judge, type ProofFailure, Refusal } from '../proof/verdict.js';
import type { Pieces } from '../scheduling/pieces.js';
import {
  beaconBlockHeader,
  computeSigningRoot,
  countParticipants,
  isValidLightClientHeader,
  type Layout,
  type LightClientHeader,
  type LightClientObject,
  type LightClientObjects,
  layoutAtSlot,
  type ObjectKind,
  requireScheduled,
  type SyncCommittee,
  stateIndices,
  syncCommittee,
} from './containers.js';
import { firstFalseClaim, hasKeyEncoding, type SignatureClaim, type SignatureFailure } from './signatures.js';
import { computeEpochAtSlot, computeSyncCommitteePeriodAtSlot, forkAt, sizesOf } from './slots.js';
import { isValidNormalizedMerkleBranch, isZero, rootFromBranch } from './ssz.js';

/** Why an object is refused: the first check that fails, in the order of docs/spec/consensus.md 6 and 7. */
export type ConsensusRefusalReason =
  | 'VERSION_MISMATCH'
  | 'ROOT_MISMATCH'
  | 'EXECUTION_BRANCH'
  | 'CURRENT_COMMITTEE_BRANCH'
  | 'FROM_THE_FUTURE'
  | 'CHECKPOINT_TOO_OLD'
  | 'NO_PARTICIPANTS'
  | 'PARTICIPATION_LOW'
  | 'SLOT_ORDER'
  | 'PERIOD_SKIPPED'
  | 'NOT_RELEVANT'
  | 'ATTESTED_EXECUTION_BRANCH'
  | 'FINALIZED_NOT_EMPTY'
  | 'FINALIZED_EXECUTION_BRANCH'
  | 'FINALITY_BRANCH'
  | 'NEXT_COMMITTEE_NOT_EMPTY'
  | 'NEXT_COMMITTEE_DIFFERS'
  | 'NEXT_COMMITTEE_BRANCH'
  | 'EQUIVOCATION'
  | SignatureFailure;

export type ConsensusRefusal = ProofFailure<ConsensusRefusalReason>;

/** Throws a refusal unless `holds`. @param at - path inside the object */
function refuseUnless(holds: boolean, reason: ConsensusRefusalReason, at: string, message: string): void {
  if (!holds) throw new Refusal(reason, at, message);
}

/**
 * Checks that an object has the layout of the fork that its slot belongs to.
 *
 * @throws PlumblineError `FORK_UNSUPPORTED`; `PROOF_MALFORMED` for a header of Deneb or later without its blob fields
 */
function checkLayout(
  network: BeaconNetwork,
  { layout, isMislabelled }: Pick<AnyObject, 'layout' | 'isMislabelled'>,
  { beacon }: LightClientHeader,
  at: string,
): void {
  if (isMislabelled === true)
    throw new Refusal('VERSION_MISMATCH', at, `the version says ${layout}, its members are of another fork`);
  const expected = layoutAtSlot(network, beacon.slot);
  if (layout === expected) return;
  requireScheduled(network, layout);
  if (layout === 'capella') throw malformed(`${at}.execution.blob_gas_used`, `is missing at slot ${beacon.slot}`);
  throw new Refusal(
    'VERSION_MISMATCH',
    at,
    `slot ${beacon.slot} has the layout of ${expected}, the object that of ${layout}`,
  );
}

function checkExecution(
  network: BeaconNetwork,
  header: LightClientHeader,
  reason: 'EXECUTION_BRANCH' | 'ATTESTED_EXECUTION_BRANCH' | 'FINALIZED_EXECUTION_BRANCH',
  at: string,
): void {
  const message = 'the execution header is not in the body of the beacon block';
  refuseUnless(isValidLightClientHeader(network, header), reason, `${at}.execution_branch`, message);
}

/** Checks the encoding of every key. Whether it is a point is checked when it is used. */
export function checkKeys({ pubkeys, aggregatePubkey }: SyncCommittee, at: string): void {
  for (const [i, key] of [...pubkeys, aggregatePubkey].entries()) {
    const place = i < pubkeys.length ? `pubkeys[${i}]` : 'aggregate_pubkey';
    refuseUnless(hasKeyEncoding(key), 'COMMITTEE_KEY', `${at}.${place}`, 'is not the encoding of a public key');
  }
}

/** What a light client knows. It is never changed in place. */
export interface LightClientStore {
  /** The newest header that is proved final. */
  readonly finalized: LightClientHeader;
  /** The newest header with a signature of two thirds. It only says how old `finalized` is: nothing may rest on it. */
  readonly optimistic: LightClientHeader;
  /** The committee of the period of `finalized`. */
  readonly current: SyncCommittee;
  /** The committee of the period after, once it is known. */
  readonly next?: SyncCommittee | undefined;
  /** Two objects with valid signatures contradict each other: the store must not be used any more. */
  readonly contradiction?: Contradiction | undefined;
}

export interface Contradiction {
  /** Another finalized header of the same slot, or another next committee of the same period. */
  readonly reason: 'EQUIVOCATION' | 'NEXT_COMMITTEE_DIFFERS';
  /** Attested slot of the second object. */
  readonly slot: number;
}

interface BootstrapRequest {
  /** Root of the trusted beacon block, 32 bytes. */
  readonly root: Uint8Array;
  readonly currentSlot: number;
  /** How old the block may be. */
  readonly maxAgeSlots: number;
}

/**
 * Begins a store with a trusted block.
 *
 * @returns the store to begin with, or the first check that failed
 * @throws PlumblineError `FORK_UNSUPPORTED`, `FORK_SCHEDULE`, `PROOF_MALFORMED`
 */
export function initializeLightClientStore(
  network: BeaconNetwork,
  object: LightClientObject<'bootstrap'>,
  request: BootstrapRequest,
): { readonly verified: true; readonly store: LightClientStore } | ConsensusRefusal {
  const verdict = validateBootstrap(network, object, request);
  if (verdict.verified || !DEPENDS_ON_FORK.has(verdict.reason)) return verdict;
  const slot = Number(object.data.header.beacon.slot);
  for (const { moved, fork } of otherSchedules(network, slot, [slot]))
    if (validateBootstrap(moved, object, request).verified) throw forkSchedule(network, slot, fork);
  return verdict;
}

function validateBootstrap(
  network: BeaconNetwork,
  object: LightClientObject<'bootstrap'>,
  { root, currentSlot, maxAgeSlots }: BootstrapRequest,
): { readonly verified: true; readonly store: LightClientStore } | ConsensusRefusal {
  const { layout, data } = object;
  const { header, currentSyncCommittee: committee, currentSyncCommitteeBranch: branch } = data;
  return judge<{ verified: true; store: LightClientStore }, ConsensusRefusalReason>(() => {
    checkLayout(network, object, header, 'header');
    const slot = Number(header.beacon.slot);
    const isTrusted = equalBytes(beaconBlockHeader.hashTreeRoot(header.beacon), root);
    refuseUnless(isTrusted, 'ROOT_MISMATCH', 'header.beacon', `is of slot ${slot}, and not the trusted block`);
    checkExecution(network, header, 'EXECUTION_BRANCH', 'header');
    const committeeRoot = syncCommittee(sizesOf(network).committeeSize).hashTreeRoot(committee);
    const stateRoot = rootFromBranch(committeeRoot, stateIndices(layout).currentSyncCommittee, branch);
    const at = 'current_sync_committee';
    refuseUnless(
      equalBytes(stateRoot, header.beacon.stateRoot),
      'CURRENT_COMMITTEE_BRANCH',
      `${at}_branch`,
      'the committee is not in the state',
    );
    refuseUnless(
      slot <= currentSlot,
      'FROM_THE_FUTURE',
      'header.beacon.slot',
      `slot ${slot} is after slot ${currentSlot} of this device's clock`,
    );
    const age = currentSlot - slot;
    refuseUnless(
      age <= maxAgeSlots,
      'CHECKPOINT_TOO_OLD',
      'header.beacon.slot',
      `is ${age} slots old, ${maxAgeSlots} are allowed`,
    );
    checkKeys(committee, at);
    return { verified: true, store: { finalized: header, optimistic: header, current: committee } };
  });
}

/** Checks whose result depends on the fork of a slot. */
const DEPENDS_ON_FORK: ReadonlySet<ConsensusRefusalReason> = new Set([
  'VERSION_MISMATCH',
  'EXECUTION_BRANCH',
  'CURRENT_COMMITTEE_BRANCH',
  'ATTESTED_EXECUTION_BRANCH',
  'FINALIZED_EXECUTION_BRANCH',
  'FINALITY_BRANCH',
  'NEXT_COMMITTEE_BRANCH',
  'SIGNATURE',
]);

/**
 * The network with another fork at a slot: with the one before it, because its own begins later, or with the one after, because that
 * has begun already, in the epoch of one of `begins`.
 */
function otherSchedules(
  network: BeaconNetwork,
  slot: number,
  begins: readonly number[],
): { readonly moved: BeaconNetwork; readonly fork: string }[] {
  const { forks } = network;
  const at = forks.indexOf(forkAt(network, slot));
  const movedTo = (place: number, epoch: number): BeaconNetwork => ({
    ...network,
    forks: forks.map((fork, i) => (i === place ? { ...fork, epoch } : fork)),
  });
  const next = forks[at + 1];
  const epochs = [...new Set(begins.map((begin) => computeEpochAtSlot(network, begin)))];
  const own = { moved: movedTo(at, computeEpochAtSlot(network, slot) + 1), fork: forks[at]!.name };
  return [
    ...(at > 0 ? [own] : []),
    ...(next?.epoch === undefined ? [] : epochs.map((epoch) => ({ moved: movedTo(at + 1, epoch), fork: next.name }))),
  ];
}

/** @param fork - the one that begins elsewhere */
function forkSchedule({ name }: BeaconNetwork, slot: number, fork: string): PlumblineError<'FORK_SCHEDULE'> {
  const known = `the fork "${fork}" begins in another epoch than this release knows, as slot ${slot} shows`;
  const remedy = 'use a newer release, or give the new epoch: layerOne of the profile, with beaconNetwork';
  return new PlumblineError('FORK_SCHEDULE', `${name}: ${known}; ${remedy}`, { network: name, fork, slot });
}

/**
 * The schedule of forks is part of what is signed. If an update that was refused holds with a neighbouring fork in the place of its own, it
 * is neither true nor false.
 *
 * @param store - before the update
 * @throws PlumblineError `FORK_SCHEDULE`
 * @source docs/spec/glamsterdam.md 9
 */
function* requireKnownSchedule(
  network: BeaconNetwork,
  store: LightClientStore,
  update: AnyUpdate,
  currentSlot: number,
): Pieces<void> {
  const { attested, finalized, signed } = factsOf(network, update.data);
  const slot = Math.max(signed, 1) - 1;
  for (const { moved, fork } of otherSchedules(network, slot, [slot, attested, finalized])) {
    const step = prepareOrStop(moved, store, update, currentSlot, false);
    yield;
    if (step === undefined || 'verified' in step) continue;
    if ((yield* firstFalseClaim([step.claim])) === undefined) throw forkSchedule(network, slot, fork);
  }
}

export interface ProcessedUpdates {
  /** The store to go on with, also after a refusal. */
  readonly store: LightClientStore;
  /** The updates that were applied, from the first on: how many members signed, and the attested slot. */
  readonly applied: readonly { readonly participants: number; readonly attested: number }[];
  /** Why the update after those was refused. */
  readonly refused?: ConsensusRefusal | undefined;
}

/**
 * Verifies updates of any kind and applies them in order; their signatures are verified together. It stops at the first
 * that is refused, and before one that cannot be read, or is of a schedule that is not known, unless that is the first: ask again with
 * the rest.
 *
 * @param currentSlot - by the clock, with the skew that is allowed
 * @throws PlumblineError `LAYER_ONE_CONTRADICTS` for a store with a contradiction; `FORK_UNSUPPORTED`; `FORK_SCHEDULE`;
 *   `PROOF_MALFORMED`
 * @source docs/spec/consensus.md 7
 */
export function* processLightClientUpdates(
  network: BeaconNetwork,
  store: LightClientStore,
  updates: readonly AnyUpdate[],
  currentSlot: number,
): Pieces<ProcessedUpdates> {
  const processed = yield* applyUpdates(network, store, updates, currentSlot);
  const { applied, refused } = processed;
  if (refused === undefined || !DEPENDS_ON_FORK.has(refused.reason)) return processed;
  try {
    yield* requireKnownSchedule(network, processed.store, updates[applied.length]!, currentSlot);
  } catch (error) {
    if (applied.length === 0) throw error;
    return { ...processed, refused: undefined };
  }
  return processed;
}

function* applyUpdates(
  network: BeaconNetwork,
  store: LightClientStore,
  updates: readonly AnyUpdate[],
  currentSlot: number,
): Pieces<ProcessedUpdates> {
  requireConsistent(store);
  const prepared: PreparedUpdate[] = [];
  /** The store before each prepared update, and after the last. */
  const stores = [store];
  let refused: ConsensusRefusal | undefined;
  for (const update of updates) {
    const step = prepareOrStop(network, stores.at(-1)!, update, currentSlot, prepared.length === 0);
    yield;
    if (step === undefined) break;
    if ('verified' in step) {
      refused = step;
      break;
    }
    prepared.push(step);
    if ('verified' in step.outcome) {
      refused = step.outcome;
      break;
    }
    stores.push(step.outcome);
  }
  const failed = yield* firstFalseClaim(prepared.map(({ claim }) => claim));
  if (failed !== undefined) {
    const refusal = prepared[failed.index]!.otherwise ?? refusalOf(failed.failure);
    return { store: stores[failed.index]!, applied: prepared.slice(0, failed.index), refused: refusal };
  }
  const last = prepared.at(-1);
  const end = stores.at(-1)!;
  const applied = prepared.slice(0, stores.length - 1);
  const reason = last?.outcome === refused ? refused?.reason : undefined;
  if (reason !== 'EQUIVOCATION' && reason !== 'NEXT_COMMITTEE_DIFFERS') return { store: end, applied, refused };
  return { store: { ...end, contradiction: { reason, slot: last!.attested } }, applied, refused };
}

/** @returns undefined for an update that cannot be read; @param isFirst - then what was thrown is thrown on */
function prepareOrStop(
  network: BeaconNetwork,
  store: LightClientStore,
  update: AnyUpdate,
  currentSlot: number,
  isFirst: boolean,
): PreparedUpdate | ConsensusRefusal | undefined {
  try {
    return validateLightClientUpdate(network, store, update, currentSlot);
  } catch (error) {
    if (isFirst) throw error;
    return undefined;
  }
}

const MESSAGES: { readonly [F in SignatureFailure]: string } = {
  COMMITTEE_KEY: 'a key of the committee is not a point of the curve',
  SIGNATURE_POINT: 'is not a point of the group of signatures',
  SIGNATURE: 'is not the signature of those members under the header',
};

function refusalOf(reason: SignatureFailure): ConsensusRefusal {
  return { verified: false, reason, at: 'sync_aggregate.sync_committee_signature', message: MESSAGES[reason] };
}

/** @throws PlumblineError `LAYER_ONE_CONTRADICTS` for a store with a contradiction: nothing may rest on it */
export function requireConsistent({ contradiction }: LightClientStore): void {
  if (contradiction === undefined) return;
  const { reason, slot } = contradiction;
  const message = `layer 1 contradicts itself at slot ${slot} (${reason}): begin again from a block root that you trust`;
  throw new PlumblineError('LAYER_ONE_CONTRADICTS', message, { reason, slot });
}

/** An update that passed the checks before its signature. */
interface PreparedUpdate {
  readonly claim: SignatureClaim;
  readonly participants: number;
  /** Slot of the attested header. */
  readonly attested: number;
  /** What follows if the signature holds: the store after the update, or a refusal. */
  readonly outcome: LightClientStore | ConsensusRefusal;
  /** The refusal if the signature does not hold, where an earlier check had failed already. */
  readonly otherwise?: ConsensusRefusal | undefined;
}

/**
 * All checks of an update but its signature.
 *
 * @throws PlumblineError `FORK_UNSUPPORTED`, `PROOF_MALFORMED`
 * @source ethereum/consensus-specs@a08d8a6e specs/altair/light-client/sync-protocol.md, validate_light_client_update
 */
function validateLightClientUpdate(
  network: BeaconNetwork,
  store: LightClientStore,
  update: AnyUpdate,
  currentSlot: number,
): PreparedUpdate | ConsensusRefusal {
  const { layout, data } = update;
  return judge<PreparedUpdate, ConsensusRefusalReason>(() => {
    checkLayout(network, update, data.attestedHeader, 'attested_header');
    const facts = factsOf(network, data);
    const participants = checkParticipation(facts.bits, sizesOf(network).committeeSize);
    const committee = checkSlots(network, store, facts, currentSlot);
    checkHeaders(network, layout, facts);
    const differs = checkNextCommittee(network, store, layout, facts);
    return {
      claim: {
        committee,
        bits: facts.bits,
        signature: facts.signature,
        message: computeSigningRoot(network, facts.attestedHeader.beacon, facts.signed),
      },
      participants,
      attested: facts.attested,
      outcome: differs ?? applyLightClientUpdate(network, store, facts),
      otherwise: differs,
    };
  });
}

/** Two thirds must have signed, also for headers that are not final. @returns how many did */
function checkParticipation(bits: Uint8Array, size: number): number {
  const participants = countParticipants(bits);
  const at = 'sync_aggregate.sync_committee_bits';
  refuseUnless(participants > 0, 'NO_PARTICIPANTS', at, 'has no participants');
  const message = `${participants} of ${size} took part, less than two thirds`;
  refuseUnless(3 * participants >= 2 * size, 'PARTICIPATION_LOW', at, message);
  return participants;
}

/** @returns the committee that must have signed */
function checkSlots(
  network: BeaconNetwork,
  store: LightClientStore,
  { attested, finalized, signed, attestedPeriod, signedPeriod, nextCommitteeBranch }: UpdateFacts,
  currentSlot: number,
): SyncCommittee {
  const at = 'signature_slot';
  const future = `slot ${signed} is after slot ${currentSlot} of this device's clock`;
  refuseUnless(signed <= currentSlot, 'FROM_THE_FUTURE', at, future);
  const order = `slots are out of order: signature ${signed}, attested ${attested}, finalized ${finalized}`;
  refuseUnless(signed > attested && attested >= finalized, 'SLOT_ORDER', at, order);
  const known = Number(store.finalized.beacon.slot);
  const period = computeSyncCommitteePeriodAtSlot(network, known);
  // Its committee is not known any more, so this is all that can be said: it is old, not false.
  const old = `period ${signedPeriod} is before period ${period}, of which a header is final`;
  refuseUnless(signedPeriod >= period, 'NOT_RELEVANT', at, old);
  const following = signedPeriod === period + 1 ? store.next : undefined;
  const committee = signedPeriod === period ? store.current : following;
  if (committee === undefined) {
    const message = `the committee of period ${signedPeriod} is not known; the finalized header is of period ${period}`;
    throw new Refusal('PERIOD_SKIPPED', at, message);
  }
  const bringsCommittee = store.next === undefined && nextCommitteeBranch.length > 0 && attestedPeriod === period;
  const message = `slot ${attested} is not after slot ${known}, which is final`;
  refuseUnless(attested > known || bringsCommittee, 'NOT_RELEVANT', 'attested_header.beacon.slot', message);
  return committee;
}

/** Checks both execution headers, and the finalized header in the attested state. */
function checkHeaders(network: BeaconNetwork, layout: Layout, facts: UpdateFacts): void {
  const { attestedHeader, finalizedHeader, finalityBranch } = facts;
  checkExecution(network, attestedHeader, 'ATTESTED_EXECUTION_BRANCH', 'attested_header');
  if (finalizedHeader === undefined) return;
  // With finality at slot 0 the checkpoint is that of genesis: its root is zero, and there is no header.
  const isEmpty = facts.finalized === 0;
  const empty = 'must be all zero, since no block is named as final';
  refuseUnless(!isEmpty || isEmptyHeader(finalizedHeader), 'FINALIZED_NOT_EMPTY', 'finalized_header', empty);
  if (!isEmpty) checkExecution(network, finalizedHeader, 'FINALIZED_EXECUTION_BRANCH', 'finalized_header');
  if (finalityBranch.length === 0) return;
  const leaf = isEmpty ? ZERO_WORD : beaconBlockHeader.hashTreeRoot(finalizedHeader.beacon);
  const { finalizedRoot } = stateIndices(layout);
  const holds = isValidNormalizedMerkleBranch(leaf, finalityBranch, finalizedRoot, attestedHeader.beacon.stateRoot);
  refuseUnless(holds, 'FINALITY_BRANCH', 'finality_branch', 'the attested state names another finalized block');
}

/** @returns the refusal if another next committee is known; it contradicts that one if the signature holds */
function checkNextCommittee(
  network: BeaconNetwork,
  store: LightClientStore,
  layout: Layout,
  { attestedHeader, attestedPeriod, nextCommittee, nextCommitteeBranch }: UpdateFacts,
): ConsensusRefusal | undefined {
  if (nextCommittee === undefined) return undefined;
  const at = 'next_sync_committee';
  const type = syncCommittee(sizesOf(network).committeeSize);
  if (nextCommitteeBranch.length === 0) {
    refuseUnless(isZero(nextCommittee), 'NEXT_COMMITTEE_NOT_EMPTY', at, 'must be all zero without a branch');
    return undefined;
  }
  const period = computeSyncCommitteePeriodAtSlot(network, Number(store.finalized.beacon.slot));
  const differs =
    attestedPeriod === period &&
    store.next !== undefined &&
    !equalBytes(type.encode(store.next), type.encode(nextCommittee));
  const root = type.hashTreeRoot(nextCommittee);
  const { stateRoot } = attestedHeader.beacon;
  const index = stateIndices(layout).nextSyncCommittee;
  const holds = isValidNormalizedMerkleBranch(root, nextCommitteeBranch, index, stateRoot);
  const message = `another committee is known for period ${period + 1}`;
  refuseUnless(holds || !differs, 'NEXT_COMMITTEE_DIFFERS', at, message);
  refuseUnless(holds, 'NEXT_COMMITTEE_BRANCH', `${at}_branch`, 'the committee is not in the attested state');
  return differs ? { verified: false, reason: 'NEXT_COMMITTEE_DIFFERS', at, message } : undefined;
}

/** No extra data is another value than a byte of zero. */
function isEmptyHeader(header: LightClientHeader): boolean {
  return isZero(header) && (!('execution' in header) || header.execution.extraData.length === 0);
}

type AnyObject = LightClientObject<ObjectKind>;

/** An update of any of the three kinds. */
export type AnyUpdate = LightClientObject<Exclude<ObjectKind, 'bootstrap'>>;

type Members = LightClientObjects['optimisticUpdate'] & Partial<LightClientObjects['update']>;

/** An update in one form for the three kinds: a finality update has no next committee, an optimistic one no finality. */
interface UpdateFacts {
  readonly attestedHeader: LightClientHeader;
  /** All zero where the object has one without finality; absent in an optimistic update. */
  readonly finalizedHeader?: LightClientHeader | undefined;
  /** Empty without finality. */
  readonly finalityBranch: readonly Uint8Array[];
  /** All zero where the object has one without a branch; absent in the other kinds. */
  readonly nextCommittee?: SyncCommittee | undefined;
  /** Empty without a next committee. */
  readonly nextCommitteeBranch: readonly Uint8Array[];
  readonly bits: Uint8Array;
  /** 96 bytes. */
  readonly signature: Uint8Array;
  /** Slots of the attested and the finalized header and of the signature; 0 without finality. */
  readonly attested: number;
  readonly finalized: number;
  readonly signed: number;
  /** Periods of the same slots. */
  readonly attestedPeriod: number;
  readonly finalizedPeriod: number;
  readonly signedPeriod: number;
}

/** A branch that is all zero says that there is nothing to prove. */
const unlessZero = (branch: readonly Uint8Array[] = []) => (branch.every(isZeroBytes) ? [] : branch);

function factsOf(network: BeaconNetwork, data: AnyUpdate['data']): UpdateFacts {
  const update: Members = data;
  const { attestedHeader, finalizedHeader, syncAggregate } = update;
  const finalityBranch = unlessZero(update.finalityBranch);
  const attested = Number(attestedHeader.beacon.slot);
  const finalized = finalityBranch.length > 0 ? Number(finalizedHeader!.beacon.slot) : 0;
  const signed = Number(update.signatureSlot);
  return {
    attestedHeader,
    finalizedHeader,
    finalityBranch,
    nextCommittee: update.nextSyncCommittee,
    nextCommitteeBranch: unlessZero(update.nextSyncCommitteeBranch),
    bits: syncAggregate.syncCommitteeBits,
    signature: syncAggregate.syncCommitteeSignature,
    attested,
    finalized,
    signed,
    attestedPeriod: computeSyncCommitteePeriodAtSlot(network, attested),
    finalizedPeriod: computeSyncCommitteePeriodAtSlot(network, finalized),
    signedPeriod: computeSyncCommitteePeriodAtSlot(network, signed),
  };
}

/** The store after an update whose signature holds, or a refusal by the checks behind the signature. */
function applyLightClientUpdate(
  network: BeaconNetwork,
  store: LightClientStore,
  facts: UpdateFacts,
): LightClientStore | ConsensusRefusal {
  const { finalizedHeader, finalized, nextCommittee } = facts;
  const hasFinality = facts.finalityBranch.length > 0;
  const hasCommittee = facts.nextCommitteeBranch.length > 0;
  return judge<LightClientStore, ConsensusRefusalReason>(() => {
    if (hasCommittee) checkKeys(nextCommittee!, 'next_sync_committee');
    const known = Number(store.finalized.beacon.slot);
    if (hasFinality && finalized === known) {
      const [root, other] = [store.finalized, finalizedHeader!].map(({ beacon }) =>
        beaconBlockHeader.hashTreeRoot(beacon),
      );
      const message = `another header of slot ${known} is final already`;
      refuseUnless(equalBytes(root!, other!), 'EQUIVOCATION', 'finalized_header.beacon', message);
    }
    const attestedIsNewer = facts.attestedHeader.beacon.slot > store.optimistic.beacon.slot;
    const optimistic = attestedIsNewer ? facts.attestedHeader : store.optimistic;
    const isNewer = hasFinality && finalized > known;
    const gives =
      store.next === undefined && hasCommittee && hasFinality && facts.finalizedPeriod === facts.attestedPeriod;
    if (!isNewer && !gives) return { ...store, optimistic };

    const period = computeSyncCommitteePeriodAtSlot(network, known);
    const rotates = facts.finalizedPeriod === period + 1;
    const fits = facts.finalizedPeriod === period || (rotates && store.next !== undefined);
    const message = `period ${facts.finalizedPeriod} is final, but the committee of period ${period + 1} is not known`;
    refuseUnless(fits, 'PERIOD_SKIPPED', 'finalized_header.beacon.slot', message);
    // A header is signed by a known committee, so the attested one is of the same period here as the finalized one.
    const given = hasCommittee ? nextCommittee : undefined;
    const next = store.next === undefined || rotates ? given : store.next;
    const header = isNewer ? finalizedHeader! : store.finalized;
    return {
      finalized: header,
      optimistic: optimistic.beacon.slot < header.beacon.slot ? header : optimistic,
      current: rotates ? store.next! : store.current,
      next,
    };
  });
}
