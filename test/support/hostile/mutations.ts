import fc from 'fast-check';
import type { Json } from '../damage.js';

/*
 * What is put in place of a valid value: arbitraries of fast-check for JSON documents, their text, and bytes. A mutation is
 * plain data until it is applied, so a failing one shrinks.
 */

const hex = (bytes: number, byte = 'ab') => `0x${byte.repeat(bytes)}`;

/** Texts that a parser may take for something else: odd hex, numbers, tags, names of prototypes, halves of characters. */
const TEXTS: readonly string[] = [
  ...[
    '',
    '0x',
    '0X1',
    '0x0',
    '0x00',
    '0x01',
    '-0x1',
    '0x-1',
    '0x1 ',
    ' 0x1',
    '0xg',
    '0x\u0661',
    '0x1n',
    '1',
    '01',
    '-1',
  ],
  ...['1e3', '1.5', 'NaN', 'Infinity', 'null', 'latest', 'pending', 'earliest', 'safe', 'finalized', 'Latest'],
  ...[
    '__proto__',
    'constructor',
    'prototype',
    'toString',
    'hasOwnProperty',
    '\ud800',
    '\udc00\ud800',
    '\0',
    '\u202e',
    '😀',
  ],
  ...[0, 1, 19, 20, 21, 31, 32, 33, 64, 65, 256, 4096, 24_577, 49_153].map((bytes) => hex(bytes)),
  ...['0x1', '0x7f', '0xff', '0x100', '0xffff', '0x1fffffffffffff', '0x20000000000000', '0x7fffffffffffffff'],
  ...['0x8000000000000000', '0xffffffffffffffff', '0x10000000000000000', hex(16, 'ff'), hex(32, 'ff'), hex(33, 'ff')],
  ...[hex(20, '00'), hex(32, '00'), `0x${'0'.repeat(39)}1`, `0x${'0'.repeat(39)}9`, '0x100'.padEnd(70, '0')],
];

const NUMBERS: readonly number[] = [
  ...[0, -0, 1, -1, 2, 1.5, -1.5, 100, 101, 1024, 1025, 2 ** 31, 2 ** 32, 2 ** 53 - 1, 2 ** 53, 2 ** 63, 2 ** 64, 1e21],
  ...[1e78, Number.MAX_VALUE, Number.MIN_VALUE, -(2 ** 53), -(2 ** 64)],
];

const NAMES: readonly string[] = [
  '__proto__',
  'constructor',
  'toString',
  'length',
  'then',
  'toJSON',
  '',
  '0',
  '\ud800',
];

/** Lists or objects in each other, as deep as `depth`. */
function nested(depth: number, isList: boolean): Json {
  let value: Json = isList ? [] : {};
  for (let i = 0; i < depth; i++) value = isList ? [value] : { a: value };
  return value;
}

/** An object with one own member of any name: a literal would set the prototype where the name is `__proto__`. */
function withMember(object: { readonly [name: string]: Json }, name: string, value: Json): Json {
  const copy: { [name: string]: Json } = { ...object };
  Object.defineProperty(copy, name, { value, enumerable: true, configurable: true, writable: true });
  return copy;
}

/** Any JSON value that is unlikely to be the right one. */
export const strangeValue: fc.Arbitrary<Json> = fc.oneof(
  { arbitrary: fc.constantFrom<Json>(...TEXTS), weight: 8 },
  { arbitrary: fc.constantFrom<Json>(...NUMBERS), weight: 4 },
  { arbitrary: fc.constantFrom<Json>(null, true, false, [], {}, [[]], [null], { length: 1 }), weight: 4 },
  fc.tuple(fc.integer({ min: 2, max: 64 }), fc.boolean()).map(([depth, isList]) => nested(depth, isList)),
  fc.constantFrom(...NAMES).map((name) => withMember({}, name, {})),
  fc.string({ unit: 'binary', maxLength: 40 }),
  fc.bigInt({ min: 0n, max: 2n ** 256n }).map((value) => `0x${value.toString(16)}`),
  fc.jsonValue({ maxDepth: 2, noUnicodeString: false }) as fc.Arbitrary<Json>,
);

/** One change of a document: which of its places (modulo their number), and what becomes of it. */
type Edit = (value: Json) => Json | undefined;

