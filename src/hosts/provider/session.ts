import type { Dispatch } from '../../rpc/protocol/handle.js';
import { Subscriptions } from '../../rpc/subscriptions/subscriptions.js';
import type { NodeSession, SessionListener } from './transport.js';

/** Opens a session with a node in this thread. @param maxSubscriptions - no limit when left out */
export function openSession(dispatch: Dispatch, listener: SessionListener, maxSubscriptions?: number): NodeSession {
  const subscriptions = new Subscriptions(listener, maxSubscriptions);
  return {
    dispatch: (payload, signal) =>
      subscriptions.during((subscriber) => dispatch(payload, { signal, subscriber, client: subscriptions })),
    close: () => subscriptions.close(),
  };
}
