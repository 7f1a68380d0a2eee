import { secp256k1 } from '@noble/curves/secp256k1.js';
import { keccak_256 } from '@noble/hashes/sha3.js';
import { describe, expect, it } from 'vitest';
import { type MaruFile, restAnswers } from '../../conformance/maru.js';
import { loadSignerRecovery } from '../../src/ethereum/signer.js';
import { bytesToHex, hexToBytes } from '../../src/primitives/hex.js';
import { verifyHeader } from '../../src/proof/headers.js';
import { verifyMaruAnswers, verifyMaruBlock, verifyMaruPayload } from '../../src/proof/seals.js';
import { type Changes, changed } from '../support/changed.js';
import { fixtureJson } from '../support/fixtures.js';

await loadSignerRecovery();

const { block, validators, executionHeader, expected } = fixtureJson<MaruFile>(
  'headers/maru-sealed-blocks-generated.json',
).valid[1]!;
const rest = restAnswers(block);
const set = validators.map((address) => hexToBytes(address));
const verify = (inBlock: Changes, inHeader: Changes = {}) =>
  verifyMaruAnswers(changed(rest.block, inBlock), changed(rest.header, inHeader), set);
const refusal = (reason: string, at: string, message: string) => ({ verified: false, reason, at, message });
const decimal = 'is not a decimal integer';
const message = 'data.message';
const payload = `${message}.body.execution_payload`;
const seals = `${message}.body.attestations`;

describe('an answer of Maru', () => {
  it.each<[Changes, string]>([
    [{ data: 3 }, 'data is not an object'],
    [{ 'data.message': 3 }, `${message} is not an object`],
    [{ [`${message}.slot`]: 5 }, `${message}.slot ${decimal}`],
    [{ [`${message}.slot`]: '05' }, `${message}.slot ${decimal}`],
    [{ [`${message}.slot`]: 'x5' }, `${message}.slot ${decimal}`],
    [{ [`${message}.slot`]: '5x' }, `${message}.slot ${decimal}`],
    [{ [`${message}.slot`]: '1'.repeat(79) }, `${message}.slot ${decimal}`],
    [{ [`${message}.slot`]: '9007199254740992' }, `${message}.slot is above 2^53 - 1`],
    [{ [`${message}.round`]: '4294967296' }, `${message}.round is not below 2^32`],
    [{ [`${message}.timestamp`]: '' }, `${message}.timestamp ${decimal}`],
    [{ [`${message}.proposer_index`]: '0x' }, `${message}.proposer_index has 0 bytes, expected 20`],
    [{ [`${message}.body_root`]: '0x' }, `${message}.body_root has 0 bytes, expected 32`],
  ])('about a header is malformed with %j', (changes, words) => {
    expect(() => verify({}, changes)).toThrow(`malformed proof: ${words}`);
  });

  it.each<[Changes, string]>([
    [{ [`${message}.slot`]: 'x' }, `${message}.slot ${decimal}`],
    [{ [`${message}.proposer_index`]: '0x' }, `${message}.proposer_index has 0 bytes, expected 20`],
    [{ [`${message}.parent_root`]: '0x' }, `${message}.parent_root has 0 bytes, expected 32`],
    [{ [`${message}.body`]: 3 }, `${message}.body is not an object`],
    [{ [payload]: 3 }, `${payload} is not an object`],
    [{ [`${payload}.block_number`]: 'x' }, `${payload}.block_number ${decimal}`],
    [{ [`${payload}.timestamp`]: 'x' }, `${payload}.timestamp ${decimal}`],
    [{ [`${payload}.gas_limit`]: `${2n ** 64n}` }, `${payload}.gas_limit is not below 2^64`],
    [{ [`${payload}.base_fee_per_gas`]: `${2n ** 256n}` }, `${payload}.base_fee_per_gas is not below 2^256`],
    [{ [`${payload}.logs_bloom`]: '0x' }, `${payload}.logs_bloom has 0 bytes, expected 256`],
    [{ [`${payload}.transactions`]: 3 }, `${payload}.transactions is not a list`],
    [{ [`${payload}.transactions`]: ['0x', 3] }, `${payload}.transactions[1] is not hex text`],
    [{ [seals]: 3 }, `${seals} is not a list`],
    [{ [`${seals}[1]`]: 3 }, `${seals}[1] is not an object`],
    [{ [`${seals}[1].data`]: 3 }, `${seals}[1].data is not an object`],
    [{ [`${seals}[1].data.slot`]: 'x' }, `${seals}[1].data.slot ${decimal}`],
    [
      { [`${seals}[1].data.slot`]: '0' },
      `${seals}[1].data.slot is neither the slot of the block nor that of its parent`,
    ],
    [{ [`${seals}[1].signature`]: '0x' }, `${seals}[1].signature has 0 bytes, expected 65`],
  ])('about a block is malformed with %j', (changes, words) => {
    expect(() => verify(changes)).toThrow(`malformed proof: ${words}`);
  });

  it('is an object, and of the same block as the other', () => {
    expect(() => verifyMaruAnswers(null, rest.header, set)).toThrow('malformed proof: the answer is not an object');
    expect(verify({ [`${message}.state_root`]: bytesToHex(new Uint8Array(32)) })).toEqual(
      refusal('ANSWERS_DIFFER', `${message}.state_root`, 'differs from that in the header answer'),
    );
  });
});

