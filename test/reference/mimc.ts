import { BLS12_377_MODULUS, deriveConstants } from './field.js';

const ROUNDS = 62;

/** The 62 round constants, as ordinary integers (docs/spec/hashing.md 1.1). */
export const MIMC_ROUND_CONSTANTS: readonly bigint[] = deriveConstants('seed', ROUNDS, BLS12_377_MODULUS);

/** The state `h` absorbs the block `m`; both below the modulus, and so is the result (docs/spec/hashing.md 1.2). */
export function mimcCompress(h: bigint, m: bigint): bigint {
  const r = BLS12_377_MODULUS;
  let x = m;
  for (const constant of MIMC_ROUND_CONSTANTS) {
    const t = x + h + constant;
    const t2 = (t * t) % r;
    const t4 = (t2 * t2) % r;
    const t8 = (t4 * t4) % r;
    const t16 = (t8 * t8) % r;
    x = (t16 * t) % r;
  }
  return (x + h + h + m) % r;
}
