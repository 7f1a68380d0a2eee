import { keccak_256 } from '@noble/hashes/sha3.js';
import { describe, expect, test } from 'vitest';
import { type Hex, hexToBytes } from '../../src/primitives/hex.js';
import { applyAccesses, type ListedAccount, verifyAccessList } from '../../src/proof/access-list.js';
import { hashOfListJson, type ListJson } from '../support/amsterdam.js';

/*
 * Access lists in JSON against the hash in a header. The hashes are made apart from the library, so that what is refused below has the
 * hash that its header names.
 */

const hex = (value: number): Hex => `0x${value.toString(16)}`;
const of = (byte: string): Hex => `0x${byte.repeat(20)}`;
const at = (index: number, value = '0x1' as Hex) => ({ index: hex(index), value });
const account = (does: Partial<ListJson[number]> = {}, byte = 'aa'): ListJson[number] => ({
  ...{ address: of(byte), storageChanges: [], storageReads: [] },
  ...{ balanceChanges: [], nonceChanges: [], codeChanges: [] },
  ...does,
});
const slot = (key: number, ...indexes: number[]) => ({ key: hex(key), changes: indexes.map((index) => at(index)) });
const header = (list: ListJson, gasLimit = 60_000_000n) => ({
  gasLimit,
  blockAccessListHash: hexToBytes(hashOfListJson(list)),
});
const verify = (list: ListJson, gasLimit?: bigint) => verifyAccessList(header(list, gasLimit), list);
const order = (where: string) => ({
  verified: false,
  reason: 'ACCESS_LIST_ORDER',
  at: where,
  message: 'is not in ascending order',
});

const FULL = account({
  storageChanges: [slot(1, 0, 2), slot(2, 1)],
  storageReads: [hex(3), hex(4)],
  balanceChanges: [at(0), at(5)],
  nonceChanges: [at(1), at(2)],
  codeChanges: [
    { index: '0x1', code: '0x6001' },
    { index: '0x2', code: '0x' },
  ],
});

describe('a list', () => {
  test('in order, with the hash in the header', async () => {
    const list = [FULL, account({}, 'ab')];
    expect(await verify(list)).toMatchObject({ verified: true, list: { length: 2 } });
    expect(await verify([])).toMatchObject({ verified: true, list: [], bytes: 1 });
    // Members that are left out are empty.
    const { address, storageChanges } = FULL;
    const short = [{ address, storageChanges }];
    expect(await verifyAccessList(header([account({ storageChanges })]), short)).toMatchObject({ verified: true });
  });

  test.each([
    ['accounts', '[1]', [account({}, 'ab'), account({}, 'aa')]],
    ['an account twice', '[1]', [account(), account()]],
    ['the third account', '[2]', [account({}, 'aa'), account({}, 'cc'), account({}, 'bb')]],
    ['slots', '[0].storageChanges', [account({ storageChanges: [slot(2, 1), slot(1, 1)] })]],
    ['a slot twice', '[0].storageChanges', [account({ storageChanges: [slot(1, 1), slot(1, 2)] })]],
    ['reads', '[0].storageReads', [account({ storageReads: [hex(2), hex(1)] })]],
    ['a read twice', '[0].storageReads', [account({ storageReads: [hex(2), hex(2)] })]],
    ['values of a slot', '[0].storageChanges', [account({ storageChanges: [slot(1, 2, 1)] })]],
    ['two values of a slot in one transaction', '[0].storageChanges', [account({ storageChanges: [slot(1, 2, 2)] })]],
    ['balances', '[0].balanceChanges', [account({ balanceChanges: [at(2), at(1)] })]],
    ['nonces', '[0].nonceChanges', [account({ nonceChanges: [at(3), at(3)] })]],
    [
      'codes',
      '[0].codeChanges',
      [account({ codeChanges: ['0x2', '0x1'].map((index) => ({ index: index as Hex, code: '0x' })) })],
    ],
  ])('is refused if it is out of order: %s', async (_, where, list) => {
    expect(await verify(list as ListJson)).toEqual(order(where));
  });

  test('has no more accounts and slots than one for each 2 000 gas of its block', async () => {
    const list = [account(), account({ storageChanges: [slot(1, 1)], storageReads: [hex(3), hex(4)] }, 'bb')];
    expect(await verify(list, 10_000n)).toMatchObject({ verified: true });
    expect(await verify(list, 9_999n)).toEqual({
      verified: false,
      reason: 'ACCESS_LIST_TOO_LONG',
      at: '[1]',
      message: 'is more than the 4 items that its block allows',
    });
  });

  test('is refused with another hash, or if the header names none', async () => {
    const mismatch = {
      verified: false,
      reason: 'ACCESS_LIST_HASH_MISMATCH',
      at: '',
      message: 'the list does not have the hash in the header',
    };
    expect(await verifyAccessList(header([FULL]), [account()])).toEqual(mismatch);
    expect(await verifyAccessList({ gasLimit: 60_000_000n }, [])).toEqual(mismatch);
  });

  test.each([
    ['no list', null, 'the list is not a list'],
    ['an address', [{ ...FULL, address: '0x11' }], '[0].address'],
    ['a key', [{ ...FULL, storageChanges: [{ key: 'x', changes: [] }] }], '[0].storageChanges[0].key'],
    ['no changes', [{ ...FULL, storageChanges: [{ key: '0x1' }] }], '[0].storageChanges[0].changes'],
    [
      'a slot without a change',
      [{ ...FULL, storageChanges: [slot(1)] }],
      '[0].storageChanges has a slot without a change',
    ],
    [
      'a value',
      [{ ...FULL, storageChanges: [{ key: '0x1', changes: [{ index: '0x1' }] }] }],
      '[0].storageChanges[0].changes[0].value',
    ],
    ['an index', [{ ...FULL, nonceChanges: [{ value: '0x1' }] }], '[0].nonceChanges[0].index'],
    ['a read', [{ ...FULL, storageReads: ['0x1', 7] }], '[0].storageReads[1]'],
    ['code', [{ ...FULL, codeChanges: [{ index: '0x1', value: '0x' }] }], '[0].codeChanges[0].code'],
  ])('is malformed: %s', async (_, answer, words) => {
    await expect(verifyAccessList(header([]), answer)).rejects.toMatchObject({
      code: 'PROOF_MALFORMED',
      message: expect.stringContaining(words),
    });
  });
});

