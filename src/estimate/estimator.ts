import type { Block, Chain } from '../chain/chain.js';
import type { Dictionary } from '../dictionary/dictionary.js';
import { PlumblineError } from '../errors.js';
import type { BlockContext } from '../evm/block-context.js';
import { type BlockOverrides, withBlockOverrides } from '../evm/block-overrides.js';
import type { GasEstimate, GasSearch } from '../evm/gas-search.js';
import { Interpreters } from '../evm/interpreters.js';
import { withOverrides } from '../evm/overrides.js';
import { ReadCache } from '../evm/read-cache.js';
import type { StateReader } from '../evm/state-reader.js';
import type { StepLimits } from '../evm/step-budget.js';
import { priorityFeePerGas } from '../fees/priority-fee.js';
import { encodeForSizing, encodeSigned, transactionForSizing } from '../fees/transaction-bytes.js';
import type { CalldataSizer } from '../kernel/contracts.js';
import { UNCOUNTED_MODULES } from '../networks/module-limits.js';
import { type CallRequest, priceOf } from '../primitives/call-request.js';
import { bytesToHex } from '../primitives/hex.js';
import type { StateOverrides } from '../primitives/state-overrides.js';
import type { EstimateEvidence } from './evidence.js';
import { lineCounts, requireWithinLimits } from './line-counts.js';

/** What an estimate is asked for. */
export interface EstimateRequest {
  readonly call: CallRequest;
  readonly overrides?: StateOverrides | undefined;
  readonly blockOverrides?: BlockOverrides | undefined;
  /** State and prices after this block; the head when left out. */
  readonly block?: Block | undefined;
  /**
   * Run in the simulated block after that one. The default is what the reference node does: Besu's networks always do,
   * geth's run in the block itself unless the pending one was named.
   */
  readonly pending?: boolean | undefined;
  /** Instead of the node's search. */
  readonly search?: GasSearch | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** The three numbers, and how they came about. Amounts in wei per gas. */
export interface FeeEstimate {
  readonly gasLimit: bigint;
  readonly baseFeePerGas: bigint;
  readonly priorityFeePerGas: bigint;
  readonly evidence: EstimateEvidence;
}

/** What holds for every estimate of a node. */
export interface EstimatorOptions extends Pick<StepLimits, 'stepBudget'> {
  /** Search, where it is not the one of the network profile. */
  readonly gasSearch?: GasSearch | undefined;
}

/** Where an estimate is made. */
interface Ground {
  readonly on: Block;
  /** What executions see. */
  readonly context: BlockContext;
  readonly state: StateReader;
}

const ZERO_ADDRESS = new Uint8Array(20);

type Execution = Awaited<ReturnType<typeof loadExecution>>;

/** The EVM is a chunk of its own: a node that never executes does not load it, and it comes while the state is fetched. */
function loadExecution() {
  return import('../evm/estimate-gas.js');
}

/** Estimates on a chain's newest state: executed here, sized as the sequencer sizes, priced as it prices. */
export class Estimator {
  constructor(
    private readonly chain: Chain,
    private readonly sizer: CalldataSizer,
    private readonly dictionary: Dictionary,
    private readonly options: EstimatorOptions = {},
    private readonly interpreters = new Interpreters(),
  ) {}

  /** The same estimator on another view of its chain. */
  on(chain: Chain): Estimator {
    return new Estimator(chain, this.sizer, this.dictionary, this.options, this.interpreters);
  }

  /**
   * A gas limit with which the call succeeds, by the search of the request, the node or the network profile.
   *
   * @throws PlumblineError of the execution (see `estimateGasAt`); `STATE_NOT_HELD`
   */
  async gas(request: EstimateRequest): Promise<GasEstimate> {
    const [ground, { estimateGasAt }] = await Promise.all([this.ground(request), loadExecution()]);
    return this.search(estimateGasAt, request, ground, false);
  }

  /**
   * Answer of `linea_estimateGas` with its evidence. Limits of the prover that can be counted have to hold, and the sender
   * has to be able to pay for what is estimated, unless the call names none.
   *
   * @throws PlumblineError `CALLDATA_TOO_LARGE` above the network's limit; as `gas`; `MODULE_LIMIT_EXCEEDED`;
   *   `INSUFFICIENT_FUNDS`
   * @source spec/fees.md 1, 6, 7, 9; spec/compression.md 2
   */
  async fees(request: EstimateRequest): Promise<FeeEstimate> {
    const { network } = this.chain;
    const { call } = request;
    requireCalldataWithin(call.data?.length ?? 0, network.calldataLimit);
    const [ground, { estimateGasAt }] = await Promise.all([this.ground(request), loadExecution()]);
    const { baseFeePerGas } = await this.chain.pendingContext(ground.on);
    const gas = await this.search(estimateGasAt, request, ground, network.moduleLimits !== undefined);
    const { gasLimit } = gas;
    const sender = await ground.state.account(call.from ?? ZERO_ADDRESS);
    const transaction = transactionForSizing(call, {
      gasLimit,
      baseFee: baseFeePerGas,
      latestNonce: sender?.nonce ?? 0n,
      chainId: BigInt(network.chainId),
    });
    const signed = encodeSigned(transaction);
    const checked = lineCounts({ signedBytes: signed.length, logs: gas.logs, counts: gas.counts ?? {} }, network);
    requireWithinLimits(checked);
    await requireFunds(request, gasLimit, ground);

    const bytes = network.sizing === 'signed' ? signed : encodeForSizing(transaction);
    const compressedTxSize = this.sizer.compressedTxSize(bytes);
    const { prices, sourceBlock } = await this.chain.prices(ground.on);
    const use = { gas: gasLimit, compressedTxSize, baseFee: baseFeePerGas };
    const priorityFee = priorityFeePerGas(network.pricing, prices, use);
    const { name, networkOwn, reason } = this.dictionary;
    const maxFeePerGas = baseFeePerGas + priorityFee;
    return {
      gasLimit,
      baseFeePerGas,
      priorityFeePerGas: priorityFee,
      evidence: {
        gas,
        block: ground.on.header.number,
        trust: (await this.chain.trust?.(ground.on)) ?? 'held',
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

  private async ground({ call, overrides, block, pending, blockOverrides, signal }: EstimateRequest): Promise<Ground> {
    const prepared = await this.chain.prepare?.({ call, overrides, block, signal });
    const on = prepared?.block ?? block ?? (await this.chain.head());
    const inNext = pending ?? this.chain.network.gasSearch !== 'geth';
    const context = inNext ? await this.chain.pendingContext(on) : this.chain.contextOf(on);
    const state = new ReadCache(prepared?.state ?? (await this.chain.stateAt(on)));
    return { on, context: withBlockOverrides(context, blockOverrides), state };
  }

  private search(
    estimateGasAt: Execution['estimateGasAt'],
    request: EstimateRequest,
    { context, state }: Ground,
    counting: boolean,
  ): Promise<GasEstimate> {
    const { network } = this.chain;
    const { call, overrides, signal } = request;
    const search = request.search ?? this.options.gasSearch ?? network.gasSearch;
    const { stepBudget } = this.options;
    const { interpreters } = this;
    return estimateGasAt(state, context, call, {
      network,
      overrides,
      search,
      stepBudget,
      signal,
      counting,
      interpreters,
    });
  }
}

function requireCalldataWithin(length: number, limit: number): void {
  if (length <= limit) return;
  throw new PlumblineError('CALLDATA_TOO_LARGE', `calldata of ${length} bytes, the network takes ${limit}`, {
    length,
    limit,
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
  { context, state }: Ground,
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
