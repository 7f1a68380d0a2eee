import type { Chain } from '../chain/chain.js';
import { isPlumblineError, PlumblineError } from '../errors.js';
import type { Log } from '../ethereum/receipt.js';
import type { BlockContext } from '../evm/block-context.js';
import { estimateGasAt, type GasEstimate } from '../evm/gas.js';
import { withOverrides } from '../evm/overrides.js';
import { keccakBlocks, type ModuleCounts } from '../evm/run-budget.js';
import type { Dictionary } from '../fees/dictionary.js';
import { priorityFeePerGas } from '../fees/pricing.js';
import { encodeForSizing, encodeSigned, transactionForSizing } from '../fees/transaction-bytes.js';
import type { CalldataSizer } from '../kernel/contracts.js';
import { type CountedModule, UNCOUNTED_MODULES } from '../networks/module-limits.js';
import { type ForkActivation, isLayerOne, type Network, rollupOf } from '../networks/network.js';
import { equalBytes, ZERO_ADDRESS } from '../primitives/bytes.js';
import { priceOf } from '../primitives/call-request.js';
import { bytesToHex, hexToBytes } from '../primitives/hex.js';
import { withLateSignal } from '../scheduling/deadline.js';
import type { EstimateRequest, EstimatorOptions, ExecutionPoint, FeeEstimate, LineCount } from './estimate-request.js';

/*
 * The work of `Estimator`: a chunk of its own together with the EVM, which a node that never estimates does not load.
 */

