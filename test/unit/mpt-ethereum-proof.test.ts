import { RLP } from '@ethereumjs/rlp';
import { keccak_256 } from '@noble/hashes/sha3.js';
import { describe, expect, it } from 'vitest';
import { EMPTY_CODE_HASH, EMPTY_TRIE_ROOT } from '../../src/ethereum/constants.js';
import { bytesToHex, hexToBytes } from '../../src/primitives/hex.js';
import { verifyEthereumProof } from '../../src/proof/ethereum-proof.js';
import { anchorSlots } from '../../src/proof/l1-anchor.js';
import { bitFlips, type Json } from '../support/damage.js';
import { address, getProof, rollupState, word } from '../support/ethereum-tries.js';
import { fixtureBytes, fixtureJson, hasFixture } from '../support/fixtures.js';
import { outcome } from '../support/refusal.js';

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
    const [current, root] = anchorSlots(rollup, 10) as [Uint8Array, Uint8Array];
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
