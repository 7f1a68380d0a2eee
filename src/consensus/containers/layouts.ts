import { type BeaconNetwork, forkAt, forkUnsupported } from '../networks/beacon-network.js';
import { container } from '../ssz/container.js';
import { byteVector, type SszType, vector } from '../ssz/ssz-type.js';
import {
  branch,
  capellaExecutionHeader,
  denebExecutionHeader,
  type LightClientHeader,
  lightClientHeader,
  uint64,
} from './headers.js';

export interface SyncCommittee {
  /** Keys of the members, 48 bytes each. A validator can be a member more than once. */
  readonly pubkeys: readonly Uint8Array[];
  /** Sum of the keys, 48 bytes. */
  readonly aggregatePubkey: Uint8Array;
}

interface SyncAggregate {
  /** A bit for each member, least significant first. */
  readonly syncCommitteeBits: Uint8Array;
  /** 96 bytes. */
  readonly syncCommitteeSignature: Uint8Array;
}

/** @source ethereum/consensus-specs@a08d8a6e specs/altair/light-client/sync-protocol.md, for all containers of this file */
export interface LightClientBootstrap {
  readonly header: LightClientHeader;
  readonly currentSyncCommittee: SyncCommittee;
  readonly currentSyncCommitteeBranch: readonly Uint8Array[];
}

export interface LightClientOptimisticUpdate {
  readonly attestedHeader: LightClientHeader;
  readonly syncAggregate: SyncAggregate;
  readonly signatureSlot: bigint;
}

export interface LightClientFinalityUpdate extends LightClientOptimisticUpdate {
  readonly finalizedHeader: LightClientHeader;
  readonly finalityBranch: readonly Uint8Array[];
}

export interface LightClientUpdate extends LightClientFinalityUpdate {
  readonly nextSyncCommittee: SyncCommittee;
  readonly nextSyncCommitteeBranch: readonly Uint8Array[];
}

/** The objects that a beacon node serves to light clients. */
export interface LightClientObjects {
  readonly bootstrap: LightClientBootstrap;
  readonly update: LightClientUpdate;
  readonly finalityUpdate: LightClientFinalityUpdate;
  readonly optimisticUpdate: LightClientOptimisticUpdate;
}

export type ObjectKind = keyof LightClientObjects;

/** The forks that changed what a light client reads; Fulu has the layout of Electra. */
export type Layout = 'capella' | 'deneb' | 'electra';

const LAYOUTS: readonly Layout[] = ['capella', 'deneb', 'electra'];

/** Generalized indices in the state. */
export interface StateIndices {
  readonly currentSyncCommittee: number;
  readonly nextSyncCommittee: number;
  readonly finalizedRoot: number;
}

/** @source ethereum/consensus-specs@a08d8a6e specs/electra/light-client/sync-protocol.md, specs/altair/light-client/sync-protocol.md */
export function stateIndices(layout: Layout): StateIndices {
  return layout === 'electra'
    ? { currentSyncCommittee: 86, nextSyncCommittee: 87, finalizedRoot: 169 }
    : { currentSyncCommittee: 54, nextSyncCommittee: 55, finalizedRoot: 105 };
}

/** Layout of the fork with this name. @throws PlumblineError `FORK_UNSUPPORTED` */
export function layoutOfFork(network: BeaconNetwork, fork: string, epoch?: number): Layout {
  const layout = fork === 'fulu' ? 'electra' : LAYOUTS.find((name) => name === fork);
  // An endpoint can write anything here.
  if (layout === undefined) throw forkUnsupported(network.name, fork.slice(0, 32), epoch);
  return layout;
}

/** Layout of the fork that a slot belongs to. @throws PlumblineError `FORK_UNSUPPORTED` */
export function layoutAtSlot(network: BeaconNetwork, slot: bigint): Layout {
  const fork = forkAt(network, Number(slot));
  return layoutOfFork(network, fork.name, fork.epoch);
}

/** @param size - members */
export function syncCommittee(size: number): SszType<SyncCommittee> {
  return container<SyncCommittee>({ pubkeys: vector(byteVector(48), size), aggregatePubkey: byteVector(48) });
}

type Containers = { readonly [K in ObjectKind]: SszType<LightClientObjects[K]> };

const depth = (gindex: number) => Math.floor(Math.log2(gindex));

/** The containers of a layout. @param committeeSize - members of a sync committee */
export function containersOf(layout: Layout, committeeSize: number): Containers {
  const indices = stateIndices(layout);
  const header = lightClientHeader(layout === 'capella' ? capellaExecutionHeader : denebExecutionHeader);
  const committee = syncCommittee(committeeSize);
  const finality = { finalizedHeader: header, finalityBranch: branch(depth(indices.finalizedRoot)) };
  const signed = {
    syncAggregate: container<SyncAggregate>({
      syncCommitteeBits: byteVector(committeeSize / 8),
      syncCommitteeSignature: byteVector(96),
    }),
    signatureSlot: uint64,
  };
  return {
    bootstrap: container<LightClientBootstrap>({
      header,
      currentSyncCommittee: committee,
      currentSyncCommitteeBranch: branch(depth(indices.currentSyncCommittee)),
    }),
    update: container<LightClientUpdate>({
      attestedHeader: header,
      nextSyncCommittee: committee,
      nextSyncCommitteeBranch: branch(depth(indices.nextSyncCommittee)),
      ...finality,
      ...signed,
    }),
    finalityUpdate: container<LightClientFinalityUpdate>({ attestedHeader: header, ...finality, ...signed }),
    optimisticUpdate: container<LightClientOptimisticUpdate>({ attestedHeader: header, ...signed }),
  };
}
