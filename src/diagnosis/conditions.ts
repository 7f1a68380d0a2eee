import type { TrustLevel } from '../chain/block.js';
import type { Chain, ChainCall } from '../chain/chain.js';
import type { ExecutionPoint } from '../estimate/estimate-request.js';
import type { Estimator } from '../estimate/estimator.js';
import type { SignedTransaction } from '../ethereum/transaction.js';
import { type Rules, rulesAt } from '../evm/common.js';
import { type Account, NO_ACCOUNT } from '../evm/state/state-reader.js';
import type { Prices } from '../fees/prices.js';
import { isLayerOne } from '../networks/network.js';
import { equalBytes } from '../primitives/bytes.js';
import type { CallRequest } from '../primitives/call-request.js';
import { tried } from './finding.js';

/** What a diagnosis works on: the node's chain and its estimator. */
export interface DiagnosisParts {
  readonly chain: Chain;
  readonly estimator: Estimator;
}

/** Whether geth's pool takes the transaction: on a layer 1, but not on a devnet, which has a pool of its own. */
export function hasLayerOnePool({ network, kind }: Pick<Chain, 'network' | 'kind'>): boolean {
  return isLayerOne(network) && kind !== 'devnet';
}

/** Whether the prover's limits of the profile count. */
export function hasLineLimits(chain: Pick<Chain, 'network' | 'kind'>): boolean {
  return chain.network.moduleLimits !== undefined && !hasLayerOnePool(chain);
}

/** What a transaction is checked against: the next block on the newest one. */
export interface Conditions extends ExecutionPoint {
  readonly rules: Rules;
  readonly prices: Prices;
  readonly trust: TrustLevel;
  readonly sender: Account;
  /** Transactions of the sender that this node knows as pending. */
  readonly pending: readonly SignedTransaction[];
}

/** Reads what the checks need. @returns why it could not be read, if so */
export function readConditions(
  { chain, estimator }: DiagnosisParts,
  call: CallRequest & { readonly from: Uint8Array },
  limits: ChainCall,
): Promise<Conditions | string> {
  return tried(async (): Promise<Conditions> => {
    const point = await estimator.executionPoint({ ...limits, call, pending: true });
    const { number, timestamp } = point.context;
    const [sender, { prices }, trust, pending] = await Promise.all([
      point.state.account(call.from),
      chain.prices(point.on, limits),
      chain.trust(point.on),
      chain.pendingTransactions(),
    ]);
    return {
      ...point,
      rules: rulesAt(chain.network, number, timestamp),
      prices,
      trust,
      sender: sender ?? NO_ACCOUNT,
      pending: pending.filter(({ from }) => equalBytes(from, call.from)),
    };
  });
}
