import type { GenesisAlloc } from '../src/chain/devnet/state/genesis.js';
import { bigIntToBytes } from '../src/primitives/bytes.js';
import { bytesToHex, type Hex } from '../src/primitives/hex.js';

/** Keys of the slots of each account. */
export const slotKeys = (count: number): Hex[] =>
  Array.from({ length: count }, (_, i) => bytesToHex(bigIntToBytes(BigInt(i), 32)));

/** Address of an account of the benchmark's chain. */
export const addressOf = (index: number): Hex => bytesToHex(bigIntToBytes(BigInt(index) * 7919n + 2n ** 150n, 20));

/** Accounts with the same number of slots each. */
export function settledAlloc(accounts: number, slots: number): GenesisAlloc {
  const storage = Object.fromEntries(
    slotKeys(slots).map((key, i) => [key, bytesToHex(bigIntToBytes(BigInt(i + 1), 32))]),
  );
  return Object.fromEntries(
    Array.from({ length: accounts }, (_, i) => [addressOf(i), { code: '0x00' as Hex, balance: BigInt(i), storage }]),
  );
}
