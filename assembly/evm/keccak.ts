// biome-ignore-all lint/correctness/noPrecisionLoss: literals are exact 64-bit integers here
// biome-ignore-all lint/style/useSingleVarDeclarator: the lanes are one state

/**
 * Keccak-256 as Ethereum uses it: rate 136, padding 0x01, capacity 512 bits.
 *
 * The 25 lanes stay in locals from the first block of a piece to the last. Lanes 1, 2, 8, 12, 17 and 20 are kept inverted, which
 * leaves six inversions a round of 25 (the Keccak team's implementation overview, "lane complementing").
 */
const RATE: usize = 136;

/** The last block with its padding. */
const LAST: usize = memory.data(136, 16);

const ROUND_CONSTANTS: usize = memory.data<u64>([
  0x1, 0x8082, 0x800000000000808a, 0x8000000080008000, 0x808b, 0x80000001, 0x8000000080008081, 0x8000000000008009, 0x8a,
  0x88, 0x80008009, 0x8000000a, 0x8000808b, 0x800000000000008b, 0x8000000000008089, 0x8000000000008003,
  0x8000000000008002, 0x8000000000000080, 0x800a, 0x800000008000000a, 0x8000000080008081, 0x8000000000008080,
  0x80000001, 0x8000000080008008,
]);

/** The lanes of a hash that was interrupted. */
const LANES: usize = memory.data(200, 16);

/** Hashes `length` bytes to the 32 bytes at `out`, which may overlap the input. */
export function keccak256(input: usize, length: usize, out: usize): void {
  hashPiece(input, length, out, 0, length + RATE);
}

/**
 * Hashes a piece of `length` bytes. The digest is written with the last piece.
 *
 * @param from - bytes that the pieces before have hashed. Between two pieces there must be no other hash in pieces
 * @param most - bytes of a piece, at least the rate; the next lower multiple of it is hashed
 * @returns bytes hashed so far; 0 if this was the last piece
 */
