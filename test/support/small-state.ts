import { bigIntToBytes } from '../../src/primitives/bytes.js';
import type { AccountAfter, AccountBefore, SlotChange, ZkAccountChange } from '../../src/state/world-state.js';
import { openState } from './world-state.js';

export const address = (n: number) => bigIntToBytes(BigInt(n), 20);
export const word = (n: number) => bigIntToBytes(BigInt(n), 32);
/** A slot that goes from one value to another. */
export const set = (key: number, before: number, after: number): SlotChange => ({
  key: word(key),
  before: word(before),
  after: word(after),
});

export const state = (nonce: bigint, balance: bigint) => ({ nonce, balance });

/** What a block did to account `n`. */
export function change(
  n: number,
  before: AccountBefore | undefined,
  after: AccountAfter | undefined,
  slots: readonly SlotChange[] = [],
  destroyed = false,
): ZkAccountChange {
  return { address: address(n), ...(before && { before }), ...(after && { after }), slots, destroyed };
}

export const CODE = Uint8Array.of(0x60, 0x00, 0x60, 0x00, 0xf3);

/** Block 0: a plain account 1, a contract 2 with three slots, a contract 3 without slots. */
export async function openSmall() {
  const held = await openState('poseidon2');
  held.applyBlock(0, [
    change(1, undefined, state(0n, 100n)),
    change(2, undefined, { ...state(1n, 0n), code: CODE }, [set(1, 0, 11), set(2, 0, 12), set(3, 0, 13)]),
    change(3, undefined, { ...state(1n, 5n), code: CODE }),
  ]);
  return held;
}
