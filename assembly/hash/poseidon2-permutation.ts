import { divideByPower, fold, multiply } from '../field/koalabear';
import { FIRST_KEYS, LAST_KEYS, PARTIAL_KEYS } from './constants/poseidon2';
import { fullRoundsVector } from './poseidon2-vector';

/**
 * The Poseidon2 permutation of one state (docs/spec/hashing.md 2.4), with 16 words in 64-bit slots, so that the linear
 * layers need no reduction. With SIMD the full rounds use vectors. The partial rounds are one chain of cubes, which is
 * faster in plain words.
 */

/**
 * Address of the 16 words, 8 bytes each, in Montgomery form: at most 2^31 in absolute value before a permutation, 2^36
 * after.
 */
export const words: usize = memory.data(128, 16);
const END: usize = 128;

export function permute(): void {
  if (ASC_FEATURE_SIMD) {
    fullRoundsVector(words, FIRST_KEYS, true);
    partialRounds();
    fullRoundsVector(words, LAST_KEYS, false);
  } else {
    external();
    fullRounds(FIRST_KEYS);
    partialRounds();
    fullRounds(LAST_KEYS);
  }
}

function fullRounds(keys: usize): void {
  for (const end = keys + 192; keys < end; keys += 64) {
    for (let i: usize = 0; i < 16; i++) {
      const word = fold(load<i64>(words + (i << 3)) + load<i32>(keys + (i << 2)));
      store<i64>(words + (i << 3), multiply(multiply(word, word), word));
    }
    external();
  }
}

/**
 * M4 on each group of four words, then each word plus the sum of the words at its position in all groups: at most 35
 * times a word.
 */
function external(): void {
  let s0: i64 = 0;
  let s1: i64 = 0;
  let s2: i64 = 0;
  let s3: i64 = 0;
  for (let group = words; group < words + END; group += 32) {
    const a = load<i64>(group);
    const b = load<i64>(group, 8);
    const c = load<i64>(group, 16);
    const d = load<i64>(group, 24);
    const all = a + b + c + d;
    const ra = all + a + (b << 1);
    const rb = all + b + (c << 1);
    const rc = all + c + (d << 1);
    const rd = all + d + (a << 1);
    store<i64>(group, ra);
    store<i64>(group, rb, 8);
    store<i64>(group, rc, 16);
    store<i64>(group, rd, 24);
    s0 += ra;
    s1 += rb;
    s2 += rc;
    s3 += rd;
  }
  for (let group = words; group < words + END; group += 32) {
    store<i64>(group, load<i64>(group) + s0);
    store<i64>(group, load<i64>(group, 8) + s1, 8);
    store<i64>(group, load<i64>(group, 16) + s2, 16);
    store<i64>(group, load<i64>(group, 24) + s3, 24);
  }
}

/** The cube of word 0, then `word_i * D_i + sum`, with D as in docs/spec/hashing.md 2.3. */
function partialRounds(): void {
  let w0 = load<i64>(words);
  let w1 = fold(load<i64>(words, 8));
  let w2 = fold(load<i64>(words, 16));
  let w3 = fold(load<i64>(words, 24));
  let w4 = fold(load<i64>(words, 32));
  let w5 = fold(load<i64>(words, 40));
  let w6 = fold(load<i64>(words, 48));
  let w7 = fold(load<i64>(words, 56));
  let w8 = fold(load<i64>(words, 64));
  let w9 = fold(load<i64>(words, 72));
  let w10 = fold(load<i64>(words, 80));
  let w11 = fold(load<i64>(words, 88));
  let w12 = fold(load<i64>(words, 96));
  let w13 = fold(load<i64>(words, 104));
  let w14 = fold(load<i64>(words, 112));
  let w15 = fold(load<i64>(words, 120));
  for (let key = PARTIAL_KEYS; key < PARTIAL_KEYS + 84; key += 4) {
    // Word 0 is the critical chain. It does not wait for the sum, but uses -w0 + rest, which is sum - 2 w0.
    const next = fold(w0 + load<i32>(key));
    const cube = multiply(multiply(next, next), next);
    const rest = w1 + w2 + (w3 + w4) + (w5 + w6 + (w7 + w8)) + (w9 + w10 + (w11 + w12) + (w13 + w14 + w15));
    const sum = fold(rest + cube);
    w0 = rest - cube;
    w1 = sum + w1; // not folded: 21 sums stay below 2^36
    w2 = fold(sum + (w2 << 1));
    w3 = sum + divideByPower(w3, 1);
    w4 = fold(sum + 3 * w4);
    w5 = fold(sum + (w5 << 2));
    w6 = sum - divideByPower(w6, 1);
    w7 = fold(sum - 3 * w7);
    w8 = fold(sum - (w8 << 2));
    w9 = sum + divideByPower(w9, 8);
    w10 = sum + divideByPower(w10, 3);
    w11 = sum + divideByPower(w11, 24);
    w12 = sum - divideByPower(w12, 8);
    w13 = sum - divideByPower(w13, 3);
    w14 = sum - divideByPower(w14, 4);
    w15 = sum - divideByPower(w15, 24);
  }
  store<i64>(words, w0);
  store<i64>(words, w1, 8);
  store<i64>(words, w2, 16);
  store<i64>(words, w3, 24);
  store<i64>(words, w4, 32);
  store<i64>(words, w5, 40);
  store<i64>(words, w6, 48);
  store<i64>(words, w7, 56);
  store<i64>(words, w8, 64);
  store<i64>(words, w9, 72);
  store<i64>(words, w10, 80);
  store<i64>(words, w11, 88);
  store<i64>(words, w12, 96);
  store<i64>(words, w13, 104);
  store<i64>(words, w14, 112);
  store<i64>(words, w15, 120);
}
