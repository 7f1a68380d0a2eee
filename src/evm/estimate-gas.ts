import { EMPTY_CODE_HASH } from '../ethereum/constants.js';
import { equalBytes } from '../primitives/bytes.js';
import type { CallRequest } from '../primitives/call-request.js';
import type { BlockContext } from './block-context.js';
import { type CallOptions, messageOf, priceOf } from './call.js';
import { TRANSACTION_GAS_CAP } from './common.js';
import { besuCeiling, type CeilingInput, gethCeiling } from './gas-ceiling.js';
import {
  besuSearch,
  exactSearch,
  type GasEstimate,
  type GasSearch,
  gethSearch,
  type RunWithGas,
} from './gas-search.js';
import { Machine } from './machine.js';
import { movedPrecompiles, withOverrides } from './overrides.js';
import { ReadCache } from './read-cache.js';
import { StateOverlay } from './state-overlay.js';
import type { StateReader } from './state-reader.js';
import { simulateTransaction } from './transaction.js';
import type { Leniency } from './transaction-message.js';

export interface EstimateOptions extends CallOptions {
  readonly search: GasSearch;
}

const ZERO_ADDRESS = new Uint8Array(20);
const TO_BESU: Leniency = { nonce: 'future', lowPrice: true, unfunded: true, contractSender: true };
const TO_GETH: Leniency = { nonce: 'any', contractSender: true };

/**
 * A gas limit with which the call succeeds, by the search that `options` names, on a state and with overrides that are
 * gone afterwards. `exact` runs under the conditions of Besu.
 *
 * @throws PlumblineError `UPFRONT_COST_EXCEEDS_BALANCE`, `INSUFFICIENT_FUNDS`, `GAS_ALLOWANCE_EXCEEDED`,
 *   `EXECUTION_REVERTED`, `EXECUTION_FAILED`, `TRANSACTION_REJECTED`, `ABORTED`, and whatever reading the state throws
 * @source spec/fees.md 5.2, 5.3
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
  const machine = await Machine.open(network, block, state, movedPrecompiles(overrides));
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
  const run: RunWithGas = (gas) => {
    const gasLimit = gas < network.rpcGasCap ? gas : network.rpcGasCap;
    return simulateTransaction(machine, messageOf(call, { gasLimit, ...defaults }), {
      leniency: asGeth ? TO_GETH : TO_BESU,
      ...(free && { baseFeePerGas: 0n }),
      stepBudget: options.stepBudget,
      signal: options.signal,
    });
  };
  const empty = (call.data?.length ?? 0) === 0;
  if (search === 'besu') return besuSearch(run, { ceiling, plain: empty });
  if (search === 'exact') return exactSearch(run, { ceiling, plain: empty });
  return gethSearch(run, { ceiling, plain: empty && (await isWithoutCode(state, call.to)) });
}

async function isWithoutCode(state: StateReader, to: Uint8Array | undefined): Promise<boolean> {
  if (to === undefined) return false;
  const account = await state.account(to);
  return account === undefined || equalBytes(account.codeHash, EMPTY_CODE_HASH);
}
