import { readFile, rename, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gunzipSync } from 'node:zlib';
import { DEV_ACCOUNTS, DEV_MNEMONIC, type DevAccount, TEST_TOKEN } from '../../chain/devnet/state/dev-accounts.js';
import { invalidParameter, messageOf } from '../../errors.js';
import { NETWORKS } from '../../networks/networks.js';
import { bytesToHex, type Hex, hexToBytes } from '../../primitives/hex.js';
import { type FetchHandlerOptions, isLoopback, LOOPBACK_NAMES } from '../../rpc/http.js';
import type { EndpointReport, NodeStatus } from '../../rpc/schema/answers.js';
import { createInlineNode } from '../opening/inline.js';
import type { PlumblineNode } from '../provider/node-handle.js';
import { type Arguments, type Command, EXIT, integer, readArguments } from './arguments.js';
import { CHAIN_OPTIONS, nodeOptions, PUBLIC_NETWORKS } from './chain.js';
import { oneLine, ProgressLines, printErrors, printJson, printLines } from './lines.js';
import { Metrics } from './metrics.js';
import type { FeedOptions, RunningServer, ServedRequest } from './server.js';

const DEFAULT_HOST = '127.0.0.1';

/**
 * How much of a function runs before V8 optimizes it, in bytes of its code; V8's own is 67,584. A block runs much
 * code, and each part of it little: with V8's own, the optimizing compiler took a third of the processor time of the first 500
 * transactions of a devnet.
 */
const INTERRUPT_BUDGET = 500_000;

const PUBLIC = PUBLIC_NETWORKS.join(', ');

/** Where the package of the command has the demo page, beside the chunks of its code. */
const OWN_DEMO = fileURLToPath(new URL('../demo', import.meta.url));

const OPTIONS = {
  ...CHAIN_OPTIONS,
  with: { type: 'string', values: PUBLIC_NETWORKS },
  port: { type: 'string', default: '8545' },
  host: { type: 'string', default: DEFAULT_HOST },
  demo: { type: 'string', preset: OWN_DEMO },
  state: { type: 'string' },
  'load-state': { type: 'string' },
  'dump-state': { type: 'string' },
  log: { type: 'string', default: 'text', values: ['text', 'json'] },
  feed: { type: 'boolean', default: false },
  'feed-rate': { type: 'string' },
  'allow-origin': { type: 'string', multiple: true },
  'allow-host': { type: 'string', multiple: true },
  'max-body': { type: 'string' },
  'max-batch': { type: 'string' },
  'max-answer': { type: 'string' },
  'max-connections': { type: 'string' },
  'max-connections-per-client': { type: 'string' },
  'max-filters': { type: 'string' },
  'max-subscriptions': { type: 'string' },
  'receive-timeout': { type: 'string' },
  metrics: { type: 'boolean', default: false },
  quiet: { type: 'boolean', default: false },
  json: { type: 'boolean', default: false },
} as const;

