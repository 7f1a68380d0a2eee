import { invalidParameter, type PlumblineError } from '../../errors.js';
import { originOf } from '../../primitives/origin.js';
import { createRedactor, endpointSecretsOf, type Redactor } from './redact.js';

/** Address of an endpoint, and the redactor for its keys. Only `origin` may be shown. */
export interface Address {
  /** Without user and password, which `fetch` refuses; these are in `headers`. */
  readonly url: string;
  readonly origin: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly redactor: Redactor;
}

/**
 * Parses the address of an endpoint: your own node, a provider's `{base}/v3/<API_KEY>`, or a public endpoint.
 *
 * @param headers - sent with each request
 * @throws PlumblineError `INVALID_PARAMETER` for a URL that is not http or https; the URL is not quoted
 */
export function parseEndpointAddress(text: string, headers: Readonly<Record<string, string>> = {}): Address {
  let url: URL;
  try {
    url = new URL(text);
  } catch {
    throw invalid('must be an absolute http or https URL');
  }
  if (url.protocol !== 'http:' && url.protocol !== 'https:') throw invalid('must be an http or https URL');
  const { username, password } = url;
  const withUser = username === '' && password === '' ? headers : { authorization: basic(url), ...headers };
  const redactor = createRedactor(endpointSecretsOf(url, withUser));
  url.username = '';
  url.password = '';
  url.hash = '';
  return { url: url.href, origin: originOf(url.href), headers: withUser, redactor };
}

/**
 * The URL of a path below that of the endpoint, with the endpoint's query.
 *
 * @param path - may have a query of its own, which comes behind the endpoint's
 */
export function urlBelow(address: Address, path: string): string {
  const url = new URL(address.url);
  const [place = '', query = ''] = path.split('?');
  url.pathname = `${url.pathname.replace(/\/+$/, '')}/${place.replace(/^\/+/, '')}`;
  if (query !== '') url.search = url.search === '' ? query : `${url.search}&${query}`;
  return url.href;
}

function basic({ username, password }: URL): string {
  let user: string;
  try {
    user = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
  } catch {
    throw invalid('user and password must be percent-encoded correctly');
  }
  const bytes = new TextEncoder().encode(user);
  return `Basic ${btoa(String.fromCharCode(...bytes))}`;
}

function invalid(reason: string): PlumblineError {
  return invalidParameter('endpoint', reason);
}
