import { RLP } from '@ethereumjs/rlp';
import { describe, expect, test } from 'vitest';
import { headerFields, headerFromFields, headerHash } from '../../src/ethereum/header.js';
import { linea } from '../../src/networks/linea.js';
import { bytesToHex, type Hex } from '../../src/primitives/hex.js';
import { readHeader, verifyHeader, verifyHeaderRules } from '../../src/proof/headers.js';
import { formatHeader } from '../../src/rpc/answers/format.js';
import { EMPTY_LIST_HASH } from '../support/amsterdam.js';

/** Members, RLP and hashes of docs/spec/glamsterdam.md 2, computed with go-ethereum 1.17.10. */
const EMPTY_TRIE = '0x56e81f171bcc55a6ff8345e692c0f86e5b48e01b996cadc001622fb5e363b421';
const bytes = (byte: string, length: number): Hex => `0x${byte.repeat(length)}`;
const PRAGUE = {
  parentHash: bytes('11', 32),
  sha3Uncles: EMPTY_LIST_HASH,
  miner: bytes('22', 20),
  stateRoot: bytes('33', 32),
  ...{ transactionsRoot: EMPTY_TRIE, receiptsRoot: EMPTY_TRIE, withdrawalsRoot: EMPTY_TRIE },
  logsBloom: bytes('00', 256),
  ...{ difficulty: '0x0', number: '0xa7d8c0', gasLimit: '0x3938700', gasUsed: '0x0', timestamp: '0x6ac4fd54' },
  extraData: '0x706c756d626c696e65',
  mixHash: bytes('44', 32),
  nonce: bytes('00', 8),
  ...{ baseFeePerGas: '0x7', blobGasUsed: '0x0', excessBlobGas: '0x0' },
  parentBeaconBlockRoot: bytes('55', 32),
  requestsHash: '0xe3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855',
};
const LATER = { ...PRAGUE, timestamp: '0x6ac4fd60' };
const VECTORS = [
  {
    header: PRAGUE,
    rlp: ['f90267', 618, '495991b7852b855'],
    hash: '0x7f067445af636ec44d1ec6d120029b8e07900858180f8d4792bd064a3d9cc799',
  },
  {
    header: { ...LATER, blockAccessListHash: EMPTY_LIST_HASH, slotNumber: '0xac6000' },
    rlp: ['f9028c', 655, '40d4934783ac6000'],
    hash: '0xfec076fee2f4462e9a522571dfb99a5483b1851643907bcd587dd74b9a40cf90',
  },
  {
    header: { ...LATER, blockAccessListHash: bytes('66', 32), slotNumber: '0x0' },
    rlp: ['f90289', 652, '66666680'],
    hash: '0xdbe6f10f417e96469bc23b2e1cf146d707b573917bd37809be0662a9d9eb9165',
  },
] as const;
const [, { header: NEW, hash: HASH }] = VECTORS;
const answer = (changes: object = {}) => ({ ...NEW, hash: HASH, ...changes });
const codeOf = (work: () => unknown): unknown => {
  try {
    return work();
  } catch (error) {
    return (error as { code?: string }).code;
  }
};

describe('headers of Amsterdam', () => {
  test.each(VECTORS)('$hash', ({ header, rlp: [head, length, end], hash }) => {
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
    expect(bytesToHex(headerHash(read))).toBe(VECTORS[0].hash);
  });

  test('22 members are refused, in RLP and in JSON, whichever is missing', () => {
    const fields = headerFields(readHeader(NEW));
    expect(codeOf(() => headerFromFields(fields.slice(0, 22)))).toBe('INVALID_LENGTH');
    for (const name of ['blockAccessListHash', 'slotNumber', 'requestsHash'])
      expect([name, codeOf(() => readHeader({ ...NEW, [name]: undefined }))]).toEqual([name, 'PROOF_MALFORMED']);
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

  test('a header without any is refused, also beside members of the block', () => {
    for (const more of [{}, { totalDifficulty: '0x1', size: '0x2', uncles: [], transactions: [], withdrawals: [] }])
      expect(verifyHeader(answer({ ...more, hash: bytes('88', 32) }))).toMatchObject({ reason: 'HASH_MISMATCH' });
  });
});
