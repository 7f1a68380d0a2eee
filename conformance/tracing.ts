import { parseGenesis } from '../src/chain/devnet/state/genesis-json.js';
import { loadSignerRecovery } from '../src/ethereum/signer.js';
import { parseSignedTransaction } from '../src/ethereum/transaction.js';
import type { BlockContext } from '../src/evm/block-context.js';
import { rulesAt } from '../src/evm/common.js';
import { StateOverlay } from '../src/evm/state-overlay.js';
import { traceTransaction } from '../src/evm/tracing/trace-transaction.js';
import { createTracer, type TracerChoice } from '../src/evm/tracing/tracers.js';
import type { Network } from '../src/networks/network.js';
import { ZERO_WORD } from '../src/primitives/bytes.js';
import { type Hex, hexToBytes } from '../src/primitives/hex.js';
import { AllocState } from './alloc-state.js';
import type { Area, Material, Report } from './area.js';
import { differsDeep } from './differs-deep.js';
import { contextOfFixture } from './fixture-context.js';
import {
  contextOfScenario,
  type Genesis,
  SCENARIOS,
  type Scenario,
  scenarioFiles,
  whole,
  wholeKeys,
} from './scenario.js';

/** A test of go-ethereum's tracers. Numbers are decimal or hex text. */
interface GethCase {
  readonly genesis: Genesis;
  readonly context: Readonly<Record<'number' | 'timestamp' | 'gasLimit' | 'difficulty', string>> & {
    readonly miner: Hex;
    readonly baseFeePerGas?: string;
  };
  readonly input: Hex;
  readonly tracerConfig?: Record<string, boolean>;
  readonly result: unknown;
}

const GETH = 'tracing/geth';
const FOLDERS: Readonly<Record<string, 'callTracer' | 'flatCallTracer' | 'prestateTracer'>> = {
  call_tracer: 'callTracer',
  call_tracer_flat: 'flatCallTracer',
  call_tracer_legacy: 'callTracer',
  call_tracer_withLog: 'callTracer',
  prestate_tracer: 'prestateTracer',
  prestate_tracer_with_diff_mode: 'prestateTracer',
};
/** The tracers: go-ethereum's own cases, and transactions made for plumbline with their traces in its form. */
export const tracingArea: Area = {
  name: 'tracers',
  usesKernel: true,
  files: (material) => [...gethFiles(material), ...scenarioFiles(material)],
  async run(material, report) {
    await loadSignerRecovery();
    for (const path of gethFiles(material)) await checkGeth(path, material, report);
    const files = scenarioFiles(material);
    if (files.length === 0) return;
    const genesis = material.json<Genesis>(`${SCENARIOS}/genesis.json`);
    for (const path of files) await checkScenario(path, genesis, material, report);
  },
};

const gethFiles = (material: Material) =>
  Object.keys(FOLDERS).flatMap((folder) => material.list(`${GETH}/${folder}`, /\.json$/));
async function checkGeth(path: string, material: Material, report: Report): Promise<void> {
  const { genesis, context, input, tracerConfig = {}, result } = material.json<GethCase>(path);
  const folder = path.split('/').at(-2)!;
  const tracer = FOLDERS[folder]!;
  await report.check(path, async () => {
    // One file has `IstanbulBlock`: go-ethereum reads names of any case.
    const config = Object.entries(genesis.config).map(([name, value]) => [
      name[0]!.toLowerCase() + name.slice(1),
      value,
    ]);
    const { network } = parseGenesis({ ...genesis, config: Object.fromEntries(config), number: 0 });
    const block = contextOf(context, genesis, network);
    const state = new StateOverlay(new AllocState(wholeKeys(genesis.alloc)));
    const traced = await trace({ tracer, options: tracerConfig }, network, block, state, whole(input), false);
    if (folder === 'call_tracer_flat') return differsDeep(flatForm(result), flatForm(traced.result));
    if (folder === 'call_tracer_legacy') return differsDeep(legacyForm(result), legacyForm(traced.result, result));
    return differsDeep(withIndices(result), traced.result);
  });
}

