import { differs } from './area.js';

/** JSON text with the fields of objects in one order, so that two forms compare. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([name, inner]) => [name, sorted(inner)]),
  );
}

/** Where two JSON values differ first; their proofs are too long to print. */
export function differsDeep(expected: unknown, actual: unknown, path = 'answer'): string | undefined {
  if (typeof expected !== 'object' || expected === null || typeof actual !== 'object' || actual === null) {
    const difference = differs(expected, actual);
    return difference && `${path}: ${difference}`;
  }
  const [wanted, got] = [sorted(expected), sorted(actual)] as Record<string, unknown>[];
  const names = differs(Object.keys(wanted!), Object.keys(got!));
  if (names !== undefined) return `${path}: ${names}`;
  for (const name of Object.keys(wanted!)) {
    const difference = differsDeep(wanted![name], got![name], `${path}.${name}`);
    if (difference !== undefined) return difference;
  }
  return undefined;
}
