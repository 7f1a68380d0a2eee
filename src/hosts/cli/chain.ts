import { readFile } from 'node:fs/promises';
import type { DevnetChainOptions } from '../../chain/devnet/options.js';
import { TOOLS, type Tool } from '../../chain/devnet/options.js';
import { DEV_ACCOUNTS, DEV_MNEMONIC, type DevAccount } from '../../chain/devnet/state/dev-accounts.js';
import type { GenesisJson } from '../../chain/devnet/state/genesis-json.js';
import type { ForkChainOptions, ForkOptions } from '../../chain/fork/fork-options.js';
import type { LightChainOptions } from '../../chain/light/light-options.js';
import { invalidParameter, messageOf } from '../../errors.js';
import { devnet } from '../../networks/devnet.js';
import { isLayerOne, type Network } from '../../networks/network.js';
import { NETWORKS, type NetworkName } from '../../networks/networks.js';
import type { Hex } from '../../primitives/hex.js';
import { type NodeOptions, textOf } from '../options/options.js';
import { type Arguments, integer } from './arguments.js';
import { namedNetwork, readNetwork } from './network.js';

/** Those that are not the devnet. */
export const PUBLIC_NETWORKS = Object.keys(NETWORKS).filter((name) => name !== 'devnet');

/** Options of `plumbline serve` that say which chain it runs. */
export const CHAIN_OPTIONS = {
  network: { type: 'string', default: 'devnet', values: Object.keys(NETWORKS) },
  genesis: { type: 'string' },
  import: { type: 'string' },
  'block-time': { type: 'string' },
  tool: { type: 'string', values: TOOLS },
  hardfork: { type: 'string', values: ['osaka', 'amsterdam'] },
  'chain-id': { type: 'string' },
  balance: { type: 'string' },
  accounts: { type: 'string' },
  mnemonic: { type: 'string' },
  upstream: { type: 'string', multiple: true },
  l1: { type: 'string', multiple: true },
  'l1-consensus': { type: 'string', multiple: true },
  checkpoint: { type: 'string' },
  fork: { type: 'string', values: PUBLIC_NETWORKS },
  'fork-block': { type: 'string', values: ['latest', 'finalized', 'safe'] },
} as const;

type Values = Arguments<typeof CHAIN_OPTIONS>['values'];

/** Options of the dev accounts. */
const OF_ACCOUNTS = ['accounts', 'mnemonic', 'balance'] as const;

/** The most accounts of a devnet: each is derived as it starts, and printed. */
const MOST_ACCOUNTS = 1000;

/** Accounts with as much stay far below 2^256 wei, and the number is exact. */
const MOST_ETHER = Number.MAX_SAFE_INTEGER;

/**
 * The chains that the arguments describe: the network alone, or with its layer 1, which `--l1` and `--l1-consensus` serve.
 *
 * @param name - of the layer 1, or of a file with its profile
 * @throws PlumblineError `INVALID_PARAMETER` as `chainOptions`
 */
export async function nodeOptions(
  values: Values,
  name: string | undefined,
): Promise<Pick<NodeOptions, 'chain' | 'chains'>> {
  if (name === undefined) return { chain: await chainOptions(values) };
  const { l1, 'l1-consensus': consensus } = values;
  const network = await namedNetwork(name);
  const first = await chainOptions({ ...values, l1: undefined, 'l1-consensus': undefined, checkpoint: undefined });
  if (first.kind !== 'light') throw invalidParameter('--with', 'is for light nodes; give --network and --upstream too');
  if (!isLayerOne(network) || textOf(network.layerOne) !== textOf(first.network.layerOne))
    throw invalidParameter('--with', `must be the layer 1 of ${first.network.name}; ${network.name} is not`);
  if (l1 === undefined || consensus === undefined)
    throw invalidParameter('--with', `needs endpoints of ${network.name} in --l1, and in --l1-consensus`);
  return { chains: [first, await lightOptions({ ...values, upstream: l1, l1: undefined, network: name }, network)] };
}

/**
 * The chain that the arguments describe.
 *
 * @throws PlumblineError `INVALID_PARAMETER` for a file that cannot be used, or options that do not go together
 */
