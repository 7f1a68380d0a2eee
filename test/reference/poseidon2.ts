import { deriveConstants, KOALABEAR_MODULUS } from './field.js';

const p = KOALABEAR_MODULUS;
const WIDTH = 16;
const FULL_ROUNDS = 6;
const PARTIAL_ROUNDS = 21;

/** Round keys in the order of the rounds: 16 for each full round, one for each partial round (docs/spec/hashing.md 2.2). */
export const POSEIDON2_ROUND_KEYS: readonly (readonly bigint[])[] = roundKeys();

/** Diagonal D of the internal matrix (docs/spec/hashing.md 2.3), reduced. */
export const POSEIDON2_DIAGONAL: readonly bigint[] = diagonal();

function isFull(round: number): boolean {
  return round < FULL_ROUNDS / 2 || round >= FULL_ROUNDS / 2 + PARTIAL_ROUNDS;
}

function roundKeys(): bigint[][] {
  const seed = `Poseidon2-koalabear[t=${WIDTH},rF=${FULL_ROUNDS},rP=${PARTIAL_ROUNDS},d=3]`;
  const drawn = deriveConstants(seed, WIDTH * FULL_ROUNDS + PARTIAL_ROUNDS, p);
  const rounds = Array.from({ length: FULL_ROUNDS + PARTIAL_ROUNDS }, (_, round) => round);
  return rounds.map((round) => drawn.splice(0, isFull(round) ? WIDTH : 1));
}

function diagonal(): bigint[] {
  const half = (p + 1n) / 2n;
  const inversePower = (exponent: number) =>
    Array.from({ length: exponent }, () => half).reduce((a, b) => (a * b) % p, 1n);
  const [i1, i3, i4, i8, i24] = [1, 3, 4, 8, 24].map(inversePower) as [bigint, bigint, bigint, bigint, bigint];
  return [-2n, 1n, 2n, i1, 3n, 4n, -i1, -3n, -4n, i8, i3, i24, -i8, -i3, -i4, -i24].map((d) => (d + p) % p);
}

/** Multiplies each group of four words by M4, then adds to every word the sum of its position over the groups. */
function external(state: bigint[]): void {
  const sums = [0n, 0n, 0n, 0n];
  for (let group = 0; group < WIDTH; group += 4) {
    const [a, b, c, d] = state.slice(group, group + 4) as [bigint, bigint, bigint, bigint];
    const all = a + b + c + d;
    const words = [all + a + b + b, all + b + c + c, all + c + d + d, all + d + a + a];
    for (let i = 0; i < 4; i++) {
      state[group + i] = words[i]!;
      sums[i]! += words[i]!;
    }
  }
  for (let i = 0; i < WIDTH; i++) state[i] = (state[i]! + sums[i % 4]!) % p;
}

function internal(state: bigint[]): void {
  let sum = 0n;
  for (const word of state) sum += word;
  for (let i = 0; i < WIDTH; i++) state[i] = (POSEIDON2_DIAGONAL[i]! * state[i]! + sum) % p;
}

/** The permutation of 16 words below the modulus, into a new array (docs/spec/hashing.md 2.4). */
export function poseidon2Permute(input: readonly bigint[]): bigint[] {
  const state = [...input];
  external(state);
  for (const keys of POSEIDON2_ROUND_KEYS) {
    for (let i = 0; i < keys.length; i++) {
      const t = state[i]! + keys[i]!;
      state[i] = (t * t * t) % p;
    }
    if (keys.length === WIDTH) external(state);
    else internal(state);
  }
  return state;
}

/** `left` absorbs `right`, eight words each (docs/spec/hashing.md 2.5). */
export function poseidon2Compress(left: readonly bigint[], right: readonly bigint[]): bigint[] {
  const permuted = poseidon2Permute([...left, ...right]);
  return right.map((word, i) => (word + permuted[8 + i]!) % p);
}
