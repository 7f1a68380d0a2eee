import { RLP } from '@ethereumjs/rlp';
import { keccak_256 } from '@noble/hashes/sha3.js';
import { describe, expect, it } from 'vitest';
import { EMPTY_CODE_HASH, EMPTY_TRIE_ROOT } from '../../src/ethereum/constants.js';
import { StateTrie } from '../../src/ethereum/state-trie.js';
import type { RollupContract } from '../../src/networks/network.js';
import { bigIntToBytes, bytesToBigInt } from '../../src/primitives/bytes.js';
import { bytesToHex, hexToBytes } from '../../src/primitives/hex.js';
import { verifyEthereumProof } from '../../src/proof/ethereum/ethereum-proof.js';
import { anchorSlots, verifyL1Anchor } from '../../src/proof/ethereum/l1-anchor.js';
import { bitFlips, type Json } from '../support/damage.js';
import { fixtureBytes, fixtureJson, hasFixture } from '../support/fixtures.js';
import { outcome } from '../support/refusal.js';

const word = (value: bigint) => bigIntToBytes(value, 32);
const address = (byte: number) => new Uint8Array(20).fill(byte);

async function rollupState() {
  const trie = new StateTrie();
  const rollup: RollupContract = {
    address: bytesToHex(address(0xaa)) as `0x${string}`,
    currentBlockSlot: 0x119n,
    stateRootsSlot: 0x11an,
  };
  const slots = [
    { key: word(0x119n), after: word(30n) },
    { key: anchorSlots(rollup, 10)[1], after: word(0xabcdn) },
    { key: anchorSlots(rollup, 40)[1], after: word(0xef01n) },
  ];
  const codeHash = keccak_256(Uint8Array.of(1, 2, 3));
  const stateRoot = await trie.write([
    { address: address(0xaa), account: { nonce: 1n, balance: 0n, codeHash }, slots },
    { address: address(0xbb), account: { nonce: 300n, balance: 10n ** 22n, codeHash: EMPTY_CODE_HASH }, slots: [] },
    { address: address(0xcc), account: { nonce: 0n, balance: 1n, codeHash: EMPTY_CODE_HASH }, slots: [] },
  ]);
  return { trie, rollup, stateRoot };
}

/** `eth_getProof` in its wire form. */
async function getProof(trie: StateTrie, root: Uint8Array, of: Uint8Array, keys: readonly Uint8Array[]) {
  const { accountProof, storage } = await trie.prove(root, of, keys);
  return {
    accountProof: accountProof.map(bytesToHex),
    storageProof: storage.map(({ key, value, proof }) => ({
      key: `0x${bytesToBigInt(key).toString(16)}`,
      value: `0x${value.toString(16)}`,
      proof: proof.map(bytesToHex),
    })),
  };
}

