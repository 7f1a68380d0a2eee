import type { FinalityOptions } from '../../chain/devnet/layer-one/finality.js';
import { TOOLS } from '../../chain/devnet/options.js';
import type { GenesisAccount } from '../../chain/devnet/state/genesis.js';
import { invalidParameter } from '../../errors.js';
import type { BlobSchedule } from '../../ethereum/blob-gas.js';
import type { Prices } from '../../fees/prices.js';
import { GAS_SEARCHES } from '../../networks/gas-searches.js';
import {
  type BlockSealing,
  type CliqueSealing,
  type DictionaryReference,
  type ExtraDataPricing,
  type ForkActivation,
  HARDFORKS,
  type MaruSealing,
  type Network,
  type PoolRules,
  type RollupContract,
  requireBeaconNetwork,
  type VerificationCostPricing,
} from '../../networks/network.js';
import type { FetchHandlerOptions } from '../../rpc/http/http.js';
import type { ProviderEndpoint, UrlEndpoint } from '../../upstream/options.js';
import type { InlineExtras } from './inline-extras.js';
import {
  aboveZero,
  address,
  addresses,
  amount,
  anyValue,
  byMember,
  bytes,
  type Check,
  call,
  choice,
  count,
  flag,
  hex,
  isPlain,
  kindOf,
  listOf,
  type MemberChecks,
  members,
  needed,
  notNegative,
  object,
  recordOf,
  text,
  texts,
  value,
  wholeAboveZero,
  word,
} from './known-members.js';
import type { LayerOneOptions } from './layer-one-options.js';
import type { ForkOptions, LightChainOptions, ReplicaChainOptions } from './light-options.js';
import type { DevnetChainOptions, DictionarySource, NodeOptions } from './options.js';
import { isScriptUrl } from './script-url.js';
import type { StorageBudgets, StorageOptions } from './storage-options.js';

/** How a light node is opened, for errors. */
const EXAMPLE =
  "{ chain: { kind: 'light', network: linea, endpoints: ['https://…'] } }; an empty object opens a devnet";

/** Options that other libraries have, and where what they mean belongs. */
const ELSEWHERE = new Map([
  ...['network', 'endpoints', 'layerOne'].map((name) => [name, 'belongs into chain'] as const),
  ...['rpc', 'rpcUrl', 'rpcUrls', 'url', 'urls', 'endpoint', 'provider', 'transport', 'transports'].map(
    (name) => [name, 'is not an option; URLs are the endpoints of a chain'] as const,
  ),
]);

const limits = {
  timeoutMs: aboveZero,
  ratePerSecond: aboveZero,
  burst: aboveZero,
  concurrency: aboveZero,
  batchLimit: aboveZero,
};
const provider = value('an EIP-1193 provider, which has a function request', (given) => hasMethods(given, 'request'));
const urlEndpoint = members<UrlEndpoint>({
  ...limits,
  url: needed(text),
  apiKey: text,
  headers: recordOf(text),
  maxResponseBytes: aboveZero,
});
const providerEndpoint = members<ProviderEndpoint>({ ...limits, provider: needed(provider), name: text });
const endpoint: Check = (given, path) => {
  if (typeof given === 'string') return;
  if (typeof given !== 'object' || given === null)
    throw invalidParameter(path, `must be a URL, { url, … } or { provider }, is ${kindOf(given)}`);
  ('provider' in given ? providerEndpoint : urlEndpoint)(given, path);
};
const endpoints = listOf('a list of endpoints', endpoint);

const prices = members<Prices>({
  fixedCostWei: needed(amount),
  variableCostWei: needed(amount),
  minGasPriceWei: needed(amount),
});

const layerOneName = choice('mainnet', 'sepolia', 'hoodi', 'simulated');

