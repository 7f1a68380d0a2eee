import type { Block } from '../../src/chain/block.js';
import {
  makeBeaconBlock,
  signAsCommittee,
  simulatedCommittee,
  stateBranch,
} from '../../src/chain/devnet/layer-one/simulated-beacon.js';
import { computeSigningRoot } from '../../src/consensus/containers.js';
import { computeSyncCommitteePeriodAtSlot } from '../../src/consensus/slots.js';
import { toJson } from '../../src/consensus/ssz.js';
import { headerHash } from '../../src/ethereum/header.js';
import { beaconNetworkOf } from '../../src/networks/beacon-networks.js';
import type { BeaconNetwork } from '../../src/networks/network.js';
import { readHeader } from '../../src/proof/headers.js';
import type { Json } from './lie-edits.js';

const SIMULATED_BEACON = beaconNetworkOf('simulated');

/** A beacon chain that was never made. All in it fits together; the keys of the simulated validators sign it. */
export interface Forgery {
  /** Slot of the block that it names as final. */
  readonly finalized: number;
  /** Slot of the block that is signed; the one after `finalized` when left out. */
  readonly attested?: number;
  /** Slot of the signature; the one after `attested` when left out. */
  readonly signed?: number;
  /** Bits of those who sign; all when left out. */
  readonly bits?: Uint8Array;
  /** Bits that it claims, in place of those who sign. */
  readonly claimed?: Uint8Array;
  /** Period of the committee that signs; that of the signature when left out. */
  readonly signers?: number;
  /** The chain that the signature is for; the simulated one when left out. */
  readonly signedFor?: Partial<BeaconNetwork>;
  /** Whether the state names other committees than those of its period. */
  readonly otherCommittees?: boolean;
}

const ALL = new Uint8Array(4).fill(0xff);
/** Longer periods: a slot has other committees there. */
const OTHER_COMMITTEES = { ...SIMULATED_BEACON, preset: 'mainnet' } as const;

/** The first bits set. */
export const firstBits = (count: number) =>
  Uint8Array.from({ length: 4 }, (_, i) => (1 << Math.min(8, Math.max(0, count - 8 * i))) - 1);

/** A layer-1 block that was never made: another state root, under its own hash. @param block - a true one, as JSON */
function inventedBlock(block: Json): Block {
  const header = readHeader({ ...block, stateRoot: `0x${'ee'.repeat(32)}` });
  const hash = headerHash(header);
  return { header, hash, transactions: [], size: 0 };
}

function forge(layerOne: Json, { finalized, otherCommittees, claimed, bits = ALL, ...asked }: Forgery) {
  const { attested = finalized + 1, signed = attested + 1, signedFor } = asked;
  const network = otherCommittees === true ? OTHER_COMMITTEES : SIMULATED_BEACON;
  const block = inventedBlock(layerOne);
  const parent = makeBeaconBlock(network, finalized, block, undefined);
  const child = makeBeaconBlock(network, attested, block, parent);
  const message = computeSigningRoot({ ...SIMULATED_BEACON, ...signedFor }, child.header.beacon, signed);
  const signers = asked.signers ?? computeSyncCommitteePeriodAtSlot(SIMULATED_BEACON, signed);
  const members = {
    attestedHeader: child.header,
    finalizedHeader: parent.header,
    finalityBranch: stateBranch(network, child, 'finalizedRoot'),
    syncAggregate: {
      syncCommitteeBits: claimed ?? bits,
      syncCommitteeSignature: signAsCommittee(signers, bits, message),
    },
    signatureSlot: BigInt(signed),
  };
  return { network, child, members };
}

/** A finality update of the forged chain, as a beacon node answers. @param layerOne - a true block of layer 1, as JSON */
export function forgedFinality(layerOne: Json, forgery: Forgery): Json {
  return { version: 'fulu', data: toJson(forge(layerOne, forgery).members) };
}

/** As `forgedFinality`, an update of a period. */
export function forgedUpdate(layerOne: Json, forgery: Forgery): Json {
  const { network, child, members } = forge(layerOne, forgery);
  const nextSyncCommittee = simulatedCommittee(computeSyncCommitteePeriodAtSlot(network, child.slot) + 1).committee;
  const nextSyncCommitteeBranch = stateBranch(network, child, 'nextSyncCommittee');
  return { version: 'fulu', data: toJson({ ...members, nextSyncCommittee, nextSyncCommitteeBranch }) };
}
