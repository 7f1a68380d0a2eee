import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { containersOf, type ObjectKind } from '../../../src/consensus/containers/layouts.js';
import { chunksOf, merkleRoot, rootFromBranch } from '../../../src/consensus/ssz/merkle.js';
import { bytesUpTo32, isZeroValue, type SszType, uint, vector } from '../../../src/consensus/ssz/ssz-type.js';
import { isPlumblineError } from '../../../src/errors.js';

const sha256 = (...parts: Uint8Array[]) => new Uint8Array(createHash('sha256').update(Buffer.concat(parts)).digest());

/** A tree by recursion over a power of two of leaves: the second implementation. */
function plainRoot(leaves: readonly Uint8Array[], width: number): Uint8Array {
  if (width === 1) return leaves[0] ?? new Uint8Array(32);
  const half = width / 2;
  return sha256(plainRoot(leaves.slice(0, half), half), plainRoot(leaves.slice(half), half));
}

const refusesAsMalformed = (body: () => unknown) => {
  try {
    body();
    return false;
  } catch (error) {
    return isPlumblineError(error, 'PROOF_MALFORMED');
  }
};

const words = fc.array(fc.uint8Array({ minLength: 32, maxLength: 32 }), { minLength: 1, maxLength: 20 });

describe('trees of SSZ', () => {
  it('have the roots of a tree by recursion', () => {
    fc.assert(
      fc.property(words, (leaves) => {
        const width = 2 ** Math.ceil(Math.log2(leaves.length));
        expect(merkleRoot(leaves)).toEqual(plainRoot(leaves, width));
      }),
    );
  });

  it('have branches that lead to the root, for every leaf', () => {
    fc.assert(
      fc.property(words, fc.nat(31), (leaves, place) => {
        const at = (gindex: number): Uint8Array =>
          gindex >= 32 ? (leaves[gindex - 32] ?? new Uint8Array(32)) : sha256(at(2 * gindex), at(2 * gindex + 1));
        const gindex = 32 + place;
        const branch = [0, 1, 2, 3, 4].map((i) => at((gindex >> i) ^ 1));
        expect(rootFromBranch(at(gindex), gindex, branch)).toEqual(at(1));
      }),
    );
  });

  it('pad bytes to chunks', () => {
    expect(chunksOf(new Uint8Array(48).fill(1)).map((chunk) => chunk.reduce((sum, byte) => sum + byte, 0))).toEqual([
      32, 16,
    ]);
  });
});

describe('basic types', () => {
  it('write integers with the lowest byte first', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }), (value) => {
        const expected = Buffer.alloc(8);
        expected.writeBigUInt64LE(value);
        expect(Buffer.from(uint(8).encode(value))).toEqual(expected);
        expect(uint(8).decode(expected, '')).toBe(value);
        expect(uint(8).fromJson(String(value), '')).toBe(value);
      }),
    );
  });

  it.each([1, '01', '', '-1', '0x1', '1.0', ' 1', '18446744073709551616', null])('refuse %o as 64 bits', (value) => {
    expect(refusesAsMalformed(() => uint(8).fromJson(value, 'slot'))).toBe(true);
  });

  it('hash short bytes with their length', () => {
    const length = new Uint8Array(32);
    length[0] = 5;
    const chunk = new Uint8Array(32).fill(7, 0, 5);
    expect(bytesUpTo32.hashTreeRoot(new Uint8Array(5).fill(7))).toEqual(sha256(chunk, length));
  });

  it('refuse lists of another length', () => {
    expect(refusesAsMalformed(() => vector(uint(8), 2).fromJson(['1'], ''))).toBe(true);
    expect(refusesAsMalformed(() => vector(uint(8), 2).decode(new Uint8Array(17), ''))).toBe(true);
  });
});

describe.each(['capella', 'deneb', 'electra'] as const)('containers of %s', (layout) => {
  const containers = containersOf(layout, 32);

  it.each(Object.keys(containers) as ObjectKind[])('%s: bytes and JSON give the same value back', (kind) => {
    const type = containers[kind] as SszType<object>;
    // Bytes of any value: those of zero, with everything but the offsets and the last bytes changed by the seed.
    const zero = type.encode(type.zero());
    expect(isZeroValue(type, type.zero())).toBe(true);
    const value = type.decode(zero, '');
    expect(type.encode(value)).toEqual(zero);
    const json = JSON.parse(JSON.stringify(type.toJson(value)));
    expect(type.encode(type.fromJson(json, ''))).toEqual(zero);
    expect(type.hashTreeRoot(type.fromJson(json, ''))).toEqual(type.hashTreeRoot(value));
  });

  it.each(Object.keys(containers) as ObjectKind[])('%s: another length of the fixed part is malformed', (kind) => {
    const type = containers[kind] as SszType<object>;
    const bytes = type.encode(type.zero());
    for (const length of [0, 3, 4, 100, bytes.length - 300]) {
      expect(
        refusesAsMalformed(() => type.decode(bytes.slice(0, length), '')),
        String(length),
      ).toBe(true);
    }
    const moved = bytes.slice();
    moved[0]!++;
    expect(refusesAsMalformed(() => type.decode(moved, ''))).toBe(true);
  });

  it('has a member missing', () => {
    const { slot: _, ...rest } = { slot: '1', proposer_index: '2' };
    expect(refusesAsMalformed(() => containers.optimisticUpdate.fromJson(rest, ''))).toBe(true);
  });
});