describe('verifyEthereumProof on tries that patricia-trie.test.ts compares with @ethereumjs/mpt', () => {
  it('accepts accounts with storage, without storage, and missing ones', async () => {
    const { trie, rollup, stateRoot } = await rollupState();
    const storageKeys = [...anchorSlots(rollup, 10), word(5n)];
    const check = async (of: Uint8Array) =>
      verifyEthereumProof({ address: of, storageKeys, stateRoot }, await getProof(trie, stateRoot, of, storageKeys));
    const values = (numbers: bigint[]) =>
      numbers.map((n, i) => ({ key: storageKeys[i], value: word(n), exists: n !== 0n }));
    expect(await check(address(0xaa))).toMatchObject({
      verified: true,
      account: { nonce: 1n },
      slots: values([30n, 0xabcdn, 0n]),
    });
    expect(await check(address(0xbb))).toMatchObject({
      verified: true,
      account: { nonce: 300n, balance: 10n ** 22n, codeHash: EMPTY_CODE_HASH },
      slots: values([0n, 0n, 0n]),
    });
    expect(await check(address(0xdd))).toEqual({ verified: true, account: undefined, slots: values([0n, 0n, 0n]) });
  });

  it('requires one storage proof for each requested slot, no fewer and no more', async () => {
    const { trie, rollup, stateRoot } = await rollupState();
    const storageKeys = [...anchorSlots(rollup, 10)];
    const answer = await getProof(trie, stateRoot, address(0xaa), storageKeys);
    const judge = (storageProof: unknown[]) =>
      outcome(() =>
        verifyEthereumProof({ address: address(0xaa), storageKeys, stateRoot }, { ...answer, storageProof }),
      );
    const [first, second] = answer.storageProof;
    expect(judge([first, second])).toBe('accepted');
    for (const others of [[], [first], [first, second, second]]) expect(judge(others)).toBe('SLOT_COUNT_MISMATCH');
  });

  it('accepts slots in any order, one proof for a key that is requested twice, none for a missing account', async () => {
    const { trie, rollup, stateRoot } = await rollupState();
    const [current, root] = anchorSlots(rollup, 10);
    const storageKeys = [root, word(5n), current, root];
    const judge = async (of: Uint8Array, change: (slots: { value: string }[]) => unknown[]) => {
      const answer = await getProof(trie, stateRoot, of, storageKeys);
      const request = { address: of, storageKeys, stateRoot };
      return verifyEthereumProof(request, { ...answer, storageProof: change(answer.storageProof) });
    };
    const slots = [0xabcdn, 0n, 30n, 0xabcdn].map((n, i) => ({ key: storageKeys[i], value: word(n), exists: n > 0n }));
    for (const change of [
      ([r, five, c]: unknown[]) => [five, c, r],
      ([r, five, c, again]: unknown[]) => [c, again, r, five],
    ])
      expect(await judge(address(0xaa), change)).toMatchObject({ verified: true, slots });
    expect(await judge(address(0xdd), () => [])).toEqual({
      verified: true,
      account: undefined,
      slots: storageKeys.map((key) => ({ key, value: word(0n), exists: false })),
    });
    // Erigon has null for no nodes (erigontech/erigon#17801).
    const withNull = (all: { value: string }[]) => all.map((slot) => ({ ...slot, proof: null }));
    expect(await judge(address(0xdd), withNull)).toMatchObject({ verified: true, account: undefined });
    expect(await judge(address(0xaa), withNull)).toMatchObject({ verified: false, reason: 'NODE_MISSING' });
    // An account that is there has to show its slots, every entry has to hold, and none may be left out for another.
    const refusals: [Uint8Array, (slots: { value: string }[]) => unknown[], string][] = [
      [address(0xaa), () => [], 'SLOT_COUNT_MISMATCH'],
      [address(0xbb), () => [], 'SLOT_COUNT_MISMATCH'],
      [address(0xaa), ([r, , c]) => [c, r], 'SLOT_COUNT_MISMATCH'],
      [address(0xaa), ([r, five]) => [r, five, r], 'KEY_MISMATCH'],
      [address(0xaa), ([r, five, c]) => [r, five, c, { ...r!, value: '0x1' }], 'VALUE_MISMATCH'],
      [address(0xaa), ([r, five, c]) => [{ ...r!, key: '0x6' }, five, c], 'KEY_MISMATCH'],
    ];
    for (const [of, change, reason] of refusals)
      expect(await judge(of, change)).toMatchObject({ verified: false, reason });
  });

  it('says where, and what differs', async () => {
    const { trie, rollup, stateRoot } = await rollupState();
    const storageKeys = [...anchorSlots(rollup, 10)];
    const answer = await getProof(trie, stateRoot, address(0xaa), storageKeys);
    const [first, second] = answer.storageProof;
    const verdict = (changes: object) =>
      verifyEthereumProof({ address: address(0xaa), storageKeys, stateRoot }, { ...answer, ...changes });
    const slots = (...storageProof: unknown[]) => ({ storageProof });
    const refusals: [object, string, string, string][] = [
      [{ address: bytesToHex(address(0xab)) }, 'KEY_MISMATCH', 'address', 'is not the requested address'],
      [{ balance: '0x1' }, 'VALUE_MISMATCH', 'balance', 'differs from what the account proof proves'],
      [{ nonce: '0x2' }, 'VALUE_MISMATCH', 'nonce', 'differs from what the account proof proves'],
      [slots(), 'SLOT_COUNT_MISMATCH', 'storageProof', '0 storage proofs, expected 2'],
      [slots(first, { ...second, key: '0x6' }), 'KEY_MISMATCH', 'storageProof[1].key', 'is not a requested slot'],
      [slots(first, first), 'KEY_MISMATCH', 'storageProof[1].key', 'is another slot; the requested one is missing'],
      [
        slots({ ...first, value: '0x1f' }, second),
        'VALUE_MISMATCH',
        'storageProof[0].value',
        'differs from what the proof proves',
      ],
      [
        slots({ ...first, proof: [] }, second),
        'NODE_MISSING',
        'storageProof[0].proof',
        'ends after 0 nodes, but the path goes on',
      ],
    ];
    for (const [changes, reason, at, message] of refusals) {
      expect(verdict(changes)).toEqual({ verified: false, reason, at, message });
    }
    const malformed: [object, string][] = [
      [{ address: 5 }, 'address is not 0x and 1 to 64 hex digits'],
      [{ nonce: '' }, 'nonce is not 0x and 1 to 64 hex digits'],
      [{ balance: '1' }, 'balance is not 0x and 1 to 64 hex digits'],
      [{ codeHash: '0x12' }, 'codeHash has 1 bytes, expected 32'],
      [{ storageHash: '0x' }, 'storageHash has 0 bytes, expected 32'],
      [{ accountProof: {} }, 'accountProof is not a list'],
      [{ accountProof: ['0x', 5] }, 'accountProof[1] is not hex text'],
      [{ storageProof: 1 }, 'storageProof is not a list'],
      [slots(first, 1), 'storageProof[1] is not an object'],
      [slots({ ...first, key: 1 }), 'storageProof[0].key is not 0x and 1 to 64 hex digits'],
      [slots({ ...first, value: '' }), 'storageProof[0].value is not 0x and 1 to 64 hex digits'],
      [slots({ ...first, proof: 7 }), 'storageProof[0].proof is not a list'],
    ];
    for (const [changes, problem] of malformed) {
      expect(() => verdict(changes)).toThrow(
        expect.objectContaining({ code: 'PROOF_MALFORMED', message: `malformed proof: ${problem}` }),
      );
    }
    expect(() => verifyEthereumProof({ address: address(0xaa), storageKeys, stateRoot }, null)).toThrow(
      'malformed proof: the answer is not an object',
    );
  });

  it('compares what an answer says of a missing account and its slots', async () => {
    const { trie, stateRoot } = await rollupState();
    const request = { address: address(0xdd), storageKeys: [word(1n)], stateRoot };
    const answer = await getProof(trie, stateRoot, address(0xdd), request.storageKeys);
    const judge = (changes: object) => outcome(() => verifyEthereumProof(request, { ...answer, ...changes }));
    // Geth has zero hashes there, Besu those of no code and no storage.
    for (const codeHash of [bytesToHex(word(0n)), bytesToHex(EMPTY_CODE_HASH)]) {
      for (const storageHash of [bytesToHex(word(0n)), bytesToHex(EMPTY_TRIE_ROOT)]) {
        expect(judge({ codeHash, storageHash, nonce: '0x0', balance: '0x0' })).toBe('accepted');
      }
    }
    expect(judge({ codeHash: bytesToHex(word(1n)) })).toBe('VALUE_MISMATCH');
    expect(judge({ storageHash: bytesToHex(word(1n)) })).toBe('VALUE_MISMATCH');
    expect(judge({ nonce: '0x1' })).toBe('VALUE_MISMATCH');
    expect(judge({ storageProof: [{ key: '0x1', value: '0x1', proof: [] }] })).toBe('VALUE_MISMATCH');
    expect(judge({ storageProof: [{ key: '0x2', value: '0x0', proof: [] }] })).toBe('KEY_MISMATCH');
  });

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
    for (const value of [
      RLP.encode(none),
      RLP.encode([]),
      Uint8Array.of(0xf8, 1, 2),
      RLP.encode(Uint8Array.of(0, 1)),
    ]) {
      const slot = leaf(word(1n), value);
      expect(judge(fields(none, none, keccak_256(slot), EMPTY_CODE_HASH), slot)).toEqual({
        ...refused,
        at: 'storageProof[0].proof',
        message: 'the value in the trie is not a slot value',
      });
    }
  });

  it('verifies the anchor: finalized, not a last block, above the newest, contract missing', async () => {
    const { trie, rollup, stateRoot } = await rollupState();
    const anchor = async (block: number, contract = rollup) => {
      const of = hexToBytes(contract.address);
      const answer = await getProof(trie, stateRoot, of, anchorSlots(contract, block));
      return verifyL1Anchor({ l1StateRoot: stateRoot, rollup: contract, l2BlockNumber: block }, answer);
    };
    expect(await anchor(10)).toEqual({
      verified: true,
      l2BlockNumber: 10,
      stateRoot: word(0xabcdn),
      currentL2BlockNumber: 30n,
    });
    expect(await anchor(11)).toEqual({
      verified: false,
      reason: 'NO_FINALIZATION_AT_BLOCK',
      at: 'storageProof[1].value',
      message: 'no finalization ended at block 11',
    });
    expect(await anchor(40)).toEqual({
      verified: false,
      reason: 'BLOCK_NOT_FINALIZED',
      at: 'storageProof[0].value',
      message: 'the newest finalized block is 30',
    });
    expect(await anchor(0)).toMatchObject({ reason: 'NO_FINALIZATION_AT_BLOCK' });
    // The newest block is final itself.
    expect(await anchor(30)).toMatchObject({ reason: 'NO_FINALIZATION_AT_BLOCK' });
    const slots = anchorSlots(rollup, 10);
    const answer = await getProof(trie, stateRoot, hexToBytes(rollup.address), slots);
    const elsewhere = { l1StateRoot: word(1n), rollup, l2BlockNumber: 10 };
    expect(verifyL1Anchor(elsewhere, answer)).toMatchObject({ verified: false, at: 'accountProof[0]' });
    for (const block of [-1, 1.5, Number.NaN, 2 ** 53]) {
      await expect(anchor(block)).rejects.toMatchObject({
        code: 'OUT_OF_RANGE',
        message: `l2BlockNumber must be an integer from 0 to 2^53 - 1, got ${block}`,
        details: { what: 'l2BlockNumber', value: `${block}`, limit: 'an integer from 0 to 2^53 - 1' },
      });
    }
    const missing = { ...rollup, address: bytesToHex(address(0xdd)) as `0x${string}` };
    expect(await anchor(10, missing)).toEqual({
      verified: false,
      reason: 'CONTRACT_MISSING',
      at: 'accountProof',
      message: 'there is no account at the address of the rollup contract',
    });
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
    expect(check(Uint8Array.of(0x80), '0x0')).toBe('VALUE_INVALID');
    expect(check(Uint8Array.of(0), '0x0')).toBe('VALUE_INVALID');
    expect(check(Uint8Array.of(0x82, 0, 1), '0x1')).toBe('VALUE_INVALID');
    expect(check(Uint8Array.of(0x81, 1), '0x1')).toBe('VALUE_INVALID');
    expect(check(RLP.encode(new Uint8Array(33).fill(1)), '0x1')).toBe('VALUE_INVALID');
    expect(check(RLP.encode([Uint8Array.of(1)]), '0x1')).toBe('VALUE_INVALID');
  });
});