/** `plumbline serve`: a node for other programs. */
export const serveCommand: Command = {
  help: `plumbline serve [options]

  --network NAME|FILE    devnet (default), ${PUBLIC}, or a JSON file with a network profile: the members of
                         \`Network\`. If the file leaves a member out, the devnet's is used
  --port N               port to listen on, 0 for a free one (default 8545)
  --host H               address to listen on (default ${DEFAULT_HOST})
  --demo [DIR]           serve the demo page under /demo/: the one of this package, or a folder
  --feed                 answer GET /feed/ with objects that HTTP caches can serve, because they belong to one block hash: headers,
                         access lists, code, proofs, receipts. Pages of any origin may read them
  --feed-rate N          requests to the feed in a second (default 2000). One client gets at most half. A cache is one client
  --quiet                do not print requests
  --metrics              answer GET /metrics: counts of requests, errors and times in the format of Prometheus
  --log text|json        json: print one JSON object for each event: listening, request, refused, stopping, stopped
  --json                 the same as --log json

 a devnet
  --genesis FILE         genesis.json in geth's format. It replaces the dev accounts
  --import FILE          concatenated RLP blocks to import on top of genesis
  --block-time SECONDS   seal a block at this interval, not for each transaction
  --chain-id N           chain id (default 59139)
  --accounts N           number of dev accounts (default 10)
  --mnemonic WORDS       mnemonic of the dev accounts, on the path m/44'/60'/0'/0/i (default: the one that tools share).
                         Whoever sees the output has the keys
  --balance ETHER        balance of each dev account at the start (default 10000)
  --load-state FILE      load accounts from this JSON file, as anvil --dump-state and this command write it
  --dump-state FILE      write all accounts to this file when the node stops. It contains no blocks
  --state FILE           load the file if it exists, and write it when the node stops
  --hardfork NAME        osaka (default) or amsterdam, from genesis on
  --tool NAME            answer like anvil, hardhat or ganache if tools differ, and use that name

 a light node: for ${PUBLIC}, or the network of a profile FILE
  --upstream URL         endpoint of the network, required; may be given several times, and then two origins must agree
  --l1 URL               endpoint of layer 1; may be given several times. Without one, no block is finalized and there
                         are no zk proofs
  --l1-consensus URL     beacon node of layer 1; may be given several times. The node then checks the signatures of the sync
                         committees, and believes nothing that --l1 says
  --checkpoint ROOT      root of a finalized beacon block that you trust; plumbline checkpoint shows what servers name
  --with NAME|FILE       the layer 1 of the network, such as ethereum, as a second chain of the node. It needs --l1 and
                         --l1-consensus, which both chains use. Each chain has the path /chain/<chain id>; / is the network

 a fork: a devnet that starts from the proved state of a network at one block
  --fork NAME|FILE       network, as in --network; with --upstream, and --l1 or --l1-consensus, as for a light node
  --fork-block BLOCK     number, hash, or latest (default), finalized or safe

 access and limits
  --allow-origin ORIGIN  accept pages of this origin, such as https://app.example; may be given several times. * means all
                         pages, loopback pages of this machine, extensions browser extensions. A devnet that is not a fork
                         accepts these two. The server refuses all pages but these and its own, and prints each refused
                         origin once. It does not refuse programs that are not pages
  --allow-host NAME      accept this host name; may be given several times. On a loopback address, the names
                         ${LOOPBACK_NAMES.join(', ')} are accepted too. On other addresses, any name is accepted
                         without this option
  --max-body BYTES       largest request (default 5242880)
  --max-batch N          most requests of a batch (default 1024)
  --max-answer BYTES     largest answer, or all answers of a batch together (default 33554432)
  --max-connections N    connections open at a time (default 1024)
  --max-connections-per-client N
                         connections of one address; half may be WebSockets (default 256). Behind a reverse proxy, all
                         clients have the address of the proxy
  --max-filters N        most filters of one address, or of one WebSocket (default 128)
  --max-subscriptions N  most subscriptions of one WebSocket (default 128)
  --receive-timeout MS   time in which a request must arrive with its body (default 30000)

POST / and POST /v3/<anything> take JSON-RPC. A WebSocket at these paths takes it too, with eth_subscribe. POST /l1 is
the simulated layer 1 of a devnet. GET /liveness answers 200 with the number of the head. GET / shows a page that says what this is.

Each request is printed with its method, the class of its answer (proved, computed, held, forwarded) and its time.

SIGINT and SIGTERM stop the node once open requests are answered. A second signal stops it at once.

Exit codes: 0 stopped, 1 the node does not open or cannot listen on the address, 2 the arguments cannot be used.`,

  options: OPTIONS,

  async run(args) {
    const { values } = readArguments(args, OPTIONS, { count: 0, name: '' });
    const port = integer('port', values.port, 0, 65_535)!;
    const maxConnections = integer('max-connections', values['max-connections'], 1, 1_000_000);
    const perClient = 'max-connections-per-client';
    const maxConnectionsPerClient = integer(perClient, values[perClient], 1, 1_000_000);
    const receiveTimeoutMs = integer('receive-timeout', values['receive-timeout'], 1, 3_600_000);
    const maxAnswerBytes = integer('max-answer', values['max-answer'], 1, 500_000_000);
    const maxFilters = integer('max-filters', values['max-filters'], 1, 1_000_000);
    const maxBatch = integer('max-batch', values['max-batch'], 1, 1_000_000);
    const maxSubscriptions = integer('max-subscriptions', values['max-subscriptions'], 0, 1_000_000);
    const files = stateFiles(values);
    const feedRate = integer('feed-rate', values['feed-rate'], 2, 1_000_000);
    if (feedRate !== undefined && !values.feed) throw invalidParameter('--feed-rate', 'is for a feed; give --feed too');
    const options = await nodeOptions(values, values.with);
    const devnet = options.chain?.kind === 'devnet' ? options.chain : undefined;
    if (devnet === undefined && (files.load ?? files.dump) !== undefined)
      throw invalidParameter(files.option, 'is for devnets; leave it out for a light node');
    await requireDemo(values.demo);
    // Counting costs each request a little.
    const metrics = values.metrics ? new Metrics() : undefined;
    const output = serveOutput({ json: isJson(values) });
    const progress = values.quiet || isJson(values) ? undefined : new ProgressLines();
    const [node, { serve }] = await Promise.all([
      createInlineNode({
        ...options,
        ...(progress && { onProgress: progress.report }),
        http: httpOptions(values, devnet !== undefined && devnet.fork === undefined, (origin) => {
          metrics?.refusedOrigin();
          output.refused(origin);
        }),
        ...(maxAnswerBytes !== undefined && { maxAnswerBytes }),
        ...(maxBatch !== undefined && { maxBatch }),
        ...(maxFilters !== undefined && { maxFilters }),
        ...(maxSubscriptions !== undefined && { maxSubscriptions }),
      }),
      // While the node waits for files, and for its kernels to be compiled.
      import('./server.js'),
    ]).finally(() => progress?.end());
    let server: RunningServer;
    try {
      await loadState(node, files);
    } catch (error) {
      await node.close();
      throw error;
    }
    try {
      server = await serve(node, {
        port,
        host: values.host,
        ...(metrics
          ? {
              onRequest(request: ServedRequest) {
                metrics.request(request);
                if (!values.quiet) output.request(request);
              },
              metrics: async () => metrics.text(await headOf(node), process),
            }
          : !values.quiet && { onRequest: output.request }),
        ...(maxConnections !== undefined && { maxConnections }),
        ...(maxConnectionsPerClient !== undefined && { maxConnectionsPerClient }),
        ...(receiveTimeoutMs !== undefined && { receiveTimeoutMs }),
        ...(values.demo !== undefined && { demoDirectory: values.demo }),
        ...(values.feed && { feed: feedOptions(feedRate, values['l1-consensus']) }),
      });
    } catch (error) {
      printErrors(`plumbline serve: cannot serve on ${values.host}:${port}: ${messageOf(error)}`);
      await node.close();
      return EXIT.failed;
    }
    const announced = isJson(values) ? announceAsJson : announce;
    const stopped = stopSignal();
    await optimizeLater();
    const status = await Promise.race([statusOf(node), stopped]);
    if (status !== undefined)
      announced(node, server, status, {
        demo: values.demo !== undefined,
        feed: values.feed,
        layerOne: devnet !== undefined && devnet.fork === undefined,
        devAccounts:
          devnet === undefined || devnet.genesis !== undefined ? undefined : (devnet.accounts ?? DEV_ACCOUNTS),
        mnemonic: values.mnemonic ?? DEV_MNEMONIC,
        ether: values.balance ?? '10000',
        fork: devnet?.fork === undefined ? undefined : await forkOf(node),
      });
    await stopped;
    output.state('stopping', 'Stopping: requests under way are answered first. A second signal stops it at once.');
    await server.close();
    const failed = await dumpState(node, files.dump);
    await node.close();
    output.state('stopped', 'Stopped.');
    if (failed === undefined) return EXIT.ok;
    printErrors(`plumbline serve: the state is not in ${files.dump}: ${failed}`);
    return EXIT.failed;
  },
};

