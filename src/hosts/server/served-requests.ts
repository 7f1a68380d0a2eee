import type { AnswerReport } from '../../rpc/protocol/answer-report.js';
import type { Reply, RpcResponse } from '../../rpc/protocol/envelope.js';

/** A request that a server has answered. */
export interface ServedRequest extends Pick<Partial<AnswerReport>, 'class' | 'level'> {
  /** As the client wrote it: any text. Undefined for a request that names none. */
  readonly method?: string;
  readonly transport: 'http' | 'websocket';
  /** `l1`: the simulated layer 1 of a devnet. */
  readonly layer: 'l2' | 'l1';
  /** Time until it was answered, ms. The requests of a batch share one time. */
  readonly ms: number;
  /** Number of requests of its batch. */
  readonly batch?: number;
  /** Of an answer that is an error. */
  readonly error?: { readonly code: number; readonly message: string };
}

/** How a payload came. `began`: when, by `performance.now()`. */
interface Arrival extends Pick<ServedRequest, 'transport' | 'layer'> {
  readonly began: number;
}

/** Called with each payload and its reply. The payload is undefined where it is not JSON. */
export type ReplyListener = (how: Arrival, payload: unknown, reply: Reply) => void;

/** The requests of a payload, in its order, each with what the reply says of it. */
export function servedRequests({ transport, layer, began }: Arrival, payload: unknown, reply: Reply): ServedRequest[] {
  const { body, reports = [] } = reply;
  const ms = performance.now() - began;
  const isBatch = Array.isArray(payload) && Array.isArray(body);
  const requests: readonly unknown[] = isBatch ? payload : [payload];
  const answers = new Map((isBatch ? body : []).map((response) => [response.id, response]));
  let reported = 0;
  return requests.map((request) => {
    const { method, id } = (request ?? {}) as { method?: unknown; id?: RpcResponse['id'] };
    // Reports have the order of the requests. Notifications and unknown methods have none.
    const report = reports[reported]?.method === method ? reports[reported++] : undefined;
    const response = isBatch ? answers.get(id ?? null) : (body as RpcResponse | undefined);
    const error = response !== undefined && 'error' in response ? response.error : undefined;
    return {
      ...(typeof method === 'string' && { method }),
      ...{ transport, layer, ms },
      ...(isBatch && { batch: requests.length }),
      ...(error === undefined && report && { class: report.class, ...(report.level && { level: report.level }) }),
      ...(error && { error: { code: error.code, message: error.message } }),
    };
  });
}
