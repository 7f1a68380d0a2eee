import { AllocState } from '../conformance/alloc-state.js';
import { DEV_ACCOUNTS } from '../src/chain/devnet/state/dev-accounts.js';
import { devAlloc, type GenesisAlloc } from '../src/chain/devnet/state/genesis.js';
import { simulateCallAt, transactionMessageOf } from '../src/evm/call.js';
import { Machine } from '../src/evm/machine.js';
import { StateOverlay } from '../src/evm/state-overlay.js';
import { ReadCache, type StateReader } from '../src/evm/state-reader.js';
import { callTracer } from '../src/evm/tracing/call-tracer.js';
import { traceTransaction } from '../src/evm/tracing/trace-transaction.js';
import { runTransaction, simulateTransaction } from '../src/evm/transaction.js';
import type { TransactionMessage } from '../src/evm/transaction-message.js';
import { openInline } from '../src/hosts/opening/open-inline.js';
import { EvmKernel } from '../src/kernel/evm.js';
import { devnet } from '../src/networks/devnet.js';
import { bytesToHex, type Hex, hexToBytes } from '../src/primitives/hex.js';
import { toQuantity } from '../src/primitives/quantity.js';
import type { ExplainedEstimate } from '../src/rpc/schema/answers.js';
import type { TransactionPreview } from '../src/rpc/schema/transaction-preview.js';
import { Anvil, anvilPath } from '../test/support/anvil.js';
import { contracts } from '../test/support/contracts.js';
import { blockContext, networkAt } from '../test/support/evm.js';
import { swapScene } from '../test/support/swap-scene.js';
import { type Figure, median, medianRatio } from './area.js';
import { costOf, ownCpuMs } from './cost.js';
import { allocOf, GAS, HARDFORK, revmRun } from './evm-engines.js';
import { type EvmProgram, evmPrograms } from './evm-programs.js';

interface Call {
  readonly from: Hex;
  readonly to: Hex;
  readonly data: Hex;
}

/** A question to a contract, on the state before or after the call. */
interface Question {
  readonly when: 'before' | 'after';
  readonly to: Hex;
  readonly data: Hex;
}

const ROUNDS = 7;
/** Rounds before those that count, five seconds of each body: engines compile for as long, and a preview has much code. */
const WARM_UP_ROUNDS = 20;

/** Processor time of each body in turns, milliseconds. */
async function costs<Name extends string>(
  bodies: Record<Name, () => Promise<unknown>>,
): Promise<Record<Name, number[]>> {
  const found = Object.fromEntries(Object.keys(bodies).map((name) => [name, []])) as unknown as Record<Name, number[]>;
  for (let round = 0; round < WARM_UP_ROUNDS + ROUNDS; round++) {
    for (const name of Object.keys(bodies) as Name[]) {
      const cost = await costOf(bodies[name], ownCpuMs);
      if (round >= WARM_UP_ROUNDS) found[name].push(cost);
    }
  }
  return found;
}

const ms = (samples: readonly number[]) => `${median(samples).toPrecision(2)} ms`;
/** A run that a preview made besides those of its estimate. */
interface MadeRun {
  readonly to: Hex;
  readonly data: Hex;
}

/** The runs of the kernel while `body` goes on. */
async function runsOf(body: () => Promise<unknown>): Promise<MadeRun[]> {
  const made: MadeRun[] = [];
  const { start } = EvmKernel.prototype;
  EvmKernel.prototype.start = function (message) {
    if (message.to !== undefined) made.push({ to: bytesToHex(message.to), data: bytesToHex(message.data) });
    start.call(this, message);
  };
  try {
    await body();
  } finally {
    EvmKernel.prototype.start = start;
  }
  return made;
}

/** The questions among the runs of a preview: what is asked twice is asked before and after. The rest are runs of the call. */
function sorted(made: readonly MadeRun[], call: Call): { readonly questions: Question[]; readonly calls: number } {
  const asked = new Set<string>();
  const questions: Question[] = [];
  let calls = 0;
  for (const { to, data } of made) {
    if (data === call.data && to === call.to) calls++;
    else {
      const key = `${to} ${data}`;
      questions.push({ when: asked.has(key) ? 'before' : 'after', to, data });
      asked.add(key);
    }
  }
  return { questions, calls };
}

