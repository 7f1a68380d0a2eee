import type { Chain } from '../chain/chain.js';
import { METHOD_ROWS } from './method-rows.generated.js';
import { INSPECT, L1, type MethodInfo } from './method-rows.js';

/** All methods: JSON-RPC (`l2`), what the library offers beside it (`inspect`), the simulated layer 1 (`l1`). */
export const METHOD_INFO: MethodTables = { l2: METHOD_ROWS, inspect: INSPECT, l1: L1 };

/** Named, because a type that is inferred would repeat every row in the types that ship. */
interface MethodTables {
  readonly l2: typeof METHOD_ROWS;
  readonly inspect: typeof INSPECT;
  readonly l1: typeof L1;
}

/** Name of a JSON-RPC method. */
export type MethodName = keyof typeof METHOD_ROWS;

/** The methods whose prefix is the network's, without it. They always answer to `linea_` and `l2_` as well. */
const PREFIXED: readonly string[] = ['estimateGas', 'getMessageProof', 'getProof'];

/** Other names of methods on a network, each with the name it stands for. */
export function aliasesOf(methodPrefix: string): [alias: string, name: string][] {
  const prefixes = new Set(['l2', methodPrefix]);
  prefixes.delete('linea');
  return [...prefixes].flatMap((prefix) =>
    PREFIXED.map((name): [string, string] => [`${prefix}_${name}`, `linea_${name}`]),
  );
}

/** The JSON-RPC methods that a kind of chain does not have, with their other names. */
export function methodsOff(kind: Chain['kind'], methodPrefix: string): readonly string[] {
  const off = Object.entries(METHOD_INFO.l2).flatMap(([name, { answers }]) => (answers[kind] === 'off' ? [name] : []));
  return [...off, ...aliasesOf(methodPrefix).flatMap(([alias, name]) => (off.includes(name) ? [alias] : []))];
}

/** The JSON-RPC methods that a network without a rollup contract does not have, with their other names. */
export function methodsOfRollups(methodPrefix: string): readonly string[] {
  const own = Object.keys(METHOD_INFO.l2).filter((name) => name.startsWith('linea_'));
  return [...own, ...aliasesOf(methodPrefix).map(([alias]) => alias)];
}

/** What answers on layer 1 in the place of a method of rollups. */
const ON_LAYER_ONE: Readonly<Record<string, string>> = {
  estimateGas: 'eth_estimateGas gives the gas, eth_feeHistory the prices',
  getProof: 'eth_getProof proves accounts',
};

/** Why a network without a rollup does not have a method, and what to use. */
export function needsRollup(name: string, network: string): string {
  const use = ON_LAYER_ONE[name.slice(name.indexOf('_') + 1)];
  return `${name} needs a rollup, and ${network} is a layer 1${use === undefined ? '' : `: ${use}`}`;
}

/** Why a node without keys does not have a method, and what to do; undefined for a method that needs none. */
export function insteadOf(name: string): string | undefined {
  if (infoOf('l2', name)?.needsKeys !== true) return undefined;
  return `${name}: this node holds no keys; sign in the wallet and send with eth_sendRawTransaction, or open a devnet`;
}

/** Every name that a node with this kind of chain answers, aliases included. @param isRollup - whether its network is a rollup */
export function servedMethods(kind: Chain['kind'], methodPrefix: string, isRollup = true): readonly string[] {
  const off = new Set([...methodsOff(kind, methodPrefix), ...(isRollup ? [] : methodsOfRollups(methodPrefix))]);
  const names = [...Object.keys(METHOD_INFO.l2), ...aliasesOf(methodPrefix).map(([alias]) => alias)];
  return names.filter((name) => !off.has(name));
}

/** @returns undefined for a method that is not in the table */
function infoOf(layer: keyof typeof METHOD_INFO, name: string): MethodInfo | undefined {
  const methods: Readonly<Record<string, MethodInfo>> = METHOD_INFO[layer];
  if (Object.hasOwn(methods, name)) return methods[name];
  const [, rest = ''] = /^[^_]+_(.*)$/.exec(name) ?? [];
  return PREFIXED.includes(rest) ? methods[`linea_${rest}`] : undefined;
}

/** Whether a second request changes nothing more than the first. False for a method that is not in the table. */
export function isIdempotent(layer: keyof typeof METHOD_INFO, name: string): boolean {
  const info = infoOf(layer, name);
  return info !== undefined && info.effect !== 'every-time';
}

/** Whether a request may change what the node keeps. True for a method that is not in the table. */
export function mayChange(layer: keyof typeof METHOD_INFO, name: string): boolean {
  return infoOf(layer, name)?.effect !== 'none';
}

/** Whether the time limit of a request holds. True for a method that is not in the table. */
export function isTimed(layer: keyof typeof METHOD_INFO, name: string): boolean {
  return infoOf(layer, name)?.timed ?? true;
}
