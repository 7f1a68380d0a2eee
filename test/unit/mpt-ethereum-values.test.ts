import { RLP } from '@ethereumjs/rlp';
import { keccak_256 } from '@noble/hashes/sha3.js';
import { describe, expect, it } from 'vitest';
import { EMPTY_CODE_HASH } from '../../src/ethereum/constants.js';
import { bytesToHex } from '../../src/primitives/hex.js';
import { verifyEthereumProof } from '../../src/proof/ethereum-proof.js';
import { address, word } from '../support/ethereum-tries.js';
import { outcome } from '../support/refusal.js';

describe('verifyEthereumProof on tries of one leaf', () => {
  it('refuses values in a trie that are no account and no slot value', () => {
    const leaf = (key: Uint8Array, value: Uint8Array) => RLP.encode([Uint8Array.of(0x20, ...keccak_256(key)), value]);
    const judge = (account: Uint8Array, slot?: Uint8Array) => {
      const node = leaf(address(0xaa), account);
      const storageKeys = slot === undefined ? [] : [word(1n)];
      const storageProof = slot === undefined ? [] : [{ key: '0x1', value: '0x0', proof: [bytesToHex(slot)] }];
      return verifyEthereumProof(
        { address: address(0xaa), storageKeys, stateRoot: keccak_256(node) },
        { accountProof: [bytesToHex(node)], storageProof },
      );
    };
    const fields = (nonce: Uint8Array, balance: Uint8Array, ...hashes: Uint8Array[]) =>
      RLP.encode([nonce, balance, ...hashes]);
    const none = new Uint8Array(0);
    const [eight, full] = [new Uint8Array(8).fill(255), new Uint8Array(32).fill(255)];
    expect(judge(fields(eight, full, word(1n), word(2n)))).toMatchObject({
      account: { nonce: 2n ** 64n - 1n, balance: 2n ** 256n - 1n, storageRoot: word(1n), codeHash: word(2n) },
    });
    const refused = { verified: false, reason: 'VALUE_INVALID' };
    for (const account of [
      Uint8Array.of(0xf8, 1, 2),
      RLP.encode(word(1n)),
      fields(none, none, word(1n)),
      fields(none, none, word(1n), word(2n), word(3n)),
      fields(Uint8Array.of(0), none, word(1n), word(2n)),
      fields(none, Uint8Array.of(0, 1), word(1n), word(2n)),
      fields(new Uint8Array(9).fill(1), none, word(1n), word(2n)),
      fields(none, new Uint8Array(33).fill(1), word(1n), word(2n)),
      fields(none, none, address(1), word(2n)),
      fields(none, none, word(1n), address(2)),
      RLP.encode([[], none, word(1n), word(2n)]),
      RLP.encode([none, none, [word(1n)], word(2n)]),
    ]) {
      expect(judge(account)).toEqual({
        ...refused,
        at: 'accountProof',
        message: 'the value in the trie is not an account',
      });
    }
    for (const value of [RLP.encode([]), Uint8Array.of(0xf8, 1, 2), RLP.encode(Uint8Array.of(0, 1))]) {
      const slot = leaf(word(1n), value);
      expect(judge(fields(none, none, keccak_256(slot), EMPTY_CODE_HASH), slot)).toEqual({
        ...refused,
        at: 'storageProof[0].proof',
        message: 'the value in the trie is not a slot value',
      });
    }
  });

  it('reads zero from a leaf of value zero, and nothing else: anvil keeps such leaves', () => {
    const slot = RLP.encode([Uint8Array.of(0x20, ...keccak_256(word(1n))), RLP.encode(new Uint8Array(0))]);
    const fields = [new Uint8Array(0), new Uint8Array(0), keccak_256(slot), EMPTY_CODE_HASH];
    const account = RLP.encode([Uint8Array.of(0x20, ...keccak_256(address(0xaa))), RLP.encode(fields)]);
    const judge = (value: string) =>
      verifyEthereumProof(
        { address: address(0xaa), storageKeys: [word(1n)], stateRoot: keccak_256(account) },
        {
          accountProof: [bytesToHex(account)],
          storageProof: [{ key: '0x1', value, proof: [bytesToHex(slot)] }],
        },
      );
    expect(judge('0x0')).toMatchObject({ verified: true, slots: [{ value: word(0n), exists: false }] });
    expect(judge('0x1')).toMatchObject({ verified: false, reason: 'VALUE_MISMATCH' });
  });

  it('refuses malformed accounts: wrong number of fields, leading zeros, short hashes', () => {
    const key = keccak_256(address(1));
    const hash = new Uint8Array(32).fill(7);
    const check = (fields: unknown) => {
      const node = RLP.encode([Uint8Array.of(0x20, ...key), RLP.encode(fields as Uint8Array[])]);
      const answer = { accountProof: [bytesToHex(node)], storageProof: [] };
      return outcome(() =>
        verifyEthereumProof({ address: address(1), storageKeys: [], stateRoot: keccak_256(node) }, answer),
      );
    };
    const [zero, one] = [new Uint8Array(0), Uint8Array.of(1)];
    expect(check([one, zero, hash, hash])).toBe('accepted');
    expect(check([one, zero, hash])).toBe('VALUE_INVALID');
    expect(check([one, zero, hash, hash, hash])).toBe('VALUE_INVALID');
    expect(check([Uint8Array.of(0, 1), zero, hash, hash])).toBe('VALUE_INVALID');
    expect(check([Uint8Array.of(0), zero, hash, hash])).toBe('VALUE_INVALID');
    expect(check([new Uint8Array(9).fill(1), zero, hash, hash])).toBe('VALUE_INVALID');
    expect(check([one, new Uint8Array(33).fill(1), hash, hash])).toBe('VALUE_INVALID');
    expect(check([one, zero, hash.slice(1), hash])).toBe('VALUE_INVALID');
    expect(check([one, zero, hash, [hash]])).toBe('VALUE_INVALID');
    expect(check(hash)).toBe('VALUE_INVALID');
  });

  it('refuses storage values that no slot can have', () => {
    const accountKey = keccak_256(address(1));
    const check = (value: Uint8Array, claim: string) => {
      const leaf = RLP.encode([Uint8Array.of(0x20, ...keccak_256(word(3n))), value]);
      const account = RLP.encode([Uint8Array.of(1), new Uint8Array(0), keccak_256(leaf), EMPTY_CODE_HASH]);
      const node = RLP.encode([Uint8Array.of(0x20, ...accountKey), account]);
      const request = { address: address(1), storageKeys: [word(3n)], stateRoot: keccak_256(node) };
      const storageProof = [{ key: '0x3', value: claim, proof: [bytesToHex(leaf)] }];
      return outcome(() => verifyEthereumProof(request, { accountProof: [bytesToHex(node)], storageProof }));
    };
    expect(check(Uint8Array.of(0x82, 1, 0), '0x100')).toBe('accepted');
    expect(check(Uint8Array.of(0x82, 1, 0), '0x101')).toBe('VALUE_MISMATCH');
    expect(check(Uint8Array.of(0x80), '0x0')).toBe('accepted');
    expect(check(Uint8Array.of(0), '0x0')).toBe('VALUE_INVALID');
    expect(check(Uint8Array.of(0x82, 0, 1), '0x1')).toBe('VALUE_INVALID');
    expect(check(Uint8Array.of(0x81, 1), '0x1')).toBe('VALUE_INVALID');
    expect(check(RLP.encode(new Uint8Array(33).fill(1)), '0x1')).toBe('VALUE_INVALID');
    expect(check(RLP.encode([Uint8Array.of(1)]), '0x1')).toBe('VALUE_INVALID');
  });
});
