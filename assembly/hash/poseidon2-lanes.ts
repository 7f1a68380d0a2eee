import { add, cube, divideByPower, double, fromBytes, subtract, toBytes } from '../field/koalabear-lanes';
import { FIRST_KEYS, LAST_KEYS, PARTIAL_KEYS } from './constants/poseidon2';

/** Four Poseidon2 hashes at once, one in each SIMD lane (docs/spec/hashing.md 2). Used by the SIMD build only. */

/** The 16 state words, one vector each. */
const words: usize = memory.data(256, 16);
const HALF: usize = 128;
/** For each position in a group of four words, the sum over the groups. */
const sums: usize = memory.data(64, 16);
/** The message block, one vector per word. */
const block: usize = memory.data(128, 16);

/** Four digests, 32 bytes each, of canonical inputs of one length, a multiple of 4. Pointers may be equal. */
export function hashFour(
  input0: usize,
  input1: usize,
  input2: usize,
  input3: usize,
  length: usize,
  output0: usize,
  output1: usize,
  output2: usize,
  output3: usize,
): void {
  memory.fill(words, 0, HALF);
  let at: usize = 0;
  for (; at + 32 <= length; at += 32) {
    readFour(input0 + at, input1 + at, input2 + at, input3 + at, block);
    readFour(input0 + at + 16, input1 + at + 16, input2 + at + 16, input3 + at + 16, block + 64);
    compress();
  }
  if (at < length) {
    const missing = (32 - (length - at)) << 2;
    memory.fill(block, 0, missing);
    for (let slot = block + missing; slot < block + HALF; slot += 16, at += 4) {
      let word = v128.load32_splat(input0 + at);
      word = v128.load_lane<i32>(input1 + at, word, 1);
      word = v128.load_lane<i32>(input2 + at, word, 2);
      word = v128.load_lane<i32>(input3 + at, word, 3);
      v128.store(slot, fromBytes(word));
    }
    compress();
  }
  writeFour(words, output0, output1, output2, output3);
  writeFour(words + 64, output0 + 16, output1 + 16, output2 + 16, output3 + 16);
}

/** Reads four words of each input into four slots. */
function readFour(input0: usize, input1: usize, input2: usize, input3: usize, slots: usize): void {
  const a = v128.load(input0);
  const b = v128.load(input1);
  const c = v128.load(input2);
  const d = v128.load(input3);
  const ab = v128.shuffle<i32>(a, b, 0, 4, 1, 5);
  const cd = v128.shuffle<i32>(c, d, 0, 4, 1, 5);
  const abHigh = v128.shuffle<i32>(a, b, 2, 6, 3, 7);
  const cdHigh = v128.shuffle<i32>(c, d, 2, 6, 3, 7);
  v128.store(slots, fromBytes(v128.shuffle<i64>(ab, cd, 0, 2)));
  v128.store(slots, fromBytes(v128.shuffle<i64>(ab, cd, 1, 3)), 16);
  v128.store(slots, fromBytes(v128.shuffle<i64>(abHigh, cdHigh, 0, 2)), 32);
  v128.store(slots, fromBytes(v128.shuffle<i64>(abHigh, cdHigh, 1, 3)), 48);
}

/** Writes four slots as four words of each output. */
function writeFour(slots: usize, output0: usize, output1: usize, output2: usize, output3: usize): void {
  const a = toBytes(v128.load(slots));
  const b = toBytes(v128.load(slots, 16));
  const c = toBytes(v128.load(slots, 32));
  const d = toBytes(v128.load(slots, 48));
  const ab = v128.shuffle<i32>(a, b, 0, 4, 1, 5);
  const cd = v128.shuffle<i32>(c, d, 0, 4, 1, 5);
  const abHigh = v128.shuffle<i32>(a, b, 2, 6, 3, 7);
  const cdHigh = v128.shuffle<i32>(c, d, 2, 6, 3, 7);
  v128.store(output0, v128.shuffle<i64>(ab, cd, 0, 2));
  v128.store(output1, v128.shuffle<i64>(ab, cd, 1, 3));
  v128.store(output2, v128.shuffle<i64>(abHigh, cdHigh, 0, 2));
  v128.store(output3, v128.shuffle<i64>(abHigh, cdHigh, 1, 3));
}

function compress(): void {
  memory.copy(words + HALF, block, HALF);
  external();
  fullRounds(FIRST_KEYS);
  partialRounds();
  fullRounds(LAST_KEYS);
  for (let at: usize = 0; at < HALF; at += 16) {
    v128.store(words + at, add(v128.load(words + HALF + at), v128.load(block + at)));
  }
}

/**
 * The sum of four cubes is stored first: engines then calculate the four in turns. One cube after the other would wait for its own
 * products.
 */