export async function chainOptions(values: Values): Promise<DevnetChainOptions | ForkChainOptions | LightChainOptions> {
  const { network, upstream, fork } = values;
  if (fork !== undefined) return forkOptions(values, fork);
  if (values['fork-block'] !== undefined)
    throw invalidParameter('--fork-block', 'is for forks; name the network in --fork, or leave it out');
  const known = Object.hasOwn(NETWORKS, network) && network !== 'devnet' ? NETWORKS[network as NetworkName] : undefined;
  return known !== undefined || upstream !== undefined ? lightOptions(values, known) : devnetOptions(values);
}

/** The fork that the arguments describe. @param name - of the network, or a file with its profile */
async function forkOptions(values: Values, name: string): Promise<ForkChainOptions> {
  const { upstream } = values;
  if (values.network !== 'devnet')
    throw invalidParameter('--network', 'cannot be given with --fork, which names the network itself');
  for (const option of ['genesis', 'import', 'hardfork', 'chain-id'] as const) {
    if (values[option] !== undefined)
      throw invalidParameter(`--${option}`, 'cannot be given with --fork: a fork begins with the state of its network');
  }
  if (upstream === undefined) throw invalidParameter('--upstream', `is missing; name an endpoint of ${name}`);
  const known = await namedNetwork(name);
  const block = forkBlock(values['fork-block']);
  return {
    kind: 'devnet',
    fork: {
      network: known,
      endpoints: upstream,
      ...layerOneOptions(values, known),
      ...(block !== undefined && { block }),
    },
    ...(await makingOptions(values)),
  };
}

/** @throws PlumblineError `INVALID_PARAMETER` */
function forkBlock(text: string | undefined): ForkOptions['block'] {
  if (text === undefined || text === 'latest' || text === 'finalized' || text === 'safe') return text;
  if (/^0x[0-9a-f]{64}$/i.test(text)) return text as Hex;
  if (/^\d{1,15}$/.test(text)) return Number(text);
  throw invalidParameter('--fork-block', 'must be a number, a hash, or latest, finalized or safe');
}

/** The accounts that the arguments describe; undefined for `DEV_ACCOUNTS`. */
async function accountsOf({ accounts, mnemonic }: Values): Promise<readonly DevAccount[] | undefined> {
  const count = integer('accounts', accounts, 1, MOST_ACCOUNTS);
  if (mnemonic !== undefined && ![12, 15, 18, 21, 24].includes(mnemonic.trim().split(/\s+/).length))
    throw invalidParameter('--mnemonic', 'must have 12, 15, 18, 21 or 24 words');
  if (count === undefined && mnemonic === undefined) return undefined;
  const { accountsOfMnemonic } = await import('./mnemonic.js');
  return accountsOfMnemonic(mnemonic ?? DEV_MNEMONIC, count ?? DEV_ACCOUNTS.length);
}

/** How blocks are made, and what the dev accounts have. */
async function makingOptions(
  values: Values,
): Promise<Pick<DevnetChainOptions, 'accounts' | 'mining' | 'tool' | 'alloc'>> {
  const { 'block-time': time, tool, balance } = values;
  const blockTime = integer('block-time', time, 1, 86_400);
  const ether = integer('balance', balance, 0, MOST_ETHER);
  const accounts = await accountsOf(values);
  const account = ether !== undefined && { balance: BigInt(ether) * 10n ** 18n };
  return {
    ...(accounts && { accounts }),
    ...(account && { alloc: Object.fromEntries((accounts ?? DEV_ACCOUNTS).map(({ address }) => [address, account])) }),
    ...(blockTime !== undefined && { mining: { intervalSeconds: blockTime } }),
    ...(tool !== undefined && { tool: toolOf(tool) }),
  };
}

/**
 * The light node that the arguments describe.
 *
 * @param known - profile of the network; read from the file of `--network` when left out
 * @throws PlumblineError as `chainOptions`
 */
export async function lightOptions(values: Values, known?: Network): Promise<LightChainOptions> {
  if (values.upstream === undefined)
    throw invalidParameter('--upstream', `is missing; name an endpoint of ${values.network}`);
  if (known === undefined && values.network === 'devnet') {
    throw invalidParameter('--upstream', 'is for light nodes; name the network it serves with --network');
  }
  for (const option of ['genesis', 'import', 'block-time', 'tool', 'hardfork', 'chain-id', ...OF_ACCOUNTS] as const) {
    if (values[option] !== undefined)
      throw invalidParameter(`--${option}`, 'is for devnets; leave it out for a light node');
  }
  const network = known ?? (await readNetwork(values.network));
  return { kind: 'light', network, endpoints: values.upstream, ...layerOneOptions(values, network) };
}