describe.skipIf(!hasFixture('execution-apis/chain.rlp'))('eth_getProof as recorded by the execution-apis suite', () => {
  const PATH = 'execution-apis/eth_getProof/get-account-proof-blockhash.io';

  /** State root of the head, out of the chain itself. */
  function headStateRoot(): Uint8Array {
    let rest: Uint8Array = fixtureBytes('execution-apis/chain.rlp');
    let header: Uint8Array[] = [];
    while (rest.length > 0) {
      const { data, remainder } = RLP.decode(rest, true);
      header = (data as unknown as Uint8Array[][])[0]!;
      rest = remainder;
    }
    const { params } = fixtureJson<{ params: [{ headBlockHash: string }] }>('execution-apis/headfcu.json');
    expect(bytesToHex(keccak_256(RLP.encode(header)))).toBe(params[0].headBlockHash);
    return header[3]!;
  }

  it('is verified against the head of the chain, and refused when damaged', () => {
    const lines = new TextDecoder().decode(fixtureBytes(PATH)).split('\n');
    const line = (mark: string) => JSON.parse(lines.find((text) => text.startsWith(mark))!.slice(3));
    const of = hexToBytes(line('>> ').params[0]);
    const { result } = line('<< ');
    const request = { address: of, storageKeys: [], stateRoot: headStateRoot() };
    const verdict = verifyEthereumProof(request, result);
    expect(verdict).toMatchObject({
      verified: true,
      account: {
        nonce: BigInt(result.nonce),
        balance: BigInt(result.balance),
        storageRoot: hexToBytes(result.storageHash),
        codeHash: hexToBytes(result.codeHash),
      },
    });
    for (const place of bitFlips(result as Json)) {
      expect(
        outcome(() => verifyEthereumProof(request, result)),
        place,
      ).not.toBe('accepted');
    }
  });
});
