import { keccak_256 } from '@noble/hashes/sha3.js';
import { describe, expect, it } from 'vitest';
import { EMPTY_CODE_HASH } from '../../src/ethereum/constants.js';
import { StateTrie } from '../../src/ethereum/state-trie.js';
import { bigIntToBytes, bytesToKey } from '../../src/primitives/bytes.js';
import { bytesToHex, type Hex, hexToBytes } from '../../src/primitives/hex.js';
import { type AccountRequest, hasNoCode, verifyAccounts, verifyCode } from '../../src/proof/ethereum-proof.js';
import { formatTrieProof } from '../../src/rpc/schema/format.js';
import { bitFlips, type Json, shapeEdits } from '../support/damage.js';
import { fixtureBytes, fixtureJson, hasFixture } from '../support/fixtures.js';
import { acceptedUnder, changedUnder } from '../support/refusal.js';

const word = (value: bigint) => bigIntToBytes(value, 32);
const address = (byte: number) => new Uint8Array(20).fill(byte);
const code = Uint8Array.of(0x60, 0x01, 0x60, 0x02);
const reasonOf = (verdict: { verified: boolean; reason?: string; at?: string; index?: number }) =>
  verdict.verified ? 'accepted' : `${verdict.reason} ${verdict.at} of ${verdict.index}`;

/** A state whose tries patricia-trie.test.ts compares with those of @ethereumjs/mpt, and what a node answers to these requests. */
async function scene() {
  const trie = new StateTrie();
  const plain = (byte: number) => ({
    address: address(byte),
    account: { nonce: BigInt(byte), balance: 10n ** 18n + BigInt(byte), codeHash: EMPTY_CODE_HASH },
    slots: [],
  });
  const slots = Array.from({ length: 40 }, (_, i) => ({ key: word(BigInt(i)), after: word(BigInt(i) * 7n + 1n) }));
  const stateRoot = await trie.write([
    { address: address(0xaa), account: { nonce: 1n, balance: 0n, codeHash: keccak_256(code) }, slots },
    ...Array.from({ length: 30 }, (_, i) => plain(i + 1)),
  ]);
  const requests: AccountRequest[] = [
    { address: address(0xaa), storageKeys: [word(3n), word(99n)] },
    { address: address(5), storageKeys: [] },
    { address: address(0xdd), storageKeys: [word(1n)] },
    { address: address(0xaa), storageKeys: [word(39n)] },
  ];
  const answers: Json[] = [];
  for (const { address: of, storageKeys } of requests) {
    const proof = await trie.prove(stateRoot, of, storageKeys);
    answers.push(formatTrieProof(of, proof, storageKeys.map(bytesToHex)) as Json);
  }
  return { stateRoot, requests, answers };
}

