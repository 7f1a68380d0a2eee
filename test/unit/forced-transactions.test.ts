import { keccak_256 } from '@noble/hashes/sha3.js';
import { encodeFunctionData, parseAbi } from 'viem';
import { describe, expect, it } from 'vitest';
import { encodeToSign, encodeTransaction } from '../../src/ethereum/encode-transaction.js';
import { StateTrie } from '../../src/ethereum/state-trie.js';
import { loadHasher } from '../../src/kernel/hasher.js';
import { bytesToHex, hexToBytes } from '../../src/primitives/hex.js';
import {
  finalizedStateHash,
  forcedRollingHash,
  forcedTransactionCalldata,
  forcedTransactionDeadline,
  forcedTransactionRefusal,
  forcedTransactionSlots,
  type LastFinalizedState,
  livenessRecoveryTime,
  readForcedTransaction,
  verifyFinalizedState,
} from '../../src/proof/forced-transactions.js';
import { address, getProof, word } from '../support/ethereum-tries.js';

/** The first transaction that a production gateway took, on a chain of id 1337. */
const SIGNED = hexToBytes(
  '0x02f8768205398201e584150ccb328417b711698301b88094178de173c3ec3bfaac601398645594e202b0972087510e4df426ecc380c001a0cb474c3ac05fb38ec3fdc848926139d977e373710174e3d36092c7ad05471d1aa018315da012b1ce2299e1c079d48532778dab828d7fb68a7066c26f4493d949f2',
);
const UNSIGNED_HASH = hexToBytes('0x827068afd7bf65a55bc876ec471700e2d2760b19e797e4a93ca416c52c3e1b8d');
const SIGNER = hexToBytes('0x9b864a7c1f012cd1a16dd997292fcaaf1ff0a0e2');
const ROLLING_HASH = '0x0b7397925b7e62dfb8ec797255d5f2baef7eb9ae355daede2876a14af285eebe';
const STATE_HASH = '0x100d2219ffa477972ab1b84ae0e98c94ea8b10239137b2b1a44e3f59406c9467';
const ZERO = new Uint8Array(32);

const state: LastFinalizedState = {
  timestamp: 1_779_997_504n,
  messageNumber: 0n,
  messageRollingHash: ZERO,
  forcedTransactionNumber: 0n,
  forcedTransactionRollingHash: ZERO,
};
const outOfRange = { code: 'OUT_OF_RANGE' };
const invalidLength = (what: string, actual: number) => ({ code: 'INVALID_LENGTH', details: { what, actual } });
const rejected = (rule: string) => ({ code: 'TRANSACTION_REJECTED', details: { rule } });
/** What a body throws. */
function thrown(body: () => unknown): unknown {
  try {
    body();
  } catch (error) {
    return error;
  }
  throw new Error('nothing was thrown');
}

const fields = {
  nonce: 485n,
  maxPriorityFeePerGas: 353_159_986n,
  maxFeePerGas: 397_873_513n,
  gasLimit: 112_768n,
  to: address(1),
  value: 0n,
  data: new Uint8Array(),
};
const signature = { v: 1n, r: 1n, s: 1n };

