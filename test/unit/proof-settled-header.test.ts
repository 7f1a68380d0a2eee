import { keccak_256 } from '@noble/hashes/sha3.js';
import { describe, expect, it } from 'vitest';
import type { AccountValue } from '../../src/accumulator/account-value.js';
import { StateTrie } from '../../src/ethereum/state-trie.js';
import { bigIntToBytes } from '../../src/primitives/bytes.js';
import { hexToBytes } from '../../src/primitives/hex.js';
import {
  hashInRing,
  headerOfHash,
  historySlot,
  settledHash,
  verifySettledHeader,
} from '../../src/proof/settled-header.js';
import { getProof } from '../support/ethereum-tries.js';
import { lineaAnswerScene } from '../support/linea-answer-scene.js';
import { headerJson } from '../support/zero-header.js';

const word = (value: number) => bigIntToBytes(BigInt(value), 32);
/** EIP-2935: address and code of the history contract. */
const HISTORY = hexToBytes('0x0000F90827F1C53a10cb7A02335B175320002935');
const CODE = hexToBytes(
  '0x3373fffffffffffffffffffffffffffffffffffffffe14604657602036036042575f35600143038111604257611fff81430311604257611fff9006545f5260205ff35b5f5ffd5b5f35611fff60014303065500',
);

describe('the slot of a block in the history contract', () => {
  it('is its number modulo 8191, while it is one of the 8191 blocks below', () => {
    // EIP-2935, HISTORY_SERVE_WINDOW.
    expect([historySlot(8190, 8191), historySlot(8191, 8192), historySlot(10_000, 10_001)]).toEqual([
      word(8190),
      word(0),
      word(1809),
    ]);
    expect([historySlot(0, 8191), historySlot(0, 8192), historySlot(1, 8192)]).toEqual([word(0), undefined, word(1)]);
    expect([historySlot(7, 7), historySlot(8, 7), historySlot(-1, 7)]).toEqual([undefined, undefined, undefined]);
  });
});

describe('the hash in the ordinary state of a later block', () => {
  it('is proved by the history contract, or refused with what is wrong', async () => {
    const trie = new StateTrie();
    const slots = [{ key: word(5), after: word(7) }];
    const account = { nonce: 1n, balance: 0n, codeHash: keccak_256(CODE) };
    const root = await trie.write([{ address: HISTORY, account, slots }]);
    const bare = await new StateTrie().write([{ address: HISTORY.map((byte) => byte ^ 1), account, slots }]);
    const answer = async (slot: number) => getProof(trie, root, HISTORY, [word(slot)]);
    expect(hashInRing(5, 9, root, await answer(5))).toEqual({ verified: true, hash: word(7) });
    expect(hashInRing(8196, 8197, root, await answer(5))).toEqual({ verified: true, hash: word(7) });
    expect(hashInRing(6, 9, root, await answer(6))).toMatchObject({ verified: false, reason: 'HASH_MISSING' });
    expect(hashInRing(9, 9, root, await answer(5))).toMatchObject({ verified: false, reason: 'OUT_OF_RING' });
    expect(hashInRing(5, 9, bare, await answer(5))).toMatchObject({ verified: false, at: 'accountProof[0]' });
  });

  it('needs the contract', async () => {
    const trie = new StateTrie();
    const account = { nonce: 1n, balance: 0n, codeHash: keccak_256(CODE) };
    const root = await trie.write([{ address: HISTORY.map((byte) => byte ^ 1), account, slots: [] }]);
    const answer = await getProof(trie, root, HISTORY, [word(5)]);
    expect(hashInRing(5, 9, root, answer)).toMatchObject({ verified: false, reason: 'CONTRACT_MISSING' });
  });
});

describe('the hash that the history contract holds', () => {
  const account = { keccakCodeHash: keccak_256(CODE) } as AccountValue;
  const hash = word(7);

  it('is what was proved, of a contract with the code of EIP-2935', () => {
    expect(settledHash({ account, value: hash }, 5)).toEqual({ verified: true, hash });
    const refused = (given: Parameters<typeof settledHash>[0]) => settledHash(given, 5);
    const missing = {
      verified: false,
      reason: 'CONTRACT_MISSING',
      at: 'accountProof',
      message: 'there is no history contract in this state',
    };
    expect(refused({ account: undefined, value: hash })).toEqual(missing);
    const withCode = (code: Uint8Array) => ({ ...account, keccakCodeHash: keccak_256(code) });
    expect(refused({ account: withCode(new Uint8Array(0)), value: hash })).toEqual(missing);
    expect(refused({ account: withCode(CODE.subarray(1)), value: hash })).toEqual({
      verified: false,
      reason: 'CONTRACT_CODE',
      at: 'accountProof',
      message: 'the history contract does not have the code of EIP-2935',
    });
    expect(refused({ account, value: word(0) })).toEqual({
      verified: false,
      reason: 'HASH_MISSING',
      at: 'storageProofs[0]',
      message: 'the hash of block 5 was never written',
    });
  });
});

describe('the header of a proved hash', () => {
  it('has this hash and the number that was asked for', () => {
    const json = headerJson(5);
    const hash = hexToBytes(json.hash);
    expect(headerOfHash(hash, 5, json)).toMatchObject({ verified: true, hash, header: { number: 5 } });
    expect(headerOfHash(hash, 6, json)).toEqual({
      verified: false,
      reason: 'HEADER_NUMBER',
      at: 'number',
      message: 'is 5, requested was 6',
    });
    expect(headerOfHash(word(1), 5, json)).toEqual({
      verified: false,
      reason: 'HEADER_HASH',
      at: 'hash',
      message: 'is not the requested hash',
    });
  });
});

describe.each(['mimc', 'poseidon2'] as const)('a header that a %s state settles', (scheme) => {
  const scene = lineaAnswerScene(scheme);
  const { hasher, empty } = scene;
  const json = headerJson(9_000);
  // 9 000 modulo 8191.
  const slot = word(809);
  const hash = hexToBytes(json.hash);
  const storage = scene.storage(slot, hash);
  const state = scene.state(HISTORY, scene.account(storage.root, CODE));
  const answer = { accountProof: scene.present(state, HISTORY), storageProofs: [scene.present(storage, slot)] };
  const request = { block: 9_000, finalized: 9_100, stateRoot: state.root };

  it('is verified, or refused for what is wrong', () => {
    const verify = (changes = {}, given: object = answer, header: unknown = json) =>
      verifySettledHeader(hasher, { ...request, ...changes }, given, header);
    expect(verify()).toMatchObject({ verified: true, hash, header: { number: 9_000 } });
    expect(verify({ stateRoot: word(1) })).toMatchObject({ reason: 'ROOT_MISMATCH' });
    expect(verify({ block: 9_001 })).toMatchObject({ reason: 'KEY_MISMATCH' });
    expect(verify({}, answer, headerJson(9_001))).toMatchObject({ reason: 'HEADER_HASH' });
    expect(verify({ block: 9_100 })).toEqual({
      verified: false,
      reason: 'OUT_OF_RING',
      at: '',
      message: 'the state after block 9100 holds the hashes of the 8191 blocks below it, and not that of block 9100',
    });
    const absent = { accountProof: scene.absent(empty, HISTORY), storageProofs: [] };
    expect(verify({ stateRoot: empty.root }, absent)).toMatchObject({ reason: 'CONTRACT_MISSING' });
  });
});
