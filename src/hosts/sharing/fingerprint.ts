import { keccak_256 } from '@noble/hashes/sha3.js';
import { bytesToHex } from '../../primitives/hex.js';
import type { DictionarySource, NodeOptions } from '../options/options.js';

/** A digest of each option that nodes of one store have to have in common. */
export type Fingerprint = Readonly<Record<string, string>>;

/** Where data comes from may differ, and holds keys: not even a digest of it is told. */
const SOURCES = new Set(['endpoints', 'layerOne', 'maru', 'trieLogs', 'stateManager']);

/** What is the same as saying nothing. */
const DEFAULTS: Readonly<Record<string, unknown>> = { mining: 'auto', accessLists: true, proveLayerOne: false };

/** Bytes of a digest that are told. */
const DIGEST_BYTES = 8;

/** What answers depend on: the chain but for its endpoints, and of estimates their search and their dictionary. */
export function fingerprintOf({ chain = { kind: 'devnet' }, gasSearch, dictionary }: NodeOptions): Fingerprint {
  const sizing = dictionaryOf(dictionary, chain.network?.dictionary !== undefined);
  const told = Object.entries({ ...chain, gasSearch, dictionary: sizing }).filter(([name]) => !SOURCES.has(name));
  const digests = told.flatMap(([name, value]): [string, string][] => {
    const text = value === DEFAULTS[name] ? undefined : canonical(value);
    return text === undefined ? [] : [[name, digestOf(text)]];
  });
  return Object.fromEntries(digests);
}

/** @returns undefined for the one that a node has which is told nothing of it, wherever that comes from */
function dictionaryOf(source: DictionarySource | undefined, hasOwn: boolean): unknown {
  if (source?.kind === 'general') return hasOwn ? 'general' : undefined;
  return source?.kind === 'bytes' && !hasOwn ? source.bytes : undefined;
}

/** Names of the options in which two nodes differ. Most defaults that are written out count as different from none. */
export function differences(a: Fingerprint, b: Fingerprint): string[] {
  return [...new Set([...Object.keys(a), ...Object.keys(b)])].filter((name) => a[name] !== b[name]).sort();
}

function digestOf(text: string): string {
  return bytesToHex(keccak_256(new TextEncoder().encode(text)).subarray(0, DIGEST_BYTES));
}

/** Text of plain data, the same whatever the order of members; undefined members and empty objects are left out. */
function canonical(value: unknown): string | undefined {
  if (value instanceof Uint8Array) return `bytes ${bytesToHex(keccak_256(value))}`;
  if (typeof value === 'bigint') return `${value}n`;
  if (Array.isArray(value)) return `[${value.map(canonical).join()}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const members = Object.entries(value).flatMap(([name, member]) => {
    const text = canonical(member);
    return text === undefined ? [] : [`${JSON.stringify(name)}:${text}`];
  });
  return members.length === 0 ? undefined : `{${members.sort().join()}}`;
}