function layerOneOptions(
  { l1, checkpoint, 'l1-consensus': consensus }: Values,
  network: Network,
): Pick<LightChainOptions, 'layerOne'> {
  const root = checkpoint as Hex | undefined;
  const trusted = root !== undefined && { checkpoint: { root } };
  if (isLayerOne(network) && l1 !== undefined)
    throw invalidParameter(
      '--l1',
      `must be left out: ${network.name} is its own layer 1, whose nodes are in --upstream`,
    );
  if (consensus === undefined) {
    if (checkpoint !== undefined) throw invalidParameter('--checkpoint', 'needs an endpoint in --l1-consensus too');
    return l1 === undefined ? {} : { layerOne: l1 };
  }
  if (isLayerOne(network)) return { layerOne: { consensus, ...trusted } };
  if (l1 === undefined) throw invalidParameter('--l1-consensus', 'needs a JSON-RPC endpoint of layer 1 in --l1 too');
  return { layerOne: { consensus, execution: l1, ...trusted } };
}

async function devnetOptions(values: Values): Promise<DevnetChainOptions> {
  const { network } = values;
  for (const option of ['l1', 'l1-consensus', 'checkpoint'] as const) {
    if (values[option] !== undefined)
      throw invalidParameter(`--${option}`, 'is for light nodes; give --upstream too, or leave it out');
  }
  if (values.genesis !== undefined && network !== 'devnet') {
    throw invalidParameter('--genesis', 'describes a network itself; leave out --network');
  }
  for (const option of OF_ACCOUNTS) {
    if (values.genesis !== undefined && values[option] !== undefined)
      throw invalidParameter(`--${option}`, 'is for the dev accounts, which a genesis file replaces');
  }
  const hardfork = hardforkOf(values);
  const chainId = chainIdOf(values);
  return {
    kind: 'devnet',
    ...(network !== 'devnet' && { network: await readNetwork(network) }),
    ...((hardfork ?? chainId) !== undefined && {
      network: devnet({ ...(hardfork && { hardfork }), ...(chainId && { chainId }) }),
    }),
    ...(values.genesis !== undefined && { genesis: await readGenesis(values.genesis) }),
    ...(values.import !== undefined && { importBlocks: await readBytes('--import', values.import) }),
    ...(await makingOptions(values)),
  };
}

/** The id of the default devnet; a genesis file and a profile say their own. */
function chainIdOf({ 'chain-id': text, genesis, network }: Values): number | undefined {
  const chainId = integer('chain-id', text, 1, Number.MAX_SAFE_INTEGER);
  if (chainId !== undefined && (genesis !== undefined || network !== 'devnet'))
    throw invalidParameter('--chain-id', 'is for the devnet itself; a genesis file or a network has its own');
  return chainId;
}

function hardforkOf({ hardfork, genesis, network }: Values): 'osaka' | 'amsterdam' | undefined {
  if (hardfork === undefined) return undefined;
  if (genesis !== undefined || network !== 'devnet')
    throw invalidParameter('--hardfork', 'is for the devnet itself; a genesis file or a network lists its own forks');
  if (hardfork === 'osaka' || hardfork === 'amsterdam') return hardfork;
  throw invalidParameter('--hardfork', 'must be osaka or amsterdam');
}

function toolOf(name: string): Tool {
  const tool = TOOLS.find((known) => known === name);
  if (tool === undefined) throw invalidParameter('--tool', `must be one of ${TOOLS.join(', ')}`);
  return tool;
}

async function readGenesis(path: string): Promise<GenesisJson> {
  const text = new TextDecoder().decode(await readBytes('--genesis', path));
  try {
    return JSON.parse(text) as GenesisJson;
  } catch (error) {
    throw invalidParameter('--genesis', `is not JSON: ${messageOf(error)}`);
  }
}

async function readBytes(option: string, path: string): Promise<Uint8Array> {
  try {
    return new Uint8Array(await readFile(path));
  } catch (error) {
    throw invalidParameter(option, `cannot be read: ${messageOf(error)}`);
  }
}
