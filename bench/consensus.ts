import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { beginning, KINDS, readObject, run, type Scenario } from '../conformance/consensus-scenario.js';
import { type AnyUpdate, type LightClientStore, processLightClientUpdates } from '../src/consensus/rules.js';
import { publicBeaconNetwork } from '../src/networks/beacon-networks.js';
import { FIXTURE_DIRECTORIES, openFixtures } from '../test/support/fixtures.js';
import { alternateAsync, type BenchArea, type Figure, median, medianRatio } from './area.js';
import { blsVerification } from './consensus-yardstick.js';
import { settledReads } from './settled-read.js';

/** Recorded: 30 updates of as many periods, and a checkpoint with its finality update. */
const PERIODS = 'consensus/mainnet/deneb-1347-1376.json';
const CHECKPOINT = 'consensus/mainnet/capella-898.json';
const BATCH = 14;
const MAINNET = publicBeaconNetwork(1)!;
const ROUNDS = 7;
const LATER = Number.MAX_SAFE_INTEGER;

const execute = promisify(execFile);
const fixtures = openFixtures(FIXTURE_DIRECTORIES);

/** Updates of the mainnet, read anew: no key of their committees has been decoded. */
function updates(path: string, count: number): { store: LightClientStore; objects: AnyUpdate[] } {
  const scenario = fixtures.json<Scenario>(path);
  const steps = scenario.steps.slice(0, count);
  const objects = steps.map(({ op, object }) => readObject(MAINNET, KINDS[op as keyof typeof KINDS], object));
  return { store: beginning(MAINNET, scenario), objects };
}

function applyAll(store: LightClientStore, objects: readonly AnyUpdate[]): LightClientStore {
  const { store: after, applied } = run(MAINNET, store, objects, LATER);
  if (applied.length !== objects.length) throw new Error('an update was refused');
  return after;
}

/** Milliseconds of the longest piece, in which the thread does nothing else. */
function longestPiece(store: LightClientStore, objects: readonly AnyUpdate[]): number {
  const pieces = processLightClientUpdates(MAINNET, store, objects, LATER);
  for (let longest = 0; ; ) {
    const started = performance.now();
    const { done } = pieces.next();
    longest = Math.max(longest, performance.now() - started);
    if (done === true) return longest;
  }
}

async function coldStart(): Promise<Figure> {
  const script = fileURLToPath(new URL('./processes/consensus-start.js', import.meta.url));
  const runs: { ms: number; verifyMs: number }[] = [];
  for (let round = -1; round < ROUNDS; round++) {
    const { stdout } = await execute(process.execPath, [script, fixtures.place(CHECKPOINT)]);
    if (round >= 0) runs.push(JSON.parse(stdout));
  }
  const times = runs.map(({ ms }) => ms);
  return {
    name: 'cold start: loading, bootstrap, first finality update, over a verification',
    value: medianRatio(
      times,
      runs.map(({ verifyMs }) => verifyMs),
    ),
    unit: 'x',
    bar: { atMost: 8 },
    note: `${median(times).toFixed(0)} ms in a fresh process`,
  };
}

export const followingConsensus: BenchArea = {
  name: 'consensus',
  question: 'What does following layer 1 cost, beside one verification of a BLS signature by @noble/curves?',
  async run() {
    if (!fixtures.has(PERIODS) || !fixtures.has(CHECKPOINT)) {
      throw new Error(
        '../shared/fixtures does not hold the recorded updates (docs/fixtures.md says where to get them)',
      );
    }
    const verify = blsVerification();
    const step = updates(CHECKPOINT, 2);
    const finality = [step.objects[1]!];
    const many = updates(PERIODS, BATCH);
    const times = await alternateAsync(
      {
        verification: async () => verify(),
        step: async () => applyAll(step.store, finality),
        // Read anew each time, so that keys are decoded as in use.
        together: async () => {
          const { store, objects } = updates(PERIODS, BATCH);
          applyAll(store, objects);
        },
        apart: async () => many.objects.reduce((store, object) => applyAll(store, [object]), many.store),
      },
      { rounds: ROUNDS, warmUpMs: 500 },
    );
    const over = (name: 'step' | 'together' | 'apart') => medianRatio(times[name]!, times.verification!);
    const ms = (name: string) => `${median(times[name]!).toFixed(0)} ms`;
    return [
      { name: 'a verification by @noble/curves', value: median(times.verification!), unit: 'ms' },
      await coldStart(),
      {
        name: 'a finality update over a verification',
        value: over('step'),
        unit: 'x',
        bar: { atMost: 2 },
        note: ms('step'),
      },
      {
        name: `${BATCH} updates together over a verification`,
        value: over('together'),
        unit: 'x',
        bar: { atMost: 13 },
        note: `${ms('together')}; one by one ${over('apart').toFixed(1)} x; the thread is held for ${longestPiece(many.store, many.objects).toFixed(0)} ms at most`,
      },
      ...(await settledReads()),
    ];
  },
};