describe('the finalized state', () => {
  it('has the hash of a production contract, and another one with each other member', () => {
    expect(bytesToHex(finalizedStateHash(state))).toBe(STATE_HASH);
    const others: Partial<LastFinalizedState>[] = [
      { timestamp: 0n },
      { messageNumber: 1n },
      { messageRollingHash: word(1n) },
      { forcedTransactionNumber: 1n },
      { forcedTransactionRollingHash: word(1n) },
    ];
    const hashes = others.map((other) => bytesToHex(finalizedStateHash({ ...state, ...other })));
    expect(new Set([STATE_HASH, ...hashes]).size).toBe(6);
  });

  it.each([
    ['a short rolling hash', { messageRollingHash: ZERO.subarray(1) }, invalidLength('messageRollingHash', 31)],
    [
      'a long forced rolling hash',
      { forcedTransactionRollingHash: new Uint8Array(33) },
      invalidLength('forcedTransactionRollingHash', 33),
    ],
    ['a negative number', { messageNumber: -1n }, outOfRange],
    ['a time of 2^256', { timestamp: 2n ** 256n }, outOfRange],
  ])('refuses %s', (_, change, error) => {
    const bad = { ...state, ...change };
    expect(thrown(() => finalizedStateHash(bad))).toMatchObject(error);
    expect(thrown(() => forcedTransactionCalldata({ transaction: SIGNED, lastFinalizedState: bad }))).toMatchObject(
      error,
    );
  });

  it('refuses numbers that have no slot', () => {
    expect(thrown(() => forcedTransactionSlots([1n, -1n]))).toMatchObject(outOfRange);
    expect(thrown(() => forcedTransactionSlots([2n ** 256n]))).toMatchObject(outOfRange);
    expect(forcedTransactionSlots()).toEqual([word(447n), word(450n), word(453n)]);
  });

  it('is verified against the proved slot', async () => {
    const trie = new StateTrie();
    const rollup = {
      address: bytesToHex(address(0xaa)) as `0x${string}`,
      currentBlockSlot: 281n,
      stateRootsSlot: 282n,
    };
    const numbers = [1n, 2n];
    const storageKeys = forcedTransactionSlots(numbers);
    const stored = [hexToBytes(STATE_HASH), word(2n), word(5n), word(957n), hexToBytes(ROLLING_HASH)];
    const account = { nonce: 1n, balance: 0n, codeHash: keccak_256(Uint8Array.of(1)) };
    const slots = stored.map((after, i) => ({ key: storageKeys[i]!, after }));
    const l1StateRoot = await trie.write([{ address: address(0xaa), account, slots }]);
    const answer = await getProof(trie, l1StateRoot, address(0xaa), storageKeys);
    const request = { l1StateRoot, rollup, lastFinalizedState: state, numbers };
    expect(verifyFinalizedState(request, answer)).toEqual({
      verified: true,
      nextNumber: 2n,
      fee: 5n,
      transactions: [
        { number: 1n, deadline: 957n, rollingHash: hexToBytes(ROLLING_HASH) },
        { number: 2n, deadline: 0n, rollingHash: ZERO },
      ],
    });
    const other = { ...request, lastFinalizedState: { ...state, timestamp: state.timestamp + 1n } };
    expect(verifyFinalizedState(other, answer)).toEqual({
      verified: false,
      reason: 'STATE_MISMATCH',
      at: 'storageProof[0].value',
      message: 'the rollup contract stores the hash of another finalized state',
    });
    const missing = { ...rollup, address: bytesToHex(address(0xdd)) as `0x${string}` };
    const absent = await getProof(trie, l1StateRoot, address(0xdd), storageKeys);
    expect(verifyFinalizedState({ ...request, rollup: missing }, absent)).toMatchObject({
      verified: false,
      reason: 'CONTRACT_MISSING',
    });
    expect(verifyFinalizedState({ ...request, l1StateRoot: word(1n) }, answer)).toMatchObject({
      verified: false,
      at: 'accountProof[0]',
    });
    expect(thrown(() => verifyFinalizedState(request, { ...answer, storageProof: undefined }))).toMatchObject({
      code: 'PROOF_MALFORMED',
    });
  });
});

describe('the rolling hash of forced transactions', () => {
  const one = { unsignedHash: UNSIGNED_HASH, deadline: 957n, signer: SIGNER };

  it('is that of a production gateway, with both builds', async () => {
    for (const build of ['simd', 'scalar'] as const) {
      const hasher = await loadHasher('mimc', { build });
      expect(bytesToHex(forcedRollingHash(hasher, ZERO, one))).toBe(ROLLING_HASH);
    }
  });

  it('takes a hash that is above the modulus', async () => {
    const hasher = await loadHasher('mimc');
    const unsignedHash = new Uint8Array(32).fill(0xff);
    expect(forcedRollingHash(hasher, ZERO, { ...one, unsignedHash })).toHaveLength(32);
  });

  it('refuses another scheme, lengths, and numbers that are no field elements', async () => {
    const hasher = await loadHasher('mimc');
    const poseidon2 = await loadHasher('poseidon2');
    expect(thrown(() => forcedRollingHash(poseidon2, ZERO, one))).toMatchObject({
      code: 'INVALID_PARAMETER',
      details: { parameter: 'hasher' },
    });
    const bad: [Uint8Array, Partial<typeof one>, object][] = [
      [SIGNER, {}, invalidLength('previous', 20)],
      [ZERO, { unsignedHash: SIGNER }, invalidLength('unsignedHash', 20)],
      [ZERO, { signer: ZERO }, invalidLength('signer', 32)],
      [ZERO, { deadline: -1n }, outOfRange],
      [ZERO, { deadline: 2n ** 256n }, outOfRange],
      [ZERO, { deadline: 2n ** 255n }, { code: 'HASH_INPUT_NOT_CANONICAL' }],
      [new Uint8Array(32).fill(0xff), {}, { code: 'HASH_INPUT_NOT_CANONICAL' }],
    ];
    for (const [previous, change, error] of bad)
      expect(thrown(() => forcedRollingHash(hasher, previous, { ...one, ...change }))).toMatchObject(error);
  });
});

