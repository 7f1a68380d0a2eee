import { describe, expect, it } from 'vitest';
import { decodeAccountValue } from '../../src/accumulator/account-value.js';
import { hashAddress } from '../../src/accumulator/keys.js';
import { schemeFormat } from '../../src/accumulator/scheme.js';
import { bigIntToBytes, compareBytes } from '../../src/primitives/bytes.js';
import { bytesToHex } from '../../src/primitives/hex.js';
import {
  type LineaProofFailureReason,
  type LineaProofVerdict,
  orNotCanonical,
  verifyLineaProof,
} from '../../src/proof/linea-proof.js';
import { type Changes, changed } from '../support/changed.js';
import type { HostileTree } from '../support/hostile-tree.js';
import { lineaAnswerScene } from '../support/linea-answer-scene.js';

const word = (value: number) => bigIntToBytes(BigInt(value), 32);
const ADDRESS = new Uint8Array(20).fill(0xaa);
const [SLOT, VALUE] = [word(5), word(77)];

/** Expects that a caller who changes the value of one slot does not change that of another. */
function expectApart(verdict: LineaProofVerdict): void {
  const buffers = verdict.verified ? verdict.slots.map(({ value }) => value.buffer) : [];
  expect(buffers).toHaveLength(2);
  expect(buffers[0]).not.toBe(buffers[1]);
}

