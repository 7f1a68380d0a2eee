import { RLP } from '@ethereumjs/rlp';
import { describe, expect, test } from 'vitest';
import { loadSignerRecovery } from '../../src/ethereum/signer.js';
import { parseSignedTransaction } from '../../src/ethereum/transaction.js';
import { bigIntToMinimalBytes, bytesToBigInt, concatBytes } from '../../src/primitives/bytes.js';
import { bytesToHex, type Hex, hexToBytes } from '../../src/primitives/hex.js';
import { signTransaction } from '../support/sign.js';

/*
 * Each rule of a transaction that its bytes alone can break, and what is said of it. Transactions are signed by
 * @ethereumjs/tx; test/differential/signed-transactions.test.ts compares what is accepted.
 */

type Item = Uint8Array | Item[];

const CHAIN = 59_139;
const ORDER = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n;
const to: Hex = `0x${'5a'.repeat(20)}`;
const fields = { nonce: 3, gasLimit: 60_000n, to, value: 5n };
const legacy = hexToBytes(signTransaction(0, { ...fields, gasPrice: 7n }));
const feeMarket = hexToBytes(signTransaction(0, { ...fields, maxFeePerGas: 7n, maxPriorityFeePerGas: 6n }));
const AT = { nonce: 1, tip: 2, cap: 3, gasLimit: 4, to: 5, accessList: 8, yParity: -3, r: -2, s: -1 };
const LEGACY_AT = { v: 6, s: 8 };

await loadSignerRecovery();

const int = bigIntToMinimalBytes;
const ones = (length: number) => new Uint8Array(length).fill(0xff);

/** With some items replaced, by their indexes. */
function withItems(raw: Uint8Array, changes: Readonly<Record<number, Item>>, type = raw[0]! < 0xc0 ? raw[0]! : 0) {
  const items = RLP.decode(raw[0]! < 0xc0 ? raw.subarray(1) : raw) as Item[];
  for (const [at, item] of Object.entries(changes)) items[(Number(at) + items.length) % items.length] = item;
  return type === 0 ? RLP.encode(items) : concatBytes(Uint8Array.of(type), RLP.encode(items));
}

/** As another type, with these items before the signature. */
function asType(type: number, more: readonly Item[], changes: Readonly<Record<number, Item>> = {}) {
  const items = RLP.decode(withItems(feeMarket, changes).subarray(1)) as Item[];
  return concatBytes(Uint8Array.of(type), RLP.encode([...items.slice(0, -3), ...more, ...items.slice(-3)]));
}

/** The other signature of the same message by the same key, with s in the upper half. */
function twin(raw: Uint8Array, parityAt: number, flipped: (v: bigint) => bigint) {
  const items = RLP.decode(raw[0]! < 0xc0 ? raw.subarray(1) : raw) as Uint8Array[];
  const [v, s] = [bytesToBigInt(items.at(parityAt)!), bytesToBigInt(items.at(-1)!)];
  return withItems(raw, { [parityAt]: int(flipped(v)), [-1]: int(ORDER - s) });
}

const expectRefused = (raw: Uint8Array, rule: string, reason: string) =>
  expect(() => parseSignedTransaction(raw, CHAIN, { blobs: true })).toThrow(
    expect.objectContaining({ code: 'TRANSACTION_REJECTED', message: reason, details: { rule, reason } }),
  );

const authorization = [int(1n), hexToBytes(to), int(0n), int(0n), int(1n), int(1n)];
const hash = concatBytes(Uint8Array.of(1), new Uint8Array(31));
const blobs = [int(1n), [hash]];

