import { RLP } from '@ethereumjs/rlp';
import { secp256k1 } from '@noble/curves/secp256k1.js';
import { keccak_256 } from '@noble/hashes/sha3.js';
import { describe, expect, it } from 'vitest';
import { type MaruBlockJson, type MaruFile, restAnswers } from '../../conformance/maru.js';
import { loadSignerRecovery } from '../../src/ethereum/signer.js';
import { bigIntToBytes, bytesToBigInt, compareBytes, concatBytes } from '../../src/primitives/bytes.js';
import { bytesToHex, hexToBytes } from '../../src/primitives/hex.js';
import { verifyHeader } from '../../src/proof/headers.js';
import {
  maruBodyRoot,
  maruHeaderHash,
  maruQuorum,
  maruStateRoot,
  type SealedMaruBlock,
  type VerifiedMaruBlock,
  verifyMaruAnswers,
  verifyMaruBlock,
  verifyMaruPayload,
} from '../../src/proof/seals.js';
import { bitFlips, shapeEdits } from '../support/damage.js';
import { fixtureJson } from '../support/fixtures.js';
import { acceptedUnder, outcome } from '../support/refusal.js';

await loadSignerRecovery();

const file = fixtureJson<MaruFile>('headers/maru-sealed-blocks-generated.json');
const reasonOf = (verdict: { verified: boolean; reason?: string; at?: string }) =>
  verdict.verified ? 'accepted' : `${verdict.reason} ${verdict.at}`;

const keys = [1, 2, 3, 4].map((byte) => new Uint8Array(32).fill(byte));
const validators = keys.map((key) => keccak_256(secp256k1.getPublicKey(key, false).subarray(1)).subarray(12));

/** `r | s | recovery id`, from the signing side of the library. */
function seal(hash: Uint8Array, key: Uint8Array): Uint8Array {
  const signature = secp256k1.sign(hash, key, { prehash: false, format: 'recovered' });
  return concatBytes(signature.subarray(1), signature.subarray(0, 1));
}

/** The other signature of the same key over the same hash: `s` negated, the parity turned. */
function mirrored(signature: Uint8Array): Uint8Array {
  const { n } = secp256k1.Point.CURVE();
  const s = n - bytesToBigInt(signature.subarray(32, 64));
  return concatBytes(signature.subarray(0, 32), bigIntToBytes(s, 32), Uint8Array.of(1 - signature[64]!));
}

/** A block of our own around the payload of a fixture, sealed by these keys. */
function sealedBlock(from: SealedMaruBlock, changes: Partial<SealedMaruBlock['header']>, payload = {}, signers = keys) {
  const body = { parentSeals: from.parentSeals, payload: { ...from.payload, ...payload } };
  const bare = { ...from.header, ...changes, bodyRoot: maruBodyRoot(body) };
  const header = { ...bare, stateRoot: maruStateRoot(bare, validators) };
  const hash = maruHeaderHash(header);
  return { ...body, header, commitSeals: signers.map((key) => seal(hash, key)) } satisfies SealedMaruBlock;
}

function fixtureBlock(index: number): VerifiedMaruBlock {
  const { block, validators: set } = file.valid[index]!;
  const rest = restAnswers(block);
  const verdict = verifyMaruAnswers(
    rest.block,
    rest.header,
    set.map((address) => hexToBytes(address)),
  );
  if (!verdict.verified) throw new Error(reasonOf(verdict));
  return verdict;
}

describe('the quorum', () => {
  it('is two thirds, rounded up', () => {
    expect([1, 2, 3, 4, 5, 6, 7, 9, 10].map(maruQuorum)).toEqual([1, 2, 2, 3, 4, 4, 5, 6, 7]);
  });
});

