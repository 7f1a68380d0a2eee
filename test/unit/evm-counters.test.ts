import { p256 } from '@noble/curves/nist.js';
import { describe, expect, it } from 'vitest';
import { keccakBlocks } from '../../src/evm/run-budget.js';
import { simulateTransaction } from '../../src/evm/transaction.js';
import type { TransactionMessage } from '../../src/evm/transaction-message.js';
import { concatBytes } from '../../src/primitives/bytes.js';
import { hexToBytes } from '../../src/primitives/hex.js';
import { allocWith, message, openMachine } from '../support/evm.js';

const bytes = (length: number) => new Uint8Array(length).fill(0xab);
const word = (value: number) => Uint8Array.from({ length: 32 }, (_, i) => (i === 31 ? value : 0));
const precompile = (address: number) => hexToBytes(`0x${address.toString(16).padStart(40, '0')}`);

async function countsOf(changes: Partial<TransactionMessage>, code: `0x${string}` = '0x00') {
  const machine = await openMachine(allocWith(code));
  const options = { counting: true, leniency: { contractSender: true } };
  const outcome = await simulateTransaction(machine, message({ gasLimit: 10_000_000n, ...changes }), options);
  return outcome.counts;
}

const callOf = (address: number, data: Uint8Array) => countsOf({ to: precompile(address), data });

/** Generators of the curve of EIP-196. */
const G1 = concatBytes(word(1), word(2));
const G2 = hexToBytes(
  '0x198e9393920d483a7260bfb731fb5d25f1aa493335a9e71297e485b7aef312c2' +
    '1800deef121f1e76426a00665e5c4479674322d4f75edadd46debd5cd992f6ed' +
    '090689d0585ff075ec9e99ad690c3395bc4b313370b38ef355acdadcd122975b' +
    '12c85ea5db8c6deb4aab71808dcb408fe3d1e7690c43d37b4ce6cc0166fa7daa',
);

describe('hash blocks', () => {
  it('are of 136 bytes for Keccak-256', () => {
    expect([0, 1, 136, 137].map(keccakBlocks)).toEqual([0, 1, 1, 2]);
  });
});

describe('counts of a run (docs/spec/fees.md 7)', () => {
  it('of hashes', async () => {
    expect(await callOf(2, bytes(56))).toEqual({ PRECOMPILE_SHA2_BLOCKS: 2 });
    expect(await callOf(2, bytes(0))).toEqual({});
    expect(await callOf(3, bytes(1))).toEqual({ PRECOMPILE_RIPEMD_BLOCKS: 1 });
    expect(await callOf(9, bytes(3))).toEqual({ PRECOMPILE_BLAKE_EFFECTIVE_CALLS: 1 });
    expect(await callOf(4, bytes(3))).toEqual({});
  });

  it('of ECRECOVER with valid numbers, whether or not an address is recovered', async () => {
    const input = (v: number, s = 1) => concatBytes(bytes(32), word(v), word(1), word(s));
    expect(await callOf(1, input(27))).toEqual({ PRECOMPILE_ECRECOVER_EFFECTIVE_CALLS: 1 });
    expect(await callOf(1, input(29))).toEqual({});
    expect(await callOf(1, input(28, 0))).toEqual({});
  });

  it('of MODEXP, and of large ones: any length above 32 bytes', async () => {
    const input = (base: number, exponent: number, modulus: number) =>
      concatBytes(word(base), word(exponent), word(modulus), bytes(base + exponent + modulus));
    expect(await callOf(5, input(32, 32, 32))).toEqual({ PRECOMPILE_MODEXP_EFFECTIVE_CALLS: 1 });
    for (const [base, exponent, modulus] of [
      [33, 1, 1],
      [1, 33, 1],
      [1, 1, 33],
    ] as const) {
      expect(await callOf(5, input(base, exponent, modulus))).toEqual({
        PRECOMPILE_MODEXP_EFFECTIVE_CALLS: 1,
        PRECOMPILE_LARGE_MODEXP_EFFECTIVE_CALLS: 1,
      });
    }
  });

  it('of the curve of EIP-196 and its pairing', async () => {
    const infinity1 = new Uint8Array(64);
    const infinity2 = new Uint8Array(128);
    expect(await callOf(6, concatBytes(G1, G1))).toEqual({ PRECOMPILE_ECADD_EFFECTIVE_CALLS: 1 });
    expect(await callOf(6, word(5))).toEqual({});
    expect(await callOf(7, concatBytes(G1, word(9)))).toEqual({ PRECOMPILE_ECMUL_EFFECTIVE_CALLS: 1 });
    expect(await callOf(8, concatBytes(G1, G2, G1, G2, infinity1, G2))).toEqual({
      PRECOMPILE_ECPAIRING_FINAL_EXPONENTIATIONS: 1,
      PRECOMPILE_ECPAIRING_MILLER_LOOPS: 2,
      PRECOMPILE_ECPAIRING_G2_MEMBERSHIP_CALLS: 1,
    });
    expect(await callOf(8, concatBytes(G1, infinity2))).toEqual({});
    expect(await callOf(8, bytes(192))).toEqual({ PRECOMPILE_ECPAIRING_G2_MEMBERSHIP_CALLS: 1 });
  });

  it('of BLS12-381: effective, or a membership check that fails', async () => {
    expect(await callOf(0x0b, new Uint8Array(256))).toEqual({ PRECOMPILE_BLS_G1_ADD_EFFECTIVE_CALLS: 1 });
    expect(await callOf(0x0d, bytes(512))).toEqual({ PRECOMPILE_BLS_C2_MEMBERSHIP_CALLS: 1 });
    expect(await callOf(0x10, new Uint8Array(64))).toEqual({ PRECOMPILE_BLS_MAP_FP_TO_G1_EFFECTIVE_CALLS: 1 });
  });

  it('of P-256', async () => {
    const { secretKey, publicKey } = p256.keygen();
    const hash = bytes(32);
    const signature = p256.sign(hash, secretKey, { prehash: false });
    const point = p256.Point.fromBytes(publicKey).toBytes(false).subarray(1);
    expect(await callOf(0x100, concatBytes(hash, signature, point))).toEqual({
      PRECOMPILE_P256_VERIFY_EFFECTIVE_CALLS: 1,
    });
  });

  it('of KECCAK256, of addresses and code of creations, also in calls that revert', async () => {
    // Hashes 0x89 = 137 bytes of memory, then reverts.
    expect(await countsOf({}, '0x60895f205f5ffd')).toEqual({ BLOCK_KECCAK: 2 });
    // Deploys 137 zero bytes: one block for the address, two for the code.
    expect(await countsOf({ to: undefined, data: hexToBytes('0x60895ff3') })).toEqual({ BLOCK_KECCAK: 3 });
    // CREATE2 with 137 bytes of init code, all STOP: two blocks for it, one for the address.
    expect(await countsOf({}, '0x5f60895f5ff500')).toEqual({ BLOCK_KECCAK: 3 });
  });
});
