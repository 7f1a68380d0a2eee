import { DEV_ACCOUNTS } from '../src/chain/devnet/state/dev-accounts.js';
import { devAlloc } from '../src/chain/devnet/state/genesis.js';
import { openInline } from '../src/hosts/opening/open-inline.js';
import { devnet } from '../src/networks/devnet.js';
import { hexToBytes } from '../src/primitives/hex.js';
import { contracts } from '../test/support/contracts.js';
import { blockContext } from '../test/support/evm.js';
import { swapScene } from '../test/support/swap-scene.js';
import { type BenchArea, type Figure, median } from './area.js';
import { costOf, ownCpuMs } from './cost.js';
import { bareRuns, type Subject } from './estimate-runs.js';
import { ethereumjsRun, plumblineRun, type Run } from './evm-engines.js';
import { type EvmProgram, evmPrograms } from './evm-programs.js';
import { type Revm, startRevm } from './revm.js';

const ROUNDS = 3;
/** Of the light calls; the first is not counted. */
const LIGHT_ROUNDS = 6;

/**
 * What `linea_estimateGas` of the swap, exact search, cost at plumbline-l2/plumbline@60429e0, before execution had a kernel of
 * its own: as a multiple of one bare run of @ethereumjs/evm of the same call, measured with this area. It was 13.0 to 16.8 in
 * four runs, and the least counts.
 */
const ESTIMATE_BEFORE_IN_BARE_RUNS = 13;

interface Costs {
  readonly plumbline: number;
  readonly ethereumjs: number;
  readonly revm: number | undefined;
}

/** Runs a program on each engine, checks that they agree, and measures them in turns. @returns the costs of each round */
async function measure(program: EvmProgram, engine: Revm | undefined): Promise<Costs[]> {
  const ours = plumblineRun(program);
  const first = await ours();
  const intrinsic =
    21_000n + BigInt(hexToBytes(program.call.data).reduce((sum, byte) => sum + (byte === 0 ? 4 : 16), 0));
  const ethereumjs = await ethereumjsRun(program, intrinsic);
  const revm = await engine?.open(program);
  requireEqual(program.name, await ethereumjs(), first);
  if (revm !== undefined) requireEqual(program.name, { returned: revm.returned }, { returned: first.returned });
  const rounds: Costs[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    rounds.push({
      plumbline: await costOf(ours, ownCpuMs),
      ethereumjs: await costOf(ethereumjs, ownCpuMs),
      revm: await revm?.cost(),
    });
  }
  await revm?.close();
  return rounds;
}

function requireEqual(name: string, found: Awaited<ReturnType<Run>>, expected: Awaited<ReturnType<Run>>): void {
  if (found.returned !== expected.returned || found.gas !== expected.gas) {
    throw new Error(
      `${name}: ${found.returned} with ${found.gas} gas, expected ${expected.returned} with ${expected.gas}`,
    );
  }
}

async function programFigures(): Promise<Figure[]> {
  const revm = await startRevm();
  const figures: Figure[] = [];
  const ratios: number[] = [];
  try {
    for (const program of await evmPrograms()) {
      const rounds = await measure(program, revm);
      const speedUp = median(rounds.map(({ plumbline, ethereumjs }) => ethereumjs / plumbline));
      const ms = (of: keyof Costs) => `${median(rounds.map((costs) => costs[of] ?? 0)).toFixed(2)} ms`;
      const { overEthereumjs: atLeast, overRevm, overAnvil } = program;
      const atMost = revm?.kind === 'native' ? overRevm : overAnvil;
      if (atLeast !== undefined) ratios.push(speedUp);
      figures.push({
        name: `${program.name}: @ethereumjs/evm over plumbline`,
        value: speedUp,
        unit: 'x',
        ...(atLeast !== undefined && { bar: { atLeast } }),
        note: `${ms('ethereumjs')} and ${ms('plumbline')}`,
      });
      if (revm === undefined) continue;
      figures.push({
        name: `${program.name}: plumbline over ${revm.kind === 'native' ? 'native revm' : 'revm in anvil'}`,
        value: median(rounds.map(({ plumbline, revm }) => plumbline / revm!)),
        unit: 'x',
        bar: { atMost },
        note: ms('revm'),
      });
    }
  } finally {
    await revm?.close();
  }
  const mean = Math.exp(ratios.reduce((sum, ratio) => sum + Math.log(ratio), 0) / ratios.length);
  figures.push({
    name: 'geometric mean: @ethereumjs/evm over plumbline',
    value: mean,
    unit: 'x',
    bar: { atLeast: 20 },
    ...(revm === undefined && { note: 'neither Cargo nor anvil on this machine: nothing was compared with revm' }),
  });
  return figures;
}