describe('the deadline', () => {
  const gateway = { blockSeconds: 3n, blockBuffer: 1n, deadlineBuffer: 2n };
  const last = { finalizedBlock: 4n, finalizedTimestamp: 100n, previousDeadline: 0n };

  it('rounds down, and moves where it is not above the last one', () => {
    // 4 + floor(11 / 3) + 1
    expect(forcedTransactionDeadline(gateway, last, 111n)).toBe(8n);
    expect(forcedTransactionDeadline(gateway, { ...last, previousDeadline: 7n }, 111n)).toBe(8n);
    expect(forcedTransactionDeadline(gateway, { ...last, previousDeadline: 8n }, 111n)).toBe(10n);
    expect(forcedTransactionDeadline(gateway, { ...last, previousDeadline: 50n }, 111n)).toBe(52n);
  });

  it('refuses a block time of zero, and a block before the finalized one', () => {
    expect(thrown(() => forcedTransactionDeadline({ ...gateway, blockSeconds: 0n }, last, 111n))).toMatchObject({
      code: 'OUT_OF_RANGE',
      message: 'blockSeconds must be at least 1, got 0',
      details: { what: 'blockSeconds', value: '0', limit: 'at least 1' },
    });
    expect(thrown(() => forcedTransactionDeadline(gateway, last, 99n))).toMatchObject({
      code: 'OUT_OF_RANGE',
      details: { what: 'timestamp', value: '99', limit: 'at least 100' },
    });
  });
});

