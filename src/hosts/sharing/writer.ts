import type { Reply } from '../../rpc/protocol/envelope.js';
import type { Layer, NodeSession, NodeTransport, SessionListener } from '../provider/transport.js';

/** The node that writes to a shared store, for the length of one term. It runs in this thread or elsewhere. */
export interface Writer {
  readonly epoch: number;
  /** Status of the store, as far as it is known here. */
  readonly store: Pick<NodeTransport, 'storeStatus' | 'onStoreStatus'>;
  /** @throws WriterGone when there will be no reply; the signal's reason when aborted */
  dispatch(layer: Layer, payload: unknown, signal?: AbortSignal, connection?: object): Promise<Reply>;
  /** The session's `dispatch` throws the same errors as `dispatch` here. */
  openSession(listener: SessionListener, connection?: object): NodeSession;
}

/** The writer ended before it answered. This error never leaves the folder. */
export class WriterGone extends Error {
  override readonly name = 'WriterGone';

  /** @param begun - whether the writer may have carried out the request */
  constructor(readonly begun: boolean) {
    super('the writer of the store ended before it answered');
  }
}
