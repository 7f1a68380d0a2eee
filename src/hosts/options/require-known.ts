import { DEVNET_OPTIONS } from '../../chain/devnet/options.js';
import type { DevAccount } from '../../chain/devnet/state/dev-accounts.js';
import type { GenesisAccount } from '../../chain/devnet/state/genesis.js';
import { FORK_OPTIONS } from '../../chain/fork/fork-options.js';
import { LAYER_ONE_OPTIONS, LIGHT_OPTIONS } from '../../chain/light/light-options.js';
import { REPLICA_OPTIONS } from '../../chain/replica/settings.js';
import { invalidParameter } from '../../errors.js';
import type { BlobSchedule } from '../../ethereum/base-fee.js';
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
  type NameService,
  type Network,
  type PoolRules,
  type RollupContract,
  requireBeaconNetwork,
  type TokenBridge,
  type VerificationCostPricing,
} from '../../networks/network.js';
import type { AnyTable, OptionForm, OptionForms, TableOf } from '../../primitives/option-table.js';
import type { FetchHandlerOptions } from '../../rpc/http.js';
import { FEED_OPTIONS, PROVIDER_ENDPOINT_OPTIONS, URL_ENDPOINT_OPTIONS } from '../../upstream/options.js';
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
import { type DictionarySource, NODE_OPTIONS, type NodeOptions } from './options.js';
import { isScriptUrl } from './script-url.js';

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

/** The check of a table's options. */
function tableOf(table: AnyTable, hint?: Parameters<typeof members>[1]): Check {
  const rows = Object.entries(table).map(([name, { is, needed: isNeeded }]) => {
    const check = formOf(is as OptionForm<unknown> | AnyTable);
    return [name, isNeeded ? needed(check) : check];
  });
  return members(Object.fromEntries(rows), hint);
}

/** The check of a form. A named one is looked up as it is used: forms and tables refer to one another. */
function formOf(form: string | readonly unknown[] | AnyTable): Check {
  if (typeof form === 'string') return (given, path) => FORMS[form as keyof OptionForms](given, path);
  return Array.isArray(form) ? choice(...form) : tableOf(form as AnyTable);
}

const urlEndpoint = tableOf(URL_ENDPOINT_OPTIONS);
const providerEndpoint = tableOf(PROVIDER_ENDPOINT_OPTIONS);
const feedEndpoint = tableOf(FEED_OPTIONS);
const endpoint: Check = (given, path) => {
  if (typeof given === 'string') return;
  if (typeof given !== 'object' || given === null)
    throw invalidParameter(path, `must be a URL, { url, … }, { feed } or { provider }, is ${kindOf(given)}`);
  ('provider' in given ? providerEndpoint : 'feed' in given ? feedEndpoint : urlEndpoint)(given, path);
};
const listed = listOf('a list of endpoints', endpoint);
const endpoints: Check = (given, path) => {
  if (given !== undefined) return listed(given, path);
  const reason =
    'must be a list of endpoints: docs/providers.md lists some; none is a default, since an endpoint sees what you ask';
  throw invalidParameter(path, reason);
};

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
          netsplit: count,
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
    accessLists: choice('complete'),
    pricing: byMember('model', {
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
    sizing: choice('current', 'signed'),
    hashSchemes: listOf(
      'a list of hash schemes',
      members<NonNullable<Network['hashSchemes']>[number]>({
        fromBlock: needed(count),
        scheme: needed(choice('mimc', 'poseidon2')),
      }),
    ),
    dictionary: members<DictionaryReference>({
      name: needed(text),
      sha256: needed(word),
      byteLength: needed(wholeAboveZero),
      url: text,
      mirrors: texts,
    }),
    rollup: members<RollupContract>({
      address: needed(address),
      currentBlockSlot: needed(amount),
      stateRootsSlot: needed(amount),
      blockHashesSlot: amount,
      rootDepthsSlot: amount,
      claimedSlot: amount,
    }),
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
    tokenBridge: members<TokenBridge>({ address: needed(address), layerOne: needed(address) }),
    ens: members<NameService>({ registry: needed(address) }),
  },
  (given) => ('rpcUrls' in given ? `is a chain of viem; choose a profile such as \`linea\`: ${EXAMPLE}` : undefined),
);
/** A profile, and not the name of one or the function that makes one. */
const profile: Check = (given, path) => {
  if (typeof given !== 'object' || given === null || !('chainId' in given || 'rpcUrls' in given))
    throw invalidParameter(path, 'must be a network profile, such as `linea` or `devnet()`; a name is not enough');
  network(given, path);
  const { rollup, pricing, hashSchemes } = given as Network;
  const ofRollups = { rollup, pricing, hashSchemes };
  const missing = Object.entries(ofRollups).flatMap(([name, member]) => (member === undefined ? [name] : []));
  if (missing.length === 0 || missing.length === Object.keys(ofRollups).length) return;
  throw invalidParameter(
    `${path}.${missing[0]}`,
    'is missing: a rollup has rollup, pricing and hashSchemes, and a layer 1 none of them',
  );
};

