import { isZeroBytes } from '../../primitives/bytes.js';
import type { LightClientHeader } from '../containers/headers.js';
import type { LightClientObjects, ObjectKind, SyncCommittee } from '../containers/layouts.js';
import type { LightClientObject } from '../containers/objects.js';
import { type BeaconNetwork, periodAt } from '../networks/beacon-network.js';

/** An update of any of the three kinds. */
export type AnyUpdate = LightClientObject<Exclude<ObjectKind, 'bootstrap'>>;

type Members = LightClientObjects['optimisticUpdate'] & Partial<LightClientObjects['update']>;

/** An update in one form for the three kinds: a finality update has no next committee, an optimistic one no finality. */
export interface UpdateFacts {
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

export function factsOf(network: BeaconNetwork, data: AnyUpdate['data']): UpdateFacts {
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
    attestedPeriod: periodAt(network, attested),
    finalizedPeriod: periodAt(network, finalized),
    signedPeriod: periodAt(network, signed),
  };
}
