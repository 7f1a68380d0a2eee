/**
 * Where an endpoint is. The address of a provider has its API key in it: only the origin is ever shown, and texts that come back go
 * through a redactor first.
 */

import { invalidParameter, originOf, type PlumblineError } from '../errors.js';

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

/** Shortest part of a path that counts as a key. Shorter ones are words such as `v3`, `rpc` and `eth`. */
const SHORTEST_IN_PATH = 4;
/** Shortest value of a query, header, user name or password that is hidden. */
const SHORTEST_ELSEWHERE = 3;
/** Only secrets of at least this length are searched in hex data. Shorter ones would match by chance. */
const LONG = 16;
const HIDDEN = '[redacted]';
const HEX = /^0x[0-9a-f]*$/i;
const URL_IN_TEXT = /\b(?:https?|wss?):\/\/[^\s"'<>\\]+/gi;

/** Removes secrets from texts of endpoints and of `fetch`. */
export interface Redactor {
  text(text: string): string;
  /** The same for each string in a JSON value, keys of objects included. */
  json(value: unknown): unknown;
}

/** The parts of an endpoint's URL and headers that may be keys. */
export function endpointSecretsOf(url: URL, headers: Readonly<Record<string, string>>): string[] {
  const elsewhere = [
    url.username,
    url.password,
    ...url.searchParams.values(),
    ...url.search.slice(1).split('&').map(secretOfPair),
    url.hash.slice(1),
    // `Bearer` and `Basic` are not secret. What follows them is.
    ...Object.values(headers).flatMap((value) => [value, ...value.split(/[\s,;=]+/)]),
  ];
  return [
    ...url.pathname.split('/').filter((part) => part.length >= SHORTEST_IN_PATH),
    ...elsewhere.filter((part) => part.length >= SHORTEST_ELSEWHERE && !/^(?:Bearer|Basic)$/i.test(part)),
  ];
}

/** The value of `name=value`, still encoded. A name without a value may itself be the key. */
function secretOfPair(pair: string): string {
  return pair.slice(pair.indexOf('=') + 1);
}

/** @param secrets - texts to hide, in any case and with or without URL encoding */
export function createRedactor(secrets: readonly string[]): Redactor {
  const forms = [...new Set(secrets.flatMap((secret) => [secret, decode(secret), encodeURIComponent(secret)]))]
    .filter((form) => form !== '')
    .sort((a, b) => b.length - a.length);
  const all = pattern(forms);
  const long = pattern(forms.filter((form) => form.length >= LONG));
  const text = (given: string) => {
    const bare = given.replace(URL_IN_TEXT, originOf);
    const searched = HEX.test(bare) ? long : all;
    return searched === undefined ? bare : bare.replace(searched, HIDDEN);
  };
  const json = (value: unknown): unknown => {
    if (typeof value === 'string') return text(value);
    if (Array.isArray(value)) return value.map(json);
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([key, member]) => [text(key), json(member)]));
  };
  return { text, json };
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function pattern(forms: readonly string[]): RegExp | undefined {
  if (forms.length === 0) return undefined;
  return new RegExp(forms.map((form) => form.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')).join('|'), 'gi');
}
