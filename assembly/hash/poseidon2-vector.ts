import { fold, P } from '../field/koalabear';
import { add, cube } from '../field/koalabear-lanes';

/**
 * The full rounds of one Poseidon2 state, with a group of four words in each SIMD vector. Used by the SIMD build only.
 */

/** The 16 words, canonical, 4 bytes each. */
const packed: usize = memory.data(64, 16);

/**
 * Three full rounds on 16 words in slots of 8 bytes, below 2^37 in absolute value. In the first half they follow an
 * external layer.
 */
export function fullRoundsVector(slots: usize, keys: usize, first: bool): void {
  for (let i: usize = 0; i < 16; i++) {
    const word = <i32>fold(load<i64>(slots + (i << 3)));
    store<i32>(packed + (i << 2), word + (P & (word >> 31)));
  }
  if (first) external();
  for (const end = keys + 192; keys < end; keys += 64) {
    for (let at: usize = 0; at < 64; at += 16) {
      v128.store(packed + at, cube(i32x4.add(v128.load(packed + at), v128.load(keys + at))));
    }
    external();
  }
  for (let i: usize = 0; i < 16; i++) store<i64>(slots + (i << 3), load<u32>(packed + (i << 2)));
}

/**
 * M4 of the four words of a vector: `all + x + 2 y`, where y is the cyclically next word and `all` is the sum of the
 * four.
 */
function mixGroup(x: v128): v128 {
  const next = v128.shuffle<i32>(x, x, 1, 2, 3, 0);
  const pair = add(x, next);
  const all = add(pair, v128.shuffle<i32>(pair, pair, 2, 3, 0, 1));
  return add(all, add(pair, next));
}

function external(): void {
  const a = mixGroup(v128.load(packed));
  const b = mixGroup(v128.load(packed, 16));
  const c = mixGroup(v128.load(packed, 32));
  const d = mixGroup(v128.load(packed, 48));
  const sum = add(add(a, b), add(c, d));
  v128.store(packed, add(a, sum));
  v128.store(packed, add(b, sum), 16);
  v128.store(packed, add(c, sum), 32);
  v128.store(packed, add(d, sum), 48);
}
