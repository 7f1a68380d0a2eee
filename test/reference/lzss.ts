import { concatBytes } from '../../src/primitives/bytes.js';

/**
 * Plain model of the LZSS sizing: every candidate is looked at, nothing is indexed beyond the first byte. Slow on purpose,
 * the oracle of the kernel. Follows docs/spec/compression.md 4 line by line.
 */

/** One phrase of the parse: so many literals in a row, or one short or dynamic reference and its length. */
export type Phrase = readonly [kind: 'lit' | 'short' | 'dyn', length: number];

const BITS = { lit: 8, short: 30, dyn: 37 } as const;
const MIN_LENGTH = { short: 4, dyn: 5 } as const;
const MAX_LENGTH = 256;
const WINDOW = 16384;
const RUN_THRESHOLD = 160;

const isReserved = (byte: number | undefined): boolean => byte === 0xfe || byte === 0xff;

interface Reference {
  readonly kind: 'short' | 'dyn';
  readonly length: number;
  /** Bits saved against literals; minus infinity when there is no such reference. */
  readonly saving: number;
}

/** The dictionary, with FE FF appended where one of them is missing (4.2). */
function augment(dictionary: Uint8Array): Uint8Array {
  if (dictionary.includes(0xfe) && dictionary.includes(0xff)) return dictionary;
  return concatBytes(dictionary, Uint8Array.of(0xfe, 0xff));
}

/** Where each byte stands in `bytes`, in ascending order. */
function placesByByte(bytes: Uint8Array): number[][] {
  const places: number[][] = Array.from({ length: 256 }, () => []);
  for (let at = 0; at < bytes.length; at++) places[bytes[at]!]!.push(at);
  return places;
}

/** How many bytes of `source` from p on equal those of `data` from i on, at most `cap`. */
function agreement(source: Uint8Array, p: number, data: Uint8Array, i: number, cap: number): number {
  let length = 0;
  while (length < cap && p + length < source.length && source[p + length] === data[i + length]) length++;
  return length;
}

/** The LZSS model with one dictionary. */
export class LzssModel {
  readonly #dictionary: Uint8Array;
  readonly #places: number[][];

  constructor(dictionary: Uint8Array) {
    this.#dictionary = augment(dictionary);
    this.#places = placesByByte(this.#dictionary);
  }

  /** The reference's parse, literals merged. */
  phrases(data: Uint8Array): Phrase[] {
    const phrases: Phrase[] = [];
    const literals = (count: number) => {
      const last = phrases.at(-1);
      if (last?.[0] === 'lit') phrases[phrases.length - 1] = ['lit', last[1] + count];
      else phrases.push(['lit', count]);
    };
    const places = placesByByte(data);
    const best = (i: number) => this.#best(data, places, i);

    let i = 0;
    while (i < data.length) {
      // 1. The run rule.
      let run = 1;
      while (run < MAX_LENGTH && data[i + run] === data[i]) run++;
      if (run >= RUN_THRESHOLD) {
        if (i === 0 || data[i - 1] !== data[i]) {
          if (isReserved(data[i])) phrases.push(['dyn', 1]);
          else literals(1);
          i++;
          run--;
        }
        phrases.push(['short', run]);
        i += run;
        continue;
      }
      const here = best(i);
      if (!isReserved(data[i])) {
        // 3. Nothing to refer to.
        if (here.saving < 0) {
          literals(1);
          i += 1;
          continue;
        }
        // 4 and 5. A better reference one or two bytes further on.
        if (i + 1 < data.length && best(i + 1).saving > here.saving + 1) {
          literals(1);
          i += 1;
          continue;
        }
        if (i + 2 < data.length && !isReserved(data[i + 1]) && best(i + 2).saving > here.saving + 2) {
          literals(2);
          i += 2;
          continue;
        }
      }
      // 2 and 6.
      phrases.push([here.kind, here.length]);
      i += here.length;
    }
    return phrases;
  }

  /** Bits of the parse. */
  bits(data: Uint8Array): number {
    return this.phrases(data).reduce((sum, [kind, length]) => sum + (kind === 'lit' ? 8 * length : BITS[kind]), 0);
  }

  /** Bytes of the stream with its 3-byte header. */
  lzssSize(data: Uint8Array): number {
    return 3 + Math.ceil(this.bits(data) / 8);
  }

  /** Size that the fee formula uses (section 6). */
  compressedTxSize(data: Uint8Array): number {
    let n = this.lzssSize(data);
    if (n > data.length) n = data.length + 3;
    return 32 * Math.ceil((8 * n) / 254);
  }

  /** Section 4.3: the reference at i that saves most. */
  #best(data: Uint8Array, places: number[][], i: number): Reference {
    const cap = Math.min(MAX_LENGTH, data.length - i);
    let short = 0;
    let dynamic = 0;
    for (const p of places[data[i]!]!) {
      if (p >= i) break;
      const length = agreement(data, p, data, i, cap);
      dynamic = Math.max(dynamic, length);
      if (p >= i - WINDOW) short = Math.max(short, length);
    }
    for (const p of this.#places[data[i]!]!) {
      dynamic = Math.max(dynamic, agreement(this.#dictionary, p, data, i, cap));
    }
    const candidate = (kind: 'short' | 'dyn', length: number): Reference => {
      const least = isReserved(data[i]) ? 1 : MIN_LENGTH[kind];
      return { kind, length, saving: length < least ? Number.NEGATIVE_INFINITY : 8 * length - BITS[kind] };
    };
    const [a, b] = [candidate('short', short), candidate('dyn', dynamic)];
    return a.saving > b.saving ? a : b;
  }
}