/** One light call, and an estimate, beside bare runs of @ethereumjs/evm. */
async function lightFigures(): Promise<Figure[]> {
  const scene = swapScene(await contracts(), DEV_ACCOUNTS[0]!.address);
  const alloc = { ...devAlloc(), ...scene.alloc };
  const context = blockContext({ gasLimit: devnet().blockGasLimit });
  const subjectOf = (call: Subject['call']): Subject => ({ network: devnet(), alloc, context, call });
  const limits = [1_000_000n];
  const [bareTransfer, bareSwap] = [await bareRuns(subjectOf(scene.transfer)), await bareRuns(subjectOf(scene.swap))];
  const transfer = plumblineRun({ name: 'transfer', alloc, call: scene.transfer, overRevm: 0, overAnvil: 0 });
  const node = await openInline({ chain: { kind: 'devnet', alloc: scene.alloc }, gasSearch: 'exact' });
  try {
    const estimate = async () => {
      const request = { jsonrpc: '2.0', id: 1, method: 'linea_estimateGas', params: [scene.swap] };
      const { body } = await node.dispatch('l2', request);
      if (body === undefined || !('result' in body)) throw new Error(`linea_estimateGas: ${JSON.stringify(body)}`);
    };
    const bodies = {
      transfer,
      bareTransfer: () => bareTransfer(limits),
      estimate,
      bareSwap: () => bareSwap(limits),
    };
    const rounds: Record<keyof typeof bodies, number>[] = [];
    for (let round = 0; round < LIGHT_ROUNDS; round++) {
      const costs = { transfer: 0, bareTransfer: 0, estimate: 0, bareSwap: 0 };
      for (const [name, body] of Object.entries(bodies)) {
        costs[name as keyof typeof bodies] = await costOf(body, ownCpuMs);
      }
      // Nothing is compiled yet in the first.
      if (round > 0) rounds.push(costs);
    }
    const ms = (name: keyof typeof bodies) => `${median(rounds.map((costs) => costs[name])).toFixed(3)} ms`;
    const ratio = (name: keyof typeof bodies, over: keyof typeof bodies) =>
      median(rounds.map((costs) => costs[name] / costs[over]));
    const inBareRuns = ratio('estimate', 'bareSwap');
    return [
      {
        name: 'one ERC-20 call over @ethereumjs/evm bare',
        value: ratio('transfer', 'bareTransfer'),
        unit: 'x',
        bar: { atMost: 0.5 },
        note: `${ms('transfer')} and ${ms('bareTransfer')}`,
      },
      {
        name: 'linea_estimateGas of a swap, exact search, over bare runs',
        value: inBareRuns,
        unit: 'x',
        note: `${ms('estimate')} and ${ms('bareSwap')}`,
      },
      {
        name: 'the same over its cost before the kernel',
        value: inBareRuns / ESTIMATE_BEFORE_IN_BARE_RUNS,
        unit: 'x',
        bar: { atMost: 0.4 },
        note: `${ESTIMATE_BEFORE_IN_BARE_RUNS} bare runs`,
      },
    ];
  } finally {
    await node.close();
  }
}

export const executing: BenchArea = {
  name: 'evm',
  question: 'How fast does the page execute, beside @ethereumjs/evm and beside a native revm?',
  async run() {
    return [...(await programFigures()), ...(await lightFigures())];
  },
};
