import type { Network } from '../../networks/network.js';
import type { BeaconNetwork } from './beacon-network.js';
import { BEACON_NETWORKS } from './public-networks.js';
import { SIMULATED_BEACON } from './simulated-network.js';

/** The beacon chain with the name that a network profile gives. */
export function beaconNetworkOf(name: NonNullable<Network['layerOne']>): BeaconNetwork {
  return [...BEACON_NETWORKS.values(), SIMULATED_BEACON].find((network) => network.name === name)!;
}
