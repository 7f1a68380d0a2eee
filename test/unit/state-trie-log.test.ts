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
    expect(Object.keys(alone!.after!)).toEqual(['nonce', 'balance']);
    const [gone] = decode([WORD, '0x', entry({ account: [account('0x01'), '0x', '0x01'] })]).changes;
    expect(Object.keys(gone!).sort()).toEqual(['address', 'before', 'destroyed', 'slots']);
  });

  const log = (...entries: Item[]) => RLP.encode([WORD, '0x01', ...entries]);
  const slot = (...fields: Item[]) => log(entry({ storage: [fields] }));
  const long = (bytes: number) => `0x${'01'.repeat(bytes)}`;
  const bad: [string, Uint8Array, string][] = [
    ['nothing', new Uint8Array(0), 'log is empty'],
    ['no list', Uint8Array.of(0x01), 'log must be a list'],
    ['a cut log', hexToBytes(SHOMEI_LOG).subarray(0, 200), 'log must be one canonical RLP item'],
    ['bytes after the item', Uint8Array.of(...hexToBytes(SHOMEI_LOG), 0), 'log must be one canonical RLP item'],
    ['lists without end', new Uint8Array(200_000).fill(0xc1), 'log must be one canonical RLP item'],
    ['no number', RLP.encode([WORD]), 'log must have at least 2 items, got 1'],
    ['a block hash of 31 bytes', RLP.encode([long(31), '0x01']), 'log.blockHash must have 32 bytes, got 31'],
    ['a block hash that is a list', RLP.encode([[], '0x01']), 'log.blockHash must be a byte string'],
    ['a number with leading zeros', RLP.encode([WORD, '0x0001']), 'log.blockNumber must not have leading zeros'],
    ['a number of 9 bytes', RLP.encode([WORD, long(9)]), 'log.blockNumber must have at most 8 bytes, got 9'],
    ['the number 2^53', RLP.encode([WORD, '0x20000000000000']), 'log.blockNumber must be at most 2^53 - 1'],
    ['a mask of 33 bytes', log(long(33)), 'log.zkCompare must have at most 32 bytes, got 33'],
    ['a time of 9 bytes', log('0x01', long(9)), 'log.timestamp must have at most 8 bytes, got 9'],
    [
      'an address of 21 bytes',
      log([`${ADDRESS}00`, '0x', '0x', '0x']),
      'log.entries[0].address must have 20 bytes, got 21',
    ],
    [
      'an entry of three items',
      log(entry(), [ADDRESS, '0x', '0x']),
      'log.entries[1] must have at least 4 items, got 3',
    ],
    ['code of two items', log(entry({ code: ['0x', '0x'] })), 'log.entries[0].code must have at least 3 items, got 2'],
    [
      'code that is a list',
      log(entry({ code: ['0x', [], '0x'] })),
      'log.entries[0].code.updated must be a byte string',
    ],
    ['an account that is a word', log(entry({ account: WORD })), 'log.entries[0].account must be a list'],
    [
      'an account of two items',
      log(entry({ account: ['0x', account()] })),
      'log.entries[0].account must have at least 3 items, got 2',
    ],
    [
      'an account after of three items',
      log(entry({ account: ['0x', ['0x', '0x', '0x'], '0x'] })),
      'log.entries[0].account.updated must have at least 4 items, got 3',
    ],
    [
      'a flag of 5 bytes',
      log(entry({ account: ['0x', account(), long(5)] })),
      'log.entries[0].account.cleared must have at most 4 bytes, got 5',
    ],
    [
      'a nonce of 9 bytes',
      log(entry({ account: ['0x', account(long(9)), '0x'] })),
      'log.entries[0].account.updated.nonce must have at most 8 bytes, got 9',
    ],
    [
      'a balance of 33 bytes',
      log(entry({ account: [account('0x', long(33)), '0x', '0x'] })),
      'log.entries[0].account.prior.balance must have at most 32 bytes, got 33',
    ],
    [
      'a storage root of 31 bytes',
      log(entry({ account: ['0x', account('0x', '0x', long(31)), '0x'] })),
      'log.entries[0].account.updated.evmStorageRoot must have 32 bytes, got 31',
    ],
    [
      'a code hash of 31 bytes',
      log(entry({ account: ['0x', account('0x', '0x', '0x', long(31)), '0x'] })),
      'log.entries[0].account.updated.keccakCodeHash must have 32 bytes, got 31',
    ],
    ['storage that is a word', log(entry({ storage: WORD })), 'log.entries[0].storage must be a list'],
    ['a slot of three items', slot(WORD, '0x', '0x'), 'log.entries[0].storage[0] must have at least 4 items, got 3'],
    [
      'a slot without its hash',
      slot('0x', '0x', '0x01', '0x', '0x'),
      'log.entries[0].storage[0].keyHash must have 32 bytes, got 0',
    ],
    [
      'a slot before with leading zeros',
      slot(WORD, '0x00', '0x', '0x', '0x'),
      'log.entries[0].storage[0].prior must not have leading zeros',
    ],
    [
      'a slot after with leading zeros',
      slot(WORD, '0x', '0x0001', '0x', '0x'),
      'log.entries[0].storage[0].updated must not have leading zeros',
    ],
    [
      'a slot whose flag is a list',
      slot(WORD, '0x', '0x01', [], '0x'),
      'log.entries[0].storage[0].cleared must be a byte string',
    ],
    [
      'a slot key of 33 bytes',
      slot(WORD, '0x', '0x01', '0x', long(33)),
      'log.entries[0].storage[0].slotKey must have at most 32 bytes, got 33',
    ],
    [
      'a recreation with another storage root and no slot',
      log(entry({ account: [account(), account('0x', '0x', OTHER_ROOT), '0x01'] })),
      'log.entries[0] recreates an account with another storage root, but lists no slot',
    ],
  ];

  it.each(bad)('refuses %s', (_, encoded, message) => {
    const [path, ...reason] = message.split(' ');
    expect(() => decodeTrieLog(encoded)).toThrow(
      expect.objectContaining({
        code: 'TRIE_LOG_MALFORMED',
        message: `trie log: ${message}`,
        details: { path, reason: reason.join(' ') },
      }),
    );
  });

  it('keeps the error of what is no RLP', () => {
    expect(() => decodeTrieLog(Uint8Array.of(0xc2, 0x01))).toThrow(
      expect.objectContaining({ cause: expect.any(Error) }),
    );
  });

  it('takes the largest number, and a number without log entries', () => {
    expect(decode([WORD, '0x1fffffffffffff'])).toEqual({
      blockHash: hexToBytes(WORD),
      blockNumber: 2 ** 53 - 1,
      changes: [],
    });
  });

  const root = (bytes: string) => account('0x', '0x', bytes);
  const EMPTY_ROOT = '0x56e81f171bcc55a6ff8345e692c0f86e5b48e01b996cadc001622fb5e363b421';
  const touched: Item = [[WORD, '0x', '0x01', '0x', '0x07']];
  it.each<[string, Parameters<typeof entry>[0]]>([
    ['that keeps its storage root', { account: [root(OTHER_ROOT), root(OTHER_ROOT), '0x01'] }],
    ['whose storage root is left out where it is empty', { account: [root(EMPTY_ROOT), root('0x'), '0x01'] }],
    ['with slots', { account: [root('0x'), root(OTHER_ROOT), '0x01'], storage: touched }],
    ['that was not there before', { account: ['0x', root(OTHER_ROOT), '0x01'] }],
    ['that is not there after', { account: [root(OTHER_ROOT), '0x', '0x01'] }],
    ['that was not destroyed', { account: [root('0x'), root(OTHER_ROOT), '0x'] }],
    ['with a code hash', { account: ['0x', account('0x', '0x', '0x', WORD), '0x'] }],
  ])('takes an account %s', (_, parts) => {
    expect(decode([WORD, '0x01', entry(parts)]).changes).toHaveLength(1);
  });
});
