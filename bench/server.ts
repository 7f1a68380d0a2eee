import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { DEV_ACCOUNTS } from '../src/chain/devnet/state/dev-accounts.js';
import { TEST_TOKEN } from '../src/chain/devnet/state/test-token.js';
import { transferCalldata } from '../test/support/sign.js';
import { type BenchArea, buildLibrary, type Figure, median } from './area.js';
import { addressOf } from './devnet-transfers.js';
import { type LoadRun, loadHttp } from './http-load.js';

const ROUNDS = 5;
const WARM_MS = 1_500;
const RUN_MS = 1_200;

/** A server of Node that reads and parses each body, and answers with a body of a given length. */
const BARE_SERVER = `
const answer = JSON.stringify({ jsonrpc: '2.0', id: 1, result: '' });
const body = Buffer.from(JSON.stringify({ jsonrpc: '2.0', id: 1, result: 'x'.repeat(Math.max(0, process.argv[1] - answer.length)) }));
const server = require('node:http').createServer((request, response) => {
  const parts = [];
  request.on('data', (part) => parts.push(part));
  request.on('end', () => {
    JSON.parse(Buffer.concat(parts).toString());
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': body.length });
    response.end(body);
  });
});
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

/** Requests a second of the command's server, 32 connections, beside a bare server of Node that reads, parses and answers as many bytes. */
export const serving: BenchArea = {
  name: 'server',
  question: 'how many requests a second does the server of a devnet answer, beside a bare server of Node?',
  async run() {
    await buildLibrary();
    const ours = await start([`${process.cwd()}/dist/node/cli.js`, 'serve', '--quiet', '--port', '0']);
    const figures: Figure[] = [];
    try {
      for (const [method, params, bar] of CASES) {
        const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params });
        let length = 0;
        const check = (text: string) => {
          length = text.length;
          if (!('result' in JSON.parse(text))) throw new Error(text);
        };
        await loadHttp(ours.port, [body], { forMs: WARM_MS, check });
        const bare = await start(['-e', BARE_SERVER, String(length)]);
        try {
          await loadHttp(bare.port, [body], { forMs: WARM_MS });
          const rounds: { own: LoadRun; other: LoadRun }[] = [];
          for (let round = 0; round < ROUNDS; round++) {
            const own = await loadHttp(ours.port, [body], { forMs: RUN_MS });
            rounds.push({ own, other: await loadHttp(bare.port, [body], { forMs: RUN_MS }) });
          }
          const of = (value: (run: { own: LoadRun; other: LoadRun }) => number) => median(rounds.map(value));
          const rates = `${of(({ own }) => own.perSecond).toFixed(0)} and ${of(({ other }) => other.perSecond).toFixed(0)} a second`;
          figures.push({
            name: `${method} over HTTP: rate / a bare server of Node`,
            value: of(({ own, other }) => own.perSecond / other.perSecond),
            unit: 'x',
            ...(bar !== undefined && { bar: { atLeast: bar } }),
            note: `${rates}, ${length} bytes`,
          });
          figures.push({
            name: `${method} over HTTP: 99 of 100 answers within, / a bare server of Node`,
            value: of(({ own, other }) => own.p99 / other.p99),
            unit: 'x',
            ...(bar === 0.6 && { bar: { atMost: P99_BAR } }),
            note: `${of(({ own }) => own.p99).toFixed(2)} and ${of(({ other }) => other.p99).toFixed(2)} ms`,
          });
        } finally {
          await bare.stop();
        }
      }
    } finally {
      await ours.stop();
    }
    return figures;
  },
};

/** A server as a process of its own, which prints its address. */
async function start(args: readonly string[]): Promise<{ port: number; stop(): Promise<void> }> {
  const child: ChildProcess = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  const { port } = new URL(await addressOf(child));
  child.stdout!.resume();
  return {
    port: Number(port),
    async stop() {
      const ended = once(child, 'exit');
      child.kill('SIGKILL');
      await ended;
    },
  };
}
