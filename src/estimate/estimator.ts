import type { Block, Chain } from '../chain/chain.js';
import type { Dictionary } from '../dictionary/dictionary.js';
import { PlumblineError } from '../errors.js';
import type { BlockContext } from '../evm/block-context.js';
import { estimateGasAt } from '../evm/estimate-gas.js';
import type { GasEstimate } from '../evm/gas-search.js';
import { withOverrides } from '../evm/overrides.js';
import { ReadCache } from '../evm/read-cache.js';
import type { StateReader } from '../evm/state-reader.js';
import { priorityFeePerGas } from '../fees/priority-fee.js';
import { sizingBytes } from '../fees/transaction-bytes.js';
import type { CalldataSizer } from '../kernel/contracts.js';
import type { CallRequest } from '../primitives/call-request.js';
import { bytesToHex } from '../primitives/hex.js';
import type { StateOverrides } from '../primitives/state-overrides.js';

/** What an estimate is asked for. */
export interface EstimateRequest {
  readonly call: CallRequest;
  readonly overrides?: StateOverrides | undefined;
  /** State and prices after this block; the head when left out. */
  readonly block?: Block | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** The three numbers, and how they came about. Amounts in wei per gas. */
export interface FeeEstimate {
  readonly gasLimit: bigint;
  readonly baseFeePerGas: bigint;
  readonly priorityFeePerGas: bigint;
  readonly evidence: EstimateEvidence;
}

export interface EstimateEvidence {
  readonly gas: GasEstimate;
  /** Bytes that were sized. */
  readonly transactionBytes: number;
  readonly compressedTxSize: number;
  readonly dictionary: { readonly name: string; readonly networkOwn: boolean };
  readonly pricingModel: 'extra-data' | 'verification-cost';
  readonly prices: { readonly fixedCostWei: bigint; readonly variableCostWei: bigint; readonly minGasPriceWei: bigint };
  /** Block whose header set the prices; undefined while the profile's defaults hold. */
  readonly pricesFromBlock: number | undefined;
  readonly margin: number;
}

const ZERO_ADDRESS = new Uint8Array(20);

/** Estimates on a chain's newest state: executed here, sized as the sequencer sizes, priced as it prices. */
export class Estimator {
  constructor(
    private readonly chain: Chain,
    private readonly sizer: CalldataSizer,
    private readonly dictionary: Dictionary,
  ) {}

  /**
   * A gas limit with which the call succeeds, by the search of the network profile.
   *
   * @throws PlumblineError of the execution (see `estimateGasAt`); `STATE_NOT_HELD`
   */
  async gas(request: EstimateRequest): Promise<GasEstimate> {
    const { context, state } = await this.ground(request);
    return this.search(request, context, state);
  }

  /**
   * Answer of `linea_estimateGas` with its evidence. The sender has to be able to pay for what is estimated, unless the
   * call names none.
   *
   * @throws PlumblineError as `gas`; `INSUFFICIENT_FUNDS`; `CALLDATA_TOO_LARGE` above the network's limit
   * @source spec/fees.md 1, 6, 9; spec/compression.md 2
   */
  async fees(request: EstimateRequest): Promise<FeeEstimate> {
    const { network } = this.chain;
    const { call } = request;
    const length = call.data?.length ?? 0;
    if (length > network.calldataLimit) {
      const text = `calldata of ${length} bytes, the network takes ${network.calldataLimit}`;
      throw new PlumblineError('CALLDATA_TOO_LARGE', text, { length, limit: network.calldataLimit });
    }
    const { context, state } = await this.ground(request);
    const gas = await this.search(request, context, state);
    await this.requireFunds(request, gas.gasLimit, context, state);

    const sender = await state.account(call.from ?? ZERO_ADDRESS);
    const bytes = sizingBytes(
      call,
      {
        gasLimit: gas.gasLimit,
        baseFee: context.baseFeePerGas,
        latestNonce: sender?.nonce ?? 0n,
        chainId: BigInt(network.chainId),
      },
      network.sizing,
    );
    const compressedTxSize = this.sizer.compressedTxSize(bytes);
    const { prices, sourceBlock } = await this.chain.prices(request.block);
    const use = { gas: gas.gasLimit, compressedTxSize, baseFee: context.baseFeePerGas };
    return {
      gasLimit: gas.gasLimit,
      baseFeePerGas: context.baseFeePerGas,
      priorityFeePerGas: priorityFeePerGas(network.pricing, prices, use),
      evidence: {
        gas,
        transactionBytes: bytes.length,
        compressedTxSize,
        dictionary: { name: this.dictionary.name, networkOwn: this.dictionary.networkOwn },
        pricingModel: network.pricing.model,
        prices,
        pricesFromBlock: sourceBlock,
        margin: network.pricing.estimateMargin,
      },
    };
  }

  private async ground({ block }: EstimateRequest): Promise<{ context: BlockContext; state: StateReader }> {
    const on = block ?? (await this.chain.head());
    return { context: await this.chain.pendingContext(on), state: new ReadCache(await this.chain.stateAt(on)) };
  }

  private search(
    { call, overrides, signal }: EstimateRequest,
    context: BlockContext,
    state: StateReader,
  ): Promise<GasEstimate> {
    const { network } = this.chain;
    return estimateGasAt(state, context, call, { network, overrides, search: network.gasSearch, signal });
  }

  /** The second run of the reference node checks funds with the estimated gas; price is the base fee where none is given. */
  private async requireFunds(
    { call, overrides = [] }: EstimateRequest,
    gasLimit: bigint,
    context: BlockContext,
    state: StateReader,
  ): Promise<void> {
    if (call.from === undefined || call.strict === false) return;
    const price = call.maxFeePerGas ?? call.gasPrice ?? context.baseFeePerGas;
    const required = (call.value ?? 0n) + gasLimit * price;
    const balance = (await withOverrides(state, overrides).account(call.from))?.balance ?? 0n;
    if (balance >= required) return;
    const sender = bytesToHex(call.from);
    const text = `up-front cost ${required} exceeds balance ${balance} of ${sender}`;
    throw new PlumblineError('INSUFFICIENT_FUNDS', text, { sender, required, balance });
  }
}
