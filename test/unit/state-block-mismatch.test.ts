import { keccak_256 } from '@noble/hashes/sha3.js';
import { describe, expect, it } from 'vitest';
import { bytesToHex } from '../../src/primitives/hex.js';
import type { ZkAccountChange } from '../../src/state/world-state.js';
import { address, CODE, change, openSmall as open, set, state, word } from '../support/small-state.js';

const hex = (n: number) => bytesToHex(address(n));
const hash = (bytes: Uint8Array) => bytesToHex(keccak_256(bytes));
const NO_CODE = hash(new Uint8Array(0));
const ZERO = new Uint8Array(32);
const ZERO_HEX = bytesToHex(ZERO);

/** What differs: its name, in the state, in the block. */
const mismatches: [ZkAccountChange, [what: string, held: string, given: string]][] = [
  [change(1, state(1n, 100n), state(2n, 100n)), [`nonce of ${hex(1)}`, '0', '1']],
  [change(1, state(0n, 99n), state(1n, 99n)), [`balance of ${hex(1)}`, '100', '99']],
  [change(9, state(0n, 1n), state(0n, 2n)), [`account ${hex(9)}`, 'none', 'exists']],
  [change(1, undefined, state(0n, 2n)), [`account ${hex(1)}`, 'exists', 'none']],
  [
    change(2, { ...state(1n, 0n), keccakCodeHash: ZERO }, state(1n, 0n)),
    [`code hash of ${hex(2)}`, hash(CODE), ZERO_HEX],
  ],
  [
    change(2, state(1n, 0n), { ...state(1n, 0n), keccakCodeHash: ZERO }),
    [`code hash of ${hex(2)} after the block`, hash(CODE), ZERO_HEX],
  ],
  [
    change(4, undefined, { ...state(1n, 0n), keccakCodeHash: ZERO }),
    [`code hash of ${hex(4)} after the block`, NO_CODE, ZERO_HEX],
  ],
  [
    change(2, state(1n, 0n), state(1n, 0n), [set(1, 12, 13)]),
    [`slot ${bytesToHex(word(1))} of ${hex(2)}`, bytesToHex(word(11)), bytesToHex(word(12))],
  ],
  [
    change(3, state(1n, 5n), state(1n, 5n), [set(7, 1, 2)]),
    [`slot ${bytesToHex(word(7))} of ${hex(3)}`, ZERO_HEX, bytesToHex(word(1))],
  ],
  [
    change(2, state(1n, 0n), state(1n, 0n), [], true),
    [`storage of the recreated account ${hex(2)}`, 'slots', 'no slot'],
  ],
];

describe.each(['applyBlock', 'applyBlockTraced'] as const)('%s names what differs from the state:', (apply) => {
  it.each(mismatches)('%#', async (given, [what, expected, actual]) => {
    const held = await open();
    const root = held.root();
    expect(() => held[apply](1, [given])).toThrow(
      expect.objectContaining({
        code: 'STATE_MISMATCH',
        message: `${what}: the state has ${expected}, the block has ${actual}`,
        details: { what, expected, actual },
      }),
    );
    expect([held.head, held.root()]).toEqual([0, root]);
  });

  it('the number of the block', async () => {
    const held = await open();
    for (const block of [0, 2]) {
      expect(() => held[apply](block, [])).toThrow(
        expect.objectContaining({
          message: `the next block is 1, not ${block}`,
          details: { what: 'block', expected: '1', actual: String(block) },
        }),
      );
    }
  });

  it('an address or a slot that occurs twice', async () => {
    const held = await open();
    const one = change(1, state(0n, 100n), state(1n, 100n));
    const two = change(2, state(1n, 0n), state(1n, 0n), [set(1, 11, 2), set(1, 11, 3)]);
    const message = (what: string) =>
      expect.stringMatching(`changes.* must contain each ${what} only once; merge its changes$`);
    expect(() => held[apply](1, [one, one])).toThrow(expect.objectContaining({ message: message('address') }));
    expect(() => held[apply](1, [two])).toThrow(expect.objectContaining({ message: message('slot') }));
  });

  it('an account that is not there, to be recreated', async () => {
    const held = await open();
    const recreated = change(9, state(1n, 0n), state(1n, 0n), [], true);
    expect(() => held[apply](1, [recreated])).toThrow(
      expect.objectContaining({
        code: 'STATE_MISMATCH',
        details: expect.objectContaining({ what: `account ${hex(9)}` }),
      }),
    );
  });

  it('a value of another length, by its name', async () => {
    const held = await open();
    const slot = { ...set(1, 11, 1), after: new Uint8Array(31) };
    const early = { ...set(1, 11, 1), before: new Uint8Array(33) };
    for (const [wrong, length] of [
      [slot, 31],
      [early, 33],
    ] as const) {
      expect(() => held[apply](1, [change(2, state(1n, 0n), state(1n, 0n), [wrong])])).toThrow(
        expect.objectContaining({
          code: 'INVALID_LENGTH',
          message: expect.stringMatching(new RegExp(`slot value.*32.*${length}`)),
        }),
      );
    }
  });

  it('nothing of an account that is given with its code hashes', async () => {
    const held = await open();
    const code = { keccakCodeHash: keccak_256(CODE) };
    const before = { ...state(1n, 0n), ...code };
    held[apply](1, [change(2, before, { ...state(2n, 0n), ...code })]);
    expect(held.account(1, address(2))).toMatchObject({ nonce: 2n, codeSize: 5n, ...code });
    // Code that is set anew, with its hash.
    const other = Uint8Array.of(1, 2, 3);
    const changed = { ...state(2n, 0n), code: other, keccakCodeHash: keccak_256(other) };
    held[apply](2, [change(2, { ...state(2n, 0n), ...code }, changed)]);
    expect(held.account(2, address(2))).toMatchObject({ codeSize: 3n, keccakCodeHash: keccak_256(other) });
    expect(held.account(1, address(2))).toMatchObject({ codeSize: 5n });
  });
});

describe('a block that is not held', () => {
  it('is named', async () => {
    const held = await open();
    expect(() => held.account(1, address(1))).toThrow(
      expect.objectContaining({
        message: 'the state after block 1 is not held; ask for a block from oldest to head',
        details: { block: 1 },
      }),
    );
    for (const block of [-1, 0.5, 1]) {
      for (const ask of [() => held.root(block), () => held.nextFreeNode(block), () => held.revertTo(block)]) {
        expect(ask).toThrow(expect.objectContaining({ code: 'STATE_NOT_HELD', details: { block } }));
      }
    }
  });
});
