import type { Chain } from '../chain/chain.js';
import type { Dictionary } from '../dictionary/dictionary.js';
import { PlumblineError } from '../errors.js';
import { withBlockOverrides } from '../evm/block-overrides.js';
import type { GasEstimate } from '../evm/gas/gas-search.js';
import { Interpreters } from '../evm/interpreter/interpreters.js';
import { ReadCache } from '../evm/state/read-cache.js';
import type { CalldataSizer } from '../kernel/contracts.js';
import type { EstimateRequest, EstimatorOptions, FeeEstimate } from './estimate-request.js';
import type { EstimationParts, Ground } from './estimation.js';

/** A chunk of its own with the EVM: a node that never estimates does not load it, and it comes while the state is fetched. */
function loadEstimation() {
  return import('./estimation.js');
}

/** Estimates on a chain's newest state: executed here, sized as the sequencer sizes, priced as it prices. */
export class Estimator {
  private readonly parts: EstimationParts;

  /** @param sizer - or what loads it, when a fee is first estimated */
  constructor(
    chain: Chain,
    sizer: CalldataSizer | (() => Promise<CalldataSizer>),
    dictionary: Dictionary,
    options: EstimatorOptions = {},
    interpreters: Interpreters = new Interpreters(),
  ) {
    this.parts = { chain, sizer, dictionary, options, interpreters };
  }

  /** The same estimator on another view of its chain. */
  on(chain: Chain): Estimator {
    const { sizer, dictionary, options, interpreters } = this.parts;
    return new Estimator(chain, sizer, dictionary, options, interpreters);
  }

  /**
   * A gas limit with which the call succeeds, by the search of the request, the node or the network profile.
   *
   * @throws PlumblineError of the execution (see `estimateGasAt`); `STATE_NOT_HELD`
   */
  async gas(request: EstimateRequest): Promise<GasEstimate> {
    const [ground, { gasOn }] = await Promise.all([this.ground(request), loadEstimation()]);
    return gasOn(this.parts, request, ground);
  }

  /**
   * Answer of `linea_estimateGas` with its evidence. Limits of the prover that can be counted have to hold, and the sender
   * has to be able to pay for what is estimated, unless the call names none.
   *
   * @throws PlumblineError `CALLDATA_TOO_LARGE` above the network's limit; as `gas`; `MODULE_LIMIT_EXCEEDED`;
   *   `INSUFFICIENT_FUNDS`
   * @source docs/spec/fees.md 1, 6, 7, 9; docs/spec/compression.md 2
   */
  async fees(request: EstimateRequest): Promise<FeeEstimate> {
    const { network } = this.parts.chain;
    const { call } = request;
    requireCalldataWithin(call.data?.length ?? 0, network.calldataLimit);
    const [ground, { feesOn }] = await Promise.all([this.ground(request), loadEstimation()]);
    return feesOn(this.parts, request, ground);
  }

  private async ground({ call, overrides, block, pending, blockOverrides, signal }: EstimateRequest): Promise<Ground> {
    const inNext = pending ?? this.parts.chain.network.gasSearch !== 'geth';
    const tag = inNext ? 'pending' : 'latest';
    const prepared = await this.parts.chain.prepare?.({ call, overrides, block, tag, signal });
    const on = prepared?.block ?? block ?? (await this.parts.chain.head());
    const context = inNext ? await this.parts.chain.pendingContext(on) : this.parts.chain.contextOf(on);
    const state = new ReadCache(prepared?.state ?? (await this.parts.chain.stateAt(on)));
    return { on, context: withBlockOverrides(context, blockOverrides), state };
  }
}

function requireCalldataWithin(length: number, limit: number): void {
  if (length <= limit) return;
  throw new PlumblineError('CALLDATA_TOO_LARGE', `calldata of ${length} bytes, the network takes ${limit}`, {
    length,
    limit,
  });
}
