import { EMPTY_CODE_HASH } from '../../ethereum/constants.js';
import type { GasSearch } from '../../networks/gas-searches.js';
import { equalBytes, ZERO_ADDRESS } from '../../primitives/bytes.js';
import { type CallRequest, priceOf } from '../../primitives/call-request.js';
import type { BlockContext } from '../block-context.js';
import { type SimulatedCallOptions, transactionMessageOf, withoutUnfundedSelfTransfer } from '../calls/call.js';
import { precompileOverrides, withOverrides } from '../calls/overrides.js';
import { TRANSACTION_GAS_CAP } from '../common.js';
import { Machine } from '../interpreter/machine.js';
import { RunBudget } from '../interpreter/run-budget.js';
import { ReadCache } from '../state/read-cache.js';
import { StateOverlay } from '../state/state-overlay.js';
import { type Account, hasCode, type StateReader } from '../state/state-reader.js';
import { simulateTransaction } from '../transactions/transaction.js';
import type { Leniency } from '../transactions/transaction-message.js';
import { besuCeiling, type CeilingInput, gethCeiling } from './gas-ceiling.js';
import {
  besuSearch,
  exactSearch,
  type GasEstimate,
  gethSearch,
  type RunWithGas,
  type SearchInput,
} from './gas-search.js';
import { ProvedRuns } from './proved-runs.js';

/** Options of a gas search. */
export interface EstimateOptions extends SimulatedCallOptions {
  readonly search: GasSearch;
  /** Count module lines, as the prover does. */
  readonly counting?: boolean;
}

const SEARCHES: Record<GasSearch, (run: RunWithGas, input: SearchInput) => Promise<GasEstimate>> = {
  besu: besuSearch,
  geth: gethSearch,
  exact: exactSearch,
};
const BESU_LENIENCY: Leniency = { lowPrice: true, unfunded: true, contractSender: true };
const GETH_LENIENCY: Leniency = { contractSender: true };

/**
 * A gas limit with which the call succeeds, by the search in `options`. Overrides apply to this estimate only. `exact`
 * runs with Besu's checks.
 *
 * @throws PlumblineError `UPFRONT_COST_EXCEEDS_BALANCE`, `INSUFFICIENT_FUNDS`, `GAS_ALLOWANCE_EXCEEDED`,
 *   `EXECUTION_REVERTED`, `EXECUTION_FAILED`, `TRANSACTION_REJECTED`, `ABORTED`, and errors of reading the state
 * @source docs/spec/fees.md 5.2, 5.3
 */
export async function estimateGasAt(
  reader: StateReader,
  block: BlockContext,
  call: CallRequest,
  options: EstimateOptions,
): Promise<GasEstimate> {
  const { network, overrides = [], search } = options;
  const asGeth = search === 'geth';
  const onChain = ReadCache.over(reader);
  const state = new StateOverlay(withOverrides(onChain, overrides));
  const machine = await Machine.open(network, block, state, precompileOverrides(overrides, asGeth));
  try {
    return await searchOn(machine, call, options, onChain);
  } finally {
    machine.close();
  }
}

async function searchOn(
  machine: Machine,
  call: CallRequest,
  options: EstimateOptions,
  onChain: StateReader,
): Promise<GasEstimate> {
  const { network, search } = options;
  const { block, state } = machine;
  const asGeth = search === 'geth';
  const from = call.from ?? ZERO_ADDRESS;
  const sender = await state.account(from);
  const spendable = sender?.balance ?? 0n;
  // Besu looks at the chain alone. A balance given by an override also pays here (docs/decisions.md 3).
  const held = asGeth ? spendable : ((await onChain.account(from))?.balance ?? 0n);
  const ceilingInput: CeilingInput = {
    from: call.from,
    balance: held > spendable ? held : spendable,
    value: call.value ?? 0n,
    price: priceOf(call),
    blockGasLimit: block.gasLimit,
    transactionGasCap: machine.rules.osaka ? TRANSACTION_GAS_CAP : undefined,
  };
  const ceiling = asGeth
    ? gethCeiling(ceilingInput, call.gas, network.rpcGasCap)
    : besuCeiling(ceilingInput, call.strict);
  const pastNonces = network.pastNonces ?? (asGeth ? 'ignored' : 'refused');
  const nonce = pastNonces === 'ignored' ? 'any' : 'future';
  const leniency: Leniency = { nonce, ...(asGeth ? GETH_LENIENCY : BESU_LENIENCY) };
  // geth treats a call without a price as free. Besu charges the base fee unless `strict` is false.
  const free = asGeth ? priceOf(call) === 0n : call.strict === false;
  const defaults = { nonce: sender?.nonce ?? 0n, price: free ? 0n : block.baseFeePerGas, free };
  const budget = options.budget ?? new RunBudget(options);
  const payable = asGeth ? call : withoutUnfundedSelfTransfer(call, spendable);
  const run = { leniency, baseFeePerGas: free ? 0n : undefined, budget, counting: options.counting };
  const execute: RunWithGas = (gas) => {
    const gasLimit = gas < network.rpcGasCap ? gas : network.rpcGasCap;
    return simulateTransaction(machine, transactionMessageOf(payable, { gasLimit, ...defaults }), run);
  };
  // The exact search proves its answer by execution only.
  const runs = new ProvedRuns(execute, search !== 'exact' && mayProve(machine, call, sender));
  const empty = (call.data?.length ?? 0) === 0;
  const plain = empty && (!asGeth || (call.to !== undefined && !(await hasCode(state, call.to))));
  const found = await SEARCHES[search](runs.run, { ceiling, plain });
  return { ...found, executed: runs.executed };
}

/** Whether `spareGas` holds for the call. Code of the sender could read the balance, from which the gas was paid. */
function mayProve({ rules }: Machine, call: CallRequest, sender: Account | undefined): boolean {
  const plainSender = sender === undefined || equalBytes(sender.codeHash, EMPTY_CODE_HASH);
  return rules.london && plainSender && call.authorizationList === undefined;
}
