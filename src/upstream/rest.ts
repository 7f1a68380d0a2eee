import { type Address, urlBelow } from './address.js';
import { type Call, faultOutcome, type Outcome, type Transport } from './failure.js';
import { exchangeHttp, type HttpOptions, type HttpReply } from './http.js';
import { errorBody, isOtherText, KEY_ADVICE, notJson, parseJson } from './json-rpc.js';

/** JSON by HTTP GET. The method of a call is its path. Errors are `{code, message}` (docs/spec/json-rpc.md 5.3). */
export function restTransport(address: Address, options: HttpOptions): Transport {
  return {
    origin: address.origin,
    batchLimit: 1,
    async exchange([call], signal) {
      const { method } = call as Call;
      const reply = await exchangeHttp(address, urlBelow(address, method), undefined, options, signal);
      const { bytesReceived } = reply;
      if ('fault' in reply) return { reply: [{ kind: 'fault', fault: reply.fault }], bytesSent: 0, bytesReceived };
      return { reply: [readRestReply(address, reply)], status: reply.status, bytesSent: 0, bytesReceived };
    },
  };
}

/** The outcome of a GET for JSON. */
export function readRestReply(address: Address, { status, body, retryAfterMs }: HttpReply): Outcome {
  const wait = retryAfterMs === undefined ? {} : { retryAfterMs };
  const words = `status ${status}`;
  if (status === 429) return faultOutcome('rate-limited', words, { status, ...wait });
  if (status === 401 || status === 402 || status === 403)
    return faultOutcome('configuration', `${words}${KEY_ADVICE}`, { status });
  if (status === 501)
    return faultOutcome('configuration', `${words}: it does not have this part of the API`, { status, mayPass: true });
  if (status >= 500 || status === 408 || status === 425) return faultOutcome('unavailable', words, { status, ...wait });
  const json = parseJson(body);
  if (status < 300) {
    if (json !== undefined) return { kind: 'result', result: json };
    const isOther = isOtherText(body);
    return faultOutcome(isOther ? 'configuration' : 'malformed', notJson(status, body), { status, mayPass: isOther });
  }
  const error = errorBody(json, address.redactor);
  return error === undefined
    ? faultOutcome('configuration', words, { status })
    : { kind: 'error', error: { ...error, code: status } };
}
