import type { Network } from '../networks/network.js';
import type { BeaconNetwork } from './beacon-network.js';
import { BEACON_NETWORKS } from './public-networks.js';

/**
 * The beacon chain beside the simulated layer 1 of a devnet: sizes of the minimal preset, but a slot each second, so that a
 * period has 64 seconds. Genesis is that of devnets, and Fulu is active from there on.
 *
 * @source ethereum/consensus-specs@a08d8a6e presets/minimal/altair.yaml, presets/minimal/phase0.yaml
 */
export const SIMULATED_BEACON: BeaconNetwork = {
  name: 'simulated',
  preset: { slotsPerEpoch: 8, epochsPerPeriod: 8, committeeSize: 32, secondsPerSlot: 1 },
  genesisTime: 1_700_000_000,
  // `plumbline simulated beacon chain` in ASCII.
  genesisValidatorsRoot: '0x706c756d626c696e652073696d756c6174656420626561636f6e20636861696e',
  forks: [{ name: 'fulu', epoch: 0, version: '0x06e70300' }],
};

/** The beacon chain with the name that a network profile gives. */
export function beaconNetworkOf(name: NonNullable<Network['layerOne']>): BeaconNetwork {
  return [...BEACON_NETWORKS.values(), SIMULATED_BEACON].find((network) => network.name === name)!;
}