const followed = tableOf(LAYER_ONE_OPTIONS);
const layerOne: Check = (given, path) => {
  const isUnusable = typeof given !== 'object' || given === null;
  if (isUnusable)
    throw invalidParameter(path, `must be a list of endpoints or { consensus, execution }, is ${kindOf(given)}`);
  (Array.isArray(given) ? endpoints : followed)(given, path);
};

const INTERVAL = members<{ intervalSeconds: number }>({ intervalSeconds: needed(aboveZero) });
const mining: Check = (given, path) =>
  typeof given === 'object' ? INTERVAL(given, path) : choice('auto', 'manual', '{ intervalSeconds }')(given, path);

/** What is meant by a chain without a kind. */
function meantChain(given: object): string | undefined {
  if ('kind' in given) return undefined;
  if ('rpcUrls' in given) return `is a chain of viem; choose a profile such as \`linea\`: give ${EXAMPLE}`;
  if ('url' in given || 'rpcUrl' in given) return `has no kind; a URL is an endpoint: give ${EXAMPLE}`;
  return undefined;
}

type Dictionary<Kind> = Extract<DictionarySource, { kind: Kind }>;

/** A list of origins or hosts, or `*`. */
const names: Check = (given, path) => {
  if (given !== '*') listOf("'*' or a list of texts", text)(given, path);
};

/** The check of each form. */
const FORMS: Readonly<Record<keyof OptionForms, Check>> = {
  any: anyValue,
  text,
  flag,
  count,
  wholeAboveZero,
  aboveZero,
  notNegative,
  bytes,
  hex,
  object,
  function: call,
  texts,
  textsByName: recordOf(text),
  textListsByName: recordOf(texts),
  endpoints,
  layerOne,
  profile,
  prices,
  accounts: recordOf(
    members<GenesisAccount>({ balance: amount, nonce: amount, code: hex, storage: recordOf(hex) }),
    address,
  ),
  keys: listOf('a list of accounts', members<DevAccount>({ address: needed(hex), privateKey: needed(hex) })),
  mining,
  fork: tableOf(FORK_OPTIONS),
  chain: byMember(
    'kind',
    { devnet: tableOf(DEVNET_OPTIONS), light: tableOf(LIGHT_OPTIONS), replica: tableOf(REPLICA_OPTIONS) },
    meantChain,
  ),
  chains: listOf('a list of light chains', tableOf(LIGHT_OPTIONS, meantChain)),
  dictionary: byMember('kind', {
    general: members<Dictionary<'general'>>({ kind: needed(text) }),
    bytes: members<Dictionary<'bytes'>>({ kind: needed(text), bytes: needed(bytes) }),
    url: members<Dictionary<'url'>>({ kind: needed(text), url: needed(text) }),
  }),
  provider: value('an EIP-1193 provider, which has a function request', (given) => hasMethods(given, 'request')),
  worker: value(
    'a Worker, a SharedWorker or the URL of a script',
    (given) => typeof (given as Worker | null)?.addEventListener === 'function' || isScriptUrl(given),
  ),
  scriptUrl: value('a URL', isScriptUrl),
  store: value('a PageStore; the name of a database is storeName', (given) => hasMethods(given, 'get', 'commit')),
  clock: value('a clock', (given) => hasMethods(given, 'now')),
  http: members<FetchHandlerOptions>({
    allowedOrigins: names,
    allowedHosts: names,
    maxBodyBytes: wholeAboveZero,
    onRefusedOrigin: call,
  }),
};

function hasMethods(given: unknown, ...methods: readonly string[]): boolean {
  if (typeof given !== 'object' || given === null) return false;
  return methods.every((name) => typeof (given as Record<string, unknown>)[name] === 'function');
}

/**
 * Checks the options of a node by name and type, at any depth. A misspelt option would have no effect, and `{ chian: … }` or
 * `'linea'` would open a devnet.
 *
 * @param own - what only this way of opening a node has
 * @throws PlumblineError `INVALID_PARAMETER` with the path of the member, `chain.endpoints[0].apikey`, what was wrong, and what was
 *   meant. It quotes no value: one may hold a key
 */
export function requireKnown<Options extends NodeOptions>(
  options: Options,
  own: TableOf<Omit<Options, keyof NodeOptions>>,
): void {
  if (!isPlain(options)) throw invalidParameter('options', `must be an object, is ${kindOf(options)}; give ${EXAMPLE}`);
  const given: object = options;
  if ('rpcUrls' in given)
    throw invalidParameter('options', `must be those of a node; this is a chain of viem; give ${EXAMPLE}`);
  const known: AnyTable = { ...NODE_OPTIONS, ...(own as AnyTable) };
  for (const name of Object.keys(given)) {
    const place = ELSEWHERE.get(name);
    if (place !== undefined && !Object.hasOwn(known, name)) throw invalidParameter(name, `${place}; give ${EXAMPLE}`);
  }
  tableOf(known)(options, '');
}
