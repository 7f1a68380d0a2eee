import { PlumblineError } from '../../errors.js';
import type { Hex } from '../../primitives/hex.js';
import type { MethodCallOptions } from '../protocol/method.js';
import { FORWARDS } from '../protocol/method-rows.js';
import { defineMethod, type RpcContext } from './context.js';

/*
 * Transactions that a sequencer has to include because layer 1 holds them (docs/spec/json-rpc.md 2.8). The endpoint's word:
 * nothing of the answer can be checked.
 */

/** `[forcedTransactionNumber]`, on older nodes `[transactionHash]`: when and how it was included, or null. */
export const linea_getForcedTransactionInclusionStatus = defineMethod<[number: number | Hex], unknown>(
  'linea_getForcedTransactionInclusionStatus',
  FORWARDS,
  (context, params, call) => forwarded(context, 'linea_getForcedTransactionInclusionStatus', params, call),
);

/** `[[{ forcedTransactionNumber, transaction, deadlineBlockNumber }, …]]`. Only a sequencer accepts it. */
export const linea_sendForcedRawTransaction = defineMethod<[transactions: readonly object[]], unknown>(
  'linea_sendForcedRawTransaction',
  { ...FORWARDS, effect: 'every-time' },
  (context, params, call) => forwarded(context, 'linea_sendForcedRawTransaction', params, call),
);

async function forwarded(
  { chain }: RpcContext,
  method: string,
  params: readonly unknown[],
  call: MethodCallOptions,
): Promise<unknown> {
  const answer = await chain.forward(method, params, call);
  if (answer !== undefined) return answer;
  throw new PlumblineError('METHOD_NOT_ENABLED', `${method} needs endpoints`, { method });
}
