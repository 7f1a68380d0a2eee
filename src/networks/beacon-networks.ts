import { invalidParameter } from '../errors.js';
import { type BeaconFork, type BeaconNetwork, type LayerOneName, requireBeaconNetwork } from './network.js';

const FORK_NAMES = ['phase0', 'altair', 'bellatrix', 'capella', 'deneb', 'electra', 'fulu', 'gloas'] as const;

/** Forks whose versions differ in one byte. Those after the last epoch have none yet. @param known - how many have a known version */
function forks(epochs: readonly number[], versionOf: (index: number) => string, known = epochs.length): BeaconFork[] {
  return FORK_NAMES.slice(0, known).map((name, i) => {
    const epoch = epochs[i];
    return { name, ...(epoch !== undefined && { epoch }), version: `0x${versionOf(i)}` };
  });
}

/** @source ethereum/consensus-specs@a08d8a6e configs/mainnet.yaml */
const MAINNET: BeaconNetwork = {
  name: 'mainnet',
  preset: 'mainnet',
  secondsPerSlot: 12,
  genesisTime: 1_606_824_023,
  genesisValidatorsRoot: '0x4b363db94e286120d76eb905340fdd4e54bfe9f06bf33ff6cf5ad27f511bfe95',
  forks: forks([0, 74_240, 144_896, 194_048, 269_568, 364_032, 411_392], (i) => `0${i}000000`, 8),
  depositChainId: 1,
};

/** @source a16z/helios@1fbb909 ethereum/src/config/networks.rs; for Gloas ethereum/pm#2205 and eth-clients/sepolia#126 */
const SEPOLIA: BeaconNetwork = {
  name: 'sepolia',
  preset: 'mainnet',
  secondsPerSlot: 12,
  genesisTime: 1_655_733_600,
  genesisValidatorsRoot: '0xd8ea171f3c94aea21ebc42a1ed61052acf3f9209c00e4efbaaddac09ed9b8078',
  forks: forks([0, 50, 100, 56_832, 132_608, 222_464, 272_640, 353_024], (i) => `900000${69 + i}`),
  depositChainId: 11_155_111,
};

/** @source a16z/helios@1fbb909 ethereum/src/config/networks.rs */
const HOODI: BeaconNetwork = {
  name: 'hoodi',
  preset: 'mainnet',
  secondsPerSlot: 12,
  genesisTime: 1_742_213_400,
  genesisValidatorsRoot: '0x212f13fc4df078b6cb7db228f1c8307566dcecf900867401a92023d7ba99cb5f',
  forks: forks([0, 0, 0, 0, 0, 2_048, 50_688], (i) => `${i + 1}0000910`),
  depositChainId: 560_048,
};

/**
 * The beacon chain beside the simulated layer 1 of a devnet: a slot each second, so that a period has 64 seconds. Genesis is that of
 * devnets, and Fulu is active from there on.
 *
 * @source the version of Gloas: ethereum/consensus-specs@a08d8a6e configs/minimal.yaml, with the last two bytes of the simulated chain
 */
const SIMULATED: BeaconNetwork = {
  name: 'simulated',
  preset: 'minimal',
  secondsPerSlot: 1,
  genesisTime: 1_700_000_000,
  // `plumbline simulated beacon chain` in ASCII.
  genesisValidatorsRoot: '0x706c756d626c696e652073696d756c6174656420626561636f6e20636861696e',
  forks: [
    { name: 'fulu', epoch: 0, version: '0x06e70300' },
    { name: 'gloas', version: '0x07e70300' },
  ],
  depositChainId: 1337,
};

const BY_NAME: { readonly [Name in LayerOneName]: BeaconNetwork } = {
  mainnet: MAINNET,
  sepolia: SEPOLIA,
  hoodi: HOODI,
  simulated: SIMULATED,
};

/** The public beacon chain of a layer 1. @param chainId - of layer 1 */
export function publicBeaconNetwork(chainId: number): BeaconNetwork | undefined {
  return [MAINNET, SEPOLIA, HOODI].find(({ depositChainId }) => depositChainId === chainId);
}

/** The beacon chain of a profile. */
export function beaconNetworkOf(layerOne: LayerOneName | BeaconNetwork): BeaconNetwork {
  return typeof layerOne === 'string' ? BY_NAME[layerOne] : layerOne;
}

/**
 * A beacon chain that this release knows, as data for `Network.layerOne`. You can give other epochs of its forks, if their schedule
 * has changed.
 *
 * @param epochs - new epochs, by the name of the fork
 * @throws PlumblineError `INVALID_PARAMETER` for a fork whose version is not known, or epochs that fall
 * @example
 * ```ts
 * import { beaconNetwork, lineaSepolia } from 'plumbline-l2';
 *
 * const network = { ...lineaSepolia, layerOne: beaconNetwork('sepolia', { gloas: 353_280 }) };
 * ```
 */
export function beaconNetwork(name: LayerOneName, epochs: Readonly<Record<string, number>> = {}): BeaconNetwork {
  if (!Object.hasOwn(BY_NAME, name))
    throw invalidParameter('name', `must be one of ${Object.keys(BY_NAME).join(', ')}`);
  const known = BY_NAME[name];
  for (const fork of Object.keys(epochs))
    if (!known.forks.some((one) => one.name === fork))
      throw invalidParameter(
        `epochs.${fork}`,
        `is of no fork of ${name} whose version is known; write the beacon chain as an object`,
      );
  const forks = known.forks.map((fork) => ({ ...fork, ...(fork.name in epochs && { epoch: epochs[fork.name]! }) }));
  const network = { ...known, forks };
  requireBeaconNetwork(network, 'epochs');
  return network;
}
