import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { DEV_ACCOUNTS, TEST_TOKEN } from '../src/chain/devnet/state/dev-accounts.js';
import { transferCalldata } from '../test/support/sign.js';
import { type BenchArea, buildLibrary, type Figure, median } from './area.js';
import { addressOf } from './devnet-transfers.js';
import { type LoadRun, loadHttp, loadWebSocket } from './http-load.js';

const ROUNDS = 9;
/** Both servers are compiled by then: that takes some 40 000 requests. */
const WARM_MS = 4_000;
const RUN_MS = 700;

/** A server of Node that reads and parses each body, and answers with a body of a given length. */
const BARE_HTTP = `
const server = require('node:http').createServer((request, response) => {
  const parts = [];
  request.on('data', (part) => parts.push(part));
  request.on('end', () => {
    JSON.parse(Buffer.concat(parts).toString());
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': body.length });
    response.end(body);
  });
});`;
/** The same with ws. */
const BARE_WEB_SOCKET = `
const server = require('node:http').createServer();
new (require('ws').WebSocketServer)({ server, perMessageDeflate: false }).on('connection', (socket) => {
  socket.on('message', (data) => {
    JSON.parse(String(data));
    socket.send(body);
  });
});`;
const bare = (server: string) => `
const body = JSON.stringify({ jsonrpc: '2.0', id: 1, result: '' }).replace('""', '"' + 'x'.repeat(Math.max(0, process.argv[1] - 36)) + '"');
${server}
server.listen(0, '127.0.0.1', () => console.log('JSON-RPC http://127.0.0.1:' + server.address().port + '/'));
`;

const [{ address: FROM }, { address: TO }] = DEV_ACCOUNTS as readonly [
  (typeof DEV_ACCOUNTS)[number],
  (typeof DEV_ACCOUNTS)[number],
];
const balanceOf = `0x70a08231${FROM.slice(2).padStart(64, '0')}`;

/** Method, parameters, and the least rate over the bare server's. */
const CASES = [
  ['eth_chainId', [], 0.6],
  ['eth_getBlockByNumber', ['latest', false], 0.45],
  ['eth_call', [{ to: TEST_TOKEN, data: balanceOf }, 'latest'], 0.35],
  ['eth_estimateGas', [{ from: FROM, to: TO, value: '0x1' }], 0.35],
  ['linea_estimateGas', [{ from: FROM, to: TEST_TOKEN, data: transferCalldata(TO, 1n) }], 0.2],
  ['linea_getProof', [FROM, [], 'latest'], undefined],
] as const;

const P99_BAR = 3;
const CLI = `${process.cwd()}/cli/dist/cli.js`;

const WAYS = {
  HTTP: {
    cases: CASES,
    bare: BARE_HTTP,
    load: (port: number, body: string, forMs: number, check?: (text: string) => void) =>
      loadHttp(port, [body], { forMs, ...(check && { check }) }),
  },
  WebSocket: {
    cases: CASES.filter(([method]) => method === 'eth_chainId' || method === 'eth_call'),
    bare: BARE_WEB_SOCKET,
    load: (port: number, body: string, forMs: number, check?: (text: string) => void) =>
      loadWebSocket(port, body, { forMs, ...(check && { check }) }),
  },
};

/**
 * Requests a second of the command's server, 32 connections, beside a bare server of Node that reads, parses and answers as many bytes.
 * With `--soak`, `eth_call` at half its top rate for that many minutes.
 */
export const serving: BenchArea = {
  name: 'server',
  question: 'how many requests a second does the server of a devnet answer, beside a bare server of Node?',
  async run({ soakMinutes }) {
    await buildLibrary();
    const ours = await start([CLI, 'serve', '--quiet', '--port', '0']);
    try {
      const figures: Figure[] = [];
      for (const [way, { cases, bare: script, load }] of Object.entries(WAYS))
        for (const [method, params, bar] of cases) {
          const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params });
          let length = 0;
          const check = (text: string) => {
            length = text.length;
            if (!('result' in JSON.parse(text))) throw new Error(text);
          };
          await load(ours.port, body, WARM_MS, check);
          const other = await start(['-e', bare(script), String(length)]);
          try {
            await load(other.port, body, WARM_MS);
            const runs: { own: LoadRun; other: LoadRun }[] = [];
            for (let round = 0; round < ROUNDS; round++)
              runs.push({ own: await load(ours.port, body, RUN_MS), other: await load(other.port, body, RUN_MS) });
            figures.push(...figuresOf(`${method} over ${way}`, runs, bar, length));
          } finally {
            await other.stop();
          }
        }
      figures.push(await keptOfRequests());
      if (soakMinutes > 0) figures.push(...(await soak(ours, soakMinutes)));
      return figures;
    } finally {
      await ours.stop();
    }
  },
};

/** After a collection of the young generation, MB: `12 ms: Scavenge 13.6 (19.0) -> 9.9 (19.0) MB`. */
const SCAVENGE = /Scavenge [\d.]+ \([\d.]+\) -> ([\d.]+)/g;

