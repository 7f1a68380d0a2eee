import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { containersOf, type ObjectKind } from '../../../src/consensus/containers.js';
import {
  bytesUpTo32,
  chunksOf,
  isZero,
  merkleRoot,
  rootFromBranch,
  type SszType,
  toJson,
  uint,
  vector,
} from '../../../src/consensus/ssz.js';
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

/** The objects of a layout as a beacon node writes them, with committees of 32. @param fill - of all bytes and numbers */
function objectsOf(layout: 'capella' | 'deneb' | 'electra', fill: number): Record<ObjectKind, object> {
  const number = String(fill);
  const bytes = (size: number) => `0x${fill.toString(16).padStart(2, '0').repeat(size)}`;
  const list = (length: number, size: number) => Array.from({ length }, () => bytes(size));
  const depths = layout === 'electra' ? { committee: 6, finality: 7 } : { committee: 5, finality: 6 };
  const header = {
    beacon: {
      slot: number,
      proposer_index: number,
      parent_root: bytes(32),
      state_root: bytes(32),
      body_root: bytes(32),
    },
    execution: {
      parent_hash: bytes(32),
      fee_recipient: bytes(20),
      state_root: bytes(32),
      receipts_root: bytes(32),
      logs_bloom: bytes(256),
      prev_randao: bytes(32),
      block_number: number,
      gas_limit: number,
      gas_used: number,
      timestamp: number,
      extra_data: bytes(fill),
      base_fee_per_gas: number,
      block_hash: bytes(32),
      transactions_root: bytes(32),
      withdrawals_root: bytes(32),
      ...(layout === 'capella' ? {} : { blob_gas_used: number, excess_blob_gas: number }),
    },
    execution_branch: list(4, 32),
  };
  const committee = { pubkeys: list(32, 48), aggregate_pubkey: bytes(48) };
  const optimisticUpdate = {
    attested_header: header,
    sync_aggregate: { sync_committee_bits: bytes(4), sync_committee_signature: bytes(96) },
    signature_slot: number,
  };
  const finalityUpdate = {
    ...optimisticUpdate,
    finalized_header: header,
    finality_branch: list(depths.finality, 32),
  };
  return {
    bootstrap: {
      header,
      current_sync_committee: committee,
      current_sync_committee_branch: list(depths.committee, 32),
    },
    update: {
      ...finalityUpdate,
      next_sync_committee: committee,
      next_sync_committee_branch: list(depths.committee, 32),
    },
    finalityUpdate,
    optimisticUpdate,
  };
}

describe.each(['capella', 'deneb', 'electra'] as const)('containers of %s', (layout) => {
  const containers = containersOf(layout, 32);
  const kinds = Object.keys(containers) as ObjectKind[];

  it.each(kinds)('%s: bytes and JSON give the same value back', (kind) => {
    const type = containers[kind] as SszType<object>;
    const json = objectsOf(layout, 7)[kind];
    const value = type.fromJson(json, '');
    // Capella has no blob fields, which are zero in memory.
    expect(toJson(value)).toMatchObject(json);
    const bytes = type.encode(value);
    expect(type.decode(bytes, '')).toEqual(value);
    expect(type.encode(type.decode(bytes, ''))).toEqual(bytes);
    expect(isZero(value)).toBe(false);
    expect(isZero(type.fromJson(objectsOf(layout, 0)[kind], ''))).toBe(true);
  });

  it.each(kinds)('%s: another length is malformed', (kind) => {
    const type = containers[kind] as SszType<object>;
    const bytes = type.encode(type.fromJson(objectsOf(layout, 0)[kind], ''));
    for (const length of [0, 3, 4, 100, bytes.length - 300]) {
      expect(
        refusesAsMalformed(() => type.decode(bytes.slice(0, length), '')),
        String(length),
      ).toBe(true);
    }
    // More than the 32 bytes that extra data can have.
    expect(refusesAsMalformed(() => type.decode(new Uint8Array([...bytes, ...new Uint8Array(33)]), ''))).toBe(true);
    for (const [at, by] of [
      [0, 1],
      [0, -1],
      [3, 1],
    ] as const) {
      const moved = bytes.slice();
      moved[at]! += by;
      expect(refusesAsMalformed(() => type.decode(moved, ''))).toBe(true);
    }
  });

  it('has a member missing', () => {
    const { slot: _, ...rest } = { slot: '1', proposer_index: '2' };
    expect(refusesAsMalformed(() => containers.optimisticUpdate.fromJson(rest, ''))).toBe(true);
  });
});
