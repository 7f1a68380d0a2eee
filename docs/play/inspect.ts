const MOST_ITEMS = 50;
const MOST_DEPTH = 4;

const hex = (bytes: Uint8Array) => [...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join('');

function cut(items: readonly string[]): string[] {
  return items.length <= MOST_ITEMS
    ? [...items]
    : [...items.slice(0, MOST_ITEMS), `… ${items.length - MOST_ITEMS} more`];
}

function inside(value: unknown, depth: number): string {
  if (typeof value === 'string') return `'${value}'`;
  if (typeof value === 'bigint') return `${value}n`;
  if (typeof value === 'function') return `[function ${value.name}]`;
  if (typeof value !== 'object' || value === null) return String(value);
  if (value instanceof Error) return String(value);
  if (value instanceof Uint8Array) return `Uint8Array(${value.length}) 0x${hex(value.subarray(0, 64))}`;
  if (depth >= MOST_DEPTH) return Array.isArray(value) ? '[…]' : '{…}';
  if (Array.isArray(value)) return list('[', cut(value.map((item) => inside(item, depth + 1))), ']', depth);
  const entries = value instanceof Map ? [...value] : Object.entries(value);
  const shown = cut(entries.map(([key, item]) => `${String(key)}: ${inside(item, depth + 1)}`));
  return list('{', shown, '}', depth);
}

/** On one line where that is short. */
function list(open: string, items: readonly string[], close: string, depth: number): string {
  const line = items.join(', ');
  if (items.length === 0) return open + close;
  if (line.length <= 72 && !line.includes('\n')) return `${open} ${line} ${close}`;
  const indent = '  '.repeat(depth + 1);
  return `${open}\n${items.map((item) => `${indent}${item},`).join('\n')}\n${'  '.repeat(depth)}${close}`;
}

/** Values as a console shows them. */
export function inspect(values: readonly unknown[]): string {
  return values.map((value) => (typeof value === 'string' ? value : inside(value, 0))).join(' ');
}
