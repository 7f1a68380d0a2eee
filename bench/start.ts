import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as wait } from 'node:timers/promises';
import { anvilPath, freePort } from '../test/support/anvil.js';
import { type BenchArea, buildLibrary, median, medianRatio } from './area.js';

const ROUNDS = 7;
const WARM_ROUNDS = 3;
const STARTS_WITHIN_MS = 60_000;
/** Between two requests of a node that does not listen yet. */
const POLL_MS = 3;
const BANNER = /JSON-RPC\s+http/;

/** The smallest HTTP server of Node: it gives each request the same answer. */
const SMALLEST_SERVER =
  `require('node:http').createServer((request, response) => response.end('{"result":"0x1"}'))` +
  ".listen(process.argv[1], '127.0.0.1')";

/**
 * A devnet of the command, and of anvil: from the start of the process to its first answer; beside them the smallest server of Node, which
 * is the least that the command can take: it takes about twice the time of anvil. `npm start` to its banner.
 */
export const starting: BenchArea = {
  name: 'start',
  question: 'how soon does a devnet of the shell answer, beside anvil?',
  async run() {
    const anvil = anvilPath();
    if (anvil === undefined) throw new Error(`there is no anvil for ${process.platform} ${process.arch}`);
    await buildLibrary();
    const [ours, theirs, smallest]: [number[], number[], number[]] = [[], [], []];
    const command = `${process.cwd()}/cli/dist/cli.js`;
    // One round more, which finds the files in no cache.
    for (let round = 0; round <= ROUNDS; round++) {
      const port = String(await freePort());
      const ourMs = await answerMs(process.execPath, [command, 'serve', '--port', port], port);
      const other = String(await freePort());
      const theirMs = await answerMs(anvil, ['--port', other], other);
      const third = String(await freePort());
      const smallestMs = await answerMs(process.execPath, ['-e', SMALLEST_SERVER, third], third);
      if (round === 0) continue;
      ours.push(ourMs);
      smallest.push(smallestMs);
      theirs.push(theirMs);
    }
    const warm: number[] = [];
    for (let round = 0; round <= WARM_ROUNDS; round++) {
      const ms = await bannerMs();
      if (round > 0) warm.push(ms);
    }
    const note = `${median(ours).toFixed(0)} and ${median(theirs).toFixed(0)} ms, to the answer of eth_chainId`;
    return [
      {
        name: 'plumbline serve / the smallest server of Node',
        value: medianRatio(ours, smallest),
        unit: 'x',
        bar: { atMost: 1.6 },
        note: `${median(smallest).toFixed(0)} ms`,
      },
      { name: 'plumbline serve / anvil', value: medianRatio(ours, theirs), unit: 'x', bar: { atMost: 2 }, note },
      { name: 'the smallest server of Node / anvil', value: medianRatio(smallest, theirs), unit: 'x' },
      {
        name: 'npm start with everything built, to its banner',
        value: median(warm) / 1000,
        unit: 's',
        bar: { atMost: 3 },
      },
    ];
  },
};

async function stop(child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, 'exit');
  child.kill(signal);
  await ended;
}

async function answerMs(program: string, args: readonly string[], port: string): Promise<number> {
  const began = performance.now();
  const child = spawn(program, args, { stdio: 'ignore' });
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'eth_chainId', params: [] });
  const headers = { 'content-type': 'application/json' };
  try {
    for (;;) {
      try {
        const response = await fetch(`http://127.0.0.1:${port}`, { method: 'POST', headers, body });
        const { result } = (await response.json()) as { result?: string };
        if (result !== undefined) return performance.now() - began;
      } catch (error) {
        if (child.exitCode !== null || performance.now() - began > STARTS_WITHIN_MS) throw error;
      }
      await wait(POLL_MS);
    }
  } finally {
    await stop(child, 'SIGKILL');
  }
}

/** What `npm start` runs, by npm. */
async function bannerMs(): Promise<number> {
  const began = performance.now();
  // A group of its own: npm passes no signal on that cannot be caught.
  const child = spawn('npm', ['start', '--', '--port', '0'], { stdio: ['ignore', 'pipe', 'inherit'], detached: true });
  try {
    let printed = '';
    for await (const chunk of child.stdout) {
      printed += String(chunk);
      if (BANNER.test(printed)) return performance.now() - began;
    }
    throw new Error(`npm start ended: ${printed}`);
  } finally {
    process.kill(-child.pid!, 'SIGINT');
    await once(child, 'exit');
  }
}
