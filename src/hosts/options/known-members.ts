import { invalidParameter } from '../../errors.js';

/** Checks the names of the members of a value, at any depth. */
export type NameCheck = (value: unknown, path: string) => void;

/** A check for each member of `T`: the compiler asks for every one. */
export type MemberChecks<T> = { readonly [Name in keyof Required<T>]: NameCheck };

/** Any value: its members, if it has some, are names that the caller chooses, or are checked elsewhere. */
export const anyValue: NameCheck = () => {};

/**
 * An object with these members and no others. A value that is not an object is left to the checks of values.
 *
 * @throws PlumblineError (the check) `INVALID_PARAMETER` with the path of an unknown member, and the name that was meant
 */
export function members<T>(known: MemberChecks<T>): NameCheck {
  return (value, path) => {
    if (!isPlain(value)) return;
    for (const [name, member] of Object.entries(value)) {
      const at = path === '' ? name : `${path}.${name}`;
      if (!Object.hasOwn(known, name)) throw invalidParameter(at, unknownName(name, Object.keys(known)));
      known[name as keyof T](member, at);
    }
  };
}

/** A list, or an object with any names, whose members all have the same form. */
export function each(check: NameCheck): NameCheck {
  return (value, path) => {
    if (Array.isArray(value)) for (const [i, member] of value.entries()) check(member, `${path}[${i}]`);
    else if (isPlain(value)) for (const [name, member] of Object.entries(value)) check(member, `${path}.${name}`);
  };
}

/** One of several forms, by a member of the object. @param otherwise - where none of `forms` is named */
export function byMember(member: string, forms: Readonly<Record<string, NameCheck>>, otherwise = anyValue): NameCheck {
  return (value, path) => {
    const named = isPlain(value) ? String(value[member]) : '';
    (Object.hasOwn(forms, named) ? forms[named]! : otherwise)(value, path);
  };
}

function isPlain(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !ArrayBuffer.isView(value);
}

function unknownName(name: string, known: readonly string[]): string {
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
