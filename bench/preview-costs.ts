import { AllocState } from '../conformance/alloc-state.js';
import { DEV_ACCOUNTS } from '../src/chain/devnet/state/dev-accounts.js';
import { devAlloc, type GenesisAlloc } from '../src/chain/devnet/state/genesis.js';
import { simulateCallAt, transactionMessageOf } from '../src/evm/calls/call.js';
import { Machine } from '../src/evm/interpreter/machine.js';
import { ReadCache } from '../src/evm/state/read-cache.js';
import { StateOverlay } from '../src/evm/state/state-overlay.js';
import type { StateReader } from '../src/evm/state/state-reader.js';
import { callTracer } from '../src/evm/tracing/call-tracer.js';
import { traceTransaction } from '../src/evm/tracing/trace-transaction.js';
import { runTransaction, simulateTransaction } from '../src/evm/transactions/transaction.js';
import type { TransactionMessage } from '../src/evm/transactions/transaction-message.js';
import { openInline } from '../src/hosts/opening/open-inline.js';
import { devnet } from '../src/networks/devnet.js';
import { type Hex, hexToBytes } from '../src/primitives/hex.js';
import type { ExplainedEstimate } from '../src/rpc/inspection/explained-estimate.js';
import type { TransactionPreview } from '../src/rpc/inspection/transaction-preview.js';
import { contracts, word } from '../test/support/contracts.js';
import { blockContext, networkAt } from '../test/support/evm.js';
import { swapScene } from '../test/support/swap-scene.js';
import { type Figure, median, medianRatio } from './area.js';
import { costOf, ownCpuMs } from './evm.js';
import { allocOf, GAS, HARDFORK } from './evm-engines.js';
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
/** Rounds before those that count, a second and a half of each body: engines compile for as long, and a preview has much code. */
const WARM_UP_ROUNDS = 6;

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

const ms = (samples: readonly number[]) => `${median(samples).toFixed(2)} ms`;
const SUPPORTS_ERC721 = `0x01ffc9a7${'80ac58cd'.padEnd(64, '0')}` as const;
const balanceOf = (account: Hex): Hex => `0x70a08231${word(account)}`;

/** What a preview asks contracts by docs/spec/preview.md 8.3, 8.5 and 8.9: of its tokens, and of other contracts that it wrote. */
function questionsOf({ balances, tokens, users }: TransactionPreview, written: readonly Hex[]): Question[] {
  const questions: Question[] = [];
  const bothOf = (to: Hex, account: Hex) => {
    for (const when of ['before', 'after'] as const) questions.push({ when, to, data: balanceOf(account) });
  };
  for (const token of Object.keys(tokens) as Hex[])
    for (const data of [SUPPORTS_ERC721, '0x313ce567', '0x95d89b41'] as const)
      questions.push({ when: 'after', to: token, data });
  for (const change of balances)
    if ('account' in change && change.asset.kind === 'erc20') bothOf(change.asset.address, change.account);
  for (const contract of written.filter((one) => tokens[one] === undefined))
    for (const user of users) bothOf(contract, user);
  return questions;
}

/**
 * A whole preview on a devnet, beside the runs that its result cannot do without: those of the gas search, which gives the fee and
 * the limit; the call with that limit, on which its gas and its trace depend; and the questions to contracts. Each question is a
 * run of its own on a new machine, as `eth_call` makes it. Balances of ether are read without a run, and do not count.
 *
 * @param written - contracts whose storage the call changes
 */
async function previewOver(name: string, alloc: GenesisAlloc, call: Call, written: readonly Hex[]): Promise<Figure> {
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
    const questions = questionsOf(preview, written);
    const { executed } = evidence.gas;
    const block = blockContext({ gasLimit: network.blockGasLimit });
    const state = new AllocState(allocOf({ ...devAlloc(), ...alloc }));
    const request = { from: hexToBytes(call.from), to: hexToBytes(call.to), data: hexToBytes(call.data) };
    const limits = { gasLimit: BigInt(gasLimit), nonce: 0n, price: block.baseFeePerGas, free: false };
    const message = transactionMessageOf(request, limits);
    const place = { network, block };
    const bare = async () => {
      const before = new ReadCache(state);
      await searchRuns(place, before, message, executed);
      const after = new StateOverlay(before);
      const outcome = await keptRun(place, after, message);
      for (const { when, to, data } of questions) {
        const question = { to: hexToBytes(to), data: hexToBytes(data), gas: 2_000_000n };
        await simulateCallAt(when === 'before' ? before : after, block, question, { network });
      }
      return outcome;
    };
    const { gasUsed } = await bare();
    if (BigInt(preview.calls[0]!.gasUsed) !== gasUsed)
      throw new Error(`gas used ${preview.calls[0]!.gasUsed}, expected ${gasUsed}`);
    const times = await costs({
      preview: () => ask('inspect', 'previewTransaction', call),
      estimate: () => ask('l2', 'linea_estimateGas', call),
      bare,
    });
    const runs = `${executed} runs of the estimate, 1 of the call, ${questions.length} questions to contracts`;
    return {
      name: `${name}: a preview over the runs that it needs, bare`,
      value: medianRatio(times.preview, times.bare),
      unit: 'x',
      bar: { atMost: 2 },
      note: `${ms(times.preview)} and ${ms(times.bare)}: ${runs}; linea_estimateGas alone ${ms(times.estimate)}`,
    };
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

/** A run with `callTracer` over the same run without. */
async function tracingOver({ name, alloc, call }: EvmProgram): Promise<Figure> {
  const place = { network: networkAt(HARDFORK), block: blockContext({ gasLimit: GAS }) };
  const reader = new ReadCache(new AllocState(allocOf(alloc)));
  const request = { from: hexToBytes(call.from), to: hexToBytes(call.to), data: hexToBytes(call.data) };
  const message = transactionMessageOf(request, { gasLimit: GAS, nonce: 0n, price: 0n, free: true });
  const options = { baseFeePerGas: 0n };
  const plain = async () => {
    const machine = await Machine.open(place.network, place.block, new StateOverlay(reader));
    try {
      return await simulateTransaction(machine, message, options);
    } finally {
      machine.close();
    }
  };
  const traced = () => {
    const at = { ...place, state: new StateOverlay(reader), isKept: false };
    return traceTransaction(at, callTracer({ withLog: true }), message, options);
  };
  const { outcome } = await traced();
  if (outcome.gasUsed !== (await plain()).gasUsed) throw new Error(`${name}: the tracer changes the gas`);
  const times = await costs({ traced, plain });
  return {
    name: `${name}: a run with callTracer over the run alone`,
    value: medianRatio(times.traced, times.plain),
    unit: 'x',
    bar: { atMost: 1.5 },
    note: `${ms(times.traced)} and ${ms(times.plain)}`,
  };
}

/** Processor time of previews and of traces, on states in memory. */
export async function previewCosts(): Promise<Figure[]> {
  const { alloc, transfer, swap, pairs } = swapScene(await contracts(), DEV_ACCOUNTS[0]!.address);
  const traced = (await evmPrograms()).filter(({ name }) => name === '100 swaps' || name === 'calls');
  const figures = [
    await previewOver('ERC-20 transfer', alloc, transfer, [transfer.to]),
    await previewOver('two-hop swap', alloc, swap, pairs),
  ];
  for (const program of traced) figures.push(await tracingOver(program));
  return figures;
}
