// biome-ignore-all lint/correctness/noPrecisionLoss: literals are exact 64-bit integers here

/**
 * Entry of blake2f.wasm: the compression function F of BLAKE2b with any number of rounds, in pieces.
 *
 * Everything that a run has is in REGION, so the host can keep it while another run uses the kernel. The words of the input are
 * aligned to 8 bytes.
 *
 *   V       128   the work vector, 16 words; the 64 bytes of the output in the end
 *   ROUND     4   rounds that are done
 *             8   unused
 *   INPUT   213   rounds (4, big-endian), state (64), message (128), counter (16), whether it is the last block (1)
 *
 * @source RFC 7693 3; EIP-152
 */
export const REGION: usize = memory.data(353, 16);
export const REGION_BYTES: i32 = 353;
export const INPUT: usize = REGION + 140;

const V: usize = REGION;
const ROUND: usize = REGION + 128;
const STATE: usize = INPUT + 4;
const MESSAGE: usize = INPUT + 68;
const COUNTER: usize = INPUT + 196;
const LAST: usize = INPUT + 212;

/** @source RFC 7693 2.6 */
const INITIAL: usize = memory.data<u64>([
  0x6a09e667f3bcc908, 0xbb67ae8584caa73b, 0x3c6ef372fe94f82b, 0xa54ff53a5f1d36f1, 0x510e527fade682d1,
  0x9b05688c2b3e6c1f, 0x1f83d9abfb41bd6b, 0x5be0cd19137e2179,
]);

/** The message words of a round, 16 in a row. After ten rounds it repeats. @source RFC 7693 2.7 */
const SCHEDULE: usize = memory.data<u8>([
  0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 14, 10, 4, 8, 9, 15, 13, 6, 1, 12, 0, 2, 11, 7, 5, 3, 11, 8, 12,
  0, 5, 2, 15, 13, 10, 14, 3, 6, 7, 1, 9, 4, 7, 9, 3, 1, 13, 12, 11, 14, 2, 6, 5, 10, 4, 0, 15, 8, 9, 0, 5, 7, 2, 4, 10,
  15, 14, 1, 11, 12, 6, 8, 3, 13, 2, 12, 6, 10, 0, 11, 8, 3, 4, 13, 7, 5, 15, 14, 1, 9, 12, 5, 1, 15, 14, 13, 4, 10, 0,
  7, 6, 3, 9, 2, 8, 11, 13, 11, 7, 14, 12, 1, 3, 9, 5, 0, 15, 4, 8, 6, 2, 10, 6, 15, 14, 9, 11, 3, 0, 8, 12, 2, 13, 7,
  1, 4, 10, 5, 10, 2, 8, 4, 7, 6, 1, 5, 15, 11, 9, 14, 3, 12, 13, 0,
]);

/** Begins a run of the input. */
export function start(): void {
  memory.copy(V, STATE, 64);
  memory.copy(V + 64, INITIAL, 64);
  store<u64>(V, load<u64>(V, 96) ^ load<u64>(COUNTER), 96);
  store<u64>(V, load<u64>(V, 104) ^ load<u64>(COUNTER, 8), 104);
  if (load<u8>(LAST)) store<u64>(V, ~load<u64>(V, 112), 112);
  store<u32>(ROUND, 0);
}

/** Does up to `most` rounds. Returns whether that was all; then the output is there. */
export function mix(most: u32): bool {
  const rounds = bswap(load<u32>(INPUT));
  let round = load<u32>(ROUND);
  const end = rounds - round > most ? round + most : rounds;
  for (; round < end; round++) mixRound(SCHEDULE + ((<usize>(round % 10)) << 4));
  store<u32>(ROUND, end);
  if (end < rounds) return false;
  for (let at: usize = 0; at < 64; at += 8) {
    store<u64>(V + at, load<u64>(STATE + at) ^ load<u64>(V + at) ^ load<u64>(V + at, 64));
  }
  return true;
}

function mixRound(words: usize): void {
  mixWords(V, V + 32, V + 64, V + 96, words);
  mixWords(V + 8, V + 40, V + 72, V + 104, words + 2);
  mixWords(V + 16, V + 48, V + 80, V + 112, words + 4);
  mixWords(V + 24, V + 56, V + 88, V + 120, words + 6);
  mixWords(V, V + 40, V + 80, V + 120, words + 8);
  mixWords(V + 8, V + 48, V + 88, V + 96, words + 10);
  mixWords(V + 16, V + 56, V + 64, V + 104, words + 12);
  mixWords(V + 24, V + 32, V + 72, V + 112, words + 14);
}

/** The mixing function G with two message words. @source RFC 7693 3.1 */
function mixWords(atA: usize, atB: usize, atC: usize, atD: usize, words: usize): void {
  let b = load<u64>(atB);
  let a = load<u64>(atA) + b + load<u64>(MESSAGE + ((<usize>load<u8>(words)) << 3));
  let d = rotr(load<u64>(atD) ^ a, 32);
  let c = load<u64>(atC) + d;
  b = rotr(b ^ c, 24);
  a += b + load<u64>(MESSAGE + ((<usize>load<u8>(words, 1)) << 3));
  d = rotr(d ^ a, 16);
  c += d;
  store<u64>(atA, a);
  store<u64>(atB, rotr(b ^ c, 63));
  store<u64>(atC, c);
  store<u64>(atD, d);
}
