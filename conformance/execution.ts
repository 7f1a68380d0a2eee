import { isPlumblineError, messageOf } from '../src/errors.js';
import { orderedTrieRoot } from '../src/ethereum/ordered-trie.js';
import { encodeReceipt, logsBloom, type Receipt } from '../src/ethereum/receipt.js';
import { loadSignerRecovery } from '../src/ethereum/signer.js';
import { parseSignedTransaction, type SignedTransaction } from '../src/ethereum/transaction.js';
import type { BlockContext } from '../src/evm/block-context.js';
import { TRANSACTION_GAS_CAP } from '../src/evm/common.js';
import { besuCeiling, type CeilingInput, estimateGasAt, gethCeiling } from '../src/evm/gas.js';
import { Machine } from '../src/evm/machine.js';
import { type AccountChange, StateOverlay } from '../src/evm/state-overlay.js';
import { runTransaction } from '../src/evm/transaction.js';
import type { TransactionOutcome } from '../src/evm/transaction-message.js';
import type { GasSearch } from '../src/networks/gas-searches.js';
import type { Hardfork } from '../src/networks/network.js';
import type { CallRequest } from '../src/primitives/call-request.js';
import { bytesToHex, type Hex, hexToBytes } from '../src/primitives/hex.js';
import { toQuantity } from '../src/primitives/quantity.js';
import { type Alloc, AllocState } from './alloc-state.js';
import { type Area, differs, type Report } from './area.js';
import {
  type RecordedBlock,
  type RecordedTransaction,
  RPC_GAS_CAP,
  recordedContext,
  rulesFor,
  type StateDiff,
} from './recorded-block.js';

type Call = { from?: Hex; to?: Hex; value?: Hex; data?: Hex };

interface Environment {
  hardfork: Hardfork;
  chainId: Hex;
  blockNumber: Hex;
  timestamp: Hex;
  blockGasLimit: Hex;
  rpcGasCap: Hex;
  baseFeePerGas: Hex;
  coinbase: Hex;
  prevRandao: Hex;
}

interface GasCase {
  name: string;
  alloc: Alloc;
  call: Call;
  expected: { geth: Hex; besu: Hex; smallestSucceeding: Hex } | { error: string; returnData: Hex };
  runAtCap?: { chargedAfterRefund: Hex; chargedBeforeRefund: Hex };
  executions?: { geth: number; besu: number };
}

interface CeilingCase {
  balance: Hex;
  value: Hex;
  maxPricePerGas: Hex;
  geth: { upper?: Hex; error?: string };
  besu: { upper?: Hex; error?: { code: number; message: string } };
}

interface GasFile {
  environment: Environment;
  cases: GasCase[];
  searchCeiling: { cases: CeilingCase[] };
}

const ESTIMATE_FILE = 'fees/estimate-gas.json';
const SEARCHES: readonly GasSearch[] = ['geth', 'besu', 'exact'];

/** Gas searches on small states, and where they begin. */
export const estimateGasArea: Area = {
  name: 'fees/estimate-gas',
  usesKernel: true,
  files: (material) => (material.has(ESTIMATE_FILE) ? [ESTIMATE_FILE] : []),
  async run(material, report) {
    const file = material.json<GasFile>(ESTIMATE_FILE);
    for (const gasCase of file.cases) {
      for (const search of SEARCHES) {
        await report.check(`${gasCase.name}, ${search}`, () => checkGasCase(file.environment, gasCase, search));
      }
    }
    for (const [index, ceilingCase] of file.searchCeiling.cases.entries()) {
      await report.check(`ceiling ${index}`, () => checkCeiling(file.environment, ceilingCase));
    }
  },
};

function contextOf(environment: Environment): BlockContext {
  return {
    number: Number(environment.blockNumber),
    timestamp: Number(environment.timestamp),
    gasLimit: BigInt(environment.blockGasLimit),
    baseFeePerGas: BigInt(environment.baseFeePerGas),
    coinbase: hexToBytes(environment.coinbase, 20),
    prevRandao: hexToBytes(environment.prevRandao, 32),
    blockHash: async (number) => {
      throw new Error(`hash of block ${number} is not in the fixture`);
    },
  };
}