async function checkScenario(path: string, genesis: Genesis, material: Material, report: Report): Promise<void> {
  const { block, transactions } = material.json<Scenario>(path);
  const { network } = parseGenesis(genesis);
  const context = contextOfScenario(block);
  const state = new StateOverlay(new AllocState(wholeKeys(genesis.alloc)));
  // Each trace counts its logs from 0, also that of a second transaction.
  for (const [i, { raw, receipt, geth }] of transactions.entries()) {
    const tracers: [TracerChoice, unknown][] = [
      [{ tracer: 'prestateTracer', options: {} }, geth.prestateTracer],
      [{ tracer: 'prestateTracer', options: { diffMode: true } }, geth.prestateDiff],
      [{ tracer: '4byteTracer' }, geth.fourByte],
      // The gas of the top frame is that of the receipt; the file has that of the block so far.
      [
        { tracer: 'callTracer', options: { withLog: true } },
        { ...geth.callTracer, gasUsed: receipt.gasUsed },
      ],
    ];
    for (const [at, [choice, expected]] of tracers.entries()) {
      const isLast = at === tracers.length - 1;
      await report.check(
        `${path} ${i} ${choice.tracer} ${JSON.stringify('options' in choice ? choice.options : {})}`,
        async () => {
          const traced = await trace(choice, network, context, state, raw, isLast);
          return differsDeep(expected, traced.result);
        },
      );
    }
  }
}

async function trace(
  choice: TracerChoice,
  network: Network,
  block: BlockContext,
  state: StateOverlay,
  raw: Hex,
  isKept: boolean,
) {
  const rules = rulesAt(network, block.number, block.timestamp);
  const parsing = { blobs: true, frontier: rules.hardfork === 'chainstart' };
  const message = parseSignedTransaction(hexToBytes(raw), rules.chainId, parsing);
  return traceTransaction({ network, block, state, isKept }, createTracer(choice, rules), message);
}

function contextOf(context: GethCase['context'], genesis: Genesis, network: Network): BlockContext {
  const { mixHash: prevRandao, excessBlobGas } = genesis;
  const block = { baseFeePerGas: undefined, ...context, coinbase: context.miner, prevRandao, excessBlobGas };
  return contextOfFixture(network, block, async () => ZERO_WORD);
}

/**
 * Without the place of the transaction, which its case does not have; without empty bytes, which some files leave out, and members that
 * other types of entries have; and with one word for what a precompile says.
 */
function flatForm(value: unknown): unknown {
  return (value as Record<string, unknown>[]).map(({ action, error, result, subtraces, traceAddress, type }) => ({
    action: filled(action, type === 'suicide' ? ['author'] : ['author', 'address', 'balance', 'refundAddress']),
    error: error === 'invalid input length' ? 'precompile failed' : error,
    result: filled(result ?? {}, type === 'create' ? [] : ['address']),
    ...{ subtraces, traceAddress, type },
  }));
}

/** The members of an object that are not empty bytes. */
function filled(object: unknown, without: readonly string[]): object {
  const members = Object.entries(object as Record<string, unknown>);
  return Object.fromEntries(members.filter(([name, member]) => member !== '0x' && !without.includes(name)));
}

/**
 * What the retired JavaScript tracer and `callTracer` have in common: it has other texts of errors, leaves out members, and writes
 * addresses in mixed case.
 *
 * @param like - the members to keep, of a frame and those below it; all if left out
 */
function legacyForm(value: unknown, like: unknown = value): unknown {
  const [frame, wanted] = [value, like] as Record<string, unknown>[];
  const entries = Object.entries(frame!).flatMap(([name, member]) => {
    if (wanted![name] === undefined || (name === 'output' && member === '0x')) return [];
    if (name === 'calls') {
      const calls = wanted!.calls as unknown[];
      return [[name, (member as unknown[]).map((call, i) => legacyForm(call, calls[i] ?? {}))]];
    }
    return [[name, name === 'error' ? 'some' : String(member).toLowerCase()]];
  });
  return Object.fromEntries(entries);
}

/** With the index 0 that some files leave out. */
function withIndices(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value), (name, inner: unknown) => {
    return name === 'logs' && Array.isArray(inner) ? inner.map((log: object) => ({ index: '0x0', ...log })) : inner;
  });
}
