import type { FinalityOptions } from '../../chain/devnet/layer-one/finality.js';
import type { GenesisAccount } from '../../chain/devnet/state/genesis.js';
import type { BlobSchedule } from '../../ethereum/blob-gas.js';
import type { Prices } from '../../fees/prices.js';
import type {
  BlockSealing,
  CliqueSealing,
  DictionaryReference,
  ExtraDataPricing,
  ForkActivation,
  MaruSealing,
  Network,
  PoolRules,
  RollupContract,
  VerificationCostPricing,
} from '../../networks/network.js';
import type { FetchHandlerOptions } from '../../rpc/http/http.js';
import type { ProviderEndpoint, UrlEndpoint } from '../../upstream/options.js';
import type { ForkOptions } from './fork-options.js';
import { anyValue, byMember, each, type MemberChecks, members, type NameCheck } from './known-members.js';
import type { LayerOneOptions } from './layer-one-options.js';
import type { LightChainOptions } from './light-options.js';
import type { DevnetChainOptions, DictionarySource, NodeOptions } from './options.js';
import type { ReplicaChainOptions } from './replica-options.js';
import type { StorageBudgets, StorageOptions } from './storage-options.js';

const limits = {
  timeoutMs: anyValue,
  ratePerSecond: anyValue,
  burst: anyValue,
  concurrency: anyValue,
  batchLimit: anyValue,
};
const urlEndpoint = members<UrlEndpoint>({
  ...limits,
  url: anyValue,
  apiKey: anyValue,
  headers: anyValue,
  maxResponseBytes: anyValue,
});
const providerEndpoint = members<ProviderEndpoint>({ ...limits, provider: anyValue, name: anyValue });
const endpoints = each((value, path) => {
  const isProvider = typeof value === 'object' && value !== null && 'provider' in value;
  (isProvider ? providerEndpoint : urlEndpoint)(value, path);
});

const prices = members<Prices>({ fixedCostWei: anyValue, variableCostWei: anyValue, minGasPriceWei: anyValue });

const network = members<Network>({
  name: anyValue,
  chainId: anyValue,
  methodPrefix: anyValue,
  baseFeePerGas: anyValue,
  forks: each(
    members<ForkActivation>({
      hardfork: anyValue,
      block: anyValue,
      timestamp: anyValue,
      netsplit: anyValue,
      blobs: members<BlobSchedule>({ target: anyValue, max: anyValue, baseFeeUpdateFraction: anyValue }),
    }),
  ),
  blockRewards: anyValue,
  depositContract: anyValue,
  blockGasLimit: anyValue,
  txGasLimit: anyValue,
  calldataLimit: anyValue,
  pool: members<PoolRules>({ deniedAddresses: anyValue, delegationsRefused: anyValue, margin: anyValue }),
  blockMargin: anyValue,
  rpcGasCap: anyValue,
  slotSeconds: anyValue,
  gasSearch: anyValue,
  pastNonces: anyValue,
  pricing: byMember('model', {
    'extra-data': members<ExtraDataPricing>({ model: anyValue, defaults: prices, estimateMargin: anyValue }),
    'verification-cost': members<VerificationCostPricing>({
      model: anyValue,
      variant: anyValue,
      verificationGasCost: anyValue,
      verificationCapacity: anyValue,
      gasPriceRatio: anyValue,
      gasPriceAdjustmentWei: anyValue,
      minGasPriceWei: anyValue,
      estimateMargin: anyValue,
      floor: anyValue,
    }),
  }),
  sizing: anyValue,
  hashSchemes: each(members<Network['hashSchemes'][number]>({ fromBlock: anyValue, scheme: anyValue })),
  dictionary: members<DictionaryReference>({
    name: anyValue,
    sha256: anyValue,
    byteLength: anyValue,
    url: anyValue,
    mirrors: anyValue,
  }),
  rollup: members<RollupContract>({ address: anyValue, currentBlockSlot: anyValue, stateRootsSlot: anyValue }),
  layerOne: anyValue,
  checkpoint: anyValue,
  sealing: members<BlockSealing>({
    clique: members<CliqueSealing>({ signers: anyValue, lastBlock: anyValue, epochLength: anyValue }),
    maru: members<MaruSealing>({ validators: anyValue }),
  }),
  // A module that is not counted has no effect, and networks have modules that are not.
  moduleLimits: anyValue,
  messageService: anyValue,
});

