import { concatBytes } from '../../primitives/bytes.js';
import { hexToBytes } from '../../primitives/hex.js';
import { type BeaconBlockHeader, beaconBlockHeader } from '../containers/headers.js';
import { type BeaconNetwork, forkAt } from '../networks/beacon-network.js';
import { chunksOf, hashPair } from '../ssz/merkle.js';

/** @source ethereum/consensus-specs@a08d8a6e specs/altair/beacon-chain.md */
const DOMAIN_SYNC_COMMITTEE = Uint8Array.of(7, 0, 0, 0);

/** Root of the version of a fork and the chain's genesis, 32 bytes. @param version - 4 bytes */
export function forkDataRoot(network: BeaconNetwork, version: Uint8Array): Uint8Array {
  return hashPair(chunksOf(version)[0]!, hexToBytes(network.genesisValidatorsRoot, 32));
}

/**
 * What a sync committee signs, 32 bytes. The version is that of the slot before the signature's.
 *
 * @source ethereum/consensus-specs@a08d8a6e specs/altair/light-client/sync-protocol.md, validate_light_client_update
 */
export function signingRoot(network: BeaconNetwork, attested: BeaconBlockHeader, signatureSlot: number): Uint8Array {
  const version = hexToBytes(forkAt(network, Math.max(signatureSlot, 1) - 1).version, 4);
  const domain = concatBytes(DOMAIN_SYNC_COMMITTEE, forkDataRoot(network, version).subarray(0, 28));
  return hashPair(beaconBlockHeader.hashTreeRoot(attested), domain);
}