describe('a batch of eth_getProof', () => {
  it('gives accounts, slots, empty slots and missing accounts, merged by address', async () => {
    const { stateRoot, requests, answers } = await scene();
    const verdict = verifyAccounts(stateRoot, requests, answers);
    if (!verdict.verified) throw new Error(reasonOf(verdict));
    expect(verdict.accounts.size).toBe(3);
    const contract = verdict.accounts.get(bytesToKey(address(0xaa)))!;
    expect(contract.account).toMatchObject({ nonce: 1n, balance: 0n, codeHash: keccak_256(code) });
    expect([3n, 99n, 39n, 4n].map((slot) => contract.slots.get(bytesToKey(word(slot))))).toEqual([
      word(22n),
      word(0n),
      word(274n),
      undefined,
    ]);
    expect(verdict.accounts.get(bytesToKey(address(5)))!.account).toMatchObject({
      nonce: 5n,
      balance: 10n ** 18n + 5n,
    });
    const missing = verdict.accounts.get(bytesToKey(address(0xdd)))!;
    expect(missing.account).toBeUndefined();
    expect(missing.slots.get(bytesToKey(word(1n)))).toEqual(word(0n));
  });

  it('is refused as a whole for one lie, which is named', async () => {
    const { stateRoot, requests, answers } = await scene();
    const lie = (index: number, changes: object) =>
      reasonOf(
        verifyAccounts(
          stateRoot,
          requests,
          answers.map((a, i) => (i === index ? { ...(a as object), ...changes } : a)),
        ),
      );
    const [contract, plain, missing] = answers as unknown as {
      accountProof: Hex[];
      storageProof: { proof: Hex[] }[];
    }[];
    const slot = (index: number, changes: object) => ({
      storageProof: contract!.storageProof.map((item, i) => (i === index ? { ...item, ...changes } : item)),
    });
    expect(lie(0, {})).toBe('accepted');
    expect(lie(0, slot(0, { value: '0x17' }))).toBe('VALUE_MISMATCH storageProof[0].value of 0');
    expect(lie(0, slot(0, { value: '0x0', proof: [] }))).toBe('NODE_MISSING storageProof[0].proof of 0');
    expect(lie(0, slot(1, { value: '0x1' }))).toBe('VALUE_MISMATCH storageProof[1].value of 0');
    expect(lie(0, slot(0, contract!.storageProof[1]!))).toBe('KEY_MISMATCH storageProof[0].key of 0');
    expect(lie(0, { storageProof: [] })).toBe('SLOT_COUNT_MISMATCH storageProof of 0');
    expect(lie(1, { balance: '0x1' })).toBe('VALUE_MISMATCH balance of 1');
    expect(lie(1, { nonce: '0x6' })).toBe('VALUE_MISMATCH nonce of 1');
    expect(lie(1, { codeHash: bytesToHex(keccak_256(code)) })).toBe('VALUE_MISMATCH codeHash of 1');
    expect(lie(1, { storageHash: bytesToHex(word(1n)) })).toBe('VALUE_MISMATCH storageHash of 1');
    expect(lie(1, { ...missing, address: undefined, accountProof: plain!.accountProof })).toMatch(/^VALUE_MISMATCH/);
    expect(lie(1, { accountProof: missing!.accountProof })).toBe('NODE_MISSING accountProof of 1');
    expect(lie(1, { accountProof: [] })).toBe('NODE_MISSING accountProof of 1');
    expect(lie(2, { accountProof: plain!.accountProof })).toMatch(/of 2$/);
    expect(lie(3, { address: bytesToHex(address(0xab)) })).toBe('KEY_MISMATCH address of 3');
    const elsewhere = verifyAccounts(word(1n), requests, answers);
    expect(elsewhere).toMatchObject({ reason: 'NODE_HASH_MISMATCH', index: 0, address: address(0xaa) });
    expect(() => verifyAccounts(stateRoot, requests, answers.slice(1))).toThrow(
      expect.objectContaining({
        code: 'INVALID_LENGTH',
        message: '3 answers for 4 requests',
        details: { what: 'answers', expected: '4', actual: 3 },
      }),
    );
  });

  it('is refused with any bit flipped; no other shape changes what is shown', async () => {
    const { stateRoot, requests, answers } = await scene();
    const judged = () => verifyAccounts(stateRoot, requests, answers);
    expect(acceptedUnder(bitFlips(answers, 2), judged)).toEqual([]);
    expect(changedUnder(shapeEdits(answers), judged)).toEqual([]);
  });

  it.skipIf(!hasFixture('execution-apis/chain.rlp'))('of geth, as recorded, against the root of the head', () => {
    const text = new TextDecoder().decode(fixtureBytes('execution-apis/eth_getProof/get-account-proof-blockhash.io'));
    const line = (mark: string) =>
      JSON.parse(
        text
          .split('\n')
          .find((l) => l.startsWith(mark))!
          .slice(2),
      );
    const [of, keys, block] = line('>>').params as [Hex, Hex[], Hex];
    expect(block).toBe(
      fixtureJson<{ params: { headBlockHash: Hex }[] }>('execution-apis/headfcu.json').params[0]!.headBlockHash,
    );
    const header = new TextDecoder().decode(fixtureBytes('execution-apis/eth_getBlockByNumber/get-safe.io'));
    const head = JSON.parse(
      header
        .split('\n')
        .find((l) => l.startsWith('<<'))!
        .slice(2),
    ).result;
    expect(head.hash).toBe(block);
    const storageKeys = keys.map((key) => bigIntToBytes(BigInt(key), 32));
    const verdict = verifyAccounts(
      hexToBytes(head.stateRoot),
      [{ address: hexToBytes(of), storageKeys }],
      [line('<<').result],
    );
    expect(reasonOf(verdict)).toBe('accepted');
  });
});

describe('byte code', () => {
  it('is taken by its hash alone', () => {
    expect(verifyCode(keccak_256(code), bytesToHex(code))).toEqual({ verified: true, code });
    expect(verifyCode(EMPTY_CODE_HASH, '0x')).toEqual({ verified: true, code: new Uint8Array(0) });
    for (const other of ['0x', '0x60016003', '0x6001600200']) {
      expect(verifyCode(keccak_256(code), other)).toEqual({
        verified: false,
        reason: 'CODE_HASH_MISMATCH',
        at: '',
        message: 'the code does not have the hash of the account',
      });
    }
    expect(() => verifyCode(new Uint8Array(20), '0x')).toThrow('code hash: expected 32 bytes, got 20');
    expect(() => verifyCode(EMPTY_CODE_HASH, null)).toThrow('malformed proof: the answer is not hex text');
    for (const other of [null, '60016002', '0x6001600', {}]) {
      expect(() => verifyCode(keccak_256(code), other)).toThrow(/malformed/);
    }
    expect([hasNoCode(EMPTY_CODE_HASH), hasNoCode(keccak_256(code))]).toEqual([true, false]);
  });
});
