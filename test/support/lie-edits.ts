// biome-ignore lint/suspicious/noExplicitAny: answers are taken apart by tables that know their shape.
export type Json = any;

/** What is said in place of a value. `whole` is the answer that holds it. */
export type Edit = (value: Json, whole: Json) => Json;

/** Returned by an edit: the member is left out. */
export const REMOVED: unique symbol = Symbol('removed');

/** A copy of an answer with the value at a path edited. @param path - names and indices with dots between; empty for the whole */
export function edited(answer: Json, path: string, edit: Edit): Json {
  const copy = structuredClone(answer);
  if (path === '') return edit(copy, answer);
  const keys = path.split('.');
  const last = keys.pop()!;
  const holder = keys.reduce((at, key) => at[key], copy);
  if (holder === undefined || !(last in holder)) throw new Error(`the answer has nothing at ${path}`);
  const value = edit(holder[last], answer);
  if (value === REMOVED) delete holder[last];
  else holder[last] = value;
  return copy;
}

/** Another value of the same form, near this one: a number more, another last digit, a list turned around. */
export const nudged: Edit = (value) => {
  if (Array.isArray(value)) return [...value].reverse();
  if (typeof value === 'number') return value + 1;
  if (typeof value === 'boolean') return !value;
  if (/^\d+$/.test(value)) return String(BigInt(value) + 1n);
  if (value === '0x') return '0x01';
  return `${value.slice(0, -1)}${value.endsWith('1') ? '2' : '1'}`;
};

/** The first digit after `0x` another. */
export const otherFirst: Edit = (value: string) => `0x${value[2] === '7' ? '6' : '7'}${value.slice(3)}`;

/** Zero of the same form; of each entry of a list. */
export const zeroed: Edit = (value, whole) => {
  if (Array.isArray(value)) return value.map((entry) => zeroed(entry, whole));
  if (typeof value === 'object' && value !== null)
    return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, zeroed(inner, whole)]));
  return /^\d+$/.test(value) ? '0' : value.replace(/(?<=^0x.*)[0-9a-f]/g, '0');
};

/** Another JSON-RPC quantity, hash or nonce. */
export const plusOne: Edit = (value: string, whole) => {
  if (value.length > 20) return otherFirst(value, whole);
  if (value === '0x') return '0x00';
  return `0x${(BigInt(value) + 1n).toString(16).padStart(value.length === 18 ? 16 : 0, '0')}`;
};

export const removed: Edit = () => REMOVED;
export const nulled: Edit = () => null;
export const shortened: Edit = (list: readonly Json[]) => list.slice(0, -1);
export const lengthened: Edit = (list: readonly Json[]) => [...list, list.at(-1)];
/** A byte less. */
export const cut: Edit = (hex: string) => hex.slice(0, -2);
/** A byte more. */
export const padded: Edit = (hex: string) => `${hex}00`;
export const plus =
  (amount: number): Edit =>
  (value: string) =>
    String(BigInt(value) + BigInt(amount));
export const said =
  (value: Json): Edit =>
  () =>
    value;