export function hashPiece(input: usize, length: usize, out: usize, from: usize, most: usize): usize {
  let a0: u64 = 0;
  let a1: u64 = -1;
  let a2: u64 = -1;
  let a3: u64 = 0;
  let a4: u64 = 0;
  let a5: u64 = 0;
  let a6: u64 = 0;
  let a7: u64 = 0;
  let a8: u64 = -1;
  let a9: u64 = 0;
  let a10: u64 = 0;
  let a11: u64 = 0;
  let a12: u64 = -1;
  let a13: u64 = 0;
  let a14: u64 = 0;
  let a15: u64 = 0;
  let a16: u64 = 0;
  let a17: u64 = -1;
  let a18: u64 = 0;
  let a19: u64 = 0;
  let a20: u64 = -1;
  let a21: u64 = 0;
  let a22: u64 = 0;
  let a23: u64 = 0;
  let a24: u64 = 0;
  let e0: u64, e1: u64, e2: u64, e3: u64, e4: u64;
  let e5: u64, e6: u64, e7: u64, e8: u64, e9: u64;
  let e10: u64, e11: u64, e12: u64, e13: u64, e14: u64;
  let e15: u64, e16: u64, e17: u64, e18: u64, e19: u64;
  let e20: u64, e21: u64, e22: u64, e23: u64, e24: u64;
  if (from !== 0) {
    a0 = load<u64>(LANES);
    a1 = load<u64>(LANES, 8);
    a2 = load<u64>(LANES, 16);
    a3 = load<u64>(LANES, 24);
    a4 = load<u64>(LANES, 32);
    a5 = load<u64>(LANES, 40);
    a6 = load<u64>(LANES, 48);
    a7 = load<u64>(LANES, 56);
    a8 = load<u64>(LANES, 64);
    a9 = load<u64>(LANES, 72);
    a10 = load<u64>(LANES, 80);
    a11 = load<u64>(LANES, 88);
    a12 = load<u64>(LANES, 96);
    a13 = load<u64>(LANES, 104);
    a14 = load<u64>(LANES, 112);
    a15 = load<u64>(LANES, 120);
    a16 = load<u64>(LANES, 128);
    a17 = load<u64>(LANES, 136);
    a18 = load<u64>(LANES, 144);
    a19 = load<u64>(LANES, 152);
    a20 = load<u64>(LANES, 160);
    a21 = load<u64>(LANES, 168);
    a22 = load<u64>(LANES, 176);
    a23 = load<u64>(LANES, 184);
    a24 = load<u64>(LANES, 192);
  }
  input += from;
  let room = most;
  for (let left = length - from; ; left -= RATE, input += RATE) {
    if (room < RATE) {
      store<u64>(LANES, a0);
      store<u64>(LANES, a1, 8);
      store<u64>(LANES, a2, 16);
      store<u64>(LANES, a3, 24);
      store<u64>(LANES, a4, 32);
      store<u64>(LANES, a5, 40);
      store<u64>(LANES, a6, 48);
      store<u64>(LANES, a7, 56);
      store<u64>(LANES, a8, 64);
      store<u64>(LANES, a9, 72);
      store<u64>(LANES, a10, 80);
      store<u64>(LANES, a11, 88);
      store<u64>(LANES, a12, 96);
      store<u64>(LANES, a13, 104);
      store<u64>(LANES, a14, 112);
      store<u64>(LANES, a15, 120);
      store<u64>(LANES, a16, 128);
      store<u64>(LANES, a17, 136);
      store<u64>(LANES, a18, 144);
      store<u64>(LANES, a19, 152);
      store<u64>(LANES, a20, 160);
      store<u64>(LANES, a21, 168);
      store<u64>(LANES, a22, 176);
      store<u64>(LANES, a23, 184);
      store<u64>(LANES, a24, 192);
      return length - left;
    }
    room -= RATE;
    let block = input;
    if (left < RATE) {
      pad(input, left);
      block = LAST;
    }
    a0 ^= load<u64>(block);
    a1 ^= load<u64>(block, 8);
    a2 ^= load<u64>(block, 16);
    a3 ^= load<u64>(block, 24);
    a4 ^= load<u64>(block, 32);
    a5 ^= load<u64>(block, 40);
    a6 ^= load<u64>(block, 48);
    a7 ^= load<u64>(block, 56);
    a8 ^= load<u64>(block, 64);
    a9 ^= load<u64>(block, 72);
    a10 ^= load<u64>(block, 80);
    a11 ^= load<u64>(block, 88);
    a12 ^= load<u64>(block, 96);
    a13 ^= load<u64>(block, 104);
    a14 ^= load<u64>(block, 112);
    a15 ^= load<u64>(block, 120);
    a16 ^= load<u64>(block, 128);
    for (let key = ROUND_CONSTANTS; key < ROUND_CONSTANTS + 192; key += 8) {
      const c0 = a0 ^ a5 ^ a10 ^ a15 ^ a20;
      const c1 = a1 ^ a6 ^ a11 ^ a16 ^ a21;
      const c2 = a2 ^ a7 ^ a12 ^ a17 ^ a22;
      const c3 = a3 ^ a8 ^ a13 ^ a18 ^ a23;
      const c4 = a4 ^ a9 ^ a14 ^ a19 ^ a24;
      const d0 = c4 ^ rotl(c1, 1);
      const d1 = c0 ^ rotl(c2, 1);
      const d2 = c1 ^ rotl(c3, 1);
      const d3 = c2 ^ rotl(c4, 1);
      const d4 = c3 ^ rotl(c0, 1);
      let b0 = a0 ^ d0;
      let b1 = rotl(a6 ^ d1, 44);
      let b2 = rotl(a12 ^ d2, 43);
      let b3 = rotl(a18 ^ d3, 21);
      let b4 = rotl(a24 ^ d4, 14);
      e0 = b0 ^ (b1 | b2) ^ load<u64>(key);
      e1 = b1 ^ (~b2 | b3);
      e2 = b2 ^ (b3 & b4);
      e3 = b3 ^ (b4 | b0);
      e4 = b4 ^ (b0 & b1);
      b0 = rotl(a3 ^ d3, 28);
      b1 = rotl(a9 ^ d4, 20);
      b2 = rotl(a10 ^ d0, 3);
      b3 = rotl(a16 ^ d1, 45);
      b4 = rotl(a22 ^ d2, 61);
      e5 = b0 ^ (b1 | b2);
      e6 = b1 ^ (b2 & b3);
      e7 = b2 ^ (b3 | ~b4);
      e8 = b3 ^ (b4 | b0);
      e9 = b4 ^ (b0 & b1);
      b0 = rotl(a1 ^ d1, 1);
      b1 = rotl(a7 ^ d2, 6);
      b2 = rotl(a13 ^ d3, 25);
      b3 = rotl(a19 ^ d4, 8);
      b4 = rotl(a20 ^ d0, 18);
      e10 = b0 ^ (b1 | b2);
      e11 = b1 ^ (b2 & b3);
      e12 = b2 ^ (~b3 & b4);
      e13 = ~b3 ^ (b4 | b0);
      e14 = b4 ^ (b0 & b1);
      b0 = rotl(a4 ^ d4, 27);
      b1 = rotl(a5 ^ d0, 36);
      b2 = rotl(a11 ^ d1, 10);
      b3 = rotl(a17 ^ d2, 15);
      b4 = rotl(a23 ^ d3, 56);
      e15 = b0 ^ (b1 & b2);
      e16 = b1 ^ (b2 | b3);
      e17 = b2 ^ (~b3 | b4);
      e18 = ~b3 ^ (b4 & b0);
      e19 = b4 ^ (b0 | b1);
      b0 = rotl(a2 ^ d2, 62);
      b1 = rotl(a8 ^ d3, 55);
      b2 = rotl(a14 ^ d4, 39);
      b3 = rotl(a15 ^ d0, 41);
      b4 = rotl(a21 ^ d1, 2);
      e20 = b0 ^ (~b1 & b2);
      e21 = ~b1 ^ (b2 | b3);
      e22 = b2 ^ (b3 & b4);
      e23 = b3 ^ (b4 | b0);
      e24 = b4 ^ (b0 & b1);
      a0 = e0;
      a1 = e1;
      a2 = e2;
      a3 = e3;
      a4 = e4;
      a5 = e5;
      a6 = e6;
      a7 = e7;
      a8 = e8;
      a9 = e9;
      a10 = e10;
      a11 = e11;
      a12 = e12;
      a13 = e13;
      a14 = e14;
      a15 = e15;
      a16 = e16;
      a17 = e17;
      a18 = e18;
      a19 = e19;
      a20 = e20;
      a21 = e21;
      a22 = e22;
      a23 = e23;
      a24 = e24;
    }
    if (left < RATE) break;
  }
  store<u64>(out, a0);
  store<u64>(out, ~a1, 8);
  store<u64>(out, ~a2, 16);
  store<u64>(out, a3, 24);
  return 0;
}

/** Copies the end of the input to the last block. */
function pad(input: usize, length: usize): void {
  for (let at: usize = 0; at < RATE; at += 8) store<u64>(LAST + at, 0);
  const whole = length & ~7;
  let at: usize = 0;
  for (; at < whole; at += 8) store<u64>(LAST + at, load<u64>(input + at));
  for (; at < length; at++) store<u8>(LAST + at, load<u8>(input + at));
  store<u8>(LAST + at, 1);
  store<u8>(LAST, load<u8>(LAST, 135) | 0x80, 135);
}