describe('a sealed block', () => {
  const verdict = verify({});
  if (!verdict.verified) throw new Error(verdict.reason);
  const { block: sealed, hash } = verdict;
  const check = (changes: Partial<typeof sealed>, by = set) => verifyMaruBlock({ ...sealed, ...changes }, by);

  it('is refused with what is wrong of its body, its validators or its seals', () => {
    expect(check({ parentSeals: [] })).toEqual(
      refusal('BODY_ROOT_MISMATCH', 'header.bodyRoot', 'is not the hash of the body'),
    );
    const words = 'does not match this header with these validators';
    expect(check({}, [new Uint8Array(20)])).toEqual(refusal('STATE_ROOT_MISMATCH', 'header.stateRoot', words));
    expect(() => check({}, [new Uint8Array(19)])).toThrow('validator: expected 20 bytes, got 19');
    expect(check({ commitSeals: [new Uint8Array(65)] })).toEqual(
      refusal('SEAL_INVALID', 'commitSeals[0]', 'is not a valid signature'),
    );
    const key = new Uint8Array(32).fill(9);
    const signature = secp256k1.sign(hash, key, { prehash: false, format: 'recovered' });
    const signer = bytesToHex(keccak_256(secp256k1.getPublicKey(key, false).subarray(1)).subarray(12));
    const stranger = new Uint8Array([...signature.subarray(1), signature[0]!]);
    expect(check({ commitSeals: [stranger] })).toEqual(
      refusal('SEAL_BY_STRANGER', 'commitSeals[0]', `is by ${signer}, which is not a validator`),
    );
    expect(check({ commitSeals: [] })).toEqual(
      refusal('QUORUM_SHORT', 'commitSeals', `0 of ${set.length} validators sealed, ${expected.quorum} must`),
    );
  });

  it('binds its execution header with the words for what differs', () => {
    const execution = verifyHeader({ ...executionHeader, hash: expected.executionBlockHash });
    if (!execution.verified) throw new Error(execution.reason);
    const bound = (changes: object) => verifyMaruPayload({ ...sealed.payload, ...changes }, execution);
    expect(bound({})).toEqual({ verified: true });
    expect(bound({ blockHash: hash })).toEqual(
      refusal('OTHER_BLOCK', 'payload.blockHash', 'is not the hash of the header'),
    );
    expect(bound({ gasUsed: -1n })).toEqual(refusal('FIELD_MISMATCH', 'payload.gasUsed', 'differs from the header'));
    expect(bound({ transactions: [new Uint8Array(1)] })).toEqual(
      refusal('TRANSACTIONS_ROOT_MISMATCH', 'payload.transactions', 'do not have the root of the header'),
    );
  });
});
