import { type BeaconFork, type BeaconNetwork, MAINNET_PRESET } from './beacon-network.js';

const FORK_NAMES = ['phase0', 'altair', 'bellatrix', 'capella', 'deneb', 'electra', 'fulu', 'gloas'] as const;

/** Forks, as many as have an epoch, whose versions differ in one byte. */
function forks(epochs: readonly number[], versionOf: (index: number) => string): BeaconFork[] {
  return epochs.map((epoch, i) => ({ name: FORK_NAMES[i]!, epoch, version: `0x${versionOf(i)}` }));
}

/** @source ethereum/consensus-specs@a08d8a6e configs/mainnet.yaml */
const MAINNET: BeaconNetwork = {
  name: 'mainnet',
  preset: MAINNET_PRESET,
  genesisTime: 1_606_824_023,
  genesisValidatorsRoot: '0x4b363db94e286120d76eb905340fdd4e54bfe9f06bf33ff6cf5ad27f511bfe95',
  forks: forks([0, 74_240, 144_896, 194_048, 269_568, 364_032, 411_392], (i) => `0${i}000000`),
};

/** @source a16z/helios@1fbb909 ethereum/src/config/networks.rs; for Gloas ethereum/pm#2205 and eth-clients/sepolia#126 */
const SEPOLIA: BeaconNetwork = {
  name: 'sepolia',
  preset: MAINNET_PRESET,
  genesisTime: 1_655_733_600,
  genesisValidatorsRoot: '0xd8ea171f3c94aea21ebc42a1ed61052acf3f9209c00e4efbaaddac09ed9b8078',
  forks: forks([0, 50, 100, 56_832, 132_608, 222_464, 272_640, 353_024], (i) => `900000${69 + i}`),
};

/** @source a16z/helios@1fbb909 ethereum/src/config/networks.rs */
const HOODI: BeaconNetwork = {
  name: 'hoodi',
  preset: MAINNET_PRESET,
  genesisTime: 1_742_213_400,
  genesisValidatorsRoot: '0x212f13fc4df078b6cb7db228f1c8307566dcecf900867401a92023d7ba99cb5f',
  forks: forks([0, 0, 0, 0, 0, 2_048, 50_688], (i) => `${i + 1}0000910`),
};

/** The public beacon chains by the chain id of their execution chain. */
export const BEACON_NETWORKS: ReadonlyMap<number, BeaconNetwork> = new Map([
  [1, MAINNET],
  [11_155_111, SEPOLIA],
  [560_048, HOODI],
]);
