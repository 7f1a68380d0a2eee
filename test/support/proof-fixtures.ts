import type { Hasher, HashScheme } from '../../src/kernel/contracts.js';
import type { Network } from '../../src/networks/network.js';
import { NETWORKS } from '../../src/networks/networks.js';
import { bytesToBigInt } from '../../src/primitives/bytes.js';
import { hexToBytes } from '../../src/primitives/hex.js';
import type { TreeQuestion } from '../../src/proof/linea-proof.js';
import type { ProofRequest } from '../../src/proof/verdict.js';
import { hasFixture } from './fixtures.js';
import { memoHasher } from './memo-hasher.js';

/** A recorded or forged answer of `linea_getProof` (fixtures/state/README.md). */
export interface AnswerFixture {
  scheme: HashScheme;
  address: string;
  storageKeys: string[];
  stateRoot: string;
  result: unknown;
}

/** One proof item with a raw 32-byte key. */
export interface ItemFixture {
  scheme: HashScheme;
  topRoot: string;
  item: { key: string; proof?: { value: string } };
}

/** Profile of the network that a header is of. @param name - as the fixture has it: `linea-mainnet` or `linea-sepolia` */
export function recordedNetwork(name: string): Network {
  return name === 'linea-mainnet' ? NETWORKS.linea : NETWORKS['linea-sepolia'];
}

/** Recorded answers: of trees with many leaves. */
const RECORDED = [
  'mimc-620681-missing-account',
  'mimc-620681-missing-slot',
  'mimc-contract-three-slots',
  'mimc-message-service',
  'poseidon2-devnet-contract',
  'poseidon2-missing-account',
  'poseidon2-small-contract',
];

const GENERATED = ['mimc', 'poseidon2'].flatMap((scheme) =>
  ['account-and-slots', 'missing-account'].map((name) => `generated-${scheme}-${name}`),
);

/** Answers of `linea_getProof`, by their names in state/getproof: the recorded ones, or where they are not there generated ones. */
export const ANSWERS: readonly string[] = hasFixture('state/getproof/mimc-message-service.json') ? RECORDED : GENERATED;

export function requestOf(fixture: AnswerFixture): ProofRequest {
  return {
    address: hexToBytes(fixture.address, 20),
    storageKeys: fixture.storageKeys.map((key) => hexToBytes(key, 32)),
    stateRoot: hexToBytes(fixture.stateRoot, 32),
  };
}

/** Question about a key of 32 bytes in a tree whose keys and values are hashed by `hash`. */
export function wordQuestion(key: Uint8Array, hash: (word: Uint8Array) => Uint8Array): TreeQuestion {
  return {
    key: bytesToBigInt(key),
    hkey: hash(key),
    hashValue: hash,
    valueBytes: 32,
    zeroIsAbsent: true,
  };
}

const hashers = new Map<HashScheme, Hasher>();

/** The reference hasher, which remembers what it has hashed: damaged answers differ from each other in little. */
export function rememberingHasher(scheme: HashScheme): Hasher {
  let hasher = hashers.get(scheme);
  if (hasher === undefined) {
    hasher = memoHasher(scheme);
    hashers.set(scheme, hasher);
  }
  return hasher;
}