describe('a forced transaction', () => {
  it('gives its hash and signer to the chain that it is for', async () => {
    expect(await readForcedTransaction(SIGNED, 1337)).toEqual({ unsignedHash: UNSIGNED_HASH, signer: SIGNER });
    await expect(readForcedTransaction(SIGNED, 59_144)).rejects.toMatchObject(rejected('chain-id'));
    const old = encodeTransaction({ ...fields, type: 1, chainId: 1337n, gasPrice: 1n }, signature);
    await expect(readForcedTransaction(old, 1337)).rejects.toMatchObject(rejected('type'));
    const highS = encodeTransaction({ ...fields, type: 2, chainId: 1337n }, { v: 1n, r: 1n, s: 2n ** 255n });
    await expect(readForcedTransaction(highS, 1337)).rejects.toMatchObject(rejected('signature'));
    await expect(readForcedTransaction(new Uint8Array(), 1337)).rejects.toMatchObject(rejected('malformed'));
  });

  it.each([
    ['no bytes', new Uint8Array(), 'type'],
    ['another type', encodeTransaction({ ...fields, type: 1, chainId: 1337n, gasPrice: 1n }, signature), 'type'],
    ['an end that is cut off', SIGNED.subarray(0, -1), 'malformed'],
    ['a byte more', new Uint8Array([...SIGNED, 0]), 'malformed'],
    ['no list', Uint8Array.of(2, 0x80), 'malformed'],
    ['no signature', encodeToSign({ ...fields, type: 2, chainId: 1337n }), 'signature'],
  ])('is no call with %s', (_, transaction, rule) => {
    const call = { transaction, lastFinalizedState: state };
    const limits = { maxGasLimit: 1_000_000n, maxInputLength: 100 };
    const held = { finalizedState: hexToBytes(STATE_HASH), fee: 5n, isTaken: false, isFiltered: false };
    expect(thrown(() => forcedTransactionCalldata(call))).toMatchObject(rejected(rule));
    expect(thrown(() => forcedTransactionRefusal(call, 5n, limits, held))).toMatchObject(rejected(rule));
  });

  it('is refused for a wrong fee or state, and taken else', () => {
    const call = { transaction: SIGNED, lastFinalizedState: state };
    const limits = { maxGasLimit: 112_768n, maxInputLength: 0 };
    const held = { finalizedState: hexToBytes(STATE_HASH), fee: 5n, isTaken: false, isFiltered: false };
    expect(forcedTransactionRefusal(call, 5n, limits, held)).toBeUndefined();
    expect(forcedTransactionRefusal(call, 4n, limits, held)).toBe('ForcedTransactionFeeNotMet');
    expect(forcedTransactionRefusal(call, 6n, limits, held)).toBe('ForcedTransactionFeeNotMet');
    expect(forcedTransactionRefusal(call, 5n, limits, { ...held, finalizedState: ZERO })).toBe(
      'FinalizationStateIncorrect',
    );
    expect(forcedTransactionRefusal(call, 5n, { ...limits, maxGasLimit: 112_767n }, held)).toBe('MaxGasLimitExceeded');
  });

  it('is refused for each rule of a gateway, in the order of docs/spec/messages.md 8', () => {
    const limits = { maxGasLimit: 112_768n, maxInputLength: 2 };
    const held = { finalizedState: hexToBytes(STATE_HASH), fee: 5n, isTaken: false, isFiltered: false };
    const refusal = (changes: Partial<typeof fields>, more: Partial<typeof held> = {}, v = 1n) => {
      const transaction = encodeTransaction({ ...fields, ...changes, type: 2, chainId: 1337n }, { v, r: 1n, s: 1n });
      return forcedTransactionRefusal({ transaction, lastFinalizedState: state }, 5n, limits, { ...held, ...more });
    };
    expect([refusal({ gasLimit: 20_999n }), refusal({ gasLimit: 21_000n })]).toEqual(['GasLimitTooLow', undefined]);
    expect(refusal({ gasLimit: 112_769n, data: new Uint8Array(3) })).toBe('MaxGasLimitExceeded');
    expect(refusal({ data: new Uint8Array(2) })).toBeUndefined();
    expect(refusal({ data: new Uint8Array(3), maxFeePerGas: 0n })).toBe('CalldataInputLengthLimitExceeded');
    const zero = 'GasFeeParametersContainZero';
    expect([refusal({ maxFeePerGas: 0n }), refusal({ maxPriorityFeePerGas: 0n })]).toEqual([zero, zero]);
    expect(refusal({ maxFeePerGas: 353_159_985n }, {}, 2n)).toBe('MaxPriorityFeePerGasHigherThanMaxFee');
    expect(refusal({ maxFeePerGas: 353_159_986n })).toBeUndefined();
    expect(refusal({}, { isTaken: true }, 2n)).toBe('YParityGreaterThanOne');
    expect(refusal({}, { isTaken: true, fee: 6n })).toBe('ForcedTransactionAlreadySubmittedInBlock');
    expect(refusal({}, { isFiltered: true, finalizedState: ZERO })).toBe('FinalizationStateIncorrect');
    expect(refusal({}, { isFiltered: true })).toBe('AddressIsFiltered');
  });

  it('has the calldata of the ABI', () => {
    const abi = parseAbi([
      'struct AccessListEntry { address contractAddress; bytes32[] storageKeys; }',
      'struct Transaction { uint256 nonce; uint256 maxPriorityFeePerGas; uint256 maxFeePerGas; uint256 gasLimit; address to; uint256 value; bytes input; AccessListEntry[] accessList; uint8 yParity; uint256 r; uint256 s; }',
      'struct State { uint256 timestamp; uint256 messageNumber; bytes32 messageRollingHash; uint256 forcedTransactionNumber; bytes32 forcedTransactionRollingHash; }',
      'function submitForcedTransaction(Transaction transaction, State state)',
    ]);
    const accessList = [
      { address: address(2), storageKeys: [word(1n), word(2n)] },
      { address: address(3), storageKeys: [] },
    ];
    for (const changes of [{}, { data: Uint8Array.of(1, 2, 3), accessList }, { accessList, value: 7n }]) {
      const given = { ...fields, ...changes, type: 2, chainId: 1337n } as const;
      const transaction = encodeTransaction(given, { v: 1n, r: 8n, s: 9n });
      const list = 'accessList' in changes ? changes.accessList : [];
      const { nonce, maxPriorityFeePerGas, maxFeePerGas, gasLimit, value, to, data } = given;
      const args = [
        {
          ...{ nonce, maxPriorityFeePerGas, maxFeePerGas, gasLimit, value, yParity: 1, r: 8n, s: 9n },
          ...{ to: bytesToHex(to), input: bytesToHex(data) },
          accessList: list.map(({ address: of, storageKeys }) => ({
            contractAddress: bytesToHex(of),
            storageKeys: storageKeys.map((key) => bytesToHex(key)),
          })),
        },
        { ...state, messageRollingHash: bytesToHex(ZERO), forcedTransactionRollingHash: bytesToHex(ZERO) },
      ] as const;
      expect(bytesToHex(forcedTransactionCalldata({ transaction, lastFinalizedState: state }))).toMatch(
        // The selector is that of the contract's own names of types, which do not change the rest.
        new RegExp(
          `${encodeFunctionData({ abi, functionName: 'submitForcedTransaction', args: args as never }).slice(10)}$`,
        ),
      );
    }
  });
});

it('a stopped rollup can be recovered 182.5 days after its last finalized block', () => {
  expect(livenessRecoveryTime(state)).toBe(state.timestamp + (365n * 86_400n) / 2n);
});
