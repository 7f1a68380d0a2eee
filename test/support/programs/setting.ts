import { HARDFORKS, type Hardfork } from '../../../src/networks/network.js';
import type { Hex } from '../../../src/primitives/hex.js';
import type { Below } from '../random-opcodes.js';
import { addressOf } from '../random-programs.js';

/** Contracts of a scenario. The first is the one that transactions mostly go to. */
export const CONTRACTS: readonly Hex[] = [0xa1, 0xa2, 0xa3, 0xa4].map((byte) => addressOf(byte * 0x10001));
/** Does not exist. */
export const STRANGER: Hex = addressOf(0xe1e1e1);
/** Has ether and no code. */
export const HOLDER: Hex = addressOf(0xe2e2e2);
export const COINBASE: Hex = addressOf(0xc0c0c0);

/** What a generator knows. */
export interface Setting {
  readonly below: Below;
  readonly hardfork: Hardfork;
  /** Accounts that a program may name: contracts, strangers, accounts with delegations. */
  readonly accounts: readonly Hex[];
  /** Inputs by precompile. */
  readonly precompiles: readonly (readonly [precompile: number, data: Uint8Array])[];
}

/** Whether the fork of a setting is this one or a later one. */
export function since({ hardfork }: Pick<Setting, 'hardfork'>, fork: Hardfork): boolean {
  return HARDFORKS.indexOf(hardfork) >= HARDFORKS.indexOf(fork);
}

/** A piece of a program. */
export type Statement = (setting: Setting) => Uint8Array;