describe.each(['mimc', 'poseidon2'] as const)('an answer from a %s state', (scheme) => {
  const scene = lineaAnswerScene(scheme);
  const { hasher, present, absent, empty } = scene;
  const { topBytes, leafBytes, emptyRoot } = schemeFormat(scheme);
  const storage = scene.storage(SLOT, VALUE);
  const value = scene.account(storage.root, Uint8Array.of(1));
  const state = scene.state(ADDRESS, value);
  const answer = { accountProof: present(state, ADDRESS), storageProofs: [present(storage, SLOT)] };
  const missing = { accountProof: absent(empty, ADDRESS), storageProofs: [] };
  const verify = (given: unknown, root: HostileTree = state, keys = [SLOT]) =>
    verifyLineaProof(hasher, { address: ADDRESS, storageKeys: keys, stateRoot: root.root }, given);
  const verifyMissing = (given: unknown) => verify(given, empty);
  const nodes = 'accountProof.proof.proofRelatedNodes';
  const large = `0x${'ff'.repeat(64)}`;

  it('takes null in place of a slot if, and only if, the proved storage is empty', () => {
    const withNulls = (given: object, count: number) => ({ ...given, storageProofs: Array(count).fill(null) });
    const without = scene.state(ADDRESS, scene.account(emptyRoot, Uint8Array.of(1)));
    const bare = { accountProof: present(without, ADDRESS), storageProofs: [] };
    const slot = (key: Uint8Array) => ({ key, value: word(0), exists: false, place: undefined });
    expect(verify(withNulls(bare, 1), without)).toMatchObject({ verified: true, slots: [slot(SLOT)] });
    expect(verify(withNulls(bare, 2), without, [SLOT, VALUE])).toMatchObject({
      verified: true,
      slots: [slot(SLOT), slot(VALUE)],
    });
    const refused = { verified: false, reason: 'SLOT_COUNT_MISMATCH' };
    expect(() => verify(withNulls(answer, 1))).toThrow(/storageProofs\[0\] is null, but the account has storage/);
    expect(verify(withNulls(bare, 2), without)).toMatchObject(refused);
    expect(verify(withNulls(bare, 1), without, [SLOT, VALUE])).toMatchObject(refused);
    expect(verifyMissing(withNulls(missing, 1))).toMatchObject(refused);
  });

  it('proves an account and its slots, present or absent', () => {
    const place = { exists: true, leafIndex: 2 };
    const account = decodeAccountValue(value);
    expect(verify(answer)).toEqual({
      verified: true,
      account,
      place,
      nextFreeNode: 3,
      slots: [{ key: SLOT, value: VALUE, exists: true, place }],
    });
    const nowhere = { exists: false, leftLeafIndex: 0, rightLeafIndex: 1 };
    const none = (key: Uint8Array) => ({ key, value: word(0), exists: false, place: undefined });
    const missed = verifyLineaProof(
      hasher,
      { address: ADDRESS, storageKeys: [SLOT, VALUE], stateRoot: empty.root },
      missing,
    );
    expect(missed).toEqual({
      verified: true,
      account: undefined,
      place: nowhere,
      nextFreeNode: 2,
      slots: [none(SLOT), none(VALUE)],
    });
    expectApart(missed);
  });

  it('may prove each slot of an empty storage, or leave them out', () => {
    const bare = scene.state(ADDRESS, scene.account(emptyRoot, Uint8Array.of(1)));
    const accountProof = present(bare, ADDRESS);
    const place = { exists: false, leftLeafIndex: 0, rightLeafIndex: 1 };
    const slot = { key: SLOT, value: word(0), exists: false };
    expect(verify({ accountProof, storageProofs: [] }, bare)).toMatchObject({ slots: [{ ...slot, place: undefined }] });
    const proved = verify({ accountProof, storageProofs: [absent(empty, SLOT), absent(empty, VALUE)] }, bare, [
      SLOT,
      VALUE,
    ]);
    expect(proved).toMatchObject({ slots: [{ ...slot, place }, { place }] });
    expectApart(proved);
  });

  it.each<[Changes, string]>([
    [{ storageProofs: {} }, 'storageProofs is not a list'],
    [{ accountProof: 3 }, 'accountProof is not an object'],
    [{ 'storageProofs[0]': 3 }, 'storageProofs[0] is not an object'],
    [{ 'accountProof.key': 'x' }, 'accountProof.key is not 0x and 1 to 64 hex digits'],
    [{ 'storageProofs[0].leafIndex': 0.5 }, 'storageProofs[0].leafIndex is not an integer'],
    [{ 'accountProof.proof': [] }, 'accountProof.proof is not an object'],
    [{ 'accountProof.proof.value': '0x00' }, 'accountProof.proof.value has 1 bytes, expected 192'],
    [{ 'storageProofs[0].proof.value': '0x00' }, 'storageProofs[0].proof.value has 1 bytes, expected 32'],
    [{ [nodes]: 5 }, `${nodes} is not a list`],
    [{ [nodes]: Array(41).fill('0x') }, `${nodes} has 41 entries, expected 42`],
    [{ [`${nodes}[0]`]: '0x00' }, `${nodes}[0] has 1 bytes, expected ${topBytes}`],
    [{ [`${nodes}[7]`]: '0x00' }, `${nodes}[7] has 1 bytes, expected 64`],
    [{ [`${nodes}[40]`]: '0x00' }, `${nodes}[40] has 1 bytes, expected 32 or ${leafBytes}`],
    [
      { [`${nodes}[40]`]: `0x01${'00'.repeat(31)}` },
      `${nodes}[40] has the length of an unused position but is not zero`,
    ],
    [{ [`${nodes}[41]`]: '0x00' }, `${nodes}[41] has 1 bytes, expected ${leafBytes}`],
  ])('is malformed with %j', (changes, message) => {
    expect(() => verify(changed(answer, changes))).toThrow(`malformed proof: ${message}`);
  });

  it('is malformed without its two fields, and with neighbours whose values have another length', () => {
    expect(() => verify(null)).toThrow('malformed proof: the answer is not an object');
    expect(() => verify({ storageProofs: [] })).toThrow('malformed proof: accountProof is missing');
    const short = { 'accountProof.leftProof.value': '0x00' };
    expect(() => verifyMissing(changed(missing, short))).toThrow(
      'malformed proof: accountProof.leftProof.value has 1 bytes, expected 32 or 192',
    );
    const slot = { ...answer, storageProofs: [changed(absent(empty, SLOT), { 'rightProof.value': '0x00' })] };
    expect(() => verify(slot)).toThrow(
      /^malformed proof: storageProofs\[0\]\.rightProof\.value has 1 bytes, expected 32$/,
    );
  });

  it.each<[Changes, LineaProofFailureReason, string, string]>([
    [{ 'accountProof.key': '0x1' }, 'KEY_MISMATCH', 'accountProof.key', `is 0x1, requested was ${bytesToHex(ADDRESS)}`],
    ...[-1, 2 ** 40].map((index): [Changes, LineaProofFailureReason, string, string] => [
      { 'accountProof.leafIndex': index },
      'INDEX_OUT_OF_RANGE',
      'accountProof.leafIndex',
      `leaf index ${index} is not below 2^40`,
    ]),
    [
      { [`${nodes}[20]`]: `0x${'00'.repeat(64)}` },
      'PATH_MISMATCH',
      nodes,
      'leaf and siblings do not lead to the sub root',
    ],
    ...[0, 20, 41].map((entry): [Changes, LineaProofFailureReason, string, string] => [
      {
        [`${nodes}[${entry}]`]: `0x${'00'.repeat(4)}${'ff'.repeat((entry === 0 ? topBytes : entry === 41 ? leafBytes : 64) - 4)}`,
      },
      entry === 41 ? 'INDEX_OUT_OF_RANGE' : 'NOT_CANONICAL',
      `${nodes}[${entry}]`,
      entry === 41
        ? 'a neighbour of the leaf is not a position below nextFreeNode'
        : 'a word is not below the modulus of the hash',
    ]),
    [
      { 'storageProofs[0].proof.proofRelatedNodes[3]': large },
      'NOT_CANONICAL',
      'storageProofs[0].proof.proofRelatedNodes[3]',
      'a word is not below the modulus of the hash',
    ],
    [
      { 'accountProof.proof.value': `0x${'00'.repeat(64)}${'ff'.repeat(32)}${'00'.repeat(96)}` },
      'NOT_CANONICAL',
      'accountProof.proof.value',
      'a word is not below the modulus of the hash',
    ],
    [{ storageProofs: [] }, 'SLOT_COUNT_MISMATCH', 'storageProofs', '0 storage proofs, expected 1'],
  ])('is refused with %j', (changes, reason, at, message) => {
    expect(verify(changed(answer, changes))).toEqual({ verified: false, reason, at, message });
  });

  it('is refused with the key of another slot in its leaf', () => {
    const leaf = scene.storage(word(6), VALUE);
    const other = scene.state(ADDRESS, scene.account(leaf.root, Uint8Array.of(1)));
    const given = { accountProof: present(other, ADDRESS), storageProofs: [present(leaf, SLOT)] };
    expect(verify(given, other)).toEqual({
      verified: false,
      reason: 'KEY_MISMATCH',
      at: 'storageProofs[0].proof.proofRelatedNodes[41]',
      message: 'the leaf belongs to another key',
    });
  });

  it('is refused for another root, and for more positions than a tree has', () => {
    const top = bytesToHex(state.root);
    expect(verify(answer, empty)).toEqual({
      verified: false,
      reason: 'ROOT_MISMATCH',
      at: `${nodes}[0]`,
      message: `hashes to ${top}, the root is ${bytesToHex(empty.root)}`,
    });
    const wide = scene.state(ADDRESS, value, 2 ** 40 + 1);
    expect(verify({ ...answer, accountProof: present(wide, ADDRESS) }, wide)).toEqual({
      verified: false,
      reason: 'INDEX_OUT_OF_RANGE',
      at: `${nodes}[0]`,
      message: 'nextFreeNode is not a position up to 2^40',
    });
  });

  it('of a missing account is refused with slots, and with neighbours that are none', () => {
    const slots = { ...missing, storageProofs: [absent(empty, SLOT)] };
    expect(verifyMissing(slots)).toMatchObject({ message: '1 storage proofs, expected 0' });
    for (const name of ['leftLeafIndex', 'rightLeafIndex'])
      expect(verifyMissing(changed(missing, { [`accountProof.${name}`]: -1 }))).toMatchObject({
        reason: 'INDEX_OUT_OF_RANGE',
        at: `accountProof.${name}`,
      });
    const zeros = { 'accountProof.leftProof.value': `0x${'00'.repeat(192)}` };
    expect(verifyMissing(changed(missing, zeros))).toMatchObject({
      reason: 'VALUE_MISMATCH',
      at: 'accountProof.leftProof.value',
      message: 'the value of head and tail is 32 zero bytes',
    });
  });

  it('of a missing account shows its neighbours with their whole values', () => {
    const other = new Uint8Array(20).fill(0xbb);
    const tree = scene.state(other, value);
    const isAbove = compareBytes(hashAddress(hasher, ADDRESS), hashAddress(hasher, other)) > 0;
    const given = {
      accountProof: absent(tree, ADDRESS, ...((isAbove ? [2, 1] : [0, 2]) as [number, number])),
      storageProofs: [],
    };
    expect(verify(given, tree)).toMatchObject({ verified: true, account: undefined });
    const side = isAbove ? 'leftProof' : 'rightProof';
    expect(verify(changed(given, { [`accountProof.${side}.value`]: bytesToHex(word(0)) }), tree)).toMatchObject({
      reason: 'VALUE_MISMATCH',
      at: `accountProof.${side}.value`,
      message: 'has 32 bytes, a value of this tree has 192',
    });
  });

  it('may have an account of zeros, but no slot of zero', () => {
    const zeros = scene.state(ADDRESS, new Uint8Array(192));
    const bare = { accountProof: present(zeros, ADDRESS), storageProofs: [] };
    expect(verify(bare, zeros, [])).toMatchObject({ verified: true, account: { nonce: 0n } });
    const slots = scene.storage(SLOT, word(0));
    const stored = scene.state(ADDRESS, scene.account(slots.root, Uint8Array.of(1)));
    const given = { accountProof: present(stored, ADDRESS), storageProofs: [present(slots, SLOT)] };
    expect(verify(given, stored)).toMatchObject({
      reason: 'ZERO_SLOT_STORED',
      at: 'storageProofs[0].proof.value',
    });
  });

  it('checks each node of a slot, though the one before it has the same', () => {
    const [slot] = answer.storageProofs;
    // Two objects: what is changed in the second is not changed in the first.
    const twice = { ...answer, storageProofs: [slot!, structuredClone(slot!)] };
    const verifyTwice = (changes: Changes) => verify(changed(twice, changes), state, [SLOT, SLOT]);
    expect(verifyTwice({})).toMatchObject({ verified: true });
    const list = twice.storageProofs[1]!.proof.proofRelatedNodes;
    for (const [entry, hex] of list.entries()) {
      const other = `${hex.slice(0, -1)}${hex.endsWith('1') ? '2' : '1'}`;
      if (entry === 40 && hex.length === 66) continue;
      const path = `storageProofs[1].proof.proofRelatedNodes[${entry}]`;
      expect([entry, verifyTwice({ [path]: other }).verified]).toEqual([entry, false]);
    }
  });
});

describe('a hasher that fails for another reason', () => {
  it('ends the check with its error', () => {
    const failing = () => {
      throw new RangeError('out of memory');
    };
    expect(() => orNotCanonical(failing, 'proof')).toThrow(RangeError);
    const scene = lineaAnswerScene('mimc');
    const request = { address: ADDRESS, storageKeys: [], stateRoot: scene.empty.root };
    const answer = { accountProof: scene.absent(scene.empty, ADDRESS), storageProofs: [] };
    const hasher = { ...scene.hasher, hashMany: failing };
    expect(() => verifyLineaProof(hasher, request, answer)).toThrow(RangeError);
  });
});