function feedOptions(rate: number | undefined, consensus: readonly string[] | undefined): FeedOptions {
  return {
    ...(rate !== undefined && { ratePerSecond: rate, ratePerClient: Math.floor(rate / 2) }),
    ...(consensus !== undefined && { consensus }),
  };
}

/** The number of the newest block; undefined where it cannot be had. */
function headOf(node: PlumblineNode): Promise<number | undefined> {
  return node.request({ method: 'eth_blockNumber' }).then(Number, () => undefined);
}

/** Of all chains of a node: it is ready if each of them is. */
async function statusOf(node: PlumblineNode): Promise<NodeStatus> {
  const { chains } = node.info;
  if (chains === undefined) return node.status();
  const [first, ...others] = await Promise.all(chains.map(({ chainId }) => node.chain(chainId).status()));
  const all = [first!, ...others];
  return { ...first!, ready: all.every(({ ready }) => ready), endpoints: all.flatMap(({ endpoints }) => endpoints) };
}

type Values = Arguments<typeof OPTIONS>['values'];

function isJson({ log, json }: Values): boolean {
  if (log !== 'text' && log !== 'json') throw invalidParameter('--log', 'must be text or json');
  return json || log === 'json';
}

/** @throws PlumblineError `INVALID_PARAMETER` for a folder that has no page */
async function requireDemo(folder: string | undefined): Promise<void> {
  if (folder === undefined) return;
  const page = await stat(join(folder, 'index.html')).catch(() => undefined);
  if (page?.isFile() !== true)
    throw invalidParameter('--demo', `must be a folder with a built page: ${folder} has no index.html`);
}