describe('what it makes of an account', () => {
  const read = async (does: Partial<ListJson[number]>) => {
    const verdict = await verify([account(does)]);
    if (!verdict.verified) throw new Error(verdict.reason);
    return verdict.list[0]!;
  };
  const plain = (): ListedAccount => ({
    account: { nonce: 1n, balance: 5n, codeHash: keccak_256(hexToBytes('0x6001')) },
    slots: new Map(),
  });

  test('code is told with its hash, and code that is taken away is not', async () => {
    const codes: unknown[] = [];
    const held = plain();
    const given = await read({ codeChanges: [{ index: '0x1', code: '0x6002' }] });
    applyAccesses(held, given, (hash, code) => codes.push([hash, code]));
    const bytes = hexToBytes('0x6002');
    expect(codes).toEqual([[keccak_256(bytes), bytes]]);
    expect(held.account!.codeHash).toEqual(keccak_256(bytes));
    applyAccesses(held, await read({ codeChanges: [{ index: '0x1', code: '0x' }] }), () => codes.push('none'));
    expect(codes).toHaveLength(1);
    expect(held.account!.codeHash).toEqual(keccak_256(new Uint8Array(0)));
    applyAccesses(held, await read({ balanceChanges: [at(1, '0x9')] }), () => codes.push('none'));
    expect(codes).toHaveLength(1);
    expect(held.account).toMatchObject({ nonce: 1n, balance: 9n });
  });

  test('an account that was not there is there with any of its values', async () => {
    const made = async (does: Partial<ListJson[number]>) => {
      const held: ListedAccount = { account: undefined, slots: new Map() };
      applyAccesses(held, await read(does));
      return held.account;
    };
    const codeHash = keccak_256(new Uint8Array(0));
    expect(await made({ storageReads: [hex(1)] })).toBeUndefined();
    expect(await made({ balanceChanges: [at(1, '0x0')] })).toBeUndefined();
    expect(await made({ balanceChanges: [at(1, '0x7')] })).toEqual({ nonce: 0n, balance: 7n, codeHash });
    expect(await made({ nonceChanges: [at(1, '0x1')] })).toEqual({ nonce: 1n, balance: 0n, codeHash });
    expect(await made({ codeChanges: [{ index: '0x1', code: '0x6002' }] })).toEqual({
      nonce: 0n,
      balance: 0n,
      codeHash: keccak_256(hexToBytes('0x6002')),
    });
  });
});