/** What an estimator works on. */
export interface EstimationParts {
  readonly chain: Chain;
  readonly sizer: () => Promise<CalldataSizer>;
  readonly dictionary: Dictionary;
  readonly options: EstimatorOptions;
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
  const { call } = request;
  if (isLayerOne(chain.network)) return feesOnLayerOne(parts, request, point);
  const network = rollupOf(chain.network);
  const sizing = parts.sizer();
  // Awaited below. Until then a rejection must not count as unhandled.
  sizing.catch(() => {});
  const baseFeePerGas = point.baseFeePerGas ?? (await chain.pendingContext(point.on, request)).baseFeePerGas;
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
  const { prices, sourceBlock } = await chain.prices(point.on, request);
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
      trust: await chain.trust(point.on),
      sizing: network.sizing ?? 'current',
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

/** There is no cost of submission: gas, the next base fee, and a priority fee as it was paid lately. */
async function feesOnLayerOne(
  parts: EstimationParts,
  request: EstimateRequest,
  point: ExecutionPoint,
): Promise<FeeEstimate> {
  const { chain } = parts;
  const { gasLimit } = await search(parts, request, point, false);
  await requireFunds(request, gasLimit, point);
  const { baseFeePerGas } = await chain.pendingContext(point.on, request);
  const { minGasPriceWei } = (await chain.prices(point.on, request)).prices;
  return { gasLimit, baseFeePerGas, priorityFeePerGas: minGasPriceWei - baseFeePerGas };
}

/** How long before a fork its prices count too, seconds: a transaction may wait so long. */
const FORK_SOON_SECONDS = 600;

/** The fork with other prices that begins soon after a block. */
function forkSoon({ forks }: Network, { timestamp }: BlockContext): ForkActivation | undefined {
  return forks.find(({ hardfork, timestamp: since = 0 }) => {
    return hardfork === 'amsterdam' && timestamp < since && since <= timestamp + FORK_SOON_SECONDS;
  });
}

/** A gas limit that suffices; shortly before a fork with other prices, before it and after it. */
async function search(
  { chain, options }: EstimationParts,
  request: EstimateRequest,
  { context, state }: ExecutionPoint,
  counting: boolean,
): Promise<GasEstimate> {
  const { network } = chain;
  const { call, overrides, gas, stopped } = request;
  const { maxAnswerBytes } = options;
  const kind = request.search ?? options.gasSearch ?? network.gasSearch;
  const how = withLateSignal({
    network,
    overrides,
    search: kind,
    maxAnswerBytes,
    gas,
    stopped,
    counting,
    signalFrom: request,
  });
  const found = await estimateGasAt(state, context, call, how);
  const fork = forkSoon(network, context);
  if (fork === undefined) return found;
  const timestamp = fork.timestamp!;
  const after = { ...context, timestamp, slotNumber: context.slotNumber ?? BigInt(context.number) };
  const later = await estimateGasAt(state, after, call, how).catch((error: unknown) => {
    request.signal?.throwIfAborted();
    if (!isPlumblineError(error)) throw error;
    return undefined;
  });
  const [before, limit] = [found.gasLimit, later?.gasLimit];
  request.note?.gasLimits({ fork: fork.hardfork, timestamp, before, after: limit });
  return limit !== undefined && limit > before ? { ...found, gasLimit: limit } : found;
}

/**
 * The reference node runs the call a second time with the estimated gas, and the sender must be able to pay for that run.
 * The run itself is not repeated: the search ended with one of the same gas and price. The price is the base fee where the
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
  const text = `the call costs up to ${required} wei, but ${sender} has ${balance}; lower its value, or override the balance`;
  throw new PlumblineError('INSUFFICIENT_FUNDS', text, { sender, required, balance });
}

/** What is counted of a transaction outside the interpreter, with the counts of its execution. */
interface CountedTransaction {
  /** Length of the signed transaction, bytes. */
  readonly signedBytes: number;
  readonly logs: readonly Log[];
  /** Counts of its execution. */
  readonly counts: ModuleCounts;
}

const SENDER_BYTES = 20;
/** Of a block: timestamp, hash and number of transactions. */
const BLOCK_BYTES = 38;
/** Keccak-256 of `MessageSent(address,address,uint256,uint256,uint256,bytes,bytes32)`. */
const MESSAGE_SENT = hexToBytes('0xe856c2b8bd4eb0027ce32eeaf595c21b0b6b4644b326e5b7bd80a1cf8db72e6c', 32);

/**
 * Counts of a transaction alone in a block, for every module that has a limit.
 *
 * @source docs/spec/fees.md 7
 */
export function lineCounts(
  { signedBytes, logs, counts }: CountedTransaction,
  { moduleLimits = {}, messageService }: Pick<Network, 'moduleLimits' | 'messageService'>,
): LineCount[] {
  const messages = messageService === undefined || logs.length === 0 ? 0 : messagesTo(hexToBytes(messageService), logs);
  // One hash of the transaction, one for its sender's address, and one for each address that ECRECOVER returns.
  const hashes = keccakBlocks(signedBytes) + 1 + (counts.PRECOMPILE_ECRECOVER_EFFECTIVE_CALLS ?? 0);
  const found: Partial<Record<CountedModule, number>> = {
    BLOCK_TRANSACTIONS: 1,
    BLOCK_L1_SIZE: signedBytes + SENDER_BYTES + BLOCK_BYTES,
    BLOCK_L2_L1_LOGS: messages,
    BLOCK_KECCAK: (counts.BLOCK_KECCAK ?? 0) + hashes,
  };
  const lines: LineCount[] = [];
  for (const [module, limit] of Object.entries(moduleLimits) as [CountedModule, number][])
    lines.push({ module, count: found[module] ?? counts[module] ?? 0, limit });
  return lines;
}

/** @throws PlumblineError `MODULE_LIMIT_EXCEEDED` with the first limit that is exceeded */
export function requireWithinLimits(lines: readonly LineCount[]): void {
  for (const { module, count, limit } of lines) {
    if (count <= limit) continue;
    const text = `the transaction counts ${count} of ${module}, a block may have ${limit}; split it into smaller ones`;
    throw new PlumblineError('MODULE_LIMIT_EXCEEDED', text, { module, count, limit });
  }
}

function messagesTo(service: Uint8Array, logs: readonly Log[]): number {
  return logs.filter(
    ({ address, topics }) =>
      equalBytes(address, service) && topics[0] !== undefined && equalBytes(topics[0], MESSAGE_SENT),
  ).length;
}
