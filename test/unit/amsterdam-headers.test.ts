import { RLP } from '@ethereumjs/rlp';
import { describe, expect, test } from 'vitest';
import { headerFields, headerFromFields, headerHash } from '../../src/ethereum/header.js';
import { linea } from '../../src/networks/linea.js';
import { bytesToHex, type Hex } from '../../src/primitives/hex.js';
import { readHeader, verifyHeader, verifyHeaderRules } from '../../src/proof/headers.js';
import { formatHeader } from '../../src/rpc/schema/format.js';
import { fixtureJson } from '../support/fixtures.js';

/** Members, RLP and hashes of docs/spec/glamsterdam.md 2, computed with go-ethereum 1.17.10. */
interface HeaderVector {
  readonly header: Readonly<Record<string, string>>;
  /** In hex without 0x: the first and the last digits. */
  readonly rlp: { readonly head: string; readonly bytes: number; readonly end: string };
  readonly hash: Hex;
}
const VECTORS = fixtureJson<{ headers: readonly HeaderVector[] }>('consensus/glamsterdam.json').headers;
const bytes = (byte: string, length: number): Hex => `0x${byte.repeat(length)}`;
const PRAGUE = VECTORS[0]!.header;
const { header: NEW, hash: HASH } = VECTORS[1]!;
const answer = (changes: object = {}) => ({ ...NEW, hash: HASH, ...changes });
const codeOf = (work: () => unknown): unknown => {
  try {
    return work();
  } catch (error) {
    return (error as { code?: string }).code;
  }
};

describe('headers of Amsterdam', () => {
  test.each(VECTORS)('$hash', ({ header, rlp: { head, bytes: length, end }, hash }) => {
    const read = readHeader(header);
    const fields = headerFields(read);
    const text = bytesToHex(RLP.encode(fields)).slice(2);
    expect([text.slice(0, 6), text.length / 2, text.slice(-end.length)]).toEqual([head, length, end]);
    expect(bytesToHex(headerHash(read))).toBe(hash);
    expect(headerFromFields(fields)).toEqual(read);
    expect(formatHeader({ header: read, hash: headerHash(read) })).toEqual({ ...header, hash });
    expect(verifyHeader({ ...header, hash })).toMatchObject({ verified: true });
  });

  test('null is absent, as in the plain JSON of geth', () => {
    const read = readHeader({ ...PRAGUE, blockAccessListHash: null, slotNumber: null });
    expect(bytesToHex(headerHash(read))).toBe(VECTORS[0]!.hash);
  });

  test('22 members are refused, in RLP and in JSON, whichever is missing', () => {
    const fields = headerFields(readHeader(NEW));
    expect(codeOf(() => headerFromFields(fields.slice(0, 22)))).toBe('INVALID_LENGTH');
    for (const name of ['blockAccessListHash', 'slotNumber', 'requestsHash'])
      expect([name, codeOf(() => readHeader({ ...NEW, [name]: undefined }))]).toEqual([name, 'PROOF_MALFORMED']);
  });

  test('what is wrong is said with its member', () => {
    expect(() => readHeader({ ...NEW, slotNumber: null }, 'block')).toThrow(
      'malformed proof: block.slotNumber is missing',
    );
    const slotNumber = '0x10000000000000000';
    expect(() => readHeader({ ...NEW, slotNumber })).toThrow('malformed proof: slotNumber is not below 2^64');
  });

  test('a slot number has at most 64 bits', () => {
    expect(readHeader({ ...NEW, slotNumber: `0x${'f'.repeat(16)}` }).slotNumber).toBe(2n ** 64n - 1n);
    expect(codeOf(() => readHeader({ ...NEW, slotNumber: '0x10000000000000000' }))).toBe('PROOF_MALFORMED');
    const fields = headerFields(readHeader(NEW));
    expect(codeOf(() => headerFromFields([...fields.slice(0, 22), new Uint8Array(9).fill(1)]))).toBe('INVALID_LENGTH');
  });

  test('the hash decides, not a date: no profile of layer 2 has to know the fork', () => {
    const network = { ...linea, forks: [{ hardfork: 'prague', block: 0 }] } as const;
    const header = readHeader(NEW);
    expect(verifyHeaderRules({ forks: network.forks }, header)).toEqual({ verified: true });
  });
});

describe('members that this version does not know', () => {
  test('are ignored if the hash is that of the known ones', () => {
    expect(verifyHeader(answer({ newRoot: bytes('77', 32), totalDifficulty: '0x1' }))).toMatchObject({
      verified: true,
    });
  });

  test('are named if it is not: the header is neither true nor false', () => {
    const members = { newRoot: bytes('77', 32), empty: null, 'a"b': 1 };
    expect(() => verifyHeader(answer({ ...members, hash: bytes('88', 32) }))).toThrowError(
      expect.objectContaining({
        code: 'HEADER_UNSUPPORTED',
        message:
          'the header of block 11000000 has members that this version does not know (newRoot and 1 more): use a newer version',
        details: { block: '11000000', members: ['newRoot'] },
      }),
    );
    const hash = new Uint8Array(32).fill(9);
    expect(codeOf(() => verifyHeader(answer({ newRoot: '0x1' }), { hash }))).toBe('HEADER_UNSUPPORTED');
  });

  test('at most eight are named, those with plain names', () => {
    const names = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i'].map((letter) => letter.repeat(40));
    const long = 'x'.repeat(41);
    const refused = (members: object) => {
      try {
        return verifyHeader(answer({ ...members, hash: bytes('88', 32) }));
      } catch (error) {
        const { message, details } = error as { message: string; details: { members: string[] } };
        return { told: /\((.*)\)/.exec(message)?.[1], members: details.members };
      }
    };
    const all = Object.fromEntries(names.map((name) => [name, 1]));
    const first = names.slice(0, 8);
    expect(refused(all)).toEqual({ told: `${first.join(', ')} and 1 more`, members: first });
    expect(refused({ newA: 1, newB: 2 })).toEqual({ told: 'newA, newB', members: ['newA', 'newB'] });
    expect(refused({ [long]: 1, 'no name': 1, newA: 1, gone: undefined, none: null })).toEqual({
      told: 'newA and 2 more',
      members: ['newA'],
    });
    expect(refused({ gone: undefined, none: null })).toMatchObject({ reason: 'HASH_MISMATCH' });
  });

  test('a header without any is refused, also beside members of the block', () => {
    for (const more of [{}, { totalDifficulty: '0x1', size: '0x2', uncles: [], transactions: [], withdrawals: [] }])
      expect(verifyHeader(answer({ ...more, hash: bytes('88', 32) }))).toMatchObject({ reason: 'HASH_MISMATCH' });
  });
});