const network = members<Network>(
  {
    name: needed(text),
    chainId: needed(wholeAboveZero),
    methodPrefix: needed(text),
    baseFeePerGas: needed(amount),
    forks: needed(
      listOf(
        'a list of forks',
        members<ForkActivation>({
          hardfork: needed(choice(...HARDFORKS)),
          block: count,
          timestamp: count,
          netsplit: choice(true),
          blobs: members<BlobSchedule>({
            target: needed(count),
            max: needed(count),
            baseFeeUpdateFraction: needed(
              value('a bigint above zero', (given) => typeof given === 'bigint' && given > 0n),
            ),
          }),
        }),
      ),
    ),
    blockRewards: flag,
    depositContract: address,
    blockGasLimit: needed(amount),
    txGasLimit: needed(amount),
    calldataLimit: needed(count),
    pool: members<PoolRules>({ deniedAddresses: addresses, delegationsRefused: flag, margin: notNegative }),
    blockMargin: notNegative,
    rpcGasCap: needed(amount),
    slotSeconds: needed(aboveZero),
    gasSearch: needed(choice(...GAS_SEARCHES)),
    pastNonces: choice('refused', 'ignored'),
    besuVersion: choice('26.8', '26.9'),
    equalTimestamps: choice('refused', 'allowed'),
    pricing: needed(
      byMember('model', {
        'extra-data': members<ExtraDataPricing>({
          model: needed(text),
          defaults: needed(prices),
          estimateMargin: needed(notNegative),
        }),
        'verification-cost': members<VerificationCostPricing>({
          model: needed(text),
          variant: needed(choice('A', 'B', 'C')),
          verificationGasCost: needed(notNegative),
          verificationCapacity: needed(aboveZero),
          gasPriceRatio: needed(notNegative),
          gasPriceAdjustmentWei: needed(value('a bigint', (given) => typeof given === 'bigint')),
          minGasPriceWei: needed(amount),
          estimateMargin: needed(notNegative),
          floor: needed(flag),
        }),
      }),
    ),
    sizing: needed(choice('current', 'signed')),
    hashSchemes: needed(
      listOf(
        'a list of hash schemes',
        members<Network['hashSchemes'][number]>({
          fromBlock: needed(count),
          scheme: needed(choice('mimc', 'poseidon2')),
        }),
      ),
    ),
    dictionary: members<DictionaryReference>({
      name: needed(text),
      sha256: needed(word),
      byteLength: needed(wholeAboveZero),
      url: text,
      mirrors: texts,
    }),
    rollup: needed(
      members<RollupContract>({
        address: needed(address),
        currentBlockSlot: needed(amount),
        stateRootsSlot: needed(amount),
        blockHashesSlot: amount,
      }),
    ),
    layerOne: (given, path) =>
      typeof given === 'object' ? requireBeaconNetwork(given, path) : layerOneName(given, path),
    checkpoint: word,
    sealing: members<BlockSealing>({
      clique: members<CliqueSealing>({
        signers: needed(addresses),
        lastBlock: needed(count),
        epochLength: needed(wholeAboveZero),
      }),
      maru: members<MaruSealing>({ validators: needed(addresses) }),
    }),
    // A module that is not counted has no effect, and networks have modules that are not.
    moduleLimits: recordOf(count),
    messageService: address,
  },
  (given) => ('rpcUrls' in given ? `is a chain of viem; choose a profile such as \`linea\`: ${EXAMPLE}` : undefined),
);
/** A profile, and not the name of one or the function that makes one. */
const profile: Check = (given, path) => {
  if (typeof given !== 'object' || given === null || !('chainId' in given || 'rpcUrls' in given))
    throw invalidParameter(path, 'must be a network profile, such as `linea` or `devnet()`');
  network(given, path);
};

const layerOneHeader = members<NonNullable<LightChainOptions['layerOneHeader']>>({ hash: needed(hex) });
const ofNetwork = {
  network: needed(profile),
  endpoints: needed(endpoints),
  maru: endpoints,
  level: text,
  agreeing: count,
  layerOneAgreeing: wholeAboveZero,
  // Names of tags, which light-options.ts checks.
  required: recordOf(text),
  maxLagBlocks: count,
  maxReorgDepth: count,
  headMaxAgeMs: notNegative,
  accessLists: flag,
  finalityMaxAgeMs: notNegative,
  proveLayerOne: flag,
  layerOneHeader,
};
const light = { kind: needed(text), ...ofNetwork };

const followed = members<LayerOneOptions>({
  consensus: needed(endpoints),
  execution: needed(endpoints),
  checkpoint: members<NonNullable<LayerOneOptions['checkpoint']>>({ root: needed(hex) }),
  checkpointServers: endpoints,
  checkpointAgreeing: wholeAboveZero,
  checkpointMaxAgeMs: aboveZero,
  maxAgeMs: aboveZero,
  maxWalkBack: count,
});

const layerOne: Check = (given, path) => {
  const isUnusable = typeof given !== 'object' || given === null;
  if (isUnusable)
    throw invalidParameter(path, `must be a list of endpoints or { consensus, execution }, is ${kindOf(given)}`);
  (Array.isArray(given) ? endpoints : followed)(given, path);
};

const INTERVAL = members<{ intervalSeconds: number }>({ intervalSeconds: needed(aboveZero) });

const CHAINS = {
  devnet: members<DevnetChainOptions>({
    kind: needed(text),
    network: profile,
    scheme: choice('poseidon2', 'mimc'),
    // geth's format, which has members that this library does not read.
    genesis: object,
    importBlocks: bytes,
    alloc: recordOf(members<GenesisAccount>({ balance: amount, nonce: amount, code: hex, storage: recordOf(hex) })),
    tool: choice(...TOOLS),
    mining: (given, path) =>
      typeof given === 'object' ? INTERVAL(given, path) : choice('auto', 'manual', '{ intervalSeconds }')(given, path),
    finality: members<FinalityOptions>({
      delayBlocks: count,
      batchBlocks: wholeAboveZero,
      heldFinalizations: wholeAboveZero,
      blockHashesFrom: count,
    }),
    prices,
    fork: members<ForkOptions>({ ...ofNetwork, layerOne, block: anyValue }),
  }),
  light: members<LightChainOptions>({ ...light, layerOne }),
  replica: members<ReplicaChainOptions>({
    ...light,
    trieLogs: needed(endpoints),
    layerOne: needed(endpoints),
    stateManager: endpoints,
    rangeBlocks: wholeAboveZero,
    commitBlocks: wholeAboveZero,
    heldBlocks: count,
    intermediateRoots: flag,
    followIntervalMs: aboveZero,
  }),
};

