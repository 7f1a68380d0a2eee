import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { createInlineNode } from '../src/hosts/opening/inline.js';
import type { RequestArguments, UntypedMethod } from '../src/hosts/provider/provider.js';
import { devnet } from '../src/networks/devnet.js';
import { serveMock } from '../test/support/mock-chain.js';
import { type BenchArea, buildLibrary, type Figure, median, medianRatio } from './area.js';
import { PAGE_CALL } from './pages/page-call.js';
import type { ProcessRun } from './processes/process-run.js';

const ROUNDS = 11;
/**
 * What commit b9d6299, the last one without an EVM kernel, took over the yardstick, in turns with it: medians of two runs, the
 * lower ones. The yardstick is pinned with the version of @ethereumjs/vm, so that commit need not be built again.
 */
const BEFORE = { light: { ms: 2, processorMs: 2.1 }, devnet: { ms: 1.8, processorMs: 1.8 } };
/** Over what b9d6299 took. */
const BAR = 0.6;

const execute = promisify(execFile);
const script = (name: string) => fileURLToPath(new URL(`./processes/${name}.js`, import.meta.url));

async function runProcess(args: readonly string[]): Promise<ProcessRun> {
  const { stdout } = await execute(process.execPath, args);
  return JSON.parse(stdout) as ProcessRun;
}

/** Fresh processes in turns, in changing order. The first of each warms the files. */
async function interleave<Name extends string>(programs: Record<Name, readonly string[]>) {
  const names = Object.keys(programs) as Name[];
  const runs = Object.fromEntries(names.map((name) => [name, []])) as unknown as Record<Name, ProcessRun[]>;
  for (let round = -1; round < ROUNDS; round++) {
    for (const name of round % 2 === 0 ? names : names.toReversed()) {
      const run = await runProcess(programs[name]);
      if (round >= 0) runs[name].push(run);
    }
  }
  return runs;
}

function figuresOf(kind: 'light' | 'devnet', ours: readonly ProcessRun[], theirs: readonly ProcessRun[]): Figure[] {
  const name = kind === 'light' ? 'light node' : kind;
  return (['ms', 'processorMs'] as const).map((key) => {
    const [times, baseline] = [ours.map((run) => run[key]), theirs.map((run) => run[key])];
    return {
      name: `${name}, fresh process: first ERC-20 estimate, ${key === 'ms' ? 'time' : 'processor time'} over b9d6299`,
      value: medianRatio(times, baseline) / BEFORE[kind][key],
      unit: 'x',
      bar: { atMost: BAR },
      note: `${median(times).toFixed(0)} ms; ${medianRatio(times, baseline).toFixed(2)} x of @ethereumjs/vm's ${median(baseline).toFixed(0)} ms`,
    };
  });
}

export const processStart: BenchArea = {
  name: 'process',
  question:
    'How long does a fresh Node process take to its first local estimate, beside one that imports @ethereumjs/vm?',
  async run(): Promise<Figure[]> {
    await buildLibrary();
    const full = await createInlineNode({ chain: { kind: 'devnet', network: devnet() } });
    const answers = new Map<string, Promise<unknown>>();
    /** Answers once for all processes, so that their endpoints take no time. */
    const request = (call: RequestArguments) => {
      const key = JSON.stringify(call);
      const answer = answers.get(key) ?? full.request<UntypedMethod>(call);
      answers.set(key, answer);
      return answer;
    };
    const endpoints = await Promise.all([0, 1].map(() => serveMock({ request })));
    try {
      const runs = await interleave({
        light: [script('first-estimate'), 'light', ...endpoints.map(({ url }) => url)],
        devnet: [script('first-estimate'), 'devnet'],
        vm: [script('vm-import')],
      });
      const { gasLimit } = await full.request({ method: 'linea_estimateGas', params: [PAGE_CALL] });
      for (const run of [...runs.light, ...runs.devnet]) {
        if (run.gasLimit !== gasLimit) throw new Error(`a process estimates ${run.gasLimit}, not ${gasLimit}`);
      }
      return [...figuresOf('light', runs.light, runs.vm), ...figuresOf('devnet', runs.devnet, runs.vm)];
    } finally {
      for (const endpoint of endpoints) await endpoint.close();
      await full.close();
    }
  },
};
