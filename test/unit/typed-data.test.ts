import { describe, expect, test } from 'vitest';
import { hashTypedData } from '../../src/ethereum/typed-data.js';

/* Hashes are compared with those of ethers and viem in test/clients/typed-data.test.ts. */

const DOMAIN = { EIP712Domain: [{ name: 'name', type: 'string' }] };

/** A message with one member `x`. */
const one = (type: string, value: unknown, types: object = {}) => ({
  types: { ...DOMAIN, M: [{ name: 'x', type }], ...types },
  primaryType: 'M',
  domain: { name: 'd' },
  message: { x: value },
});

test('the name of a type may have a colon', () => {
  const types = { 'A:B': [{ name: 'y', type: 'bool' }] };
  expect(hashTypedData(one('A:B', { y: true }, types))).toHaveLength(32);
});

describe('typed data that cannot be encoded is refused with its path', () => {
  test.each<[data: Record<string, unknown>, parameter: string, reason: RegExp]>([
    [{}, 'types', /must be an object/],
    [{ types: [] }, 'types', /must be an object/],
    [{ types: { M: [] }, primaryType: 'M' }, 'types.EIP712Domain', /is missing/],
    [{ types: DOMAIN, primaryType: 'Other' }, 'primaryType', /name of one of types/],
    [{ ...one('bool', true), domain: null }, 'domain', /object of the type EIP712Domain/],
    [{ ...one('bool', true), domain: {} }, 'domain.name', /is missing, of the type string/],
    [{ ...one('bool', true), message: [] }, 'message', /object of the type M/],
    [one('bool', undefined), 'message.x', /is missing, of the type bool/],
    [one('bool', 1), 'message.x', /true or false/],
    [one('string', 1), 'message.x', /must be a string/],
    [one('bytes', 'text'), 'message.x', /hex with 0x/],
    [one('bytes4', '0x123456'), 'message.x', /hex with 0x of 4 bytes/],
    [one('address', '0x12'), 'message.x', /hex with 0x of 20 bytes/],
    [one('uint8', 256), 'message.x', /does not fit uint8/],
    [one('uint256', -1), 'message.x', /does not fit uint256/],
    [one('int8', '128'), 'message.x', /does not fit int8/],
    [one('uint8', 1.5), 'message.x', /must be an integer/],
    [one('uint256', 2 ** 53), 'message.x', /must be an integer: a safe number/],
    [one('uint8', ' 1'), 'message.x', /must be an integer/],
    [one('uint8[2]', [1]), 'message.x', /must have 2 elements, has 1/],
    [one('uint8[]', { length: 0 }), 'message.x', /must be an array of the type uint8/],
    [one('uint8[][]', [[1], [300]]), 'message.x[1][0]', /does not fit/],
    [one('uint7', 1), 'types.M.x', /neither basic nor in types/],
    [one('uint', 1), 'types.M.x', /neither basic nor in types; write its size, such as uint256/],
    [one('int[]', [1]), 'types.M.x', /write its size/],
    [one('byte', '0x12', { byte: [] }), 'types.byte', /not the name of a struct type/],
    // Lists with holes.
    [one('uint8[]', new Array(1)), 'message.x[0]', /is missing/],
    [{ ...one('bool', true), types: { ...DOMAIN, M: new Array(1) } }, 'types.M[0]', /must have a name and a type/],
    [one('bytes33', '0x'), 'types.M.x', /neither basic nor in types/],
    [one('uint8[', 1), 'types.M[0]', /must have a name and a type/],
    [one('bool', true, { bytes32: [] }), 'types.bytes32', /not the name of a struct type/],
    [one('bool', true, { 'A(': [] }), 'types.A(', /not the name of a struct type/],
    [one('bool', true, { A: {} }), 'types.A', /an array of members/],
    [one('bool', true, { A: [null] }), 'types.A[0]', /must have a name and a type/],
    [one('bool', true, { A: [{ name: 'a b', type: 'bool' }] }), 'types.A[0].name', /identifier/],
    [
      one('bool', true, {
        A: [
          { name: 'a', type: 'bool' },
          { name: 'a', type: 'bool' },
        ],
      }),
      'types.A[1].name',
      /no other member has/,
    ],
  ])('%j', (data, parameter, reason) => {
    expect(() => hashTypedData(data)).toThrowError(
      expect.objectContaining({
        code: 'INVALID_PARAMETER',
        details: { parameter, reason: expect.stringMatching(reason) },
      }),
    );
  });
});

describe('what one message may take is limited', () => {
  const refused = (data: Record<string, unknown>, reason: RegExp) =>
    expect(() => hashTypedData(data)).toThrowError(reason);

  test('values', () => {
    const bools = (count: number) => one('bool[]', new Array(count).fill(true));
    // The domain's name and the list are values, too.
    expect(hashTypedData(bools(19_998))).toHaveLength(32);
    refused(bools(19_999), /message\.x\[19998\]: is beyond the 20000 values/);
  });

  test('levels', () => {
    const node = (levels: number): object => (levels === 0 ? { n: [] } : { n: [node(levels - 1)] });
    const list = (levels: number) => one('N', node(levels), { N: [{ name: 'n', type: 'N[]' }] });
    expect(hashTypedData(list(30))).toHaveLength(32);
    refused(list(40), /is nested deeper than 64 levels/);
    refused(list(5_000), /is nested deeper than 64 levels/);
  });

  test('types, and their characters', () => {
    const types = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, i) => [`T${i}`, []]));
    expect(hashTypedData(one('bool', true, types(254)))).toHaveLength(32);
    refused(one('bool', true, types(255)), /types: has 257 types, at most 256/);
    refused(
      one('bool', true, { A: [{ name: 'a'.repeat(70_000), type: 'bool' }] }),
      /types: has \d+ characters, at most/,
    );
  });
});
