import { type AnswerValidator, EndpointGroup, type UpstreamRequestOptions } from './group.js';
import { type GroupOptions, openHttp, type UrlEndpoint } from './options.js';
import { restTransport } from './rest.js';

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
