import { invalidParameter } from '../../errors.js';

/** Checks a value, at any depth. A value that is left out is not given to it. */
export interface Check {
  (value: unknown, path: string): void;
  /** Whether the value may not be left out. */
  readonly isNeeded?: true;
}

/** A check for each member of `T`: the compiler asks for every one, and for `needed` where a member is required. */
export type MemberChecks<T> = {
  readonly [Name in keyof T]-?: undefined extends T[Name] ? Check : Check & { readonly isNeeded: true };
};

/** Any value: it is checked elsewhere, or its members are names that the caller chooses. */
export const anyValue: Check = () => {};

/** A value of which `test` is true. @param what - as in `must be WHAT` */
export function value(what: string, test: (value: unknown) => boolean): Check {
  return (given, path) => {
    if (!test(given)) throw invalidParameter(path, `must be ${what}`);
  };
}

/** A required value. */
export function needed(check: Check): Check & { readonly isNeeded: true } {
  return Object.assign((given: unknown, path: string) => check(given, path), { isNeeded: true } as const);
}

/** One of these values. */
export function choice(...allowed: readonly (string | boolean)[]): Check {
  return (given, path) => {
    if (!allowed.includes(given as string)) throw invalidParameter(path, `must be one of ${allowed.join(', ')}`);
  };
}

/**
 * An object with these members and no others.
 *
 * @param hint - what is said of an object that other software takes in this place, before its members are looked at
 * @throws PlumblineError (the check) `INVALID_PARAMETER` with the path of the member that is unknown, wrong or missing, and the
 *   name that was meant
 */
export function members<T>(known: MemberChecks<T>, hint?: (value: object, path: string) => string | undefined): Check {
  const checks = Object.entries<Check>(known);
  return (given, path) => {
    if (!isPlain(given)) throw invalidParameter(path || 'options', `must be an object, is ${kindOf(given)}`);
    const meant = hint?.(given, path);
    if (meant !== undefined) throw invalidParameter(path, meant);
    const below = (name: string) => (path === '' ? name : `${path}.${name}`);
    for (const name of Object.keys(given)) {
      if (!Object.hasOwn(known, name)) throw invalidParameter(below(name), unknownName(name, Object.keys(known)));
    }
    for (const [name, check] of checks) {
      const member = given[name];
      if (member !== undefined || check.isNeeded) check(member, below(name));
    }
  };
}

/** A list whose members all have the same form. @param what - as in `must be WHAT` */
export function listOf(what: string, check: Check): Check {
  return (given, path) => {
    if (!Array.isArray(given)) throw invalidParameter(path, `must be ${what}, is ${kindOf(given)}`);
    for (const [i, member] of given.entries()) check(member, `${path}[${i}]`);
  };
}

/** An object whose members all have the same form. @param names - what each name must be; any, if left out */
export function recordOf(check: Check, names?: Check): Check {
  return (given, path) => {
    if (!isPlain(given)) throw invalidParameter(path, `must be an object, is ${kindOf(given)}`);
    for (const [name, member] of Object.entries(given)) {
      names?.(name, `${path}.${name}`);
      if (member !== undefined) check(member, `${path}.${name}`);
    }
  };
}

/** One of several forms, by a member of the object. @param hint - as in `members` */
export function byMember(
  name: string,
  forms: Readonly<Record<string, Check>>,
  hint?: (value: object, path: string) => string | undefined,
): Check {
  return (given, path) => {
    if (!isPlain(given)) throw invalidParameter(path, `must be an object, is ${kindOf(given)}`);
    const meant = hint?.(given, path);
    if (meant !== undefined) throw invalidParameter(path, meant);
    const named = String(given[name]);
    if (!Object.hasOwn(forms, named))
      throw invalidParameter(`${path}.${name}`, `must be one of ${Object.keys(forms).join(', ')}`);
    forms[named]!(given, path);
  };
}

export const text: Check = value('text', (given) => typeof given === 'string');
export const flag: Check = value('true or false', (given) => typeof given === 'boolean');
export const call: Check = value('a function', (given) => typeof given === 'function');
export const object: Check = value('an object', (given) => typeof given === 'object' && given !== null);
export const aboveZero: Check = value('a number above zero', (given) => typeof given === 'number' && given > 0);
export const notNegative: Check = value('a number, zero or above', (given) => typeof given === 'number' && given >= 0);
export const count: Check = value('a whole number', (given) => Number.isSafeInteger(given) && (given as number) >= 0);
export const wholeAboveZero: Check = value(
  'a whole number above zero',
  (given) => Number.isSafeInteger(given) && (given as number) > 0,
);
export const amount: Check = value('a bigint, zero or above', (given) => typeof given === 'bigint' && given >= 0n);
export const bytes: Check = value('bytes (a Uint8Array)', (given) => given instanceof Uint8Array);
export const hex: Check = value(
  'hex text that begins with 0x',
  (given) => typeof given === 'string' && /^0x[0-9a-f]*$/i.test(given),
);
export const address: Check = value(
  'an address of 20 bytes in hex',
  (given) => typeof given === 'string' && /^0x[0-9a-f]{40}$/i.test(given),
);
export const word: Check = value(
  '32 bytes in hex',
  (given) => typeof given === 'string' && /^0x[0-9a-f]{64}$/i.test(given),
);
export const addresses: Check = listOf('a list of addresses', address);
export const texts: Check = listOf('a list of texts', text);

/** What a value is, without the value, which may hold a key. */
export function kindOf(given: unknown): string {
  if (given === null) return 'null';
  if (given === undefined) return 'missing';
  if (Array.isArray(given)) return 'a list';
  if (ArrayBuffer.isView(given)) return 'bytes';
  if (typeof given !== 'object') return `a ${typeof given}`;
  return isPlain(given) ? 'an object' : `a ${tagOf(given)}`;
}

/** Whether a value has members of its own: a `Map`, a `Headers`, a `URL` or a promise has none, so that nothing of it is checked. */
export function isPlain(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && ['Object', 'Module'].includes(tagOf(value));
}

/** `Object`, also of another realm, or `Map`, `Promise`. */
function tagOf(value: object): string {
  return Object.prototype.toString.call(value).slice('[object '.length, -1);
}

function unknownName(name: string, known: readonly string[]): string {
  if (name === 'apiKey') return 'belongs to an endpoint: endpoints: [{ url, apiKey }]';
  const [best] = known.map((one) => [distance(name, one), one] as const).sort(([a], [b]) => a - b);
  const isNear = best !== undefined && best[0] <= Math.max(2, Math.ceil(best[1].length / 3));
  return isNear
    ? `is not an option; did you mean ${best[1]}?`
    : `is not an option; the options are ${known.join(', ')}`;
}

/** How far a name is from the one that may be meant: the beginning of a name is near to it. */
function distance(name: string, meant: string): number {
  return name.length > 2 && meant.startsWith(name) ? 1 : editsBetween(name, meant);
}

/** Letters to insert, delete, replace or swap with their neighbour to make one name of the other; case is not counted. */
function editsBetween(one: string, other: string): number {
  const [a, b] = [one.slice(0, 64).toLowerCase(), other.toLowerCase()];
  const rows = [Array.from({ length: b.length + 1 }, (_, j) => j)];
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const replaced = rows[i - 1]![j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1);
      const isSwap = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      const swapped = isSwap ? rows[i - 2]![j - 2]! + 1 : replaced;
      row.push(Math.min(row[j - 1]! + 1, rows[i - 1]![j]! + 1, replaced, swapped));
    }
    rows.push(row);
  }
  return rows[a.length]![b.length]!;
}
