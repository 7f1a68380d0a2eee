import { describe, expect, test } from 'vitest';
import { createRedactor, endpointSecretsOf } from '../../src/upstream/address.js';
import {
  backoffMs,
  classifyError,
  dependsOnEndpoint,
  isMethodMissing,
  refusedBatchLimit,
} from '../../src/upstream/failure.js';
import { errorBody, hasAnswer, isOtherText, notJson, parseError, parseJson } from '../../src/upstream/json-rpc.js';

/** Codes and messages as docs/spec/json-rpc.md 4 lists them. */
describe('an error of an endpoint', () => {
  const error = (code: number, message: string, data?: unknown) => ({ code, message, data });

  test('keeps status and wait if it is a fault', () => {
    const rate = { rate: { backoff_seconds: 30 } };
    expect(classifyError(error(-32005, 'slowly', rate), 200)).toStrictEqual({
      kind: 'fault',
      fault: { kind: 'rate-limited', reason: 'it says "slowly"', status: 200, retryAfterMs: 30_000 },
    });
    expect(classifyError(error(429, 'slowly'))).toStrictEqual({
      kind: 'fault',
      fault: { kind: 'rate-limited', reason: 'it says "slowly"' },
    });
    for (const [code, message, kind] of [
      [401, 'no', 'configuration'],
      [-32002, 'bad API key', 'configuration'],
      [-32002, 'bad project id', 'configuration'],
      [-32008, 'sync', 'unavailable'],
    ] as const) {
      expect(classifyError(error(code, message), 403)).toStrictEqual({
        kind: 'fault',
        fault: { kind, reason: `it says "${message}"`, status: 403 },
      });
      expect(classifyError(error(code, message))).toStrictEqual({
        kind: 'fault',
        fault: { kind, reason: `it says "${message}"` },
      });
    }
    const plain = error(-32000, 'rate');
    expect(classifyError(plain, 200)).toStrictEqual({ kind: 'error', error: plain });
  });

  test.each([
    [{ rate: { backoff_seconds: 1.5 } }, 1_500],
    [{ rate: { backoff_seconds: 0.0001 } }, 1],
    [{ rate: { backoff_seconds: '2' } }, 2_000],
    [{ rate: { backoff_seconds: 0 } }, 0],
    [{ rate: { backoff_seconds: -1 } }, undefined],
    [{ rate: { backoff_seconds: 'soon' } }, undefined],
    [{ rate: { backoff_seconds: Number.POSITIVE_INFINITY } }, undefined],
    [{ rate: {} }, undefined],
    [{ rate: null }, undefined],
    [{ rate: 'slow' }, undefined],
    [{}, undefined],
    [null, undefined],
    ['rate', undefined],
    [undefined, undefined],
  ])('names its wait in its data: %j', (data, ms) => {
    expect(backoffMs(data)).toBe(ms);
  });

  test('-32005 is about the rate unless its message is about a size, and its data about nothing', () => {
    const kindOf = (message: string, data?: unknown) => classifyError(error(-32005, message, data)).kind;
    expect(kindOf('exceeded')).toBe('fault');
    expect(kindOf('block range exceeded')).toBe('error');
    expect(kindOf('block range exceeded', { rate: {} })).toBe('fault');
    expect(kindOf('block range exceeded', { rate: null })).toBe('error');
    expect(kindOf('batch rate exceeded')).toBe('fault');
  });

  test('refuses a batch of two or more', () => {
    const limit = (code: number, message: string, size: number) => refusedBatchLimit(error(code, message), size);
    for (const [size, half] of [
      [2, 1],
      [3, 1],
      [10, 5],
    ] as const)
      expect(limit(-32005, 'Batch too large', size)).toBe(half);
    expect(limit(-32005, 'Batch too large', 1)).toBeUndefined();
    for (const word of ['exceeds', 'limit', 'large', 'max', 'too many', 'size'])
      expect(limit(-32000, `batch ${word}`, 8)).toBe(4);
    expect([limit(-32700, 'Parse error', 2), limit(-32600, 'Invalid', 2)]).toEqual([1, 1]);
    expect(limit(-32601, 'Invalid', 2)).toBeUndefined();
  });

  test('depends on the endpoint if it is about its methods and blocks', () => {
    for (const code of [-32601, -32604, -32603, -32002, -39001, 4200, 4444])
      expect([code, dependsOnEndpoint(error(code, 'x'))]).toEqual([code, true]);
    for (const message of ['header not found', 'Block not found', 'missing trie node 12', 'world state unavailable'])
      expect([message, dependsOnEndpoint(error(-32000, message))]).toEqual([message, true]);
    expect(dependsOnEndpoint(error(-32000, 'nonce too low'))).toBe(false);
    expect(dependsOnEndpoint(error(32000, 'header not found'))).toBe(false);
    expect(dependsOnEndpoint(error(3, 'execution reverted: does not exist'))).toBe(false);
  });

  test('says that the method is missing by its code', () => {
    const codes = [-32601, -32604, 4200, -32603, -32000, 32601];
    expect(codes.map((code) => isMethodMissing(error(code, 'Method not found')))).toEqual([
      true,
      true,
      true,
      false,
      false,
      false,
    ]);
  });

  test.each([
    ['Hardhat 3.18', -32004, 'Method eth_getBlockReceipts is not supported', true],
    ['EIP-1474', -32004, 'Method not supported', true],
    ['ganache 7.9.2', -32700, 'The method eth_getBlockReceipts does not exist/is not available', true],
    ['a parser', -32700, 'Parse error', false],
    ['Besu', -32004, 'Upfront cost exceeds account balance', false],
  ])('or by its text: %s', (_, code, message, isMissing) => {
    expect(isMethodMissing(error(code, message))).toBe(isMissing);
    if (isMissing) expect(dependsOnEndpoint(error(code, message))).toBe(true);
  });
});