/** Small changes of text, mostly of hex. `n` says where. */
const TEXT_EDITS: readonly ((text: string, n: number) => string)[] = [
  (text) => text.slice(2),
  (text) => `${text}0`,
  (text) => `${text}00`,
  (text) => text.slice(0, -1),
  (text) => text.slice(0, -2),
  (text) => text.toUpperCase(),
  (text) => text.replace(/^0x/, '0x0'),
  (text) => text.replace(/^0x/, '-0x'),
  (text) => text.slice(0, 2),
  (text, n) => text.slice(0, n % (text.length + 1)) + 'g\ud800\0 '[n % 4] + text.slice(n % (text.length + 1)),
  (text, n) => {
    const at = n % (text.length + 1);
    return text.slice(0, at) + (n >> 4).toString(16).slice(-1) + text.slice(at + 1);
  },
];

/** What becomes of one value. Undefined removes it from the list or the object that holds it. */
const edit: fc.Arbitrary<Edit> = fc.oneof(
  {
    arbitrary: strangeValue.map(
      (strange): Edit =>
        () =>
          strange,
    ),
    weight: 5,
  },
  { arbitrary: fc.constant<Edit>(() => undefined), weight: 2 },
  {
    arbitrary: fc.tuple(fc.constantFrom(...TEXT_EDITS), fc.nat(9999)).map(([change, n]): Edit => {
      return (value) => (typeof value === 'string' ? change(value, n) : [value]);
    }),
    weight: 5,
  },
  fc.constantFrom(1, -1, 0.5, 2 ** 32, -(2 ** 53)).map((added): Edit => {
    return (value) => (typeof value === 'number' ? value + added : JSON.stringify(value));
  }),
  fc.tuple(fc.constantFrom(...NAMES, 'extra'), strangeValue).map(([name, added]): Edit => {
    return (value) => {
      if (Array.isArray(value)) return [...value, added];
      return typeof value === 'object' && value !== null ? withMember(value, name, added) : { value };
    };
  }),
  fc.nat(5).map((times): Edit => {
    // The first item several times, or everything in reverse order.
    return (value) => {
      if (!Array.isArray(value)) return [value, value];
      return times === 0 ? value.toReversed() : [...Array<Json[]>(times).fill(value.slice(0, 1)).flat(), ...value];
    };
  }),
);

function placesOf(value: Json): number {
  if (typeof value !== 'object' || value === null) return 1;
  return Object.values(value).reduce((sum: number, inner) => sum + placesOf(inner), 1);
}

/** The document with its place number `at` changed; counted from 0, each list or object before what it holds. */
function changedAt(value: Json, at: number, change: Edit): Json | undefined {
  if (at === 0) return change(value);
  if (typeof value !== 'object' || value === null) return value;
  let first = 1;
  const entries: [string, Json][] = [];
  for (const [name, inner] of Object.entries(value)) {
    const count = placesOf(inner);
    const within = at >= first && at < first + count;
    const changed = within ? changedAt(inner, at - first, change) : inner;
    if (changed !== undefined) entries.push([name, changed]);
    first += count;
  }
  if (Array.isArray(value)) return entries.map(([, inner]) => inner);
  return entries.reduce<Json>(
    (object, [name, inner]) => withMember(object as { [name: string]: Json }, name, inner),
    {},
  );
}

/** One to three changes of any document, each at any of its places. */
export const damage: fc.Arbitrary<(document: Json) => Json> = fc
  .array(fc.tuple(fc.nat(99_999), edit), { minLength: 1, maxLength: 3 })
  .map((changes) => (document) => {
    const once = (current: Json, [n, change]: (typeof changes)[number]) =>
      changedAt(current, n % placesOf(current), change) ?? null;
    return changes.reduce(once, document);
  });

/** The document with such changes. */
export function mutated(document: fc.Arbitrary<Json>): fc.Arbitrary<Json> {
  return fc.tuple(document, damage).map(([value, change]) => change(value));
}

/** Pieces that JSON text may not have, or that parse to what no quantity is. */
const TOKENS = [
  '1e400',
  '-0',
  '0x1',
  'NaN',
  '1.0',
  '9007199254740993',
  '12345678901234567890123',
  '\\ud800',
  '"',
  '\\',
  '/**/',
  ',',
  '[',
  '}',
  '\0',
  '\ufeff',
  '\u2028',
];