const ofNetwork = {
  network,
  endpoints,
  maru: endpoints,
  level: anyValue,
  agreeing: anyValue,
  layerOneAgreeing: anyValue,
  // Names of tags, which light-options.ts checks.
  required: anyValue,
  maxLagBlocks: anyValue,
  maxReorgDepth: anyValue,
  headMaxAgeMs: anyValue,
  accessLists: anyValue,
  finalityMaxAgeMs: anyValue,
  proveLayerOne: anyValue,
  layerOneHeader: members<NonNullable<LightChainOptions['layerOneHeader']>>({ hash: anyValue }),
};
const light = { kind: anyValue, ...ofNetwork };

const followed = members<LayerOneOptions>({
  consensus: endpoints,
  execution: endpoints,
  checkpoint: members<NonNullable<LayerOneOptions['checkpoint']>>({ root: anyValue }),
  checkpointServers: endpoints,
  checkpointAgreeing: anyValue,
  checkpointMaxAgeMs: anyValue,
  maxAgeMs: anyValue,
  maxWalkBack: anyValue,
});

const layerOne: NameCheck = (value, path) => (Array.isArray(value) ? endpoints : followed)(value, path);

const CHAINS = {
  devnet: members<DevnetChainOptions>({
    kind: anyValue,
    network,
    scheme: anyValue,
    // geth's format, which has members that this library does not read.
    genesis: anyValue,
    importBlocks: anyValue,
    alloc: each(members<GenesisAccount>({ balance: anyValue, nonce: anyValue, code: anyValue, storage: anyValue })),
    tool: anyValue,
    mining: members<{ intervalSeconds: number }>({ intervalSeconds: anyValue }),
    finality: members<FinalityOptions>({ delayBlocks: anyValue, batchBlocks: anyValue, heldFinalizations: anyValue }),
    prices,
    fork: members<ForkOptions>({ ...ofNetwork, layerOne, block: anyValue }),
  }),
  light: members<LightChainOptions>({
    ...light,
    layerOne,
  }),
  replica: members<ReplicaChainOptions>({
    ...light,
    trieLogs: endpoints,
    layerOne: endpoints,
    stateManager: endpoints,
    rangeBlocks: anyValue,
    commitBlocks: anyValue,
    heldBlocks: anyValue,
    intermediateRoots: anyValue,
    followIntervalMs: anyValue,
  }),
};

type Dictionary<Kind> = Extract<DictionarySource, { kind: Kind }>;

const NODE: MemberChecks<NodeOptions> = {
  chain: byMember('kind', CHAINS),
  storeName: anyValue,
  storeCheck: anyValue,
  storage: members<StorageOptions>({
    budgets: members<StorageBudgets>({
      headers: anyValue,
      finalizations: anyValue,
      proofs: anyValue,
      codes: anyValue,
      dictionaries: anyValue,
      devnet: anyValue,
    }),
    durability: anyValue,
    fallback: anyValue,
  }),
  dictionary: byMember('kind', {
    general: members<Dictionary<'general'>>({ kind: anyValue }),
    bytes: members<Dictionary<'bytes'>>({ kind: anyValue, bytes: anyValue }),
    url: members<Dictionary<'url'>>({ kind: anyValue, url: anyValue }),
  }),
  openCheck: anyValue,
  kernelBuild: anyValue,
  requestTimeoutMs: anyValue,
  gasSearch: anyValue,
  gasBudget: anyValue,
  connectionGasBudget: anyValue,
  maxBatch: anyValue,
  maxSubscriptions: anyValue,
  maxFilters: anyValue,
  maxAnswerBytes: anyValue,
};

/** Check of the options of HTTP handlers. */
const http = members<FetchHandlerOptions>({ allowedOrigins: anyValue, allowedHosts: anyValue, maxBodyBytes: anyValue });

/**
 * Checks that all members of a node's options are known, at any depth: one that is misspelt would have no effect, and
 * `{ chian: … }` would open a devnet.
 *
 * @param own - names of options that only this way of opening a node has
 * @throws PlumblineError `INVALID_PARAMETER` with the path of the member, `chain.endpoints[0].apikey`, and what was meant
 */
export function requireKnown<Options extends NodeOptions>(
  options: Options,
  own: { readonly [Name in Exclude<keyof Options, keyof NodeOptions>]-?: true },
): void {
  const others = Object.keys(own).map((name) => [name, name === 'http' ? http : anyValue]);
  members({ ...NODE, ...Object.fromEntries(others) })(options, '');
}
