import type { Hex } from '../primitives/hex.js';
import type { Asset, KnownNames, TokenName, Warn } from './preview.js';

/*
 * Tokens and addresses that look like those that the caller knows.
 *
 * docs/spec/preview.md 8.7 and 8.9
 */

/** Letters of other alphabets, and digits, that are drawn like a Latin letter. */
const DRAWN_ALIKE: Readonly<Record<string, string>> = Object.fromEntries([
  ['А', 'A'],
  ['В', 'B'],
  ['С', 'C'],
  ['Е', 'E'],
  ['Н', 'H'],
  ['І', 'I'],
  ['Ј', 'J'],
  ['К', 'K'],
  ['М', 'M'],
  ['О', 'O'],
  ['Р', 'P'],
  ['Ѕ', 'S'],
  ['Т', 'T'],
  ['Х', 'X'],
  ['У', 'Y'],
  ['Ү', 'Y'],
  ['Ԁ', 'D'],
  ['Ԍ', 'G'],
  ['Ԛ', 'Q'],
  ['Ԝ', 'W'],
  ['Ӏ', 'I'],
  ['Α', 'A'],
  ['Β', 'B'],
  ['Ϲ', 'C'],
  ['Ε', 'E'],
  ['Η', 'H'],
  ['Ι', 'I'],
  ['Κ', 'K'],
  ['Μ', 'M'],
  ['Ν', 'N'],
  ['Ο', 'O'],
  ['Ρ', 'P'],
  ['Τ', 'T'],
  ['Χ', 'X'],
  ['Υ', 'Y'],
  ['Ζ', 'Z'],
  ['Ⅾ', 'D'],
  ['Ս', 'U'],
  ['Տ', 'S'],
  ['0', 'O'],
  ['1', 'I'],
  ['L', 'I'],
  ['|', 'I'],
  ['$', 'S'],
  ['5', 'S'],
  ['8', 'B'],
] as const);
/** Shows what follows from right to left. */
const RIGHT_TO_LEFT = /[\u202e\u202b\u2067]/u;

/** How a symbol looks: without marks that are not seen, in capitals, with the letter that each sign looks like. */
function looks(text: string): string {
  const signs = [...text.normalize('NFKD').toUpperCase()].filter((sign) => /[\p{L}\p{N}|$]/u.test(sign));
  return signs.map((sign) => DRAWN_ALIKE[sign] ?? sign).join('');
}

/** How each line or word of a symbol looks, and all of it. */
function allLooks(symbol: string): Set<string> {
  const parts = [symbol, ...symbol.split(/[\s\p{P}]+/u)];
  const seen = new Set(parts.map(looks));
  if (RIGHT_TO_LEFT.test(symbol)) for (const part of parts) seen.add([...looks(part)].reverse().join(''));
  seen.delete('');
  return seen;
}

/** Digits at both ends that wallets show. */
const SHOWN = 4;
const ends = (address: Hex) => address.slice(2, 2 + SHOWN) + address.slice(-SHOWN);

/**
 * Warns of tokens and addresses that look like known ones, and says which tokens are not known.
 *
 * @param addresses - receivers, spenders and contracts that are called
 */
export function warnOfLookAlikes(
  assets: readonly Asset[],
  tokens: Readonly<Record<Hex, TokenName>>,
  addresses: Iterable<Hex>,
  known: KnownNames,
  warn: Warn,
): void {
  const list = known.tokens ?? [];
  const names = list
    .map(({ address, symbol }) => ({ address, looks: looks(symbol) }))
    .filter((one) => one.looks !== '');
  const trusted = new Set([...list.map(({ address }) => address), ...(known.addresses ?? [])]);
  for (const asset of assets) {
    if (!('address' in asset) || trusted.has(asset.address)) continue;
    const { symbol } = tokens[asset.address] ?? { symbol: null };
    const seen = symbol === null ? new Set<string>() : allLooks(symbol);
    const named = names.find((one) => seen.has(one.looks) || (symbol ?? '').toLowerCase().includes(one.address));
    if (named !== undefined) warn({ code: 'look-alike', severity: 'warning', asset, with: named.address });
    if (list.length > 0) warn({ code: 'unverified-token', severity: 'note', asset });
  }
  for (const address of new Set(addresses)) {
    if (trusted.has(address)) continue;
    const alike = [...trusted].find((one) => ends(one) === ends(address));
    if (alike !== undefined) warn({ code: 'look-alike', severity: 'warning', address, with: alike });
  }
}
