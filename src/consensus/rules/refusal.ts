import { malformed } from '../../proof/json-reader.js';
import { type ProofFailure, Refusal } from '../../proof/verdict.js';
import { holdsExecution } from '../containers/execution.js';
import type { LightClientHeader } from '../containers/headers.js';
import { type Layout, layoutAtSlot, type SyncCommittee } from '../containers/layouts.js';
import type { BeaconNetwork } from '../networks/beacon-network.js';
import { hasKeyEncoding } from '../signatures/key-point.js';
import type { SignatureFailure } from '../signatures/verify-signatures.js';

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
export function refuseUnless(holds: boolean, reason: ConsensusRefusalReason, at: string, message: string): void {
  if (!holds) throw new Refusal(reason, at, message);
}

/**
 * Checks that an object has the layout of the fork that its slot belongs to.
 *
 * @throws PlumblineError `FORK_UNSUPPORTED`; `PROOF_MALFORMED` for a header of Deneb or later without its blob fields
 */
export function checkLayout(network: BeaconNetwork, layout: Layout, { beacon }: LightClientHeader, at: string): void {
  const expected = layoutAtSlot(network, beacon.slot);
  if (layout === expected) return;
  if (layout === 'capella') throw malformed(`${at}.execution.blob_gas_used`, `is missing at slot ${beacon.slot}`);
  throw new Refusal(
    'VERSION_MISMATCH',
    at,
    `slot ${beacon.slot} has the layout of ${expected}, the object that of ${layout}`,
  );
}

export function checkExecution(
  network: BeaconNetwork,
  header: LightClientHeader,
  reason: 'EXECUTION_BRANCH' | 'ATTESTED_EXECUTION_BRANCH' | 'FINALIZED_EXECUTION_BRANCH',
  at: string,
): void {
  const message = 'the execution header is not in the body of the beacon block';
  refuseUnless(holdsExecution(network, header), reason, `${at}.execution_branch`, message);
}

/** Checks the encoding of every key. Whether it is a point is checked when it is used. */
export function checkKeys({ pubkeys, aggregatePubkey }: SyncCommittee, at: string): void {
  for (const [i, key] of [...pubkeys, aggregatePubkey].entries()) {
    const place = i < pubkeys.length ? `pubkeys[${i}]` : 'aggregate_pubkey';
    refuseUnless(hasKeyEncoding(key), 'COMMITTEE_KEY', `${at}.${place}`, 'is not the encoding of a public key');
  }
}
