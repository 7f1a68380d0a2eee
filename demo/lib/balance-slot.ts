import { type Hex, tokenBalanceSlot } from 'plumbline-l2';
import { hexOf } from './hex.js';

/** Slot in which the test token keeps the balance of an account. */
export function balanceSlot(owner: string): Hex {
  return hexOf(tokenBalanceSlot(Uint8Array.from(owner.slice(2).match(/../g)!, (pair) => Number.parseInt(pair, 16))));
}