describe('a body', () => {
  test('is JSON, or text of something else', () => {
    expect([parseJson('{"a":[1]}'), parseJson('{'), parseJson('')]).toEqual([{ a: [1] }, undefined, undefined]);
    expect(['Wait', ' \n<p>', '"x"', '1'].map(isOtherText)).toEqual([true, true, true, true]);
    expect(['{', ' \n[', '', '  '].map(isOtherText)).toEqual([false, false, false, false]);
  });

  test.each([
    ['<html>', true],
    [' \n<!DOCTYPE html>', true],
    ['<p>', false],
    ['see <html>', false],
  ])('%s may be a page', (body, isPage) => {
    const what = isPage ? 'HTML instead of' : 'not';
    expect(notJson(502, body)).toBe(`status 502: ${what} JSON; check the path of its URL`);
  });

  test('has an answer if it has a result, or an error with a code or a message', () => {
    for (const [value, has] of [
      [{ result: null }, true],
      [{ error: { code: 1 } }, true],
      [{ error: { message: '' } }, true],
      [{ error: {} }, false],
      [{ error: null }, false],
      [{ error: 'no' }, false],
      [{ message: 'no' }, false],
      [null, false],
      ['result', false],
      [undefined, false],
    ] as const)
      expect([value, hasAnswer(value)]).toEqual([value, has]);
  });

  test('its error has a code, a message and data, cut and without secrets', () => {
    const redactor = createRedactor(['secret']);
    expect(parseError({ error: { code: 5, message: 'a secret', data: ['secret'] } }, redactor)).toEqual({
      code: 5,
      message: 'a [redacted]',
      data: ['[redacted]'],
    });
    expect(errorBody({ code: 5, data: 'secret' })).toEqual({ code: 5, message: '', data: 'secret' });
    expect(errorBody({ code: 5, message: 7 })).toEqual({ code: 5, message: '' });
    expect(errorBody({ message: 'x'.repeat(501) })).toEqual({ code: -32603, message: 'x'.repeat(500) });
    expect([errorBody({ code: 1.5 })!.code, errorBody({ code: 2 ** 53 })!.code]).toEqual([-32603, -32603]);
    expect([
      errorBody({ code: '1' }),
      errorBody(null),
      errorBody('no'),
      parseError(undefined),
      parseError(null),
    ]).toEqual(Array(5).fill(undefined));
  });
});

