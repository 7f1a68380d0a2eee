import { PlumblineError } from '../../errors.js';
import type { Hex } from '../../primitives/hex.js';
import type { MethodCallOptions, Subscriber } from '../method.js';
import { OF_THE_NODE } from '../method-rows.js';
import { requireText } from '../parse-params.js';
import type { LogFilterJson } from '../schema/json.js';
import { parseSource } from '../sources.js';
import { defineMethod } from './context.js';

/**
 * `eth_subscribe(newHeads)`, `(logs, {address?, topics?})`, `(newPendingTransactions, wholeTransactions?)`,
 * `(transactionReceipts, {transactionHashes?})`, `(syncing)`. Over HTTP, where
 * no messages can be sent to the caller, the answer is -32604.
 *
 * @returns the subscription's id, 16 bytes
 */
export const eth_subscribe = defineMethod<
  | ['newHeads']
  | ['logs', filter?: Pick<LogFilterJson, 'address' | 'topics'>]
  | ['newPendingTransactions', whole?: boolean | { readonly includeTransactions: boolean }],
  Hex
>('eth_subscribe', OF_THE_NODE, ({ chain }, params, call) => {
  const subscriber = requireSubscriber(call, 'eth_subscribe');
  return subscriber.subscribe(parseSource(chain, params, (error) => call.onError?.(error, 'eth_subscribe')));
});

/** `eth_unsubscribe(id)`: answers true, or -32000 for an id that is not (or no longer) one of the caller's. */
export const eth_unsubscribe = defineMethod<[subscription: Hex], true>(
  'eth_unsubscribe',
  OF_THE_NODE,
  (_, [id], call) => {
    requireSubscriber(call, 'eth_unsubscribe').unsubscribe(requireText(id, 'subscription', 'params'));
    return true;
  },
);

function requireSubscriber({ subscriber }: MethodCallOptions, method: string): Subscriber {
  if (subscriber !== undefined) return subscriber;
  throw new PlumblineError(
    'METHOD_NOT_ENABLED',
    `${method} needs a connection that can receive messages: a WebSocket or the provider`,
    { method },
  );
}
