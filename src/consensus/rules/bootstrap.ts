import { equalBytes } from '../../primitives/bytes.js';
import { judge } from '../../proof/verdict.js';
import { beaconBlockHeader } from '../containers/headers.js';
import { stateIndices, syncCommittee } from '../containers/layouts.js';
import type { LightClientObject } from '../containers/objects.js';
import type { BeaconNetwork } from '../networks/beacon-network.js';
import { rootFromBranch } from '../ssz/merkle.js';
import {
  type ConsensusRefusal,
  type ConsensusRefusalReason,
  checkExecution,
  checkKeys,
  checkLayout,
  refuseUnless,
} from './refusal.js';
import type { LightClientStore } from './store.js';

export interface BootstrapRequest {
  /** Root of the trusted beacon block, 32 bytes. */
  readonly root: Uint8Array;
  readonly currentSlot: number;
  /** How old the block may be. */
  readonly maxAgeSlots: number;
}

/** @returns the store to begin with, or the first check that failed @throws PlumblineError `FORK_UNSUPPORTED`, `PROOF_MALFORMED` */
export function verifyBootstrap(
  network: BeaconNetwork,
  { layout, data }: LightClientObject<'bootstrap'>,
  { root, currentSlot, maxAgeSlots }: BootstrapRequest,
): { readonly verified: true; readonly store: LightClientStore } | ConsensusRefusal {
  const { header, currentSyncCommittee: committee, currentSyncCommitteeBranch: branch } = data;
  return judge<{ verified: true; store: LightClientStore }, ConsensusRefusalReason>(() => {
    checkLayout(network, layout, header, 'header');
    const slot = Number(header.beacon.slot);
    const isTrusted = equalBytes(beaconBlockHeader.hashTreeRoot(header.beacon), root);
    refuseUnless(isTrusted, 'ROOT_MISMATCH', 'header.beacon', `is of slot ${slot}, and not the trusted block`);
    checkExecution(network, header, 'EXECUTION_BRANCH', 'header');
    const committeeRoot = syncCommittee(network.preset.committeeSize).hashTreeRoot(committee);
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
