import { readFile } from 'node:fs/promises';
import { invalidParameter, messageOf } from '../../errors.js';
import { createInlineNode } from '../opening/inline.js';
import type { DictionarySource } from '../options/options.js';
import type { PlumblineNode } from '../provider/node-handle.js';
import { ProviderRpcError } from '../provider/provider-error.js';
import type { Arguments } from './arguments.js';
import { lightOptions, PUBLIC_NETWORKS } from './chain.js';
import { ProgressLines, reportFailure } from './lines.js';
import { namedNetwork } from './network.js';

/** Options of commands that open a light node for one answer. */
export const ENDPOINT_OPTIONS = {
  devnet: { type: 'string' },
  network: { type: 'string', values: PUBLIC_NETWORKS },
  upstream: { type: 'string', multiple: true },
  l1: { type: 'string', multiple: true },
  'l1-consensus': { type: 'string', multiple: true },
  checkpoint: { type: 'string' },
  json: { type: 'boolean', default: false },
} as const;

export const ENDPOINT_HELP = ` the endpoints: the command opens a light node, which checks what they say
  --devnet URL          a devnet that plumbline serve runs; its layer 1 is at /l1 of the same server
  --network NAME|FILE   ${PUBLIC_NETWORKS.join(', ')}, or a JSON file with a network profile (with --devnet: that of the devnet)
  --upstream URL        endpoint of the network; may be given several times, and then two origins must agree
  --l1 URL              endpoint of layer 1, needed for zk proofs of a rollup; may be given several times
  --l1-consensus URL    beacon node of layer 1: the node checks its signatures, and believes nothing that --l1 says
  --checkpoint ROOT     root of a finalized beacon block that you trust
  --json                one JSON object`;

export const ENDPOINT_EXIT = '2 could not be checked: an endpoint fails, or the arguments cannot be used.';

type Values = Arguments<typeof ENDPOINT_OPTIONS>['values'];

/** Address of the simulated layer 1 of a served devnet. @throws PlumblineError `INVALID_PARAMETER` */
export function devnetLayerOne(devnet: string): string {
  if (!URL.canParse(devnet)) throw invalidParameter('--devnet', 'must be a URL, such as http://127.0.0.1:8545');
  return new URL('/l1', devnet).href;
}

/**
 * Opens a light node on the endpoints, and closes it after the command.
 *
 * @param dictionary - file of the compression dictionary; `none` for a command that sizes nothing
 * @param use - prints the answer, and resolves to the exit code
 * @throws PlumblineError `INVALID_PARAMETER`
 */
export async function withNode(
  values: Values,
  dictionary: string | 'none' | undefined,
  use: (node: PlumblineNode) => Promise<number>,
): Promise<number> {
  const { devnet } = values;
  if (devnet === undefined && values.network === undefined)
    throw invalidParameter(
      '--network',
      'is missing; name a network and its --upstream, or a served devnet by --devnet',
    );
  for (const option of ['upstream', 'l1'] as const) {
    if (devnet !== undefined && values[option] !== undefined)
      throw invalidParameter(`--${option}`, 'is not needed with --devnet; leave one of them out');
  }
  const source = devnet === undefined ? values : { ...values, upstream: [devnet], l1: [devnetLayerOne(devnet)] };
  const network = values.network ?? 'devnet';
  const own = {
    network,
    genesis: undefined,
    import: undefined,
    'block-time': undefined,
    tool: undefined,
    hardfork: undefined,
    fork: undefined,
    'fork-block': undefined,
    'chain-id': undefined,
    balance: undefined,
    accounts: undefined,
    mnemonic: undefined,
  };
  const chain = await lightOptions({ ...source, ...own }, await namedNetwork(network));
  const sized = await dictionarySource(dictionary);
  // The error of the method says more than its JSON-RPC form, which never names an endpoint.
  let cause: unknown;
  const onError = (error: unknown) => {
    cause = error;
  };
  const progress = values.json ? undefined : new ProgressLines();
  const node = await createInlineNode({
    chain,
    onError,
    ...(sized && { dictionary: sized }),
    ...(progress && { onProgress: progress.report }),
  }).finally(() => progress?.end());
  try {
    return await use(node);
  } catch (error) {
    if (!(error instanceof ProviderRpcError)) throw error;
    return reportFailure(cause ?? error, values.json);
  } finally {
    await node.close();
  }
}

async function dictionarySource(file: string | 'none' | undefined): Promise<DictionarySource | undefined> {
  if (file === undefined) return undefined;
  if (file === 'none') return { kind: 'general' };
  try {
    return { kind: 'bytes', bytes: new Uint8Array(await readFile(file)) };
  } catch (error) {
    throw invalidParameter('--dictionary', `cannot be read: ${messageOf(error)}`);
  }
}
