import type { Chain } from '../chain/chain.js';
import { PlumblineError } from '../errors.js';
import { withBlockOverrides } from '../evm/block-context.js';
import type { GasEstimate } from '../evm/gas.js';
import { ReadCache } from '../evm/state-reader.js';
import type { Dictionary } from '../fees/dictionary.js';
import type { CalldataSizer } from '../kernel/contracts.js';
import { loadEvmModule } from '../kernel/evm-module.js';
import { loadOnce } from '../scheduling/load-once.js';
import type { EstimateRequest, EstimatorOptions, ExecutionPoint, FeeEstimate } from './estimate-request.js';
import type { EstimationParts } from './estimation.js';

/** A chunk of its own with the EVM. It loads while the state is fetched; a node that never estimates does not load it. */
const loadEstimation = loadOnce(() => {
  // Compiled meanwhile; a failure is reported where it is used.
  loadEvmModule().catch(() => {});
  return import('./estimation.js');
});

/** Estimates gas and fees: executes the call here, and sizes and prices it as the sequencer does. */
export class Estimator {
  private readonly parts: EstimationParts;

  /** @param sizer - loads it at the first fee estimate */
  constructor(
    chain: Chain,
    readonly sizer: () => Promise<CalldataSizer>,
    dictionary: Dictionary,
    options: EstimatorOptions = {},
  ) {
    this.parts = { chain, sizer, dictionary, options };
  }

  /** The dictionary that sizes are computed with. */
  get dictionary(): Dictionary {
    return this.parts.dictionary;
  }

  /**
   * A gas limit with which the call succeeds. The search is that of the request, else of the node, else of the network profile.
   *
   * @throws PlumblineError of the execution (see `estimateGasAt`); `STATE_NOT_HELD`
   */
  async gas(request: EstimateRequest): Promise<GasEstimate> {
    const [point, { gasOn }] = await Promise.all([request.at ?? this.executionPoint(request), loadEstimation()]);
    return gasOn(this.parts, request, point);
  }

  /**
   * Answer of `linea_estimateGas` with its evidence. The transaction must keep the prover limits that can be counted here, and
   * the sender, if the call names one, must be able to pay for it.
   *
   * @throws PlumblineError `CALLDATA_TOO_LARGE` above the network's limit; as `gas`; `MODULE_LIMIT_EXCEEDED`;
   *   `INSUFFICIENT_FUNDS`
   * @source docs/spec/fees.md 1, 6, 7, 9; docs/spec/compression.md 2
   */
  async fees(request: EstimateRequest): Promise<FeeEstimate> {
    const { chain } = this.parts;
    const { call } = request;
    requireCalldataWithin(call.data?.length ?? 0, chain.network.calldataLimit);
    // Loads while the state is fetched. `feesOn` says why where it cannot.
    this.sizer().catch(() => {});
    const [point, { feesOn }] = await Promise.all([request.at ?? this.executionPoint(request), loadEstimation()]);
    return feesOn(this.parts, request, point);
  }

  /**
   * Where a request is executed: the state, and the block after it.
   *
   * @throws PlumblineError `STATE_NOT_HELD`; errors of fetching
   */
  async executionPoint(request: EstimateRequest): Promise<ExecutionPoint> {
    const { call, overrides, block, pending, blockOverrides } = request;
    const { chain } = this.parts;
    const inNext = pending ?? chain.network.gasSearch !== 'geth';
    const prepared = await chain.prepare({ call, overrides, block, tag: inNext ? 'pending' : 'latest' }, request);
    const on = prepared.block;
    const context = inNext ? await chain.pendingContext(on, request) : chain.contextOf(on);
    const state = new ReadCache(prepared.state);
    const baseFeePerGas = inNext ? context.baseFeePerGas : undefined;
    return { on, context: withBlockOverrides(context, blockOverrides), state, baseFeePerGas };
  }
}

function requireCalldataWithin(length: number, limit: number): void {
  if (length <= limit) return;
  throw new PlumblineError(
    'CALLDATA_TOO_LARGE',
    `calldata of ${length} bytes is too long; the network accepts ${limit}`,
    {
      length,
      limit,
    },
  );
}
