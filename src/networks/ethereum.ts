import type { ForkActivation, NameService, Network } from './network.js';

/** Blob parameters, as EIP-7840 names them. */
const blobs = (target: number, max: number, baseFeeUpdateFraction: bigint) => ({ target, max, baseFeeUpdateFraction });

/** Forks with a time, from Shanghai on. Blob parameters are the same on the three networks. */
function timed(
  [shanghai, cancun, prague, osaka, bpo1, bpo2]: readonly [number, number, number, number, number, number],
  amsterdam?: number,
): ForkActivation[] {
  return [
    { hardfork: 'shanghai', timestamp: shanghai },
    { hardfork: 'cancun', timestamp: cancun, blobs: blobs(3, 6, 3_338_477n) },
    { hardfork: 'prague', timestamp: prague, blobs: blobs(6, 9, 5_007_716n) },
    { hardfork: 'osaka', timestamp: osaka, blobs: blobs(6, 9, 5_007_716n) },
    { hardfork: 'bpo1', timestamp: bpo1, blobs: blobs(10, 15, 8_346_193n) },
    { hardfork: 'bpo2', timestamp: bpo2, blobs: blobs(14, 21, 11_684_671n) },
    ...(amsterdam === undefined
      ? []
      : [{ hardfork: 'amsterdam' as const, timestamp: amsterdam, blobs: blobs(14, 21, 11_684_671n) }]),
  ];
}

/** Members that the three networks share: the rules of go-ethereum, whose pool and estimates wallets know. */
const shared = {
  // Of a rollup's own methods, which are refused here with a reason.
  methodPrefix: 'linea',
  baseFeePerGas: 1_000_000_000n,
  blockRewards: true,
  blockGasLimit: 60_000_000n,
  txGasLimit: 60_000_000n,
  calldataLimit: 131_072,
  rpcGasCap: 50_000_000n,
  slotSeconds: 12,
  gasSearch: 'geth',
  // EIP-7928: withdrawals and system calls are in it too, and nothing else changes the state.
  accessLists: 'complete',
} as const;

/**
 * The registry has one address on mainnet and Sepolia. The source names none on Hoodi.
 *
 * @source https://docs.ens.domains/learn/deployments
 */
const ens: NameService = { registry: '0x00000000000c2e074ec69a0dfb2997ba6c7d2e1e' };

/**
 * Ethereum mainnet.
 *
 * @source ethereum/go-ethereum@v1.17.10 params/chainspecs, MainnetChainConfig
 */
export const ethereum: Network = {
  ...shared,
  name: 'ethereum',
  chainId: 1,
  depositContract: '0x00000000219ab540356cbb839cbe05303d7705fa',
  forks: [
    { hardfork: 'chainstart', block: 0 },
    { hardfork: 'homestead', block: 1_150_000 },
    // The DAO fork, which is part of the fork id: it changed balances once, and no rule.
    { hardfork: 'homestead', block: 1_920_000 },
    { hardfork: 'tangerineWhistle', block: 2_463_000 },
    { hardfork: 'spuriousDragon', block: 2_675_000 },
    { hardfork: 'byzantium', block: 4_370_000 },
    { hardfork: 'constantinople', block: 7_280_000 },
    { hardfork: 'petersburg', block: 7_280_000 },
    { hardfork: 'istanbul', block: 9_069_000 },
    { hardfork: 'muirGlacier', block: 9_200_000 },
    { hardfork: 'berlin', block: 12_244_000 },
    { hardfork: 'london', block: 12_965_000 },
    { hardfork: 'arrowGlacier', block: 13_773_000 },
    { hardfork: 'grayGlacier', block: 15_050_000 },
    { hardfork: 'paris', block: 15_537_394 },
    ...timed([1_681_338_455, 1_710_338_135, 1_746_612_311, 1_764_798_551, 1_765_290_071, 1_767_747_671]),
  ],
  layerOne: 'mainnet',
  ens,
};

/**
 * Sepolia, the test network of Ethereum for contracts.
 *
 * @source ethereum/go-ethereum@v1.17.10 params/chainspecs, SepoliaChainConfig; for Amsterdam docs/spec/glamsterdam.md 1
 */
export const sepolia: Network = {
  ...shared,
  name: 'sepolia',
  chainId: 11_155_111,
  depositContract: '0x7f02c3e3c98b133055b8b348b2ac625669ed295d',
  forks: [
    { hardfork: 'london', block: 0 },
    { hardfork: 'paris', block: 1_450_409, netsplit: 1_735_371 },
    ...timed([1_677_557_088, 1_706_655_072, 1_741_159_776, 1_760_427_360, 1_761_017_184, 1_761_607_008], 1_791_294_816),
  ],
  layerOne: 'sepolia',
  ens,
};

/**
 * Hoodi, the test network of Ethereum for validators.
 *
 * @source ethereum/go-ethereum@v1.17.10 params/chainspecs, HoodiChainConfig
 */
export const hoodi: Network = {
  ...shared,
  name: 'hoodi',
  chainId: 560_048,
  depositContract: '0x00000000219ab540356cbb839cbe05303d7705fa',
  forks: [
    { hardfork: 'paris', block: 0 },
    ...timed([0, 0, 1_742_999_832, 1_761_677_592, 1_762_365_720, 1_762_955_544]),
  ],
  layerOne: 'hoodi',
};
