import { bytesToBigInt } from '../../../src/primitives/bytes.js';
import { randomBytes } from '../random-programs.js';
import { code, OP, pick, push, pushAddress } from './code.js';
import type { Setting } from './setting.js';

export const WORD = 1n << 256n;
const BORDERS = [0n, 1n, 2n, 31n, 32n, 33n, 255n, 256n, 1n << 64n, (1n << 64n) - 1n, 1n << 128n, 1n << 255n, WORD - 1n];

export function word({ below }: Setting): bigint {
  const roll = below(6);
  if (roll < 2) return BigInt(below(40));
  if (roll < 4) return pick(below, BORDERS);
  return bytesToBigInt(randomBytes(below, 1 + below(32)));
}

/** A place in memory: mostly near, now and then one that cannot be paid. */
export function place({ below }: Setting): bigint {
  const roll = below(80);
  if (roll === 0)
    return pick(below, [0x10000n, 1n << 24n, 1n << 32n, (1n << 32n) - 1n, 1n << 63n, 1n << 64n, WORD - 1n]);
  return roll < 40 ? BigInt(32 * below(8)) : BigInt(pick(below, [0, 1, 31, 32, 33, 63, 64, 65, 255, 1023, 1024, 4096]));
}

export function length(setting: Setting): bigint {
  const { below } = setting;
  const roll = below(40);
  if (roll === 0) return place(setting);
  return roll < 8 ? 0n : BigInt(pick(below, [1, 31, 32, 33, 64, 100, 135, 136, 137, 300]));
}

/** Takes the top of the stack: to a slot, to memory, or away. */
export function sink({ below }: Setting): Uint8Array {
  const roll = below(6);
  if (roll < 2) return code(push(below(5)), OP.SSTORE);
  return roll < 5 ? code(push(32 * below(9)), OP.MSTORE) : code(OP.POP);
}

export function someone({ below, accounts }: Setting): Uint8Array {
  const roll = below(10);
  if (roll === 0) return push(below(22));
  if (roll === 1) return code(OP.ADDRESS);
  if (roll === 2) return code(push(below(9) * 32), OP.MLOAD);
  return pushAddress(pick(below, accounts));
}
