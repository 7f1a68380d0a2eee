import { inspect } from './inspect.js';

/** The part of `node:assert/strict` that the documents use. */

function fail(what: string, values: readonly unknown[]): never {
  throw new Error(`assertion failed: ${what} ${inspect(values)}`);
}

const bytes = (_: string, value: unknown) => {
  if (typeof value === 'bigint') return `${value}n`;
  return value instanceof Uint8Array ? ['bytes', ...value] : value;
};

const assert = Object.assign((value: unknown) => void (value || fail('truthy:', [value])), {
  ok: (value: unknown) => void (value || fail('truthy:', [value])),
  equal: (found: unknown, wanted: unknown) => void (Object.is(found, wanted) || fail('equal:', [found, wanted])),
  notEqual: (found: unknown, other: unknown) => void (!Object.is(found, other) || fail('not equal:', [found, other])),
  deepEqual: (found: unknown, wanted: unknown) =>
    void (JSON.stringify(found, bytes) === JSON.stringify(wanted, bytes) || fail('deeply equal:', [found, wanted])),
  match: (text: string, pattern: RegExp) => void (pattern.test(text) || fail(`matches ${pattern}:`, [text])),
});

export { assert as strict };
export default assert;
