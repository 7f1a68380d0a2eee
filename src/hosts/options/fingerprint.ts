import { isFollowed, LAYER_ONE_OPTIONS, type LayerOneSource } from '../../chain/light/light-options.js';
import { REPLICA_OPTIONS } from '../../chain/replica/settings.js';
import { PlumblineError } from '../../errors.js';
import { keccak256 } from '../../kernel/keccak.js';
import { bytesToHex } from '../../primitives/hex.js';
import { type AnyTable, endpointLists, withDefaults } from '../../primitives/option-table.js';
import { type DictionarySource, NODE_OPTIONS, type NodeOptions } from './options.js';

/** A digest of each option that has to be the same for all nodes of a store, by its name. */
export type Fingerprint = Readonly<Record<string, string>>;

/** Values that mean the same as leaving the option out. */
const DEFAULTS: Readonly<Record<string, unknown>> = {
  mining: 'auto',
  accessLists: REPLICA_OPTIONS.accessLists.or,
  proveLayerOne: REPLICA_OPTIONS.proveLayerOne.or,
};

/** Bytes of a digest that are sent. */
const DIGEST_BYTES = 8;

/** Fingerprint of the options that answers depend on: the chain without its endpoints, gas search and dictionary. */
export function fingerprintOf(given: NodeOptions): Fingerprint {
  const { chain, chains, gasSearch, dictionary } = withDefaults(NODE_OPTIONS, given);
  if (chains !== undefined) return digestsOf({ chains: chains.map(withoutSources), gasSearch, dictionary });
  const fork = 'fork' in chain ? chain.fork : undefined;
  const { network } = fork ?? chain;
  const sizing = dictionaryOf(dictionary, network?.dictionary !== undefined);
  return digestsOf({
    ...withoutSources(chain),
    ...(fork && { fork: withoutSources(fork) }),
    gasSearch,
    dictionary: sizing,
  });
}

function digestsOf(options: object): Fingerprint {
  const digests = Object.entries(options).flatMap(([name, value]): [string, string][] => {
    const text = value === DEFAULTS[name] ? undefined : canonical(value);
    return text === undefined ? [] : [[name, digestOf(text)]];
  });
  return Object.fromEntries(digests);
}

/** Options of a chain without its endpoints: they may differ and may hold keys, so not even a digest of them is sent. */
function withoutSources(chain: object): Record<string, unknown> {
  const layerOne = 'layerOne' in chain ? (chain.layerOne as LayerOneSource) : undefined;
  const consensus = isFollowed(layerOne) ? { ...withoutLists(layerOne, LAYER_ONE_OPTIONS), followed: true } : undefined;
  return { ...withoutLists(chain, REPLICA_OPTIONS), consensus };
}

function withoutLists(options: object, table: AnyTable): Record<string, unknown> {
  const lists = endpointLists(table);
  return Object.fromEntries(Object.entries(options).filter(([name]) => !lists.includes(name)));
}

/** @returns undefined for the dictionary that a node has without this option, whichever source it comes from */
function dictionaryOf(source: DictionarySource | undefined, hasOwn: boolean): unknown {
  if (source?.kind === 'general') return hasOwn ? 'general' : undefined;
  return source?.kind === 'bytes' && !hasOwn ? source.bytes : undefined;
}

/** Names of the options in which two nodes differ. Most options set to their default count as different from left out. */
export function differences(a: Fingerprint, b: Fingerprint): string[] {
  return [...new Set([...Object.keys(a), ...Object.keys(b)])].filter((name) => a[name] !== b[name]).sort();
}

/** The error of a node whose options differ from those of the writer. @param names - of these options */
export function storeInUse(names: readonly string[]): PlumblineError<'STORE_IN_USE'> {
  const reason = `the node that writes to it has other options: ${names.join(', ')}`;
  const message = `the store is in use; use the same options or another storeName, because ${reason}`;
  return new PlumblineError('STORE_IN_USE', message, { reason });
}

function digestOf(text: string): string {
  return bytesToHex(keccak256(new TextEncoder().encode(text)).subarray(0, DIGEST_BYTES));
}

/** Text of plain data that does not depend on the order of properties. Undefined properties and empty objects are left out. */
function canonical(value: unknown): string | undefined {
  if (value instanceof Uint8Array) return `bytes ${bytesToHex(keccak256(value))}`;
  if (typeof value === 'bigint') return `${value}n`;
  if (Array.isArray(value)) return `[${value.map(canonical).join()}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const properties = Object.entries(value).flatMap(([name, property]) => {
    const text = canonical(property);
    return text === undefined ? [] : [`${JSON.stringify(name)}:${text}`];
  });
  return properties.length === 0 ? undefined : `{${properties.sort().join()}}`;
}