describe('a sealed block of Maru', () => {
  it('takes its quorum in any order, and refuses short, strange and spoilt seals', () => {
    const [b] = [fixtureBlock(1)];
    const block = sealedBlock(b.block, {});
    const stranger = seal(maruHeaderHash(block.header), new Uint8Array(32).fill(9));
    const [first, second, third, fourth] = block.commitSeals as [Uint8Array, Uint8Array, Uint8Array, Uint8Array];
    const check = (...commitSeals: Uint8Array[]) => reasonOf(verifyMaruBlock({ ...block, commitSeals }, validators));
    expect(check(first, second, third, fourth)).toBe('accepted');
    expect(check(fourth, second, first)).toBe('accepted');
    expect(check(first, second, third, first, first)).toBe('accepted');
    expect(check(first, second)).toBe('QUORUM_SHORT commitSeals');
    expect(check(first, second, second, second)).toBe('QUORUM_SHORT commitSeals');
    expect(check()).toBe('QUORUM_SHORT commitSeals');
    expect(check(first, second, mirrored(first))).toBe('QUORUM_SHORT commitSeals');
    expect(check(mirrored(first), second, third)).toBe('accepted');
    expect(check(first, second, third, stranger)).toBe('SEAL_BY_STRANGER commitSeals[3]');
    expect(check(first, second, third, new Uint8Array(65))).toBe('SEAL_INVALID commitSeals[3]');
    expect(check(first, second, third.subarray(0, 64))).toBe('SEAL_INVALID commitSeals[2]');
    expect(check(first, second, concatBytes(third.subarray(0, 64), Uint8Array.of(27)))).toBe(
      'SEAL_INVALID commitSeals[2]',
    );
    const seals = verifyMaruBlock({ ...block, commitSeals: [first, first, second, third] }, validators);
    expect(seals.verified && [...seals.signers].sort(compareBytes)).toEqual(validators.slice(0, 3).sort(compareBytes));
  });

  it('refuses an empty set of validators, a duplicate, and an address of another length', () => {
    const { block } = fixtureBlock(0);
    const set = file.valid[0]!.validators.map((address) => hexToBytes(address));
    expect(() => verifyMaruBlock(block, [])).toThrow('validators: must have at least one member');
    expect(() => verifyMaruBlock(block, [...set, ...set])).toThrow('validators: must name each member once');
    expect(() => verifyMaruBlock(block, [new Uint8Array(19)])).toThrow(/20 bytes/);
    expect(reasonOf(verifyMaruBlock(block, [...set, new Uint8Array(20)]))).toBe('STATE_ROOT_MISMATCH header.stateRoot');
  });

  it.each([
    [0n, '0x00'],
    [7n, '0x07'],
    [200n, '0x00c8'],
    [0x80ffn, '0x0080ff'],
    [0x7fffn, '0x7fff'],
  ] as const)('writes base fee %s as %s', (baseFeePerGas, bytes) => {
    const { block } = fixtureBlock(0);
    const p = { ...block.payload, baseFeePerGas };
    const u64 = (value: number | bigint) => hexToBytes(`0x${value.toString(16).padStart(16, '0')}`);
    const numbers = [u64(p.blockNumber), u64(p.gasLimit), u64(p.gasUsed), u64(p.timestamp)];
    const hashes = [p.parentHash, p.feeRecipient, p.stateRoot, p.receiptsRoot, p.logsBloom, p.prevRandao];
    const payload = [...hashes, ...numbers, p.extraData, hexToBytes(bytes), p.blockHash, [...p.transactions]];
    const body = RLP.encode([block.parentSeals.map((one) => [one]), payload]);
    expect(maruBodyRoot({ ...block, payload: p })).toEqual(keccak_256(body));
  });

  it('has the same state root in whatever order the validators are named', () => {
    const { block } = fixtureBlock(1);
    const set = file.valid[1]!.validators.map((address) => hexToBytes(address));
    for (const order of [set, [...set].reverse()]) {
      expect(bytesToHex(maruStateRoot(block.header, order))).toBe(file.valid[1]!.expected.stateRoot);
    }
  });

  it('is refused with any bit of its REST answers flipped that counts', () => {
    const { block, validators: set } = file.valid[1]!;
    const rest = restAnswers(block) as ReturnType<typeof restAnswers>;
    const answers = JSON.parse(JSON.stringify(rest));
    const verify = () =>
      verifyMaruAnswers(
        answers.block,
        answers.header,
        set.map((address) => hexToBytes(address)),
      );
    expect(outcome(verify)).toBe('accepted');
    expect(acceptedUnder(bitFlips(answers, 3), verify)).toEqual([]);
    // Maru's answers have members of a beacon block that mean nothing, so foreign ones are let be.
    const taken = acceptedUnder(shapeEdits(answers), verify);
    expect(taken.filter((name) => !name.endsWith('a foreign field'))).toEqual([]);
  });

  it('names what differs between its two answers', () => {
    const { block, validators: set } = file.valid[1]!;
    const [own, other] = [restAnswers(block), restAnswers(file.valid[0]!.block)];
    const addresses = set.map((address) => hexToBytes(address));
    expect(reasonOf(verifyMaruAnswers(own.block, other.header, addresses))).toBe('ANSWERS_DIFFER data.message.slot');
    const late = { ...block.header, number: (BigInt(block.header.number) + 2n).toString() };
    const elsewhere = restAnswers({ ...block, header: late } as MaruBlockJson);
    own.block.data.message.slot = late.number;
    expect(() => verifyMaruAnswers(own.block, elsewhere.header, addresses)).toThrow(/neither the slot of the block/);
  });

  it('binds the execution header of its payload and no other', () => {
    const [a, b] = [fixtureBlock(0), fixtureBlock(1)];
    const { executionHeader, expected } = file.valid[0]!;
    const execution = verifyHeader({ ...executionHeader, hash: expected.executionBlockHash });
    if (!execution.verified) throw new Error(execution.reason);
    const { payload } = a.block;
    expect(reasonOf(verifyMaruPayload(payload, execution))).toBe('accepted');
    expect(reasonOf(verifyMaruPayload(b.block.payload, execution))).toBe('OTHER_BLOCK payload.blockHash');
    const { transactions, blockHash: _, ...rest } = payload;
    for (const [name, value] of Object.entries(rest)) {
      const changed =
        value instanceof Uint8Array
          ? value.map((byte) => byte ^ 1)
          : typeof value === 'bigint'
            ? value + 1n
            : value + 1;
      const verdict = verifyMaruPayload({ ...payload, [name]: changed }, execution);
      expect(reasonOf(verdict)).toBe(`FIELD_MISMATCH payload.${name}`);
    }
    const fewer = verifyMaruPayload({ ...payload, transactions: transactions.slice(1) }, execution);
    expect(reasonOf(fewer)).toBe('TRANSACTIONS_ROOT_MISMATCH payload.transactions');
  });
});
