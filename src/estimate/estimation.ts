import type { Block, Chain } from '../chain/chain.js';
import type { Dictionary } from '../dictionary/dictionary.js';
import { PlumblineError } from '../errors.js';
import type { BlockContext } from '../evm/block-context.js';
import { withOverrides } from '../evm/calls/overrides.js';
import { estimateGasAt } from '../evm/gas/estimate-gas.js';
import type { GasEstimate } from '../evm/gas/gas-search.js';
import type { Interpreters } from '../evm/interpreter/interpreters.js';
import type { StateReader } from '../evm/state/state-reader.js';
import { priorityFeePerGas } from '../fees/priority-fee.js';
import { encodeForSizing, encodeSigned, transactionForSizing } from '../fees/transaction-bytes.js';
import type { CalldataSizer } from '../kernel/contracts.js';
import { UNCOUNTED_MODULES } from '../networks/module-limits.js';
import { ZERO_ADDRESS } from '../primitives/bytes.js';
import { priceOf } from '../primitives/call-request.js';
import { bytesToHex } from '../primitives/hex.js';
import type { EstimateRequest, EstimatorOptions, FeeEstimate } from './estimate-request.js';
import { lineCounts, requireWithinLimits } from './line-counts.js';

/*
 * What `Estimator` does once it is asked: a chunk of its own with the EVM, because a node that never estimates does not
 * load it.
 */

/** Of the node. */
export interface EstimationParts {
  readonly chain: Chain;
  readonly sizer: CalldataSizer | (() => Promise<CalldataSizer>);
  readonly dictionary: Dictionary;
  readonly options: EstimatorOptions;
  readonly interpreters: Interpreters;
}

/** Where an estimate is made. */
export interface ExecutionPoint {
  readonly on: Block;
  /** What executions see. */
  readonly context: BlockContext;
  readonly state: StateReader;
}

/** See `Estimator.gas`. */
export function gasOn(parts: EstimationParts, request: EstimateRequest, point: ExecutionPoint): Promise<GasEstimate> {
  return search(parts, request, point, false);
}

/** See `Estimator.fees`. */
export async function feesOn(
  parts: EstimationParts,
  request: EstimateRequest,
  point: ExecutionPoint,
): Promise<FeeEstimate> {
  const { chain, dictionary } = parts;
  const { network } = chain;
  const { call } = request;
  const sizing = typeof parts.sizer === 'function' ? parts.sizer() : Promise.resolve(parts.sizer);
  // It is waited for below; until then its failure is nobody's.
  sizing.catch(() => {});
  const { baseFeePerGas } = await chain.pendingContext(point.on);
  const gas = await search(parts, request, point, network.moduleLimits !== undefined);
  const { gasLimit } = gas;
  const sender = await point.state.account(call.from ?? ZERO_ADDRESS);
  const transaction = transactionForSizing(call, {
    gasLimit,
    baseFee: baseFeePerGas,
    latestNonce: sender?.nonce ?? 0n,
    chainId: BigInt(network.chainId),
  });
  const signed = encodeSigned(transaction);
  const checked = lineCounts({ signedBytes: signed.length, logs: gas.logs, counts: gas.counts ?? {} }, network);
  requireWithinLimits(checked);
  await requireFunds(request, gasLimit, point);

  const bytes = network.sizing === 'signed' ? signed : encodeForSizing(transaction);
  const compressedTxSize = (await sizing).compressedTxSize(bytes);
  const { prices, sourceBlock } = await chain.prices(point.on);
  const use = { gas: gasLimit, compressedTxSize, baseFee: baseFeePerGas };
  const priorityFee = priorityFeePerGas(network.pricing, prices, use);
  const { name, networkOwn, reason } = dictionary;
  const maxFeePerGas = baseFeePerGas + priorityFee;
  return {
    gasLimit,
    baseFeePerGas,
    priorityFeePerGas: priorityFee,
    evidence: {
      gas,
      block: point.on.header.number,
      trust: (await chain.trust?.(point.on)) ?? 'held',
      sizing: network.sizing,
      transactionBytes: bytes.length,
      compressedTxSize,
      dictionary: { name, networkOwn, ...(reason !== undefined && { reason }) },
      pricingModel: network.pricing.model,
      prices,
      pricesFromBlock: sourceBlock,
      margin: network.pricing.estimateMargin,
      baseFeeIsConstant: baseFeePerGas === network.baseFeePerGas,
      maxFeePerGas,
      totalFee: maxFeePerGas * gasLimit,
      limits: { checked, unchecked: network.moduleLimits === undefined ? [] : UNCOUNTED_MODULES },
    },
  };
}

function search(
  { chain, options, interpreters }: EstimationParts,
  request: EstimateRequest,
  { context, state }: ExecutionPoint,
  counting: boolean,
): Promise<GasEstimate> {
  const { network } = chain;
  const { call, overrides, signal } = request;
  return estimateGasAt(state, context, call, {
    network,
    overrides,
    search: request.search ?? options.gasSearch ?? network.gasSearch,
    stepBudget: options.stepBudget,
    signal,
    counting,
    interpreters,
  });
}

/**
 * The reference node runs the call a second time with the estimated gas, and there it has to be payable. What that run
 * would do is known already: the search ended with a run of the same gas and price. The price is the base fee where the
 * call names none; its priority fee does not count.
 */
async function requireFunds(
  { call, overrides = [] }: EstimateRequest,
  gasLimit: bigint,
  { context, state }: ExecutionPoint,
): Promise<void> {
  if (call.from === undefined || call.strict === false) return;
  const price = priceOf(call) > 0n ? priceOf(call) : context.baseFeePerGas;
  const required = (call.value ?? 0n) + gasLimit * price;
  const balance = (await withOverrides(state, overrides).account(call.from))?.balance ?? 0n;
  if (balance >= required) return;
  const sender = bytesToHex(call.from);
  const text = `up-front cost ${required} exceeds balance ${balance} of ${sender}`;
  throw new PlumblineError('INSUFFICIENT_FUNDS', text, { sender, required, balance });
}
