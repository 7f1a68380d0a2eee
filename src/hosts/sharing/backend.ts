import type { Reply } from '../../rpc/protocol/envelope.js';
import type { Layer, NodeSession, NodeTransport, SessionListener } from '../provider/transport.js';

/** The writer as a node of the store sees it, in this thread or elsewhere, for as long as it writes. */
export interface Backend {
  readonly epoch: number;
  /** What is known of the store. */
  readonly store: Pick<NodeTransport, 'storeStatus' | 'onStoreStatus'>;
  /** @throws WriterGone when there will be no reply; the signal's reason when aborted */
  dispatch(layer: Layer, payload: unknown, signal?: AbortSignal): Promise<Reply>;
  /** Its `dispatch` throws as that of the backend. */
  openSession(listener: SessionListener): NodeSession;
}

/** The writer ended before it answered. Never leaves this folder. */
export class WriterGone extends Error {
  override readonly name = 'WriterGone';

  /** @param begun - the request may have been carried out */
  constructor(readonly begun: boolean) {
    super('the writer of the store is gone');
  }
}
