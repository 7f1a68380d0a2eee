/** JSON as parsed. */
export type Json = string | number | boolean | null | Json[] | { [name: string]: Json };

/** One place in a JSON document, and how to put something else there. */
interface Place {
  readonly path: string;
  readonly value: Json;
  set(value: Json): void;
}

function* places(json: Json, path: string, set: (value: Json) => void): Generator<Place> {
  yield { path, value: json, set };
  if (typeof json !== 'object' || json === null) return;
  const inner = json as Record<string, Json>;
  for (const [name, value] of Object.entries(inner)) {
    yield* places(value, Array.isArray(json) ? `${path}[${name}]` : `${path}.${name}`, (changed) => {
      inner[name] = changed;
    });
  }
}

/** The hex text with one bit of one byte flipped. */
function flip(text: string, byte: number, bit: number): string {
  const at = 2 + 2 * byte;
  const changed = Number.parseInt(text.slice(at, at + 2), 16) ^ (1 << bit);
  return text.slice(0, at) + changed.toString(16).padStart(2, '0') + text.slice(at + 2);
}

/**
 * The document with one bit of one hex field flipped, one variant after the other. It is changed in place and mended
 * before the next; the name of the place is given.
 *
 * @param perField - bytes of each field to damage: first, last and some between; all when left out
 */
export function* bitFlips(json: Json, perField = Number.POSITIVE_INFINITY): Generator<string> {
  for (const { path, value, set } of places(json, '', () => undefined)) {
    if (typeof value !== 'string' || !/^0x([0-9a-f]{2})+$/.test(value)) continue;
    const bytes = value.length / 2 - 1;
    const step = Math.max(1, (bytes - 1) / Math.max(1, perField - 1));
    for (let i = 0; i <= bytes - 1; i += step) {
      const byte = Math.round(i);
      set(flip(value, byte, (byte * 5 + path.length) % 8));
      yield `${path} byte ${byte}`;
    }
    set(value);
  }
}

/** The document with one number off, one part of the wrong type, one list longer or shorter, or one field too many or few. */
export function* shapeEdits(json: Json): Generator<string> {
  for (const { path, value, set } of places(json, '', () => undefined)) {
    if (path === '') continue;
    const edits: [string, Json][] = [['null', null]];
    if (typeof value === 'number') {
      for (const other of [
        value + 1,
        value - 1,
        -value - 1,
        value + 0.5,
        value + 2 ** 40,
        value + 2 ** 32,
        2 ** 53,
        `${value}`,
      ]) {
        edits.push([String(other), other]);
      }
    } else if (typeof value === 'string') {
      edits.push(['without 0x', value.slice(2)], ['one digit more', `${value}0`], ['one byte more', `${value}00`]);
      edits.push(['not hex', `${value.slice(0, -1)}g`], ['empty', '0x'], ['a number', 1]);
    } else if (Array.isArray(value)) {
      if (value.length > 0)
        edits.push(['first dropped', value.slice(1)], ['last dropped', value.slice(0, -1)], ['empty', []]);
      if (value.length > 0) edits.push(['last repeated', [...value, value.at(-1)!]]);
      edits.push(['an entry more', [...value, '0x']], ['an object', { ...value }]);
    } else if (typeof value === 'object' && value !== null) {
      for (const name of Object.keys(value)) {
        const { [name]: _, ...rest } = value;
        edits.push([`without ${name}`, rest]);
      }
      edits.push(['a foreign field', { ...value, extra: 1 }], ['a list', Object.values(value)]);
    }
    for (const [name, edited] of edits) {
      set(edited);
      yield `${path}: ${name}`;
    }
    set(value);
  }
}
