import { RLP } from '@ethereumjs/rlp';
import { describe, expect, it } from 'vitest';
import { bytesToHex, hexToBytes } from '../../src/primitives/hex.js';
import { decodeTrieLog } from '../../src/state/trie-log.js';

/** From Shomei 3.2.4, TrieLogLayerConverterTest.java. */
const SHOMEI_LOG =
  '0xf8d6a0000000000000000000000000000000000000000000000000000000000000000001f847940000000000000000000000000000000000000000c98086feeddeadbeef8080e6e5a0290decd9548b62a8d60345a988386fc84ba6bc95484008f6362f93160ef3e56380018080f8699400000000000000000000000000000000deadbeef80f85080f84c80880de0b6b3a7640000a0c5d2460186f7233c927e7db2dcc703c0e500b653ca82273b7bfad8045d85a470a0c5d2460186f7233c927e7db2dcc703c0e500b653ca82273b7bfad8045d85a4708080';

type Item = string | Item[];
const WORD = `0x${'11'.repeat(32)}`;
const ADDRESS = `0x${'22'.repeat(20)}`;
const OTHER_ROOT = `0x${'33'.repeat(32)}`;
/** @ethereumjs/rlp takes `0x` text for bytes. */
const decode = (log: Item) => decodeTrieLog(RLP.encode(log));
const account = (...fields: Item[]): Item => ['0x', '0x', '0x', '0x'].map((none, i) => fields[i] ?? none);
const entry = (parts: { code?: Item; account?: Item; storage?: Item } = {}): Item => [
  ADDRESS,
  parts.code ?? '0x',
  parts.account ?? ['0x', account('0x01'), '0x'],
  parts.storage ?? '0x',
];

describe('trie log', () => {
  it('decodes the log of a Shomei test, and leaves out an entry without account', () => {
    const log = decodeTrieLog(hexToBytes(SHOMEI_LOG));
    expect([log.blockNumber, log.zkCompare, log.timestamp]).toEqual([1, undefined, undefined]);
    expect(log.changes).toEqual([
      {
        address: hexToBytes('0x00000000000000000000000000000000deadbeef'),
        after: { nonce: 0n, balance: 1_000_000_000_000_000_000n },
        destroyed: false,
        slots: [],
      },
    ]);
  });

  it('decodes code, slots, flags and the two numbers at the end', () => {
    const slots: Item = [
      [WORD, '0x05', '0x', '0x01', '0x'],
      [WORD, '0x', '0x0102', '0x02', '0x07'],
      [WORD, '0x', '0x01', '0x'],
    ];
    const changed = entry({
      code: ['0x', '0x6000', '0x'],
      account: [account('0x01', '0x02'), account('0x03'), '0x01'],
      storage: slots,
    });
    const log = decode([WORD, '0x0a', changed, '0x1f', '0x6553f104', '0x01']);
    expect([log.blockNumber, log.zkCompare, log.timestamp]).toEqual([10, 31n, 1_700_000_004n]);
    const [change] = log.changes;
    expect(change).toMatchObject({
      before: { nonce: 1n, balance: 2n },
      after: { nonce: 3n, balance: 0n, code: Uint8Array.of(0x60, 0x00) },
      destroyed: true,
    });
    // The third slot has no key.
    expect(
      change?.slots.map(({ key, before, after, cleared }) =>
        [key, before, after].map((w) => Number(bytesToHex(w))).concat(Number(cleared)),
      ),
    ).toEqual([
      [0, 5, 0, 1],
      [7, 0, 258, 0],
    ]);
  });

  it('distinguishes code set to zero bytes from unchanged code', () => {
    const [set] = decode([WORD, '0x', entry({ code: ['0x60', '0x', '0x'] })]).changes;
    const [alone] = decode([WORD, '0x', entry()]).changes;
    expect([set?.after?.code, alone?.after?.code]).toEqual([new Uint8Array(0), undefined]);
  });

  const bad: [string, Uint8Array][] = [
    ['nothing', new Uint8Array(0)],
    ['no list', Uint8Array.of(0x01)],
    ['a cut log', hexToBytes(SHOMEI_LOG).subarray(0, 200)],
    ['bytes after the item', Uint8Array.of(...hexToBytes(SHOMEI_LOG), 0)],
    ['lists without end', new Uint8Array(200_000).fill(0xc1)],
    ['no number', RLP.encode([WORD])],
    ['a block hash of 31 bytes', RLP.encode([`0x${'11'.repeat(31)}`, '0x01'])],
    ['a number with leading zeros', RLP.encode([WORD, '0x0001'])],
    ['a number above 2^53', RLP.encode([WORD, '0x20000000000001'])],
    ['an address of 21 bytes', RLP.encode([WORD, '0x01', [`${ADDRESS}00`, '0x', '0x', '0x']])],
    ['an entry of three items', RLP.encode([WORD, '0x01', [ADDRESS, '0x', '0x']])],
    ['an account that is a word', RLP.encode([WORD, '0x01', entry({ account: WORD })])],
    ['an account of three items', RLP.encode([WORD, '0x01', entry({ account: ['0x', ['0x', '0x', '0x'], '0x'] })])],
    [
      'a nonce of 9 bytes',
      RLP.encode([WORD, '0x01', entry({ account: ['0x', account(`0x${'01'.repeat(9)}`), '0x'] })]),
    ],
    [
      'a balance of 33 bytes',
      RLP.encode([WORD, '0x01', entry({ account: ['0x', account('0x', `0x${'01'.repeat(33)}`), '0x'] })]),
    ],
    ['code that is a list', RLP.encode([WORD, '0x01', entry({ code: ['0x', [], '0x'] })])],
    ['a slot with leading zeros', RLP.encode([WORD, '0x01', entry({ storage: [[WORD, '0x', '0x0001', '0x', '0x']] })])],
    ['a slot without its hash', RLP.encode([WORD, '0x01', entry({ storage: [['0x', '0x', '0x01', '0x', '0x']] })])],
    [
      'a recreation with another storage root and no slot',
      RLP.encode([WORD, '0x01', entry({ account: [account(), account('0x', '0x', OTHER_ROOT), '0x01'] })]),
    ],
  ];

  it.each(bad)('refuses %s', (_, encoded) => {
    expect(() => decodeTrieLog(encoded)).toThrow(expect.objectContaining({ code: 'TRIE_LOG_MALFORMED' }));
  });
});
