import { Common, Hardfork, Mainnet } from '@ethereumjs/common';
import { RLP } from '@ethereumjs/rlp';
import { createTxFromRLP } from '@ethereumjs/tx';
import { describe, expect, it } from 'vitest';
import { encodingArea } from '../../conformance/encoding.js';
import { type CallJson, readCall, readTransaction, type TransactionJson } from '../../conformance/fixture-calls.js';
import {
  encodeForSizing,
  encodeSigned,
  type SizedTransaction,
  sizingBytes,
  transactionForSizing,
} from '../../src/fees/transaction-bytes.js';
import { bytesToHex, hexToBytes } from '../../src/primitives/hex.js';
import { runArea } from '../support/area-checks.js';
import { fixtureJson, listFixtures } from '../support/fixtures.js';

const FROM = new Uint8Array(20).fill(0x11);
const TO = new Uint8Array(20).fill(0x22);
const CONTEXT = { gasLimit: 21_000n, baseFee: 7n, latestNonce: 5n, chainId: 59_144n };

interface Row {
  name: string;
  encoded: string;
  signedEncoded: string;
}

describe('encodings of the fixtures', () => {
  interface File {
    calls: (Row & { call: CallJson; context: Record<string, string>; txType: number })[];
    real: (Row & { tx: TransactionJson; signature: { r: string; s: string; yParity: number } })[];
  }
  const files = listFixtures('compression', /^encoding/).map((path) => fixtureJson<File>(path));
  const file = { calls: files.flatMap(({ calls }) => calls), real: files.flatMap(({ real }) => real) };

  it.each(file.calls.map((row) => [row.name, row] as const))('%s', (_, row) => {
    const context = {
      gasLimit: BigInt(row.context.gasEstimation!),
      baseFee: BigInt(row.context.baseFee!),
      latestNonce: BigInt(row.context.latestNonce!),
      chainId: BigInt(row.context.chainId!),
    };
    const call = readCall(row.call);
    expect(transactionForSizing(call, context).type).toBe(row.txType);
    expect(bytesToHex(sizingBytes(call, context))).toBe(row.encoded);
    expect(bytesToHex(sizingBytes(call, context, 'signed'))).toBe(row.signedEncoded);
  });

  it.each(['simd', 'scalar'] as const)('give the sizes of the reference compressor (%s)', async (build) => {
    const { passed, skipped, problems } = await runArea(encodingArea, build);
    expect(problems).toEqual([]);
    expect(skipped).toBe(0);
    // Two encodings each, the type of a call's transaction, and sizes.
    expect(passed).toBeGreaterThan(3 * file.calls.length + 2 * file.real.length);
  });

  it('signed transactions, in both forms', () => {
    expect(file.real.length).toBeGreaterThan(0);
    for (const { tx, signature, encoded, signedEncoded } of file.real) {
      const { r, s, yParity } = signature;
      const transaction = readTransaction(tx);
      expect(bytesToHex(encodeForSizing(transaction))).toBe(encoded);
      const own = { r: BigInt(r), s: BigInt(s), yParity: BigInt(yParity) };
      expect(bytesToHex(encodeSigned(transaction, own))).toBe(signedEncoded);
    }
  });
});

describe('types without a recorded case', () => {
  const entry = { address: TO, storageKeys: [new Uint8Array(32).fill(3)] };
  const authorization = { chainId: 0n, address: TO, nonce: 128n, yParity: 1n, r: 2n ** 255n, s: 1n };
  const common = {
    from: FROM,
    nonce: 1n,
    gasLimit: 2n,
    to: TO,
    value: 0n,
    data: Uint8Array.of(0x80),
    chainId: 59_144n,
  };
  const typed: readonly SizedTransaction[] = [
    { ...common, type: 1, gasPrice: 7n, accessList: [entry, entry] },
    { ...common, type: 2, maxFeePerGas: 300n, maxPriorityFeePerGas: 100n },
    {
      ...common,
      type: 4,
      maxFeePerGas: 300n,
      maxPriorityFeePerGas: 100n,
      accessList: [entry],
      authorizationList: [authorization],
    },
  ];

  it.each(typed.map((tx) => [tx.type, tx] as const))('type %i is encoded as a general library does', (_, tx) => {
    // An independent reading: @ethereumjs/tx parses the signed form and gives the payload to be signed.
    const chainConfig = { ...Mainnet, chainId: 59_144 };
    const parsed = createTxFromRLP(encodeSigned(tx), {
      common: new Common({ chain: chainConfig, hardfork: Hardfork.Prague }),
    });
    expect(bytesToHex(parsed.serialize())).toBe(bytesToHex(encodeSigned(tx)));
    const payload = parsed.getMessageToSign() as Uint8Array;
    expect(bytesToHex(encodeForSizing(tx).subarray(20))).toBe(bytesToHex(payload));
    expect(encodeForSizing(tx).subarray(0, 20)).toEqual(FROM);
  });

  it('an unprotected and a protected legacy transaction differ by three fields', () => {
    const legacy = { ...common, type: 0, gasPrice: 7n };
    const fields = (bytes: Uint8Array) => RLP.decode(bytes) as Uint8Array[];
    const unprotected = fields(encodeForSizing({ ...legacy, chainId: undefined }).subarray(20));
    const isProtected = fields(encodeForSizing(legacy).subarray(20));
    expect(unprotected).toHaveLength(6);
    expect(isProtected.slice(6).map(bytesToHex)).toEqual(['0xe708', '0x', '0x']);
    expect(bytesToHex(fields(encodeSigned({ ...legacy, chainId: undefined }))[6]!)).toBe('0x1b');
    // 35 + 2 * 59144
    expect(bytesToHex(fields(encodeSigned(legacy))[6]!)).toBe('0x01ce33');
  });

  it('a creation is sized with 20 zero bytes as recipient, and signed with an empty one', () => {
    const creation = transactionForSizing({ from: FROM, data: hexToBytes('0x6000') }, CONTEXT);
    const toZero = { ...creation, to: new Uint8Array(20) };
    expect(encodeForSizing(creation)).toEqual(encodeForSizing(toZero));
    expect(encodeSigned(creation)).toHaveLength(encodeSigned(toZero).length - 20);
  });

  it.each([3, 5, 0x7f])('refuses type %i', (type) => {
    for (const encode of [encodeForSizing, encodeSigned]) {
      expect(() => encode({ ...common, type })).toThrow(
        expect.objectContaining({
          code: 'TRANSACTION_TYPE_UNSUPPORTED',
          message: `transactions of type ${type} cannot be sized; use type 0, 1, 2 or 4`,
          details: { type },
        }),
      );
    }
  });

  it.each(['nonce', 'gasLimit'] as const)('accepts a %s of at most 63 bits', (field) => {
    const legacy = { ...common, type: 0, gasPrice: 7n };
    expect(() => encodeForSizing({ ...legacy, [field]: 2n ** 63n - 1n })).not.toThrow();
    const message = `${field} must be 0 to 2^63 - 1, got ${2n ** 63n}`;
    expect(() => encodeForSizing({ ...legacy, [field]: 2n ** 63n })).toThrow(
      expect.objectContaining({ code: 'OUT_OF_RANGE', message }),
    );
  });
});