describe('the secrets of an endpoint', () => {
  const secrets = (url: string, headers = {}) => endpointSecretsOf(new URL(url), headers).sort();

  test('are parts of the path from four characters, and elsewhere from three', () => {
    expect(secrets('https://host/v3/eth/abcd/abcde')).toEqual(['abcd', 'abcde']);
    expect(secrets('https://abc:de@host/?x=12&y=123&xyz&no#frag')).toEqual(['123', '123', 'abc', 'frag', 'xyz'].sort());
    expect(secrets('https://ab:abc@host/')).toEqual(['abc']);
    expect(secrets('https://host/?name=a+b%2F')).toEqual(['a b/', 'a+b%2F']);
    expect(secrets('https://host/?=abc')).toEqual(['abc', 'abc']);
  });

  test('are values of headers, whole and in their parts, without the words for how they are used', () => {
    expect(secrets('https://host/', { authorization: 'Bearer  token' })).toEqual(['Bearer  token', 'token']);
    expect(secrets('https://host/', { a: 'basic', b: 'k=one,two;three' })).toEqual(
      ['k=one,two;three', 'one', 'three', 'two'].sort(),
    );
    expect(secrets('https://host/', { a: 'BASIC x' })).toEqual(['BASIC x']);
    expect(secrets('https://host/', { a: 'MyBearer', b: 'Bearers' })).toEqual([
      'Bearers',
      'Bearers',
      'MyBearer',
      'MyBearer',
    ]);
  });
});

describe('a redactor', () => {
  const text = (secrets: string[], given: string) => createRedactor(secrets).text(given);

  test('hides the longest first, each sign as it stands, all of them', () => {
    expect(text(['abc', 'abcdef'], 'abcdef abc ABCx')).toBe('[redacted] [redacted] [redacted]x');
    const signs = 'a.b*c+d?e^f$g{h}i(j)k|l[m]n\\o';
    expect(text([signs], `${signs} aXb`)).toBe('[redacted] aXb');
    expect(text([], 'as it is')).toBe('as it is');
    expect(text([''], 'undefined')).toBe('undefined');
  });

  test('hides what is encoded in the secret, or was; a percent sign may mean itself', () => {
    expect(text(['a%20b'], 'a b, a%20b')).toBe('[redacted], [redacted]');
    expect(text(['100%zz'], '100%zz, 100%25zz')).toBe('[redacted], [redacted]');
  });

  test('looks in hex data only for secrets of sixteen characters', () => {
    const [short, long] = ['0123456789abcde', '0123456789abcdef'];
    expect(text([short], `0x${short}00`)).toBe(`0x${short}00`);
    expect(text([long], `0xFF${long}`)).toBe('0xFF[redacted]');
    expect(text([short], `0x${short} `)).toBe('0x[redacted] ');
    expect(text([short], `x0x${short}`)).toBe('x0x[redacted]');
  });

  test('reduces addresses of the web to their origin, up to a quote or a bracket', () => {
    expect(text([], 'at "wss://h.example/k" and (HTTP://u:p@h.example:1/k\\n')).toBe(
      'at "wss://h.example" and (http://h.example:1\\n',
    );
    expect(text([], "ws://a/k'x xhttps://a/k")).toBe("ws://a'x xhttps://a/k");
  });

  test('goes through lists and objects, names included, and leaves the rest', () => {
    const { json } = createRedactor(['secret']);
    expect(json({ secret: [{ a: 'my secret' }, null, 1, true], n: undefined })).toEqual({
      '[redacted]': [{ a: 'my [redacted]' }, null, 1, true],
      n: undefined,
    });
  });
});