/** What is meant by a chain without a kind. */
function meantChain(given: object): string | undefined {
  if ('kind' in given) return undefined;
  if ('rpcUrls' in given) return `is a chain of viem; choose a profile such as \`linea\`: give ${EXAMPLE}`;
  if ('url' in given || 'rpcUrl' in given) return `has no kind; a URL is an endpoint: give ${EXAMPLE}`;
  return undefined;
}

type Dictionary<Kind> = Extract<DictionarySource, { kind: Kind }>;

const NODE: MemberChecks<NodeOptions> = {
  chain: byMember('kind', CHAINS, meantChain),
  storeName: text,
  storeCheck: choice('sampled', 'full'),
  storage: members<StorageOptions>({
    budgets: members<StorageBudgets>({
      headers: count,
      finalizations: count,
      proofs: count,
      codes: count,
      dictionaries: count,
      devnet: count,
    }),
    durability: choice('default', 'strict', 'relaxed'),
    fallback: choice('error', 'memory'),
  }),
  dictionary: byMember('kind', {
    general: members<Dictionary<'general'>>({ kind: needed(text) }),
    bytes: members<Dictionary<'bytes'>>({ kind: needed(text), bytes: needed(bytes) }),
    url: members<Dictionary<'url'>>({ kind: needed(text), url: needed(text) }),
  }),
  openCheck: choice('wait', 'background'),
  kernelBuild: choice('auto', 'simd', 'scalar'),
  requestTimeoutMs: aboveZero,
  gasSearch: choice(...GAS_SEARCHES),
  gasBudget: aboveZero,
  connectionGasBudget: aboveZero,
  maxBatch: aboveZero,
  maxSubscriptions: aboveZero,
  maxFilters: wholeAboveZero,
  maxAnswerBytes: wholeAboveZero,
};

/** A list of origins or hosts, or `*`. */
const names: Check = (given, path) => {
  if (given !== '*') listOf("'*' or a list of texts", text)(given, path);
};

/** Options that only one way of opening a node has. */
const OWN = {
  http: members<FetchHandlerOptions>({ allowedOrigins: names, allowedHosts: names, maxBodyBytes: wholeAboveZero }),
  worker: value(
    'a Worker, a SharedWorker or the URL of a script',
    (given) => typeof (given as Worker | null)?.addEventListener === 'function' || isScriptUrl(given),
  ),
  loadTimeoutMs: aboveZero,
  onProgress: call,
  fetch: call,
  store: value('a PageStore; the name of a database is storeName', (given) => hasMethods(given, 'get', 'commit')),
  onError: call,
  upstreamObserver: object,
  clock: value('a clock', (given) => hasMethods(given, 'now')),
  activity: object,
  replicaObserver: object,
  scriptUrl: needed(value('a URL', isScriptUrl)),
  scope: text,
  timeoutMs: aboveZero,
  path: text,
  paths: texts,
  urls: texts,
  forward: flag,
  fallback: choice('network', 'none'),
} satisfies Record<string, Check> & Record<Exclude<keyof InlineExtras, 'storeFailure'>, Check>;

function hasMethods(given: unknown, ...methods: readonly string[]): boolean {
  if (typeof given !== 'object' || given === null) return false;
  return methods.every((name) => typeof (given as Record<string, unknown>)[name] === 'function');
}

/**
 * Checks the options of a node by name and type, at any depth. A misspelt option would have no effect, and `{ chian: … }` or
 * `'linea'` would open a devnet.
 *
 * @param own - names of options that only this way of opening a node has
 * @throws PlumblineError `INVALID_PARAMETER` with the path of the member, `chain.endpoints[0].apikey`, what was wrong, and what was
 *   meant. It quotes no value: one may hold a key
 */
export function requireKnown<Options extends NodeOptions>(
  options: Options,
  own: { readonly [Name in Exclude<keyof Options, keyof NodeOptions>]-?: true },
): void {
  if (!isPlain(options)) throw invalidParameter('options', `must be an object, is ${kindOf(options)}; give ${EXAMPLE}`);
  const given: object = options;
  if ('rpcUrls' in given)
    throw invalidParameter('options', `must be those of a node; this is a chain of viem; give ${EXAMPLE}`);
  const others = Object.keys(own).map((name) => [name, OWN[name as keyof typeof OWN]]);
  const known = { ...NODE, ...Object.fromEntries(others) };
  for (const name of Object.keys(given)) {
    const place = ELSEWHERE.get(name);
    if (place !== undefined && !Object.hasOwn(known, name)) throw invalidParameter(name, `${place}; give ${EXAMPLE}`);
  }
  members(known)(options, '');
}
