import { describe, expect, it } from 'vitest';
import {
  member,
  readArray,
  readBytes,
  readBytesList,
  readCount,
  readExactObject,
  readInteger,
  readNumber256,
  readObject,
} from '../../src/proof/json-reader.js';
import { checkRequest, judge, Refusal } from '../../src/proof/verdict.js';

const malformed = (path: string, reason: string) =>
  expect.objectContaining({
    code: 'PROOF_MALFORMED',
    message: `malformed proof: ${path} ${reason}`,
    details: { path, reason },
  });

const LARGEST = `0x${'f'.repeat(64)}`;

describe('readers of proofs', () => {
  it('name a member by its path', () => {
    expect([member('', 'proof'), member('slots[2]', 'proof')]).toEqual(['proof', 'slots[2].proof']);
  });

  it('take an object, and no other value', () => {
    const object = { any: 1 };
    expect(readObject(object, 'at')).toBe(object);
    for (const value of [null, undefined, [], 'text', 7, true]) {
      expect(() => readObject(value, 'at')).toThrow(malformed('at', 'is not an object'));
      expect(() => readObject(value, '')).toThrow(malformed('the answer', 'is not an object'));
    }
  });

  it('take an object with exactly the fields', () => {
    const object = { a: 1, b: undefined };
    expect(readExactObject(object, ['a', 'b'], 'at')).toBe(object);
    expect(() => readExactObject(object, ['a', 'b', 'c'], 'at')).toThrow(malformed('at.c', 'is missing'));
    expect(() => readExactObject(object, ['a', 'b', 'toString'], '')).toThrow(malformed('toString', 'is missing'));
    expect(() => readExactObject(object, ['a'], '')).toThrow(malformed('b', 'is not a field of this object'));
  });

  it('take lists, and byte strings in them', () => {
    expect(readArray([1, null], 'at')).toEqual([1, null]);
    for (const value of [{ length: 0 }, 'list', null]) {
      expect(() => readArray(value, 'at')).toThrow(malformed('at', 'is not a list'));
    }
    expect(readBytesList(['0x', '0x0Aff'], 'at')).toEqual([new Uint8Array(0), Uint8Array.of(10, 255)]);
    expect(() => readBytesList(['0x', 5], 'at')).toThrow(malformed('at[1]', 'is not hex text'));
  });

  it('take bytes of the lengths that are allowed', () => {
    expect(readBytes('0x0102', 'at')).toEqual(Uint8Array.of(1, 2));
    expect(readBytes('0x0102', 'at', 1, 2)).toEqual(Uint8Array.of(1, 2));
    expect(() => readBytes('0x0102', 'at', 3)).toThrow(malformed('at', 'has 2 bytes, expected 3'));
    expect(() => readBytes('0x', 'at', 1, 32)).toThrow(malformed('at', 'has 0 bytes, expected 1 or 32'));
    for (const value of ['0x1', '12', '0xg0', '', '0X12']) {
      expect(() => readBytes(value, 'at')).toThrow(
        expect.objectContaining({ code: 'PROOF_MALFORMED', details: expect.objectContaining({ path: 'at' }) }),
      );
    }
    expect(() => readBytes(null, 'at')).toThrow(malformed('at', 'is not hex text'));
  });

  it('take numbers of 1 to 64 digits, with leading zeros', () => {
    expect([readNumber256('0x0', 'at'), readNumber256('0x0001F', 'at'), readNumber256(LARGEST, 'at')]).toEqual([
      0n,
      31n,
      2n ** 256n - 1n,
    ]);
    for (const value of ['0x', `${LARGEST}0`, '10', '-0x1', ' 0x1', '0x1 ', '0xg', 16, null]) {
      expect(() => readNumber256(value, 'at')).toThrow(malformed('at', 'is not 0x and 1 to 64 hex digits'));
    }
  });

  it('take counts up to 2^53 - 1', () => {
    expect(readCount('0x1fffffffffffff', 'at')).toBe(2 ** 53 - 1);
    expect(() => readCount('0x20000000000000', 'at')).toThrow(malformed('at', 'is above 2^53 - 1'));
  });

  it('take JSON numbers without a fraction', () => {
    expect([readInteger(0, 'at'), readInteger(-3, 'at'), readInteger(2 ** 60, 'at')]).toEqual([0, -3, 2 ** 60]);
    for (const value of [0.5, Number.NaN, Number.POSITIVE_INFINITY, '3', null, 3n]) {
      expect(() => readInteger(value, 'at')).toThrow(malformed('at', 'is not an integer'));
    }
  });
});

describe('a request for a proof', () => {
  const request = { address: new Uint8Array(20), stateRoot: new Uint8Array(32), storageKeys: [new Uint8Array(32)] };

  it('has an address, a root and keys of the right length', () => {
    expect(() => checkRequest(request)).not.toThrow();
    const refused = (change: object, what: string, expected: number, actual: number) =>
      expect(() => checkRequest({ ...request, ...change })).toThrow(
        expect.objectContaining({
          code: 'INVALID_LENGTH',
          message: `${what}: expected ${expected} bytes, got ${actual}`,
        }),
      );
    refused({ address: new Uint8Array(32) }, 'address', 20, 32);
    refused({ stateRoot: new Uint8Array(31) }, 'stateRoot', 32, 31);
    refused({ storageKeys: [new Uint8Array(32), new Uint8Array(20)] }, 'storage key', 32, 20);
  });
});

describe('a verdict', () => {
  it('is the refusal that was thrown; other errors pass', () => {
    expect(judge(() => 'fine')).toBe('fine');
    const refusing = () => {
      throw new Refusal('KEY_MISMATCH', 'proof[1]', 'is another key');
    };
    expect(judge(refusing)).toEqual({
      verified: false,
      reason: 'KEY_MISMATCH',
      at: 'proof[1]',
      message: 'is another key',
    });
    expect(refusing).toThrow(expect.objectContaining({ name: 'Refusal' }));
    const failing = () => {
      throw new RangeError('out of memory');
    };
    expect(() => judge(failing)).toThrow(RangeError);
  });
});