/**
 * A whole preview on a devnet, beside the runs that it makes: an estimate, which gives the fee and the limit; the call with that limit,
 * and again under other conditions; and the questions to contracts. Each is a run of its own on a new machine, as `eth_call` makes it.
 * Balances of ether are read without a run, and do not count. The second figure counts of the estimate no more than the runs of its
 * search.
 */
async function previewOver(name: string, alloc: GenesisAlloc, call: Call): Promise<Figure[]> {
  const network = devnet();
  const node = await openInline({ chain: { kind: 'devnet', alloc } });
  const ask = async <T>(layer: 'l2' | 'inspect', method: string, ...params: unknown[]): Promise<T> => {
    const { body } = await node.dispatch(layer, { jsonrpc: '2.0', id: 1, method, params });
    if (body === undefined || !('result' in body)) throw new Error(`${method}: ${JSON.stringify(body)}`);
    return body.result as T;
  };
  try {
    const preview = await ask<TransactionPreview>('inspect', 'previewTransaction', call);
    const { gasLimit, evidence } = await ask<ExplainedEstimate>('inspect', 'explainEstimate', call);
    const made = await runsOf(() => ask('inspect', 'previewTransaction', call));
    const ofEstimate = (await runsOf(() => ask('l2', 'linea_estimateGas', call))).length;
    const { questions, calls } = sorted(made, call);
    const further = calls - ofEstimate - 1;
    const { executed } = evidence.gas;
    const block = blockContext({ gasLimit: network.blockGasLimit });
    const state = new AllocState(allocOf({ ...devAlloc(), ...alloc }));
    const request = { from: hexToBytes(call.from), to: hexToBytes(call.to), data: hexToBytes(call.data) };
    const limits = { gasLimit: BigInt(gasLimit), nonce: 0n, price: block.baseFeePerGas, free: false };
    const message = transactionMessageOf(request, limits);
    const place = { network, block };
    const search = () => searchRuns(place, new ReadCache(state), message, executed);
    const others = async () => {
      const before = new ReadCache(state);
      const after = new StateOverlay(before);
      const outcome = await keptRun(place, after, message);
      for (let i = 0; i < further; i++) await keptRun(place, new StateOverlay(before), message);
      for (const { when, to, data } of questions) {
        const question = { to: hexToBytes(to), data: hexToBytes(data), gas: 2_000_000n };
        await simulateCallAt(when === 'before' ? before : after, block, question, { network });
      }
      return outcome;
    };
    const { gasUsed } = await others();
    if (BigInt(preview.calls[0]!.gasUsed) !== gasUsed)
      throw new Error(`gas used ${preview.calls[0]!.gasUsed}, expected ${gasUsed}`);
    const times = await costs({
      preview: () => ask('inspect', 'previewTransaction', call),
      estimate: () => ask('l2', 'linea_estimateGas', call),
      search,
      others,
    });
    const plus = (a: readonly number[], b: readonly number[]) => a.map((one, i) => one + b[i]!);
    const runs = `1 of the call, ${further} further ones and ${questions.length} questions to contracts ${ms(times.others)}`;
    return [
      {
        name: `${name}: a preview over its estimate and the other runs that it needs`,
        value: medianRatio(times.preview, plus(times.estimate, times.others)),
        unit: 'x',
        bar: { atMost: 2 },
        note: `${ms(times.preview)}; linea_estimateGas ${ms(times.estimate)}, ${runs}`,
      },
      {
        name: `${name}: the same, of the estimate the runs of its search alone`,
        value: medianRatio(times.preview, plus(times.search, times.others)),
        unit: 'x',
        note: `${executed} of the search ${ms(times.search)}, ${runs}`,
      },
    ];
  } finally {
    await node.close();
  }
}

type Place = Pick<Parameters<typeof traceTransaction>[0], 'network' | 'block'>;

/** The runs of a gas search: on one machine, of which each leaves the state as it was. */
async function searchRuns({ network, block }: Place, state: StateReader, message: TransactionMessage, count: number) {
  const machine = await Machine.open(network, block, new StateOverlay(state));
  try {
    for (let i = 0; i < count; i++) await simulateTransaction(machine, message);
  } finally {
    machine.close();
  }
}