function fullRounds(keys: usize): void {
  for (const end = keys + 192; keys < end; keys += 64) {
    for (let at: usize = 0; at < 64; at += 16) {
      const key = keys + (at >> 2);
      const word = words + at;
      const a = cube(addKey(v128.load(word), key));
      const b = cube(addKey(v128.load(word, 64), key + 16));
      const c = cube(addKey(v128.load(word, 128), key + 32));
      const d = cube(addKey(v128.load(word, 192), key + 48));
      v128.store(sums + at, add(add(a, b), add(c, d)));
      v128.store(word, a);
      v128.store(word, b, 64);
      v128.store(word, c, 128);
      v128.store(word, d, 192);
    }
    mix();
  }
}

/** The external layer before the first round. */
function external(): void {
  for (let at: usize = 0; at < 64; at += 16) {
    const word = words + at;
    const ab = add(v128.load(word), v128.load(word, 64));
    v128.store(sums + at, add(ab, add(v128.load(word, 128), v128.load(word, 192))));
  }
  mix();
}

/** Adds to each word the sum of the words at its position in all groups of four, then M4 on each group: M4 is linear. */
function mix(): void {
  const s0 = v128.load(sums);
  const s1 = v128.load(sums, 16);
  const s2 = v128.load(sums, 32);
  const s3 = v128.load(sums, 48);
  for (let group = words; group < words + 256; group += 64) {
    const a = add(s0, v128.load(group));
    const b = add(s1, v128.load(group, 16));
    const c = add(s2, v128.load(group, 32));
    const d = add(s3, v128.load(group, 48));
    const ab = add(a, b);
    const cd = add(c, d);
    const all = add(ab, cd);
    const abb = add(all, b);
    const cdd = add(all, d);
    v128.store(group, add(abb, ab));
    v128.store(group, add(abb, double(c)), 16);
    v128.store(group, add(cdd, cd), 32);
    v128.store(group, add(cdd, double(a)), 48);
  }
}

/** The word plus the key at a pointer. Keys are negative, so the sum is a signed number within the range of `cube`. */
function addKey(word: v128, key: usize): v128 {
  return i32x4.add(word, v128.load32_splat(key));
}

/** The cube of word 0, then `word_i * D_i + sum`, with D as in docs/spec/hashing.md 2.3. */
function partialRounds(): void {
  let w0 = v128.load(words);
  let w1 = v128.load(words, 16);
  let w2 = v128.load(words, 32);
  let w3 = v128.load(words, 48);
  let w4 = v128.load(words, 64);
  let w5 = v128.load(words, 80);
  let w6 = v128.load(words, 96);
  let w7 = v128.load(words, 112);
  let w8 = v128.load(words, 128);
  let w9 = v128.load(words, 144);
  let w10 = v128.load(words, 160);
  let w11 = v128.load(words, 176);
  let w12 = v128.load(words, 192);
  let w13 = v128.load(words, 208);
  let w14 = v128.load(words, 224);
  let w15 = v128.load(words, 240);
  for (let key = PARTIAL_KEYS; key < PARTIAL_KEYS + 84; key += 4) {
    const cubed = cube(addKey(w0, key));
    const rest1 = add(add(add(w1, w2), add(w3, w4)), add(add(w5, w6), add(w7, w8)));
    const rest = add(rest1, add(add(add(w9, w10), add(w11, w12)), add(add(w13, w14), w15)));
    const sum = add(rest, cubed);
    w0 = subtract(rest, cubed);
    w1 = add(sum, w1);
    w2 = add(sum, double(w2));
    w3 = add(sum, divideByPower(w3, 1));
    w4 = add(sum, add(w4, double(w4)));
    w5 = add(sum, double(double(w5)));
    w6 = subtract(sum, divideByPower(w6, 1));
    w7 = subtract(sum, add(w7, double(w7)));
    w8 = subtract(sum, double(double(w8)));
    w9 = add(sum, divideByPower(w9, 8));
    w10 = add(sum, divideByPower(w10, 3));
    w11 = add(sum, divideByPower(w11, 24));
    w12 = subtract(sum, divideByPower(w12, 8));
    w13 = subtract(sum, divideByPower(w13, 3));
    w14 = subtract(sum, divideByPower(w14, 4));
    w15 = subtract(sum, divideByPower(w15, 24));
  }
  v128.store(words, w0);
  v128.store(words, w1, 16);
  v128.store(words, w2, 32);
  v128.store(words, w3, 48);
  v128.store(words, w4, 64);
  v128.store(words, w5, 80);
  v128.store(words, w6, 96);
  v128.store(words, w7, 112);
  v128.store(words, w8, 128);
  v128.store(words, w9, 144);
  v128.store(words, w10, 160);
  v128.store(words, w11, 176);
  v128.store(words, w12, 192);
  v128.store(words, w13, 208);
  v128.store(words, w14, 224);
  v128.store(words, w15, 240);
}
