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
import { any, byMember, each, type MemberChecks, members, type NameCheck } from './known-members.js';
import type { LayerOneOptions } from './layer-one-options.js';
import type { LightChainOptions } from './light-options.js';
import type { DevnetChainOptions, DictionarySource, NodeOptions } from './options.js';
import type { ReplicaChainOptions } from './replica-options.js';
import type { StorageBudgets, StorageOptions } from './storage-options.js';

const limits = { timeoutMs: any, ratePerSecond: any, burst: any, concurrency: any, batchLimit: any };
const urlEndpoint = members<UrlEndpoint>({ ...limits, url: any, apiKey: any, headers: any, maxResponseBytes: any });
const providerEndpoint = members<ProviderEndpoint>({ ...limits, provider: any, name: any });
const endpoints = each((value, path) => {
  const isProvider = typeof value === 'object' && value !== null && 'provider' in value;
  (isProvider ? providerEndpoint : urlEndpoint)(value, path);
});

const prices = members<Prices>({ fixedCostWei: any, variableCostWei: any, minGasPriceWei: any });

const network = members<Network>({
  name: any,
  chainId: any,
  methodPrefix: any,
  baseFeePerGas: any,
  forks: each(
    members<ForkActivation>({
      hardfork: any,
      block: any,
      timestamp: any,
      netsplit: any,
      blobs: members<BlobSchedule>({ target: any, max: any, baseFeeUpdateFraction: any }),
    }),
  ),
  blockRewards: any,
  depositContract: any,
  blockGasLimit: any,
  txGasLimit: any,
  calldataLimit: any,
  pool: members<PoolRules>({ deniedAddresses: any, delegationsRefused: any, margin: any }),
  blockMargin: any,
  rpcGasCap: any,
  slotSeconds: any,
  gasSearch: any,
  pastNonces: any,
  pricing: byMember('model', {
    'extra-data': members<ExtraDataPricing>({ model: any, defaults: prices, estimateMargin: any }),
    'verification-cost': members<VerificationCostPricing>({
      model: any,
      variant: any,
      verificationGasCost: any,
      verificationCapacity: any,
      gasPriceRatio: any,
      gasPriceAdjustmentWei: any,
      minGasPriceWei: any,
      estimateMargin: any,
      floor: any,
    }),
  }),
  sizing: any,
  hashSchemes: each(members<Network['hashSchemes'][number]>({ fromBlock: any, scheme: any })),
  dictionary: members<DictionaryReference>({ name: any, sha256: any, byteLength: any, url: any, mirrors: any }),
  rollup: members<RollupContract>({ address: any, currentBlockSlot: any, stateRootsSlot: any }),
  layerOne: any,
  checkpoint: any,
  sealing: members<BlockSealing>({
    clique: members<CliqueSealing>({ signers: any, lastBlock: any, epochLength: any }),
    maru: members<MaruSealing>({ validators: any }),
  }),
  // A module that is not counted has no effect, and networks have modules that are not.
  moduleLimits: any,
  messageService: any,
});

const ofNetwork = {
  network,
  endpoints,
  maru: endpoints,
  level: any,
  agreeing: any,
  layerOneAgreeing: any,
  // Names of tags, which light-options.ts checks.
  required: any,
  maxLagBlocks: any,
  maxReorgDepth: any,
  headMaxAgeMs: any,
  accessLists: any,
  finalityMaxAgeMs: any,
  proveLayerOne: any,
  layerOneHeader: members<NonNullable<LightChainOptions['layerOneHeader']>>({ hash: any }),
};
const light = { kind: any, ...ofNetwork };

const followed = members<LayerOneOptions>({
  consensus: endpoints,
  execution: endpoints,
  checkpoint: members<NonNullable<LayerOneOptions['checkpoint']>>({ root: any }),
  checkpointServers: endpoints,
  checkpointAgreeing: any,
  checkpointMaxAgeMs: any,
  maxAgeMs: any,
  maxWalkBack: any,
});

const layerOne: NameCheck = (value, path) => (Array.isArray(value) ? endpoints : followed)(value, path);

const CHAINS = {
  devnet: members<DevnetChainOptions>({
    kind: any,
    network,
    scheme: any,
    // geth's format, which has members that this library does not read.
    genesis: any,
    importBlocks: any,
    alloc: each(members<GenesisAccount>({ balance: any, nonce: any, code: any, storage: any })),
    tool: any,
    mining: members<{ intervalSeconds: number }>({ intervalSeconds: any }),
    finality: members<FinalityOptions>({ delayBlocks: any, batchBlocks: any, heldFinalizations: any }),
    prices,
    fork: members<ForkOptions>({ ...ofNetwork, layerOne, block: any }),
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
    rangeBlocks: any,
    commitBlocks: any,
    heldBlocks: any,
    intermediateRoots: any,
    followIntervalMs: any,
  }),
};

type Dictionary<Kind> = Extract<DictionarySource, { kind: Kind }>;

const NODE: MemberChecks<NodeOptions> = {
  chain: byMember('kind', CHAINS),
  storeName: any,
  storeCheck: any,
  storage: members<StorageOptions>({
    budgets: members<StorageBudgets>({
      headers: any,
      finalizations: any,
      proofs: any,
      codes: any,
      dictionaries: any,
      devnet: any,
    }),
    durability: any,
    fallback: any,
  }),
  dictionary: byMember('kind', {
    general: members<Dictionary<'general'>>({ kind: any }),
    bytes: members<Dictionary<'bytes'>>({ kind: any, bytes: any }),
    url: members<Dictionary<'url'>>({ kind: any, url: any }),
  }),
  openCheck: any,
  kernelBuild: any,
  requestTimeoutMs: any,
  gasSearch: any,
  gasBudget: any,
  connectionGasBudget: any,
  maxBatch: any,
  maxSubscriptions: any,
  maxFilters: any,
  maxAnswerBytes: any,
};

/** Check of the options of HTTP handlers. */
const http = members<FetchHandlerOptions>({ allowedOrigins: any, allowedHosts: any, maxBodyBytes: any });

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
  const others = Object.keys(own).map((name) => [name, name === 'http' ? http : any]);
  members({ ...NODE, ...Object.fromEntries(others) })(options, '');
}
