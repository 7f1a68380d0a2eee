import { type Address, urlBelow } from './address.js';
import { type Call, faultOutcome, type Outcome, type Transport } from './failure.js';
import { type AnswerValidator, EndpointGroup, type UpstreamRequestOptions } from './group.js';
import { exchangeHttp, type HttpOptions, type HttpReply } from './http.js';
import { errorBody, isOtherText, KEY_ADVICE, notJson, parseJson } from './json-rpc.js';
import { type GroupOptions, openHttp, type UrlEndpoint } from './options.js';

/** HTTP statuses after which another endpoint is asked, because this one may lag behind. */
const MAY_LAG = [404];

/** GET requests to the endpoints of one role, such as the API of a consensus client, with failover as in `EndpointGroup`. */
export class RestGroup {
  /** The group behind it: state of the endpoints, reports, closing. */
  readonly group: EndpointGroup;

  /** @throws PlumblineError `INVALID_PARAMETER` for an empty list, or a malformed endpoint */
  constructor(options: GroupOptions<string | UrlEndpoint>) {
    // The type of the options leaves only addresses.
    this.group = new EndpointGroup(options, (source, given) => {
      const { address, http } = openHttp(typeof source === 'string' ? { url: source } : (source as UrlEndpoint), given);
      return restTransport(address, http);
    });
  }

  /** Its endpoints, in order of preference. */
  get endpoints(): EndpointGroup['endpoints'] {
    return this.group.endpoints;
  }

  /**
   * Fetches JSON from a path below the endpoint's URL.
   *
   * @param path - such as `/eth/v2/beacon/blocks/head`
   * @throws PlumblineError `UPSTREAM_ERROR` with the HTTP status as its code, for `{code, message}` with a status of 400
   *   or 404; otherwise as `EndpointGroup.request`
   */
  get<T>(path: string, options: UpstreamRequestOptions & { readonly accept: AnswerValidator<unknown, T> }): Promise<T>;
  get(path: string, options?: UpstreamRequestOptions): Promise<unknown>;
  get(
    path: string,
    options: UpstreamRequestOptions & { readonly accept?: AnswerValidator<unknown, unknown> } = {},
  ): Promise<unknown> {
    const { accept, ...rest } = options;
    const tryNext = options.tryNext ?? (({ code }) => MAY_LAG.includes(code));
    return this.group.request(path, [], { ...rest, tryNext, accept: accept ?? ((result) => result) });
  }

  close(): void {
    this.group.close();
  }
}

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
      return { reply: [readReply(address, reply)], status: reply.status, bytesSent: 0, bytesReceived };
    },
  };
}

function readReply(address: Address, { status, body, retryAfterMs }: HttpReply): Outcome {
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