function toCall(call: Call): CallRequest {
  return {
    ...(call.from !== undefined && { from: hexToBytes(call.from, 20) }),
    ...(call.to !== undefined && { to: hexToBytes(call.to, 20) }),
    ...(call.value !== undefined && { value: BigInt(call.value) }),
    ...(call.data !== undefined && { data: hexToBytes(call.data) }),
  };
}

async function checkGasCase(environment: Environment, gasCase: GasCase, search: GasSearch) {
  const network = rulesFor(environment.hardfork, environment.chainId, environment.rpcGasCap);
  const { expected } = gasCase;
  const column = search === 'exact' ? 'smallestSucceeding' : search;
  const state = new AllocState(gasCase.alloc);
  try {
    const estimate = await estimateGasAt(state, contextOf(environment), toCall(gasCase.call), { network, search });
    if ('error' in expected) return `expected ${expected.error}, got ${estimate.gasLimit}`;
    const runs = search === 'exact' ? undefined : gasCase.executions?.[search];
    return differs([expected[column], runs ?? estimate.runs], [toQuantity(estimate.gasLimit), estimate.runs]);
  } catch (error) {
    if (!('error' in expected)) return messageOf(error);
    const [kind, data] = describeFailure(error);
    return differs([expected.error, expected.returnData], [kind, data]);
  }
}

function describeFailure(error: unknown): [string, Hex] {
  if (isPlumblineError(error, 'EXECUTION_REVERTED')) return ['revert', bytesToHex(error.details.data)];
  if (isPlumblineError(error, 'EXECUTION_FAILED')) return [error.details.reason, '0x'];
  if (isPlumblineError(error, 'GAS_ALLOWANCE_EXCEEDED')) return ['out of gas', '0x'];
  throw error;
}

function checkCeiling(environment: Environment, ceilingCase: CeilingCase): string | undefined {
  const input: CeilingInput = {
    from: new Uint8Array(20),
    balance: BigInt(ceilingCase.balance),
    value: BigInt(ceilingCase.value),
    price: BigInt(ceilingCase.maxPricePerGas),
    blockGasLimit: BigInt(environment.blockGasLimit),
    transactionGasCap: TRANSACTION_GAS_CAP,
  };
  const attempt = (ceiling: () => bigint): string => {
    try {
      return toQuantity(ceiling());
    } catch (error) {
      return messageOf(error);
    }
  };
  const { geth, besu } = ceilingCase;
  const cap = BigInt(environment.rpcGasCap);
  return (
    differs(
      geth.error ?? geth.upper,
      attempt(() => gethCeiling(input, undefined, cap)),
    ) ??
    differs(
      besu.error?.message ?? besu.upper,
      attempt(() => besuCeiling(input)),
    )
  );
}

/** Recorded blocks, executed from their pre-state: each transaction, its estimates, and the state after the block. */
export const blocksArea: Area = {
  name: 'blocks',
  usesKernel: true,
  files: (material) => material.list('blocks', /\.json$/),
  async run(material, report) {
    for (const path of material.list('blocks', /\.json$/)) await checkBlock(path, material.json(path), report);
  },
};