describe('malformed', () => {
  test.each<[reason: string, raw: Uint8Array]>([
    ['it has no bytes', new Uint8Array(0)],
    ...[0x00, 0x05, 0x7f, 0x80, 0xbf].map((byte): [string, Uint8Array] => [
      `its first byte ${bytesToHex(Uint8Array.of(byte))} is neither a type from 0x01 to 0x04 nor the beginning of a list`,
      withItems(feeMarket, {}, byte || 0xff).fill(byte, 0, 1),
    ]),
    ['the payload is not a list', Uint8Array.of(2, 0x80)],
    ['it has 12 fields, type 1 has 11', concatBytes(Uint8Array.of(1), feeMarket.subarray(1))],
    ['nonce is a list, bytes are expected', withItems(feeMarket, { [AT.nonce]: [] })],
    ['nonce has leading zeros', withItems(feeMarket, { [AT.nonce]: Uint8Array.of(0) })],
    ['nonce has 9 bytes, at most 8 are allowed', withItems(feeMarket, { [AT.nonce]: ones(9) })],
    ['nonce is 2^64 - 1, which no transaction may have (EIP-2681)', withItems(feeMarket, { [AT.nonce]: ones(8) })],
    ['gasLimit has 9 bytes, at most 8 are allowed', withItems(feeMarket, { [AT.gasLimit]: ones(9) })],
    ['to has 19 bytes, 20 are expected', withItems(feeMarket, { [AT.to]: ones(19) })],
    ['maxFeePerGas has 33 bytes, at most 32 are allowed', withItems(feeMarket, { [AT.cap]: ones(33) })],
    ['gasLimit times the price per gas is 2^256 or more', withItems(feeMarket, { [AT.cap]: ones(32) })],
    ['maxFeePerGas 7 is below maxPriorityFeePerGas 8', withItems(feeMarket, { [AT.tip]: int(8n) })],
    ['accessList is not a list', withItems(feeMarket, { [AT.accessList]: new Uint8Array(0) })],
    [
      'accessList[0].storageKeys[1] has 31 bytes, 32 are expected',
      withItems(feeMarket, { [AT.accessList]: [[ones(20), [ones(32), ones(31)]]] }),
    ],
    ['accessList[0] has 1 items, 2 are expected', withItems(feeMarket, { [AT.accessList]: [[ones(20)]] })],
    ['r has 33 bytes, at most 32 are allowed', withItems(feeMarket, { [AT.r]: ones(33) })],
    ['the parity of y is 2, it must be 0 or 1', withItems(feeMarket, { [AT.yParity]: int(2n) })],
    ...[1n, 26n, 29n, 36n].map((v): [string, Uint8Array] => [
      `v is ${v}, it must be 27, 28, or 37 or more (EIP-155)`,
      withItems(legacy, { [LEGACY_AT.v]: int(v) }),
    ]),
    ['blobVersionedHashes is empty', asType(3, [int(1n), []])],
    ['blobVersionedHashes[0] has 31 bytes, 32 are expected', asType(3, [int(1n), [hash.subarray(1)]])],
    ['blobVersionedHashes: each must begin with version 1', asType(3, [int(1n), [ones(32)]])],
    ['to is empty, but type 3 cannot create contracts', asType(3, blobs, { [AT.to]: new Uint8Array(0) })],
    ['to is empty, but type 4 cannot create contracts', asType(4, [[authorization]], { [AT.to]: new Uint8Array(0) })],
    ['authorizationList is empty', asType(4, [[]])],
    [
      'authorizationList[0].yParity has 2 bytes, at most 1 are allowed',
      asType(4, [[authorization.with(3, int(256n))]]),
    ],
    ['authorizationList[0] has 5 items, 6 are expected', asType(4, [[authorization.slice(1)]])],
  ])('%s', (reason, raw) => {
    expectRefused(raw, 'malformed', `the transaction is malformed: ${reason}`);
  });

  test('bytes that are left over', () => {
    expect(() => parseSignedTransaction(concatBytes(feeMarket, Uint8Array.of(0)), CHAIN)).toThrow(
      /^the transaction is malformed: .*remainder/,
    );
  });
});

describe('of another chain', () => {
  test.each([
    ['legacy', legacy],
    ['type 2', feeMarket],
  ])('%s', (_, raw) => {
    const reason = 'the transaction is for chain 59139, this is chain 1';
    expect(() => parseSignedTransaction(raw, 1)).toThrow(
      expect.objectContaining({ message: reason, details: { rule: 'chain-id', reason } }),
    );
  });
});

test('a type that is not accepted', () => {
  expect(() => parseSignedTransaction(asType(3, blobs), CHAIN)).toThrow(
    expect.objectContaining({ details: expect.objectContaining({ rule: 'type' }) }),
  );
  expect(parseSignedTransaction(asType(3, blobs), CHAIN, { blobs: true }).type).toBe(3);
});

describe('signature', () => {
  const unsigned = (raw: Uint8Array, type: number) => {
    const items = (RLP.decode(type === 0 ? raw : raw.subarray(1)) as Item[]).slice(0, -3);
    return type === 0 ? RLP.encode(items) : concatBytes(Uint8Array.of(type), RLP.encode(items));
  };

  test.each([
    ['legacy, none', unsigned(legacy, 0)],
    ['type 2, none', unsigned(feeMarket, 2)],
    ['legacy, v is empty', withItems(legacy, { [LEGACY_AT.v]: new Uint8Array(0) })],
    ['type 2, s is empty', withItems(feeMarket, { [AT.s]: new Uint8Array(0) })],
  ])('%s', (_, raw) => {
    expectRefused(raw, 'signature', 'the transaction is not signed');
  });

  test('r is the x of no point', () => {
    const reason = 'the sender cannot be recovered: no key has made this signature';
    expectRefused(withItems(feeMarket, { [AT.r]: int(5n) }), 'signature', reason);
    expectRefused(withItems(feeMarket, { [AT.r]: ones(32) }), 'signature', reason);
  });

  test('s is in the upper half of its range (EIP-2)', () => {
    const reason = 's of the signature is above half of the order of secp256k1 (EIP-2)';
    expectRefused(
      twin(feeMarket, -3, (v) => 1n - v),
      'signature',
      reason,
    );
    expectRefused(
      twin(legacy, 6, (v) => (v % 2n === 1n ? v + 1n : v - 1n)),
      'signature',
      reason,
    );
  });

  test('s in the upper half is valid in Frontier, of legacy transactions without a chain id', () => {
    // A signature of an unprotected transaction: that of another message, so some account has signed.
    const low = withItems(legacy, { [LEGACY_AT.v]: int(27n) });
    const high = twin(low, 6, () => 28n);
    const { from } = parseSignedTransaction(low, CHAIN);
    const parsed = parseSignedTransaction(high, CHAIN, { frontier: true });
    expect(bytesToHex(parsed.from)).toBe(bytesToHex(from));
    expect(parsed.chainId).toBeUndefined();
    expect(() => parseSignedTransaction(high, CHAIN)).toThrow(/EIP-2/);
    expect(() =>
      parseSignedTransaction(
        twin(feeMarket, -3, (v) => 1n - v),
        CHAIN,
        { frontier: true },
      ),
    ).toThrow(/EIP-2/);
  });
});
