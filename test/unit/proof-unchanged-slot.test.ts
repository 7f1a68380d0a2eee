import { describe, expect, test } from 'vitest';
import { bytesToHex, type Hex, hexToBytes } from '../../src/primitives/hex.js';
import { verifyUnchanged } from '../../src/proof/unchanged-slot.js';
import { hashOfJson, hashOfListJson, type ListJson } from '../support/amsterdam.js';
import { address, getProof, rollupState, word } from '../support/ethereum-tries.js';
import { fixtureJson } from '../support/fixtures.js';

/*
 * A slot of block 10, and the blocks 11 to 13. Headers and lists are hashed by test/support/amsterdam.ts, apart from the library.
 */

const TEMPLATE = fixtureJson<{ headers: readonly { header: Readonly<Record<string, string>> }[] }>(
  'consensus/glamsterdam.json',
).headers[1]!.header;
const [CONTRACT, PLAIN] = [address(0xaa), address(0xbb)];
/** `currentL2BlockNumber` of the contract, which is 30. */
const KEY = word(0x119n);
const hex = (value: number): Hex => `0x${value.toString(16)}`;
const change = (index: number, value: Hex) => ({ index: hex(index), value });
/** What one account does in a block. */
const account = (does: Partial<ListJson[number]>, of = CONTRACT): ListJson[number] => ({
  ...{ address: bytesToHex(of), storageChanges: [], storageReads: [] },
  ...{ balanceChanges: [], nonceChanges: [], codeChanges: [] },
  ...does,
});
const ofSlot = (key: number): ListJson => [
  account({ storageChanges: [{ key: hex(key), changes: [change(1, '0x1f')] }] }),
];
const QUIET: ListJson = [account({ storageReads: [hex(0x119)], balanceChanges: [change(1, '0x9')] })];

/** Answers for a chain whose blocks have these lists, and the hash of its last block. */
async function chain(lists: readonly ListJson[], of = CONTRACT) {
  const { trie, stateRoot } = await rollupState();
  const make = (number: number, changes: Readonly<Record<string, string>>) => {
    const fields = { ...TEMPLATE, number: hex(number), ...changes };
    return { ...fields, hash: hashOfJson(fields) };
  };
  const header = make(10, { stateRoot: bytesToHex(stateRoot) });
  let last = header;
  const blocks = lists.map((list, i) => {
    last = make(11 + i, { parentHash: last.hash, blockAccessListHash: hashOfListJson(list) });
    return { header: last as unknown, list: list as unknown };
  });
  const state = await getProof(trie, stateRoot, of, [KEY]);
  const request = { address: of, key: KEY, from: 10, hash: hexToBytes(last.hash) };
  return { request, answers: { header: header as unknown, state: state as unknown, blocks } };
}
const refused = (reason: string, at: string) => ({ verified: false, reason, at });

describe('a slot over several blocks', () => {
  test('has its value if no list changes it, or names its account at all', async () => {
    const { request, answers } = await chain([QUIET, [], ofSlot(0x11a)]);
    expect(await verifyUnchanged(request, answers)).toEqual({ verified: true, value: word(30n) });
    const none = await chain([]);
    expect(await verifyUnchanged(none.request, none.answers)).toEqual({ verified: true, value: word(30n) });
  });

  test('is not shown to be unchanged where a list changes it, to the same value too', async () => {
    const { request, answers } = await chain([QUIET, ofSlot(0x119), []]);
    expect(await verifyUnchanged(request, answers)).toEqual({
      ...refused('SLOT_CHANGED', 'blocks[1].list'),
      message: 'block 12 changes the slot',
    });
  });

  test('of an account that may have gone is not known any more', async () => {
    // Its code is taken away, and its nonce is zero: a transaction may have removed it with its slots.
    const does = { nonceChanges: [change(1, '0x0')], codeChanges: [{ index: '0x1' as const, code: '0x' as const }] };
    const { request, answers } = await chain([[], [account(does)]]);
    expect(await verifyUnchanged(request, answers)).toEqual({
      ...refused('ACCOUNT_MAY_HAVE_GONE', 'blocks[1].list'),
      message: 'block 12 may have removed the account with its slots',
    });
    // The same of another account says nothing of it.
    const other = await chain([[account(does, PLAIN)]]);
    expect(await verifyUnchanged(other.request, other.answers)).toMatchObject({ verified: true });
  });

  test('needs headers that are linked from the trusted hash down', async () => {
    const { request, answers } = await chain([QUIET, []]);
    const [first, second] = answers.blocks;
    const verdict = (changes: object, asked: object = {}) =>
      verifyUnchanged({ ...request, ...asked }, { ...answers, ...changes });
    expect(await verdict({}, { hash: word(1n) })).toMatchObject(refused('OTHER_BLOCK', 'blocks[1].header.hash'));
    expect(await verdict({ blocks: [second, second] })).toMatchObject(refused('OTHER_BLOCK', 'blocks[0].header.hash'));
    expect(await verdict({ blocks: [second] })).toMatchObject(refused('OTHER_BLOCK', 'blocks[0].header.number'));
    expect(await verdict({}, { from: 9 })).toMatchObject(refused('OTHER_BLOCK', 'blocks[1].header.number'));
    expect(await verdict({ header: first!.header })).toMatchObject(refused('OTHER_BLOCK', 'header.hash'));
    const forged = { ...(answers.header as object), stateRoot: bytesToHex(word(7n)) };
    expect(await verdict({ header: forged })).toMatchObject(refused('HASH_MISMATCH', 'header.hash'));
  });

  test('needs the proof of its value, and each list', async () => {
    const { request, answers } = await chain([QUIET, []]);
    const state = answers.state as { accountProof: Hex[] };
    const cut = { ...state, accountProof: state.accountProof.slice(1) };
    expect(await verifyUnchanged(request, { ...answers, state: cut })).toMatchObject({
      verified: false,
      at: expect.stringMatching(/^state\.accountProof/),
    });
    const blocks = answers.blocks.map(({ header }, i) => ({ header, list: i === 0 ? [] : answers.blocks[1]!.list }));
    expect(await verifyUnchanged(request, { ...answers, blocks })).toMatchObject(
      refused('ACCESS_LIST_HASH_MISMATCH', 'blocks[0].list'),
    );
    const twice = [...QUIET, ...QUIET];
    const doubled = await chain([twice]);
    expect(await verifyUnchanged(doubled.request, doubled.answers)).toMatchObject(
      refused('ACCESS_LIST_ORDER', 'blocks[0].list[1]'),
    );
  });

  test('that is empty stays so, of an account that is not there too', async () => {
    const absent = address(0xdd);
    const { request, answers } = await chain([QUIET], absent);
    expect(await verifyUnchanged(request, answers)).toEqual({ verified: true, value: word(0n) });
  });
});
