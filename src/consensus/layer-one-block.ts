import { beaconBlockHeader, type LightClientHeader } from './containers/headers.js';
import { type BeaconNetwork, timeOfSlot } from './networks/beacon-network.js';

/** A layer-1 block that a header of a store proves. A fork can prove less than its hash: then a member is absent. */
export interface LayerOneBlock {
  readonly slot: number;
  /** Root of the beacon block, 32 bytes. */
  readonly beaconRoot: Uint8Array;
  readonly blockHash: Uint8Array;
  readonly number?: number;
  readonly stateRoot?: Uint8Array;
  /** Unix time of the slot, in seconds. */
  readonly timestamp: number;
}

/** The block that a header proves. @param header - of a store, so that it was verified */
export function layerOneBlock(network: BeaconNetwork, { beacon, execution }: LightClientHeader): LayerOneBlock {
  const slot = Number(beacon.slot);
  return {
    slot,
    beaconRoot: beaconBlockHeader.hashTreeRoot(beacon),
    blockHash: execution.blockHash,
    number: Number(execution.blockNumber),
    stateRoot: execution.stateRoot,
    timestamp: timeOfSlot(network, slot),
  };
}