async function checkBlock(path: string, block: RecordedBlock, report: Report): Promise<void> {
  await loadSignerRecovery();
  const network = rulesFor(block.hardfork, block.chainId, RPC_GAS_CAP);
  const context = recordedContext(block);
  const state = new StateOverlay(new AllocState(block.preState));
  const machine = await Machine.open(network, context, state);
  const receipts: Receipt[] = [];
  for (const [index, recorded] of block.transactions.entries()) {
    const name = `${path} transaction ${index}`;
    const transaction = parseSignedTransaction(hexToBytes(recorded.raw), network.chainId);
    if (recorded.estimateGas !== undefined) {
      const { geth, besu, exactSearch } = recorded.estimateGas;
      await report.check(`${name} estimates`, async () => {
        const estimates: Hex[] = [];
        for (const search of SEARCHES) {
          const estimate = await estimateGasAt(state, context, callOf(transaction), { network, search });
          estimates.push(toQuantity(estimate.gasLimit));
        }
        return differs([geth, besu, exactSearch], estimates);
      });
    }
    await report.check(name, async () => {
      const outcome = await runTransaction(machine, transaction);
      const cumulativeGasUsed = (receipts.at(-1)?.cumulativeGasUsed ?? 0n) + outcome.gasUsed;
      receipts.push({ type: transaction.type, succeeded: outcome.succeeded, cumulativeGasUsed, logs: outcome.logs });
      return (
        differs([recorded.hash, recorded.from], [bytesToHex(transaction.hash), bytesToHex(transaction.from)]) ??
        differs(recorded.cumulativeGasUsed, toQuantity(cumulativeGasUsed)) ??
        compareOutcome(recorded, outcome)
      );
    });
  }
  await report.check(`${path} header`, () => {
    const { transactionsRoot, receiptsRoot, logsBloom: bloom, gasUsed } = block.header;
    const raw = block.transactions.map((recorded) => hexToBytes(recorded.raw));
    return differs(
      [transactionsRoot, receiptsRoot, bloom, gasUsed],
      [
        bytesToHex(orderedTrieRoot(raw)),
        bytesToHex(orderedTrieRoot(receipts.map(encodeReceipt))),
        bytesToHex(logsBloom(receipts.flatMap(({ logs }) => logs))),
        toQuantity(receipts.at(-1)?.cumulativeGasUsed ?? 0n),
      ],
    );
  });
  await report.check(`${path} state`, async () => {
    const diff = diffOf(await state.changes());
    // Of accounts that begin to exist only contracts are recorded, and these without their storage.
    for (const address of Object.keys(diff) as Hex[]) {
      if (address in block.preState) continue;
      if (block.postStateChanges[address] === undefined) delete diff[address];
      else delete diff[address]!.storage;
    }
    return differs(sorted(block.postStateChanges), sorted(diff));
  });
}

function callOf({ from, to, value, data }: SignedTransaction): CallRequest {
  return { from, to, value, data };
}

function compareOutcome(recorded: RecordedTransaction, outcome: TransactionOutcome): string | undefined {
  const { status, gasUsed, returnData, logs } = recorded;
  // The recording leaves the data floor out of this figure; where the floor binds, it is what was charged.
  const [before, charged] = [BigInt(recorded.gasUsedBeforeRefund), BigInt(gasUsed)];
  const gasUsedBeforeRefund = toQuantity(before > charged ? before : charged);
  return differs(
    [status, gasUsed, gasUsedBeforeRefund, returnData, logs],
    [
      outcome.succeeded ? '0x1' : '0x0',
      toQuantity(outcome.gasUsed),
      toQuantity(outcome.gasUsedBeforeRefund),
      bytesToHex(outcome.returnData),
      outcome.logs.map(({ address, topics, data }) => ({
        address: bytesToHex(address),
        topics: topics.map(bytesToHex),
        data: bytesToHex(data),
      })),
    ],
  );
}

/** The form of `postStateChanges`: of each account the members that changed, of a new one all. */
function diffOf(changes: readonly AccountChange[]): StateDiff {
  const diff: StateDiff = {};
  for (const { address, before, after, code, slots } of changes) {
    const entry: StateDiff[Hex] = {};
    if (before?.nonce !== after?.nonce) entry.nonce = toQuantity(after?.nonce ?? 0n);
    if (before?.balance !== after?.balance) entry.balance = toQuantity(after?.balance ?? 0n);
    if (code !== undefined) entry.code = bytesToHex(code);
    if (slots.length > 0) {
      entry.storage = Object.fromEntries(slots.map(({ key, after }) => [bytesToHex(key), bytesToHex(after)]));
    }
    diff[bytesToHex(address)] = entry;
  }
  return diff;
}

/** Members in order of their names, all the way down. */
function sorted(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(
    Object.entries(value)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, inner]) => [key, sorted(inner)]),
  );
}

/** The areas of this file. */
export const EXECUTION_AREAS: readonly Area[] = [estimateGasArea, blocksArea];