async function keptRun({ network, block }: Place, state: StateOverlay, message: TransactionMessage) {
  const machine = await Machine.open(network, block, state);
  try {
    return await runTransaction(machine, message);
  } finally {
    machine.close();
  }
}

type TracedProgram = Pick<EvmProgram, 'name' | 'alloc' | 'call'>;

/**
 * A run with `callTracer` over the same run without. `anvil` says beside it how much slower its own runs become.
 *
 * @param bar - of the figure. There is none for thousands of calls that do nothing, the worst case: the kernel needs a quarter of a
 *   microsecond for one, and as long to record it and to make a frame of it
 */
async function tracingOver(
  { name, alloc, call }: TracedProgram,
  bar: Figure['bar'],
  anvil?: () => Promise<string>,
): Promise<Figure> {
  const [network, block] = [networkAt(HARDFORK), blockContext({ gasLimit: GAS })];
  const reader = new ReadCache(new AllocState(allocOf(alloc)));
  const request = { from: hexToBytes(call.from), to: hexToBytes(call.to), data: hexToBytes(call.data) };
  const message = transactionMessageOf(request, { gasLimit: GAS, nonce: 0n, price: 0n, free: true });
  const options = { baseFeePerGas: 0n };
  const plain = async () => {
    const machine = await Machine.open(network, block, new StateOverlay(reader));
    try {
      return await simulateTransaction(machine, message, options);
    } finally {
      machine.close();
    }
  };
  const traced = () => {
    const at = { network, block, state: new StateOverlay(reader), isKept: false };
    return traceTransaction(at, callTracer({ withLog: true }), message, options);
  };
  const { outcome } = await traced();
  if (outcome.gasUsed !== (await plain()).gasUsed) throw new Error(`${name}: the tracer changes the gas`);
  const times = await costs({ traced, plain });
  return {
    name: `${name}: a run with callTracer over the run alone`,
    value: medianRatio(times.traced, times.plain),
    unit: 'x',
    ...(bar && { bar }),
    note: `${ms(times.traced)} and ${ms(times.plain)}${anvil === undefined ? '' : `; anvil ${await anvil()}`}`,
  };
}

/** Processor time of `debug_traceCall` over that of `eth_call`, both with their answers as JSON. */
async function anvilSlowdown(anvil: Anvil, program: EvmProgram): Promise<string> {
  const plain = await revmRun(anvil, program);
  const request = { ...program.call, gas: toQuantity(GAS) };
  const options = { tracer: 'callTracer', tracerConfig: { withLog: true } };
  const traced = () => anvil.ask('debug_traceCall', request, 'latest', options);
  const [slow, fast] = [await costOf(traced, () => anvil.cpuMs()), await costOf(plain, () => anvil.cpuMs())];
  return `${(slow / fast).toPrecision(2)}x`;
}

/** Processor time of previews and of traces, on states in memory. */
export async function previewCosts(): Promise<Figure[]> {
  const { alloc, transfer, swap } = swapScene(await contracts(), DEV_ACCOUNTS[0]!.address);
  const figures = [
    ...(await previewOver('ERC-20 transfer', alloc, transfer)),
    ...(await previewOver('two-hop swap', alloc, swap)),
  ];
  const anvil = anvilPath() === undefined ? undefined : await Anvil.start(HARDFORK);
  const most = { atMost: 1.5 };
  figures.push(await tracingOver({ name: 'ERC-20 transfer', alloc, call: transfer }, most));
  figures.push(await tracingOver({ name: 'two-hop swap', alloc, call: swap }, most));
  try {
    for (const program of await evmPrograms()) {
      const beside = anvil && (() => anvilSlowdown(anvil, program));
      if (program.name === '100 swaps') figures.push(await tracingOver(program, most, beside));
      if (program.name === 'calls')
        figures.push(await tracingOver({ ...program, name: '8 000 calls that do nothing' }, undefined, beside));
    }
  } finally {
    await anvil?.close();
  }
  return figures;
}
