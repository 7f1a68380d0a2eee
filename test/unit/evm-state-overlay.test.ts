import { keccak_256 } from '@noble/hashes/sha3.js';
import { describe, expect, it } from 'vitest';
import { type Alloc, AllocState } from '../../conformance/alloc-state.js';
import { EMPTY_CODE_HASH } from '../../src/ethereum/constants.js';
import { StateOverlay } from '../../src/evm/state-overlay.js';
import { ReadCache } from '../../src/evm/state-reader.js';
import { bytesToHex, hexToBytes } from '../../src/primitives/hex.js';
import { CONTRACT, SENDER, SLOT_0, STRANGER } from '../support/evm.js';

const address = hexToBytes(CONTRACT);
const slot = (n: number) => new Uint8Array(32).fill(n);
const alloc: Alloc = {
  [CONTRACT]: { nonce: '0x1', code: '0xfe', storage: { [SLOT_0]: bytesToHex(slot(7)) } },
  [SENDER]: { balance: '0x64' },
};
const account = (nonce: bigint) => ({ nonce, balance: 0n, codeHash: EMPTY_CODE_HASH });

describe('state overlay', () => {
  it('reads its own writes first, then the base', async () => {
    const state = new StateOverlay(new AllocState(alloc));
    expect(await state.slot(address, slot(0))).toEqual(slot(7));
    state.setSlot(address, slot(0), Uint8Array.of(9));
    expect(bytesToHex(await state.slot(address, slot(0)))).toBe(`0x${'00'.repeat(31)}09`);
  });

  it('has another version after each write', () => {
    const state = new StateOverlay(new AllocState(alloc));
    const seen = new Set([state.version]);
    for (const write of [
      () => state.setSlot(address, slot(0), slot(1)),
      () => state.setAccount(address, account(1n)),
      () => state.destroy(address),
      () => state.write([{ address, account: undefined, storageCleared: false, code: undefined, slots: [] }]),
    ]) {
      write();
      seen.add(state.version);
    }
    expect(seen.size).toBe(5);
  });

  it('lists an account that was destroyed and recreated, with its current content', async () => {
    const state = new StateOverlay(new AllocState(alloc));
    state.setSlot(address, slot(5), slot(1));
    state.destroy(address);
    expect(await state.account(address)).toBeUndefined();
    expect(await state.slot(address, slot(0))).toEqual(slot(0));
    const codeHash = state.addCode(Uint8Array.of(0x5f));
    state.setAccount(address, { nonce: 1n, balance: 2n, codeHash });
    state.setSlot(address, slot(0), slot(7));
    expect(await state.changes()).toEqual([
      {
        address,
        before: { nonce: 1n, balance: 0n, codeHash: keccak_256(Uint8Array.of(0xfe)) },
        after: { nonce: 1n, balance: 2n, codeHash: keccak_256(Uint8Array.of(0x5f)) },
        destroyed: true,
        code: Uint8Array.of(0x5f),
        // The same value as before, but a new slot.
        slots: [{ key: slot(0), before: slot(7), after: slot(7) }],
      },
    ]);
  });

  it('does not list unchanged accounts', async () => {
    const state = new StateOverlay(new AllocState(alloc));
    state.setSlot(address, slot(0), slot(3));
    state.setSlot(address, slot(0), slot(7));
    state.setAccount(hexToBytes(SENDER), account(1n));
    state.setAccount(hexToBytes(SENDER), { ...account(0n), balance: 100n });
    state.setAccount(hexToBytes(STRANGER), account(0n));
    state.destroy(hexToBytes(STRANGER));
    expect(await state.changes()).toEqual([]);
  });

  it('can be stacked: a transaction over a block', async () => {
    const block = new StateOverlay(new AllocState(alloc));
    block.setSlot(address, slot(0), slot(3));
    const transaction = new StateOverlay(block);
    transaction.setSlot(address, slot(0), slot(4));
    const [change] = await transaction.changes();
    expect(change!.slots).toEqual([{ key: slot(0), before: slot(3), after: slot(4) }]);
  });
});

describe('read cache', () => {
  it('reads once, also missing values, and again after a failure', async () => {
    const base = new AllocState(alloc);
    const cache = new ReadCache(base);
    const absent = hexToBytes(STRANGER);
    await Promise.all([cache.account(absent), cache.account(absent), cache.slot(address, slot(0))]);
    await cache.slot(address, slot(0));
    expect(base.reads).toEqual({ accounts: 1, slots: 1, codes: 0 });
    await expect(cache.code(slot(1))).rejects.toThrow();
    await expect(cache.code(slot(1))).rejects.toThrow();
    expect(base.reads.codes).toBe(2);
  });
});