/**
 * Bytes that V8 moves to the old generation for each request. Nothing of a request is needed after its answer, but what was moved too soon
 * may keep all that comes after it, until the old generation is collected.
 */
async function keptOfRequests(): Promise<Figure> {
  const [method, params] = CASES[0];
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params });
  const traced = await start(['--trace-gc', CLI, 'serve', '--quiet', '--port', '0']);
  try {
    await loadHttp(traced.port, [body], { forMs: WARM_MS });
    const from = traced.printed().length;
    const { answers } = await loadHttp(traced.port, [body], { forMs: WARM_MS });
    const heaps = [...traced.printed().slice(from).matchAll(SCAVENGE)].map(([, megabytes]) => Number(megabytes) * 1e6);
    if (heaps.length < 2) throw new Error('V8 printed no collections');
    // It falls where the old generation is collected.
    const grown = heaps.slice(1).map((bytes, i) => Math.max(0, bytes - heaps[i]!));
    return {
      name: `${method} over HTTP: kept of each request until the old generation is collected`,
      value: grown.reduce((sum, bytes) => sum + bytes, 0) / answers,
      unit: 'bytes',
      bar: { atMost: 300 },
      note: `${answers} requests, ${heaps.length} collections of the young one`,
    };
  } finally {
    await traced.stop();
  }
}

/** Parts of a soak that are compared: the second, when caches are full, and the last. */
const SOAK_PARTS = 10;

/** `eth_call` at half the rate that it reaches. An answer that is an error ends it. */
async function soak({ port, pid }: Served, minutes: number): Promise<Figure[]> {
  const [, [method, params]] = [CASES[0], CASES[2]];
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params });
  const { perSecond: top } = await loadHttp(port, [body], { forMs: 5_000 });
  const parts: (LoadRun & { megabytes: number })[] = [];
  for (let part = 0; part < SOAK_PARTS; part++) {
    const run = await loadHttp(port, [body], { forMs: (minutes * 60_000) / SOAK_PARTS, perSecond: top / 2 });
    parts.push({ ...run, megabytes: residentMegabytes(pid) });
  }
  const [early, late] = [parts[1]!, parts.at(-1)!];
  const answered = parts.reduce((sum, { answers }) => sum + answers, 0);
  const of = (value: (run: LoadRun & { megabytes: number }) => number, digits: number) =>
    parts.map((run) => value(run).toFixed(digits)).join(' ');
  const note = `${answered} answers in ${minutes} minutes, ${(top / 2).toFixed(0)} a second, no error`;
  return [
    {
      name: `${method} for long: memory, last / second part`,
      value: late.megabytes / early.megabytes,
      unit: 'x',
      bar: { atMost: 1.1 },
      note: `${note}; ${of((run) => run.megabytes, 0)} MB`,
    },
    {
      name: `${method} for long: 99 of 100 answers within, last / second part`,
      value: late.p99 / early.p99,
      unit: 'x',
      bar: { atMost: 1.5 },
      note: `${of((run) => run.p99, 2)} ms`,
    },
  ];
}

/** Memory of a process, MB; Linux only. */
function residentMegabytes(pid: number): number {
  return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024;
}

function figuresOf(
  name: string,
  runs: readonly { own: LoadRun; other: LoadRun }[],
  bar: number | undefined,
  length: number,
): Figure[] {
  const of = (value: (run: { own: LoadRun; other: LoadRun }) => number) => median(runs.map(value));
  const [own, other] = [of((run) => run.own.perSecond), of((run) => run.other.perSecond)];
  return [
    {
      name: `${name}: rate / a bare server of Node`,
      value: of((run) => run.own.perSecond / run.other.perSecond),
      unit: 'x',
      ...(bar !== undefined && { bar: { atLeast: bar } }),
      note: `${own.toFixed(0)} and ${other.toFixed(0)} a second, ${length} bytes; ${(1e6 / own - 1e6 / other).toFixed(0)} us more`,
    },
    {
      name: `${name}: 99 of 100 answers within, / a bare server of Node`,
      value: of((run) => run.own.p99 / run.other.p99),
      unit: 'x',
      ...(bar === CASES[0][2] && { bar: { atMost: P99_BAR } }),
      note: `${of((run) => run.own.p99).toFixed(2)} and ${of((run) => run.other.p99).toFixed(2)} ms`,
    },
  ];
}
interface Served {
  readonly port: number;
  readonly pid: number;
  /** What it has printed after its address. */
  printed(): string;
  stop(): Promise<void>;
}

/** A server as a process of its own, which prints its address. */
async function start(args: readonly string[]): Promise<Served> {
  const child: ChildProcess = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  const { port } = new URL(await addressOf(child));
  let printed = '';
  child.stdout!.on('data', (chunk) => {
    printed += String(chunk);
  });
  return {
    port: Number(port),
    pid: child.pid!,
    printed: () => printed,
    async stop() {
      const ended = once(child, 'exit');
      child.kill('SIGKILL');
      await ended;
    },
  };
}
