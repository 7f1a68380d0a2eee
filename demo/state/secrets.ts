import type { EndpointSource } from 'plumbline-l2';

/** Stands in an address where its key was. */
export const KEY_MARK = '{key}';

/** An endpoint as the form holds it: the key apart, so that the address can be shown and kept. */
export interface EndpointField {
  readonly address: string;
  readonly key: string;
}

/** Long enough, and of such letters, that it may be a key rather than a word of a path. */
const KEY_LIKE = /^[\w.~%:=+-]{16,}$/;
/** Behind a version, as in `/v3/KEY`, shorter ones count as well. */
const VERSION = /^v\d+$/;
const SHORTEST_KEY = 6;

/**
 * Takes the key out of an address that was typed or pasted whole: what stands before `@`, or the path from the first part
 * that looks like a key on, or a query, or what is behind `#`. An address without one comes back as it is; of one with keys
 * before and behind `@` only the protocol is left.
 */
export function splitKey(text: string): EndpointField {
  const address = text.trim();
  const url = urlOf(address);
  if (address.includes(KEY_MARK) || url === undefined) return { address, key: '' };
  const parts = url.pathname.split('/');
  const at = parts.findIndex((part, i) => {
    return KEY_LIKE.test(part) || (part.length >= SHORTEST_KEY && VERSION.test(parts[i - 1] ?? ''));
  });
  const rest = url.search + url.hash;
  if (url.username !== '' || url.password !== '') {
    if (at > 0 || rest !== '') {
      return { address: `${url.protocol}//${KEY_MARK}`, key: url.href.slice(url.protocol.length + 2) };
    }
    const key = `${url.username}${url.password === '' ? '' : `:${url.password}`}`;
    return { address: `${url.protocol}//${KEY_MARK}@${url.host}${url.pathname}`, key };
  }
  if (at > 0) {
    const before = parts.slice(0, at).join('/');
    return { address: `${url.origin}${before}/${KEY_MARK}`, key: parts.slice(at).join('/') + rest };
  }
  if (rest !== '') return { address: `${url.origin}${url.pathname}${rest[0]}${KEY_MARK}`, key: rest.slice(1) };
  return { address, key: '' };
}

/**
 * The endpoint with its key, for the node.
 *
 * @throws Error that names the address as it is shown, never the key
 */
export function joinKey({ address, key }: EndpointField): EndpointSource {
  if (address.includes(KEY_MARK)) {
    if (key === '') throw new Error(`${address} needs its key, which this page does not keep`);
    return checked(
      address,
      address.replace(KEY_MARK, () => key),
    );
  }
  return key === '' ? checked(address, address) : { url: checked(address, address), apiKey: key };
}

/** Where the address leads, whole: for requests that the page makes itself. */
export function wholeAddress(field: EndpointField): string {
  const source = joinKey(field);
  if (typeof source === 'string') return source;
  return `${field.address.replace(/\/+$/, '')}/v3/${encodeURIComponent(field.key)}`;
}

/** The address and whether a key goes with it: all that is shown of an endpoint. */
export function shownAddress({ address, key }: EndpointField): string {
  return key === '' || address.includes(KEY_MARK) ? address : `${address.replace(/\/+$/, '')}/v3/${KEY_MARK}`;
}

function checked(shown: string, address: string): string {
  if (!/^https?:$/.test(urlOf(address)?.protocol ?? '')) {
    throw new Error(`${shown === '' ? 'an empty field' : shown} is not an http or https address`);
  }
  return address;
}

/** `URL.canParse` is younger than the browsers that plumbline runs in. */
function urlOf(text: string): URL | undefined {
  try {
    return new URL(text);
  } catch {
    return undefined;
  }
}
