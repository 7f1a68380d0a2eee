import { readFile } from 'node:fs/promises';
import type { GenesisJson } from '../../chain/devnet/state/genesis-json.js';
import { messageOf } from '../../errors.js';
import { linea, lineaSepolia } from '../../networks/linea.js';
import type { Network } from '../../networks/network.js';
import type { LightChainOptions } from '../options/light-options.js';
import type { DevnetChainOptions } from '../options/options.js';
import { type Arguments, badArgument, integer } from './arguments.js';
import { readNetwork } from './network.js';

/** Options of `plumbline serve` that say which chain it runs. */
export const CHAIN_OPTIONS = {
  network: { type: 'string', default: 'devnet' },
  genesis: { type: 'string' },
  import: { type: 'string' },
  'block-time': { type: 'string' },
  upstream: { type: 'string', multiple: true },
  l1: { type: 'string', multiple: true },
} as const;

type Values = Arguments<typeof CHAIN_OPTIONS>['values'];

const PUBLIC: Readonly<Record<string, Network>> = { linea, 'linea-sepolia': lineaSepolia };

/**
 * The chain that the arguments describe.
 *
 * @throws PlumblineError `INVALID_PARAMETER` for a file that cannot be used, or options that do not go together
 */
export async function chainOptions(values: Values): Promise<DevnetChainOptions | LightChainOptions> {
  const network = Object.hasOwn(PUBLIC, values.network) ? PUBLIC[values.network] : undefined;
  const light = network !== undefined || values.upstream !== undefined;
  return light ? lightOptions(values, network) : devnetOptions(values);
}

async function lightOptions(values: Values, known: Network | undefined): Promise<LightChainOptions> {
  if (values.upstream === undefined) throw badArgument('--upstream', `is missing: ${values.network} needs an endpoint`);
  if (known === undefined && values.network === 'devnet') {
    throw badArgument('--upstream', 'belongs to a light node, not to a devnet: name its --network');
  }
  for (const option of ['genesis', 'import', 'block-time'] as const) {
    if (values[option] !== undefined) throw badArgument(`--${option}`, 'belongs to a devnet, not to a light node');
  }
  return {
    kind: 'light',
    network: known ?? (await readNetwork(values.network)),
    endpoints: values.upstream,
    ...(values.l1 !== undefined && { layerOne: values.l1 }),
  };
}

async function devnetOptions(values: Values): Promise<DevnetChainOptions> {
  const { network } = values;
  if (values.l1 !== undefined) throw badArgument('--l1', 'belongs to a light node, not to a devnet');
  if (values.genesis !== undefined && network !== 'devnet') {
    throw badArgument('--genesis', 'says itself which network it is for, it does not go with --network');
  }
  const blockTime = integer('block-time', values['block-time'], 1, 86_400);
  return {
    kind: 'devnet',
    ...(network !== 'devnet' && { network: await readNetwork(network) }),
    ...(values.genesis !== undefined && { genesis: await readGenesis(values.genesis) }),
    ...(values.import !== undefined && { importBlocks: await readBytes('--import', values.import) }),
    ...(blockTime !== undefined && { mining: { intervalSeconds: blockTime } }),
  };
}

async function readGenesis(path: string): Promise<GenesisJson> {
  const text = new TextDecoder().decode(await readBytes('--genesis', path));
  try {
    return JSON.parse(text) as GenesisJson;
  } catch (error) {
    throw badArgument('--genesis', `is no JSON: ${messageOf(error)}`);
  }
}

async function readBytes(option: string, path: string): Promise<Uint8Array> {
  try {
    return new Uint8Array(await readFile(path));
  } catch (error) {
    throw badArgument(option, `cannot be read: ${messageOf(error)}`);
  }
}
