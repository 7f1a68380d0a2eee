/**
 * Longest match within a short input, by hash chains: positions with the same hash of four bytes, newest first, and
 * positions of the reserved bytes, whose matches count from length 1. Fast for ordinary transactions. Repeated words
 * make long chains, so steps are counted, and the caller switches to ordered.ts when they run out.
 */
import { matchLength } from './match-length';
import { input } from './memory';
import { isReserved } from './symbols';

/** Maximum input for chains. It is not above the window, so every position is within reach of a short reference. */
export const CHAIN_INPUT: i32 = 16384;
/** Steps allowed per input byte, plus a constant. Beyond that, sorting all suffixes is cheaper. */
const STEPS_PER_BYTE: i32 = 16;
const SPARE_STEPS: i32 = 2048;
const HEAD_BITS: i32 = 13;

const heads: usize = memory.data(4 << HEAD_BITS, 16);
const previous: usize = memory.data(4 * CHAIN_INPUT, 16);
const previousReserved: usize = memory.data(4 * CHAIN_INPUT, 16);

/**
 * Chains hold stamp + position. Values below the stamp are of an earlier input, so nothing is cleared between inputs.
 */
let stamp: i32 = 1;
let lastStamp: i32 = 1;
let headFE: i32 = 0;
let headFF: i32 = 0;
let length: i32 = 0;
let linked: i32 = 0;
let steps: i32 = 0;

export function startChains(n: i32): void {
  if (lastStamp > 0x40000000) {
    memory.fill(heads, 0, 4 << HEAD_BITS);
    lastStamp = 1;
  }
  stamp = lastStamp;
  lastStamp += n;
  headFE = 0;
  headFF = 0;
  length = n;
  linked = 0;
  steps = n * STEPS_PER_BYTE + SPARE_STEPS;
}

function hash(four: u32): usize {
  return (<usize>((four * 0x9e3779b1) >>> (32 - HEAD_BITS))) << 2;
}

function linkUpTo(end: i32): void {
  for (; linked < end; linked++) {
    const at = input + linked;
    const four = load<u32>(at);
    if (linked + 4 <= length) {
      const head = heads + hash(four);
      store<i32>(previous + ((<usize>linked) << 2), load<i32>(head));
      store<i32>(head, stamp + linked);
    }
    const byte = <i32>(four & 0xff);
    if (isReserved(byte)) {
      store<i32>(previousReserved + ((<usize>linked) << 2), byte === 0xff ? headFF : headFE);
      if (byte === 0xff) headFF = stamp + linked;
      else headFE = stamp + linked;
    }
  }
}

/**
 * Longest match of position i with an earlier position; 0 if it is below 4 and the byte is not reserved.
 *
 * @param limit - above 0
 * @returns -1 when the steps ran out
 */
export function longestInChain(i: i32, limit: i32): i32 {
  linkUpTo(i);
  const text = input + i;
  const four = load<u32>(text);
  const byte = <i32>(four & 0xff);
  if (isReserved(byte)) return longestReserved(i, limit, byte === 0xff ? headFF : headFE);
  if (limit < 4) return 0;
  let best = 3;
  for (let link = load<i32>(heads + hash(four)); link >= stamp; ) {
    if (--steps < 0) return -1;
    const at = link - stamp;
    // Compare only candidates that match the four bytes at the end of a longer match.
    if (load<u32>(input + at + best - 3) === load<u32>(text + best - 3)) {
      const shared = matchLength(text, input + at, limit);
      if (shared > best) {
        best = shared;
        if (best === limit) break;
      }
    }
    link = load<i32>(previous + ((<usize>at) << 2));
  }
  return best < 4 ? 0 : best;
}

function longestReserved(i: i32, limit: i32, head: i32): i32 {
  let best = 0;
  for (let link = head; link >= stamp; ) {
    if (--steps < 0) return -1;
    const at = link - stamp;
    if (load<u8>(input + at + best) === load<u8>(input + i + best)) {
      const shared = matchLength(input + i, input + at, limit);
      if (shared > best) {
        best = shared;
        if (best === limit) break;
      }
    }
    link = load<i32>(previousReserved + ((<usize>at) << 2));
  }
  return best;
}
