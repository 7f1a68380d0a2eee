import { originOf } from '../../primitives/origin.js';

/** Shortest part of a path that may be a key; shorter ones are words like `v3`, `rpc` and `eth`. */
const SHORTEST_IN_PATH = 4;
/** Shortest value of a query or header, and shortest user name or password, that is worth hiding. */
const SHORTEST_ELSEWHERE = 3;
/** A secret this long is looked for inside hex data too; a shorter one would be found there by accident. */
const LONG = 16;
const HIDDEN = '[redacted]';
const HEX = /^0x[0-9a-f]*$/i;
const URL_IN_TEXT = /\b(?:https?|wss?):\/\/[^\s"'<>\\]+/gi;

/** Hides what must not be shown in anything an endpoint or a `fetch` says. */
export interface Redactor {
  text(text: string): string;
  /** The same for each string of a JSON value, keys of objects included. */
  json(value: unknown): unknown;
}

/** What of an endpoint's address may be a key. */
export function endpointSecretsOf(url: URL, headers: Readonly<Record<string, string>>): string[] {
  const elsewhere = [
    url.username,
    url.password,
    ...url.searchParams.values(),
    ...url.search.slice(1).split('&').map(secretOfPair),
    url.hash.slice(1),
    // `Bearer` and `Basic` are no secret, what follows them is.
    ...Object.values(headers).flatMap((value) => [value, ...value.split(/[\s,;=]+/)]),
  ];
  return [
    ...url.pathname.split('/').filter((part) => part.length >= SHORTEST_IN_PATH),
    ...elsewhere.filter((part) => part.length >= SHORTEST_ELSEWHERE && !/^(?:Bearer|Basic)$/i.test(part)),
  ];
}

/** Of `name=value` the value as it stands there, of a name alone that name: it may be the key. */
function secretOfPair(pair: string): string {
  const at = pair.indexOf('=');
  return at < 0 ? pair : pair.slice(at + 1);
}

/** @param secrets - texts to hide, in whatever case and with or without URL encoding they come back */
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
