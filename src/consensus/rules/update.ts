import { equalBytes, ZERO_WORD } from '../../primitives/bytes.js';
import { judge, Refusal } from '../../proof/verdict.js';
import { beaconBlockHeader, type LightClientHeader } from '../containers/headers.js';
import { type Layout, type SyncCommittee, stateIndices, syncCommittee } from '../containers/layouts.js';
import { type BeaconNetwork, periodAt } from '../networks/beacon-network.js';
import { countParticipants } from '../signatures/participation.js';
import { signingRoot } from '../signatures/signing-root.js';
import type { SignatureClaim } from '../signatures/verify-signatures.js';
import { rootFromBranch } from '../ssz/merkle.js';
import { isZero } from '../ssz/ssz-type.js';
import { applyUpdate } from './apply.js';
import {
  type ConsensusRefusal,
  type ConsensusRefusalReason,
  checkExecution,
  checkLayout,
  refuseUnless,
} from './refusal.js';
import type { LightClientStore } from './store.js';
import { type AnyUpdate, factsOf, type UpdateFacts } from './update-facts.js';

/** An update that passed the checks before its signature. */
export interface PreparedUpdate {
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
export function prepareUpdate(
  network: BeaconNetwork,
  store: LightClientStore,
  { layout, data }: AnyUpdate,
  currentSlot: number,
): PreparedUpdate | ConsensusRefusal {
  return judge<PreparedUpdate, ConsensusRefusalReason>(() => {
    checkLayout(network, layout, data.attestedHeader, 'attested_header');
    const facts = factsOf(network, data);
    const participants = checkParticipation(facts.bits, network.preset.committeeSize);
    const committee = checkSlots(network, store, facts, currentSlot);
    checkHeaders(network, layout, facts);
    const differs = checkNextCommittee(network, store, layout, facts);
    return {
      claim: {
        committee,
        bits: facts.bits,
        signature: facts.signature,
        message: signingRoot(network, facts.attestedHeader.beacon, facts.signed),
      },
      participants,
      attested: facts.attested,
      outcome: differs ?? applyUpdate(network, store, facts),
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
  const period = periodAt(network, known);
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
  const holds = isInState(attestedHeader.beacon.stateRoot, leaf, stateIndices(layout).finalizedRoot, finalityBranch);
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
  const type = syncCommittee(network.preset.committeeSize);
  if (nextCommitteeBranch.length === 0) {
    refuseUnless(isZero(nextCommittee), 'NEXT_COMMITTEE_NOT_EMPTY', at, 'must be all zero without a branch');
    return undefined;
  }
  const period = periodAt(network, Number(store.finalized.beacon.slot));
  const differs =
    attestedPeriod === period &&
    store.next !== undefined &&
    !equalBytes(type.encode(store.next), type.encode(nextCommittee));
  const root = type.hashTreeRoot(nextCommittee);
  const { stateRoot } = attestedHeader.beacon;
  const holds = isInState(stateRoot, root, stateIndices(layout).nextSyncCommittee, nextCommitteeBranch);
  const message = `another committee is known for period ${period + 1}`;
  refuseUnless(holds || !differs, 'NEXT_COMMITTEE_DIFFERS', at, message);
  refuseUnless(holds, 'NEXT_COMMITTEE_BRANCH', `${at}_branch`, 'the committee is not in the attested state');
  return differs ? { verified: false, reason: 'NEXT_COMMITTEE_DIFFERS', at, message } : undefined;
}

/** No extra data is another value than a byte of zero. */
function isEmptyHeader(header: LightClientHeader): boolean {
  return isZero(header) && header.execution.extraData.length === 0;
}

function isInState(stateRoot: Uint8Array, leaf: Uint8Array, gindex: number, branch: readonly Uint8Array[]): boolean {
  return equalBytes(rootFromBranch(leaf, gindex, branch), stateRoot);
}