const at = fc.nat(99_999);

/** One to three changes of any text: pieces replaced, inserted, doubled or cut off. */
export const textDamage: fc.Arbitrary<(text: string) => string> = fc
  .array(
    fc.oneof(
      fc.tuple(at, fc.constantFrom(...TOKENS)).map(([n, token]) => (body: string) => {
        const place = n % (body.length + 1);
        return body.slice(0, place) + token + body.slice(place);
      }),
      // One whole literal becomes another.
      fc.tuple(at, fc.constantFrom(...TOKENS)).map(([n, token]) => (body: string) => {
        const literals = [...body.matchAll(/"[^"]*"|\d+|null|true|false/g)];
        const found = literals[n % Math.max(1, literals.length)];
        return found === undefined
          ? body
          : body.slice(0, found.index) + token + body.slice(found.index + found[0].length);
      }),
      fc.tuple(at, fc.nat(7)).map(([n, bit]) => (body: string) => {
        const place = n % Math.max(1, body.length);
        return body.slice(0, place) + String.fromCharCode(body.charCodeAt(place) ^ (1 << bit)) + body.slice(place + 1);
      }),
      at.map((n) => (body: string) => body.slice(0, n % (body.length + 1))),
      at.map((n) => (body: string) => body + body.slice(n % (body.length + 1))),
    ),
    { minLength: 1, maxLength: 3 },
  )
  .map((changes) => (text) => changes.reduce((current, apply) => apply(current), text));

/** The text with such changes. */
export function mutatedText(text: fc.Arbitrary<string>): fc.Arbitrary<string> {
  return fc.tuple(text, textDamage).map(([body, change]) => change(body));
}

/** The bytes with a few bits flipped, or pieces of them overwritten, inserted, doubled or cut off. */
export function mutatedBytes(bytes: fc.Arbitrary<Uint8Array>): fc.Arbitrary<Uint8Array> {
  const place = fc.nat(0xff_ffff);
  const piece = fc.oneof(
    fc.uint8Array({ minLength: 1, maxLength: 9 }),
    fc.constantFrom(0, 1, 0x7f, 0x80, 0xb7, 0xb8, 0xbf, 0xc0, 0xf8, 0xff).map((byte) => new Uint8Array(8).fill(byte)),
    fc.constantFrom(1, 4, 8).map((size) => new Uint8Array(size).fill(0xff)),
  );
  const spliced = (body: Uint8Array, from: number, to: number, put: Uint8Array): Uint8Array =>
    Uint8Array.from([...body.subarray(0, from), ...put, ...body.subarray(to)]);
  const change = fc.oneof(
    {
      arbitrary: fc.tuple(place, fc.nat(7)).map(([n, bit]) => (body: Uint8Array) => {
        const start = n % Math.max(1, body.length);
        return body.map((byte, i) => (i === start ? byte ^ (1 << bit) : byte));
      }),
      weight: 3,
    },
    fc.tuple(place, piece).map(([n, put]) => (body: Uint8Array) => {
      const start = n % (body.length + 1);
      return spliced(body, start, Math.min(body.length, start + put.length), put);
    }),
    fc.tuple(place, piece).map(([n, put]) => (body: Uint8Array) => {
      const start = n % (body.length + 1);
      return spliced(body, start, start, put);
    }),
    fc.tuple(place, fc.nat(64)).map(([n, length]) => (body: Uint8Array) => {
      const start = n % (body.length + 1);
      return spliced(body, start, Math.min(body.length, start + length), new Uint8Array(0));
    }),
    place.map((n) => (body: Uint8Array) => body.slice(0, n % (body.length + 1))),
    fc.tuple(place, fc.nat(64)).map(([n, length]) => (body: Uint8Array) => {
      const start = n % (body.length + 1);
      return spliced(body, start, start, body.subarray(start, start + length));
    }),
  );
  return fc
    .tuple(bytes, fc.array(change, { minLength: 1, maxLength: 3 }))
    .map(([body, changes]) => changes.reduce((current, apply) => apply(current), body));
}