/** @param isLocal - it has nothing of a network: public test keys, and a chain of its own */
function httpOptions(values: Values, isLocal: boolean, onRefusedOrigin: (origin: string) => void): FetchHandlerOptions {
  const { 'allow-origin': origins = [], 'allow-host': hosts = [] } = values;
  if (!origins.every((origin) => /^(?:\*|null|loopback|extensions|[a-z][a-z0-9+.-]*:\/\/[^/?#@]+)$/.test(origin)))
    throw invalidParameter(
      '--allow-origin',
      'must be an origin, such as https://app.example, without a path, or loopback, extensions or *',
    );
  const loopback = isLoopback(values.host) ? [...LOOPBACK_NAMES, values.host] : [];
  return {
    maxBodyBytes: integer('max-body', values['max-body'], 1, 500_000_000),
    allowedOrigins: origins.includes('*') ? '*' : [...origins, ...(isLocal ? ['loopback', 'extensions'] : [])],
    onRefusedOrigin,
    allowedHosts: loopback.length + hosts.length === 0 ? undefined : [...loopback, ...hosts],
  };
}

/** The files that a devnet takes its accounts from and writes them to. */
interface StateFiles {
  readonly load?: string | undefined;
  readonly dump?: string | undefined;
  /** Whether the file to load has to be there. */
  readonly isNeeded: boolean;
  /** That says so. */
  readonly option: string;
}

function stateFiles({ state, 'load-state': load, 'dump-state': dump }: Values): StateFiles {
  if (state === undefined)
    return { load, dump, isNeeded: true, option: load === undefined ? '--dump-state' : '--load-state' };
  if (load !== undefined || dump !== undefined)
    throw invalidParameter('--state', 'loads and writes; leave out --load-state and --dump-state');
  return { load: state, dump: state, isNeeded: false, option: '--state' };
}

/** @throws PlumblineError `INVALID_PARAMETER` for a file that cannot be read, or holds no state */
async function loadState(node: PlumblineNode, { load, isNeeded, option }: StateFiles): Promise<void> {
  if (load === undefined) return;
  const bytes = await readFile(load).catch((error: NodeJS.ErrnoException) => {
    if (!isNeeded && error.code === 'ENOENT') return undefined;
    throw invalidParameter(option, `cannot be read: ${messageOf(error)}`);
  });
  if (bytes === undefined) return;
  try {
    await node.request({ method: 'anvil_loadState', params: [bytesToHex(bytes)] });
  } catch (error) {
    throw invalidParameter(option, `${load} holds no state: ${messageOf(error)}`);
  }
}

/** Writes a file beside it first: one that is cut off must not take the place of the last. @returns why it failed */
async function dumpState(node: PlumblineNode, file: string | undefined): Promise<string | undefined> {
  if (file === undefined) return;
  try {
    const packed = hexToBytes(await node.request({ method: 'anvil_dumpState' }));
    await writeFile(`${file}.part`, gunzipSync(packed));
    await rename(`${file}.part`, file);
  } catch (error) {
    return messageOf(error);
  }
}

/** Once the node listens: the first answer needs none of it. */
async function optimizeLater(): Promise<void> {
  // V8 12, of Node 22, does not know the flag, and says so.
  if (Number.parseInt(process.versions.v8, 10) >= 12) {
    // Node does so as it exits. A process that is killed keeps what it compiled, too.
    const modules = await import('node:module');
    (modules as { flushCompileCache?(): void }).flushCompileCache?.();
    return;
  }
  const { setFlagsFromString } = await import('node:v8');
  setFlagsFromString(`--interrupt-budget=${INTERRUPT_BUDGET}`);
}

/** Resolves with the first SIGINT or SIGTERM. A second one ends the process. */
function stopSignal(): Promise<void> {
  return new Promise((resolve) => {
    let asked = false;
    const onSignal = () => {
      if (asked) process.exit(EXIT.failed);
      asked = true;
      resolve();
    };
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, onSignal);
  });
}

/** What is printed of a node besides what it says itself. */
interface Announced {
  readonly demo: boolean;
  readonly feed: boolean;
  /** It has a simulated layer 1. */
  readonly layerOne: boolean;
  readonly devAccounts: readonly DevAccount[] | undefined;
  readonly mnemonic: string;
  /** What each dev account has. */
  readonly ether: string;
  /** The block of the network on which it is a fork. */
  readonly fork: { readonly number: number; readonly hash: Hex } | undefined;
}

async function forkOf(node: PlumblineNode): Promise<NonNullable<Announced['fork']>> {
  const { forkedNetwork } = await node.request({ method: 'hardhat_metadata' });
  const { forkBlockNumber: number, forkBlockHash: hash } = forkedNetwork!;
  return { number, hash };
}

function addressOf({ host, port }: RunningServer): string {
  return `${host.includes(':') ? `[${host}]` : host}:${port}`;
}

function announceAsJson(
  { info }: PlumblineNode,
  server: RunningServer,
  { ready, endpoints }: NodeStatus,
  has: Pick<Announced, 'feed' | 'layerOne' | 'fork'>,
): void {
  const url = `http://${addressOf(server)}/`;
  const { networkName: network, chainId, kernelBuild } = info;
  const chains = info.chains?.map((one) => ({
    network: one.networkName,
    chainId: one.chainId,
    url: `${url}chain/${one.chainId}`,
  }));
  const more = {
    ...(chains && { chains }),
    ...(has.layerOne && { layerOne: `${url}l1` }),
    ...(has.feed && { feed: `${url}feed` }),
    ...(has.fork && { fork: has.fork }),
  };
  printJson({ event: 'listening', network, chainId, kernelBuild, url, ready, endpoints, ...more });
}

function announce(
  node: PlumblineNode,
  server: RunningServer,
  { ready, endpoints, dictionary }: NodeStatus,
  has: Announced,
): void {
  const address = addressOf(server);
  const url = `http://${address}`;
  const { networkName, chainId, kernelBuild } = node.info;
  const unready = ready ? '' : ': NOT READY, no endpoint of the network answers rightly';
  printLines(`plumbline ${networkName}, chain id ${chainId}, kernels ${kernelBuild}${unready}`);
  if (has.fork !== undefined) printLines(`  fork      of block ${has.fork.number}, ${has.fork.hash}`);
  for (const report of endpoints) printLines(`  endpoint  ${inWords(report)}`);
  const { reason } = dictionary;
  if (reason !== undefined)
    printLines(`  WARNING   fees are approximations, without the network's dictionary: ${reason}`);
  printLines(`  JSON-RPC  ${url}/  (also ${url}/v3/<anything>${has.layerOne ? `; simulated layer 1: ${url}/l1` : ''})`);
  printLines(`  WebSocket ws://${address}/`);
  if (has.feed) printLines(`  feed      ${url}/feed  (for HTTP caches; docs/scale.md)`);
  for (const one of node.info.chains ?? [])
    printLines(`  chain     ${one.networkName}, chain id ${one.chainId}: ${url}/chain/${one.chainId}`);
  // The profile of the page's own light node is that of the default devnet.
  if (has.demo)
    printLines(
      `  demo      ${url}/demo/${has.devAccounts && networkName === 'devnet' && chainId === NETWORKS.devnet.chainId ? '?here' : ''}`,
    );
  const { devAccounts } = has;
  if (devAccounts === undefined) return;
  const token = has.fork === undefined ? `; ERC-20 test token ${TEST_TOKEN}` : '';
  const count = devAccounts.length === 10 ? 'ten' : devAccounts.length;
  printLines(`  accounts  ${count} of "${has.mnemonic}", ${has.ether} ETH each${token}`);
  const whose = has.mnemonic === DEV_MNEMONIC ? 'these keys are public' : 'whoever sees this has these keys';
  printLines(`            WARNING: ${whose}. Whatever is sent to them on a network is lost`);
  for (const [i, { address, privateKey }] of devAccounts.entries()) printLines(`  (${i}) ${address}  ${privateKey}`);
  if (has.fork !== undefined) return;
  printLines('', curlLine(`${url}/`, devAccounts), '');
}

/** `l2 https://host: answers, chain id 59144, head 42`. */
function inWords({ role, endpoint, answers, chainId, head, problem }: EndpointReport): string {
  const found = [chainId === undefined ? '' : `, chain id ${chainId}`, head === undefined ? '' : `, head ${head}`];
  return `${role} ${endpoint}: ${answers ? `answers${found.join('')}` : `DOES NOT ANSWER RIGHTLY: ${problem?.reason}`}`;
}

/** A `linea_estimateGas` for a token transfer between two dev accounts, ready to paste. */
function curlLine(url: string, accounts: readonly DevAccount[]): string {
  const [from, to = from] = accounts.map(({ address }) => address);
  const word = (hex: string) => hex.slice(2).padStart(64, '0');
  const data = `0xa9059cbb${word(to!)}${word('0xde0b6b3a7640000')}`;
  const call = { from, to: TEST_TOKEN, data };
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'linea_estimateGas', params: [call] });
  return `curl -s ${url} -H 'content-type: application/json' -d '${body}'`;
}

/** What `plumbline serve` prints after it listens. */
interface ServeOutput {
  /** A page of another origin was refused; printed once for each. */
  refused(origin: string): void;
  request(request: ServedRequest): void;
  /** It stops, or has stopped. */
  state(event: 'stopping' | 'stopped', text: string): void;
}

const METHOD_LENGTH = 64;
const MESSAGE_LENGTH = 200;
/** Most origins of which it is known that they were printed; those after them are not printed. */
const MAX_REFUSED = 256;

/** Lines of text, or with `json` of one JSON object each. */
function serveOutput({ json }: { readonly json: boolean }): ServeOutput {
  let isOpen = true;
  // A reader that is gone, such as `head`, ends the output and not the node.
  process.stdout.on('error', () => {
    isOpen = false;
  });
  const refused = new Set<string>();
  return {
    refused(text) {
      const origin = oneLine(text, MESSAGE_LENGTH);
      if (!isOpen || refused.has(origin) || refused.size === MAX_REFUSED) return;
      refused.add(origin);
      const flag = `--allow-origin ${origin}`;
      if (json) printJson({ event: 'refused', time: new Date().toISOString(), origin, flag });
      else printLines(`Refused a page of ${origin}; ${flag} lets it in.`);
    },
    request(request) {
      if (!isOpen) return;
      if (json) printJson(asEvent(request));
      else printLines(requestInWords(request));
    },
    state(event, text) {
      if (!isOpen) return;
      if (json) printJson({ event, time: new Date().toISOString() });
      else printLines(text);
    },
  };
}

function asEvent({ method, ms, ...rest }: ServedRequest) {
  const named = method === undefined ? {} : { method: method.slice(0, METHOD_LENGTH) };
  return { event: 'request', time: new Date().toISOString(), ...named, ...rest, ms: Number(ms.toFixed(3)) };
}

/** Names and messages are text of clients: they cannot begin a line, or move the cursor. */
function requestInWords({ method, layer, class: known, ms, batch, error }: ServedRequest): string {
  const name = `${layer === 'l1' ? 'l1 ' : ''}${method === undefined ? '(no method)' : oneLine(method, METHOD_LENGTH)}`;
  const result = error === undefined ? (known ?? '-') : 'error';
  const rest = [
    ...(batch === undefined ? [] : [`batch of ${batch}`]),
    ...(error === undefined ? [] : [`${error.code} ${oneLine(error.message, MESSAGE_LENGTH)}`]),
  ].join(', ');
  const time = new Date().toISOString().slice(11, 23);
  return `${time}  ${name.padEnd(32)} ${result.padEnd(9)} ${ms.toFixed(1).padStart(8)} ms  ${rest}`.trimEnd();
}
