import { LINEA_MODULE_LIMITS } from './module-limits.js';
import type { DictionaryReference, RollupNetwork } from './network.js';

// The commit is the same in both repositories.
const DICTIONARY_FILE = 'cb180134d7b7904ca588e6d99264b7b10fe06929/prover/lib/compressor/dict/25-04-21.bin';

/** The dictionary with which Linea's sequencer sizes transactions since May 2025, on all its networks (docs/spec/compression.md 9). */
export const LINEA_DICTIONARY: DictionaryReference = {
  name: '25-04-21',
  sha256: '0x8b0ec4e54e3523f1bc6f9f690df1e4b712eea872759cdb5a998c1e5b9b0f2b7d',
  byteLength: 65_536,
  // A file of the network's own repository, by its new name and its old one. The checksum above pins its content.
  url: `https://raw.githubusercontent.com/LFDT-Lineth/lineth-monorepo/${DICTIONARY_FILE}`,
  mirrors: [`https://raw.githubusercontent.com/Consensys/linea-monorepo/${DICTIONARY_FILE}`],
};

const CURRENT_BLOCK_SLOT = 281n;
const STATE_ROOTS_SLOT = 282n;
/** @source docs/spec/messages.md 4: `l2MerkleRootsDepths`, claimed bits */
const MESSAGE_SLOTS = { rootDepthsSlot: 336n, claimedSlot: 335n };

/** Members that both public networks share: docs/spec/json-rpc.md 1 and 2.2, docs/spec/fees.md 2, 5.2 and 7. */
const shared = {
  methodPrefix: 'linea',
  baseFeePerGas: 7n,
  blockGasLimit: 2_000_000_000n,
  txGasLimit: 24_000_000n,
  calldataLimit: 60_000,
  // Margins of the pool and of block building in both networks' configuration (docs/spec/fees.md 2).
  pool: { margin: 0.8 },
  blockMargin: 1,
  rpcGasCap: 50_000_000n,
  slotSeconds: 1,
  gasSearch: 'besu',
  // Besu's estimates allow a future nonce only (docs/spec/fees.md 5.2).
  pastNonces: 'refused',
  equalTimestamps: 'refused',
  sizing: 'current',
  dictionary: LINEA_DICTIONARY,
  moduleLimits: LINEA_MODULE_LIMITS,
} as const;

/** Clique's epoch on both networks, blocks (docs/spec/json-rpc.md 5.2). */
const CLIQUE_EPOCH = 30_000;

/*
 * Where the hash of the zk state changes from mimc to poseidon2 is published as a release date only, never as a block
 * (docs/spec/json-rpc.md 6). The block numbers below are estimates for that date, from the last recorded header before it and a
 * block every two seconds. Blocks may have come faster, so the true number can be higher. It decides only which scheme is
 * tried first: a verifier tries the other scheme when the root does not match, and no proof is valid under the wrong one.
 */

/** Linea mainnet. */
export const linea: RollupNetwork = {
  ...shared,
  name: 'linea',
  chainId: 59_144,
  // The last Clique block, at terminal total difficulty 49575263, is 24787631: a block adds 2, genesis is 1.
  forks: [
    { hardfork: 'london', block: 0 },
    { hardfork: 'paris', block: 24_787_632 },
    { hardfork: 'shanghai', timestamp: 1_761_213_600 },
    { hardfork: 'cancun', timestamp: 1_761_645_600 },
    { hardfork: 'prague', timestamp: 1_761_646_200 },
    { hardfork: 'osaka', timestamp: 1_764_798_551 },
  ],
  pricing: {
    model: 'extra-data',
    defaults: { fixedCostWei: 30_000_000n, variableCostWei: 1_000_000_000n, minGasPriceWei: 41_904_000n },
    estimateMargin: 1.2,
  },
  hashSchemes: [
    { fromBlock: 0, scheme: 'mimc' },
    // Released 1 April 2026; block 28279169 is of 1769305334.
    { fromBlock: 31_127_000, scheme: 'poseidon2' },
  ],
  layerOne: 'mainnet',
  rollup: {
    address: '0xd19d4B5d358258f05D7B411E21A1460D11B0876F',
    currentBlockSlot: CURRENT_BLOCK_SLOT,
    stateRootsSlot: STATE_ROOTS_SLOT,
    ...MESSAGE_SLOTS,
  },
  sealing: {
    clique: {
      signers: ['0x8f81e2e3f8b46467523463835f965ffe476e1c9e'],
      lastBlock: 24_787_631,
      epochLength: CLIQUE_EPOCH,
    },
    maru: { validators: ['0x9f31730181441beb67b10efaed5773767ea959bc'] },
  },
  messageService: '0x508Ca82Df566dCD1B0DE8296e70a96332cD644ec',
  tokenBridge: {
    address: '0x353012dc4a9A6cF55c941bADC267f82004A8ceB9',
    layerOne: '0x051F1D88f0aF5763fB888eC4378b4D8B29ea3319',
  },
};

/** Linea Sepolia, the public test network. */
export const lineaSepolia: RollupNetwork = {
  ...shared,
  name: 'linea-sepolia',
  chainId: 59_141,
  // Terminal total difficulty 37331807, by the same count: the last Clique block is 18665903.
  forks: [
    { hardfork: 'london', block: 0 },
    { hardfork: 'paris', block: 18_665_904 },
    { hardfork: 'shanghai', timestamp: 1_759_147_200 },
    { hardfork: 'cancun', timestamp: 1_759_233_600 },
    { hardfork: 'prague', timestamp: 1_760_004_000 },
    { hardfork: 'osaka', timestamp: 1_764_583_200 },
  ],
  pricing: {
    model: 'extra-data',
    // As headers of December 2025 have them (docs/spec/fees.md 3).
    defaults: { fixedCostWei: 25_000_000n, variableCostWei: 1_000_000_000n, minGasPriceWei: 36_904_000n },
    estimateMargin: 1.2,
  },
  hashSchemes: [
    { fromBlock: 0, scheme: 'mimc' },
    // Released 24 March 2026; block 23985771 is of 1769685461.
    { fromBlock: 26_298_000, scheme: 'poseidon2' },
  ],
  layerOne: 'sepolia',
  rollup: {
    address: '0xB218f8A4Bc926cF1cA7b3423c154a0D627Bdb7E5',
    currentBlockSlot: CURRENT_BLOCK_SLOT,
    stateRootsSlot: STATE_ROOTS_SLOT,
    ...MESSAGE_SLOTS,
  },
  sealing: {
    clique: {
      signers: ['0xa27342f1b74c0cfb2cda74bac1628d0c1a9752f2'],
      lastBlock: 18_665_903,
      epochLength: CLIQUE_EPOCH,
    },
    maru: { validators: ['0x20e2654209c3f5a7b4728fb228778f1261f1013f'] },
  },
  messageService: '0x971e727e956690b9957be6d51Ec16E73AcAC83A7',
  tokenBridge: {
    address: '0x93DcAdf238932e6e6a85852caC89cBd71798F463',
    layerOne: '0x5A0a48389BB0f12E5e017116c1105da97E129142',
  },
};
