import { PlumblineError } from '../../errors.js';
import type { CommonMethodName } from '../protocol/method-info.js';
import { defineMethod } from './context.js';

/*
 * Transactions that a sequencer has to include because layer 1 holds them (docs/spec/json-rpc.md 2.8). The endpoint's word:
 * nothing of the answer can be checked.
 */

/** `[forcedTransactionNumber]`, on older nodes `[transactionHash]`: when and how it was included, or null. */
export const linea_getForcedTransactionInclusionStatus = forwarded('linea_getForcedTransactionInclusionStatus');

/** `[[{ forcedTransactionNumber, transaction, deadlineBlockNumber }, …]]`. Only a sequencer accepts it. */
export const linea_sendForcedRawTransaction = forwarded('linea_sendForcedRawTransaction');

function forwarded<const Name extends CommonMethodName>(method: Name) {
  return defineMethod(method, async ({ chain }, params, call) => {
    const answer = await chain.forward(method, params, call);
    if (answer !== undefined) return answer;
    throw new PlumblineError('METHOD_NOT_ENABLED', `${method} needs endpoints`, { method });
  });
}
