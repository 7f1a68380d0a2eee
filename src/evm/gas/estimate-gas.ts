import { EMPTY_CODE_HASH } from '../../ethereum/constants.js';
import { equalBytes, ZERO_ADDRESS } from '../../primitives/bytes.js';
import { type CallRequest, priceOf } from '../../primitives/call-request.js';
import type { BlockContext } from '../block-context.js';
import { type SimulatedCallOptions, transactionMessageOf, withoutIdleValue } from '../calls/call.js';
import { precompileOverrides, withOverrides } from '../calls/overrides.js';
import { TRANSACTION_GAS_CAP } from '../common.js';
import type { Interpreters } from '../interpreter/interpreters.js';
import { Machine } from '../interpreter/machine.js';
import { StepBudget } from '../interpreter/step-budget.js';
import { ReadCache } from '../state/read-cache.js';
import { StateOverlay } from '../state/state-overlay.js';
import type { Account, StateReader } from '../state/state-reader.js';
import { simulateTransaction } from '../transactions/transaction.js';
import type { Leniency } from '../transactions/transaction-message.js';
import { besuCeiling, type CeilingInput, gethCeiling } from './gas-ceiling.js';
import {
  besuSearch,
  exactSearch,
  type GasEstimate,
  type GasSearch,
  gethSearch,
  type RunWithGas,
  type SearchInput,
} from './gas-search.js';
import { ProvedRuns, type ReportingRun } from './proved-runs.js';

/** How a gas limit is searched for. */
export interface EstimateOptions extends SimulatedCallOptions {
  readonly search: GasSearch;
  /** Have the runs count what the prover counts. */
  readonly counting?: boolean;
  /** Kept between estimates, so that not each has to make its interpreter. */
  readonly interpreters?: Interpreters | undefined;
}

const SEARCHES: Record<GasSearch, (run: RunWithGas, input: SearchInput) => Promise<GasEstimate>> = {
  besu: besuSearch,
  geth: gethSearch,
  exact: exactSearch,
};
const TO_BESU: Leniency = { nonce: 'future', lowPrice: true, unfunded: true, contractSender: true };
const TO_GETH: Leniency = { nonce: 'any', contractSender: true };

/**
 * A gas limit with which the call succeeds, by the search that `options` names, on a state and with overrides that are
 * gone afterwards. `exact` runs under the conditions of Besu.
 *
 * @throws PlumblineError `UPFRONT_COST_EXCEEDS_BALANCE`, `INSUFFICIENT_FUNDS`, `GAS_ALLOWANCE_EXCEEDED`,
 *   `EXECUTION_REVERTED`, `EXECUTION_FAILED`, `TRANSACTION_REJECTED`, `ABORTED`, and whatever reading the state throws
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
  const onChain = new ReadCache(reader);
  const state = new StateOverlay(withOverrides(onChain, overrides, { oneStorageForm: asGeth }));
  const { interpreters } = options;
  const machine = await Machine.open(network, block, state, {
    ...precompileOverrides(overrides, asGeth),
    interpreters,
  });
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
  const fundsOf = asGeth ? sender : await onChain.account(from);
  const ceilingInput: CeilingInput = {
    from: call.from,
    balance: fundsOf?.balance ?? 0n,
    value: call.value ?? 0n,
    price: priceOf(call),
    blockGasLimit: block.gasLimit,
    transactionGasCap: machine.rules.osaka ? TRANSACTION_GAS_CAP : undefined,
  };
  const ceiling = asGeth
    ? gethCeiling(ceilingInput, call.gas, network.rpcGasCap)
    : besuCeiling(ceilingInput, call.strict);
  // geth takes a call without a price for free of charge; Besu charges the base fee unless told not to be strict.
  const free = asGeth ? priceOf(call) === 0n : call.strict === false;
  const defaults = { nonce: sender?.nonce ?? 0n, price: free ? 0n : block.baseFeePerGas, free };
  const steps = options.steps ?? new StepBudget(options);
  const payable = asGeth ? call : withoutIdleValue(call, sender?.balance ?? 0n);
  const execute: ReportingRun = (gas, path) => {
    const gasLimit = gas < network.rpcGasCap ? gas : network.rpcGasCap;
    return simulateTransaction(machine, transactionMessageOf(payable, { gasLimit, ...defaults }), {
      leniency: asGeth ? TO_GETH : TO_BESU,
      ...(free && { baseFeePerGas: 0n }),
      steps,
      counting: options.counting,
      path,
    });
  };
  // The exact mode proves its answer by runs alone.
  const runs = new ProvedRuns(execute, search !== 'exact' && hasPath(machine, call, sender));
  const empty = (call.data?.length ?? 0) === 0;
  const plain = empty && (!asGeth || (await isWithoutCode(state, call.to)));
  const found = await SEARCHES[search](runs.run, { ceiling, plain });
  return { ...found, executed: runs.executed };
}

/** Whether the run may be watched for the gas it needs: code of the sender sees what the sender has paid for gas. */
function hasPath({ rules }: Machine, call: CallRequest, sender: Account | undefined): boolean {
  const plainSender = sender === undefined || equalBytes(sender.codeHash, EMPTY_CODE_HASH);
  return rules.london && plainSender && call.authorizationList === undefined;
}

async function isWithoutCode(state: StateReader, to: Uint8Array | undefined): Promise<boolean> {
  if (to === undefined) return false;
  const account = await state.account(to);
  return account === undefined || equalBytes(account.codeHash, EMPTY_CODE_HASH);
}
