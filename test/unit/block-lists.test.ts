import { keccak_256 } from '@noble/hashes/sha3.js';
import { describe, expect, test } from 'vitest';
import type { HeaderChain } from '../../src/chain/light/heads/header-chain.js';
import { LightBlock } from '../../src/chain/light/heads/light-block.js';
import { BlockLists } from '../../src/chain/light/state/block-lists.js';
import { CodeCache, type ProvedState, ProvedStates } from '../../src/chain/light/state/proved-state.js';
import type { BlockHeader } from '../../src/ethereum/header.js';
import { devnet } from '../../src/networks/devnet.js';
import { bytesToKey } from '../../src/primitives/bytes.js';
import { bytesToHex, type Hex, hexToBytes } from '../../src/primitives/hex.js';
import type { EndpointGroup } from '../../src/upstream/group.js';
import { hashOfListJson, type ListJson } from '../support/amsterdam.js';
import { stranger, word } from '../support/dev-node.js';

const ADDRESS = stranger('aa');
const OTHER = stranger('bb');
const CODE: Hex = '0x6001';
const codeHash = (code: Hex) => bytesToHex(keccak_256(hexToBytes(code)));
const NO_CODE = codeHash('0x');

/** What is known of an account: null if it is not there; slots by number, null for one that is not known. */
interface Known {
  readonly account: { readonly nonce: number; readonly balance: number; readonly codeHash: Hex } | null;
  readonly slots: Readonly<Record<number, number | null>>;
}
const plain = { nonce: 1, balance: 5, codeHash: codeHash(CODE) };
const bare = { nonce: 0, balance: 5, codeHash: NO_CODE };

const at = <Value>(index: number, value: Value) => ({ index: `0x${index.toString(16)}` as Hex, value });
const slot = (key: number, ...changes: [index: number, value: number][]) => ({
  key: word(BigInt(key)),
  changes: changes.map(([index, value]) => at(index, word(BigInt(value)))),
});
const entry = (changes: Partial<ListJson[number]>): ListJson => [
  {
    ...{
      address: ADDRESS,
      storageChanges: [],
      storageReads: [],
      balanceChanges: [],
      nonceChanges: [],
      codeChanges: [],
    },
    ...changes,
  },
];

/** A block of the chain, and an endpoint that has these lists. */
function block(
  number: number,
  name: number,
  parent: LightBlock | undefined,
  list: ListJson,
  stateRoot = name,
): LightBlock {
  const header = {
    number,
    parentHash: parent?.hash ?? hexToBytes(word(0n)),
    stateRoot: hexToBytes(word(BigInt(stateRoot))),
    gasLimit: 60_000_000n,
    gasUsed: 0n,
    blockAccessListHash: hexToBytes(hashOfListJson(list)),
  } as BlockHeader;
  return new LightBlock(header, hexToBytes(word(BigInt(name))));
}

function scene(given: readonly (readonly [LightBlock, ListJson])[]) {
  const lists = new Map(given.map(([{ hash }, list]) => [bytesToHex(hash), list]));
  const refused: string[] = [];
  const group = {
    endpoints: [{ id: 'one' }],
    request: async (_: string, [hash]: [Hex], { accept }: { accept: (...args: unknown[]) => unknown }) =>
      accept(lists.get(hash) ?? null, { id: 'one' }),
    reportFalse: (_: string, reason: string) => void refused.push(reason),
  } as unknown as EndpointGroup;
  const headers = { at: (number: number) => given.find(([{ header }]) => header.number === number)?.[0] };
  const states = new ProvedStates(new CodeCache(), true);
  const brought = new BlockLists({ group, network: devnet(), headers: headers as unknown as HeaderChain });
  return { states, brought, refused, lists };
}

/** Puts values into a state, as proofs do. A storage root comes with them. */
function prove(state: ProvedState, address: Hex, { account, slots }: Known): void {
  const key = bytesToKey(hexToBytes(address));
  state.take(
    new Map([
      [
        key,
        {
          account: account === null ? undefined : { ...proved(account), storageRoot: new Uint8Array(32).fill(9) },
          slots: new Map(
            Object.entries(slots).map(([name, value]) => [
              bytesToKey(hexToBytes(word(BigInt(name)))),
              hexToBytes(word(BigInt(value!))),
            ]),
          ),
        },
      ],
    ]),
  );
}

const proved = ({ nonce, balance, codeHash }: NonNullable<Known['account']>) => ({
  nonce: BigInt(nonce),
  balance: BigInt(balance),
  codeHash: hexToBytes(codeHash),
});

/** What a state knows of the account, of these slots. */
function told(state: ProvedState, slots: Known['slots']) {
  const address = hexToBytes(ADDRESS);
  const values = Object.keys(slots).map((name) => {
    const value = state.slot(address, hexToBytes(word(BigInt(name))));
    return [name, value === undefined ? null : Number(bytesToHex(value))];
  });
  const account = state.account(address);
  return { account: account === undefined ? null : account, slots: Object.fromEntries(values) };
}

const CASES: Record<string, { before: Known; list: ListJson; after: Known }> = {
  'not named: all as it was, an empty slot too': {
    before: { account: plain, slots: { 0: 7, 1: 0 } },
    list: entry({ address: OTHER, balanceChanges: [at(1, '0x6')] }),
    after: { account: plain, slots: { 0: 7, 1: 0, 2: null } },
  },
  'read, and nothing changed': {
    before: { account: plain, slots: { 0: 7 } },
    list: entry({ storageReads: [word(0n)] }),
    after: { account: plain, slots: { 0: 7 } },
  },
  'several indexes: the last holds': {
    before: { account: plain, slots: { 0: 7, 1: 3 } },
    list: entry({
      storageChanges: [slot(0, [1, 8], [2, 9]), slot(1, [1, 4], [9, 3])],
      balanceChanges: [at(1, '0x4'), at(2, '0x3')],
      nonceChanges: [at(1, '0x2'), at(4, '0x3')],
    }),
    after: { account: { ...plain, nonce: 3, balance: 3 }, slots: { 0: 9, 1: 3 } },
  },
  'a withdrawal, at the index after the last transaction': {
    before: { account: plain, slots: {} },
    list: entry({ balanceChanges: [at(1, '0x4'), at(3, '0x3b9aca00')] }),
    after: { account: { ...plain, balance: 1_000_000_000 }, slots: {} },
  },
  'code is set': {
    before: { account: bare, slots: { 0: 0 } },
    list: entry({
      nonceChanges: [at(1, '0x1')],
      codeChanges: [{ index: '0x1', code: CODE }],
      storageChanges: [slot(0, [1, 7])],
    }),
    after: { account: { ...bare, nonce: 1, codeHash: codeHash(CODE) }, slots: { 0: 7 } },
  },
  'code is removed': {
    before: { account: plain, slots: { 0: 7 } },
    list: entry({ nonceChanges: [at(1, '0x2')], codeChanges: [{ index: '0x1', code: '0x' }] }),
    after: { account: { ...plain, nonce: 2, codeHash: NO_CODE }, slots: { 0: 7 } },
  },
  'an account that is not there is touched': {
    before: { account: null, slots: { 0: 0 } },
    list: entry({}),
    after: { account: null, slots: { 0: 0, 1: 0 } },
  },
  'an account comes into being': {
    before: { account: null, slots: { 0: 0 } },
    list: entry({ balanceChanges: [at(1, '0x5')] }),
    after: { account: bare, slots: { 0: 0, 1: null } },
  },
  'an account is left with nothing: what slots it had is not known': {
    before: { account: bare, slots: { 0: 7, 1: 0 } },
    list: entry({ balanceChanges: [at(1, '0x0')] }),
    after: { account: { ...bare, balance: 0 }, slots: { 0: null, 1: 0, 2: null } },
  },
  'a slot is edited where nothing is': {
    before: { account: null, slots: { 0: 0 } },
    list: entry({ storageChanges: [slot(0, [0, 7])] }),
    after: { account: { ...bare, balance: 0 }, slots: { 0: null, 1: null } },
  },
  'without nonce and code: a transaction may have created and destroyed it': {
    before: { account: bare, slots: { 0: 7, 1: 0, 2: 7, 3: 7 } },
    list: entry({ storageReads: [word(0n)], storageChanges: [slot(2, [0, 8]), slot(3, [1, 8])] }),
    after: { account: bare, slots: { 0: null, 1: 0, 2: null, 3: 8 } },
  },
  'edited to have code before the transactions, it stays': {
    before: { account: null, slots: { 0: 0 } },
    list: entry({ codeChanges: [{ index: '0x0', code: CODE }], storageChanges: [slot(0, [0, 7])] }),
    after: { account: { ...bare, balance: 0, codeHash: codeHash(CODE) }, slots: { 0: 7 } },
  },
  'a slot that was not held is not known, though the list has its value': {
    before: { account: plain, slots: {} },
    list: entry({ storageChanges: [slot(0, [1, 7])] }),
    after: { account: plain, slots: { 0: null } },
  },
};

describe('a state goes over to the next block', () => {
  test.each(Object.entries(CASES))('%s', async (_, { before, list, after }) => {
    const first = block(1, 0x11, undefined, []);
    const second = block(2, 0x22, first, list);
    const { states, brought } = scene([
      [first, []],
      [second, list],
    ]);
    const [from, to] = [states.after(first), states.after(second)];
    await brought.bring(first, from);
    prove(from, ADDRESS, before);
    expect(from.account(hexToBytes(ADDRESS))?.nonce).toBe(
      before.account === null ? undefined : BigInt(before.account.nonce),
    );
    await brought.bring(second, to);
    const { account } = after;
    expect(told(to, after.slots)).toEqual({ account: account && proved(account), slots: after.slots });
    expect(told(from, before.slots).slots).toEqual(before.slots);
  });
});

test('values are of a block, not of the root in its header', async () => {
  const first = block(1, 0x11, undefined, []);
  const [one, other] = [entry({ balanceChanges: [at(1, '0x6')] }), entry({ balanceChanges: [at(1, '0x7')] })];
  const [second, false_] = [block(2, 0x22, first, one, 0xee), block(2, 0x23, first, other, 0xee)];
  const { states, brought } = scene([
    [first, []],
    [second, one],
    [false_, other],
  ]);
  await brought.bring(first, states.after(first));
  prove(states.after(first), ADDRESS, { account: plain, slots: {} });
  states.after(first).account(hexToBytes(ADDRESS));
  await brought.bring(false_, states.after(false_));
  expect(states.after(second).hasAccount(hexToBytes(ADDRESS))).toBe(false);
  await brought.bring(second, states.after(second));
  expect(states.after(second).account(hexToBytes(ADDRESS))?.balance).toBe(6n);
  expect(states.after(false_).account(hexToBytes(ADDRESS))?.balance).toBe(7n);
});

test('a list above the bound is left, and one that is missing too: nobody is accused; a false one is reported', async () => {
  const first = block(1, 0x11, undefined, []);
  const long = entry({ codeChanges: [{ index: '0x1', code: `0x${'00'.repeat(2 ** 20 + 1)}` }] });
  const given: [LightBlock, ListJson | undefined, number][] = [
    [block(2, 0x22, first, long), long, 0],
    [block(2, 0x23, first, []), undefined, 0],
    [block(2, 0x24, first, []), entry({ balanceChanges: [at(1, '0x7')] }), 1],
  ];
  for (const [second, list, reported] of given) {
    const { states, brought, refused, lists } = scene([[first, []]]);
    if (list !== undefined) lists.set(bytesToHex(second.hash), list);
    const [from, to] = [states.after(first), states.after(second)];
    await brought.bring(first, from);
    prove(from, ADDRESS, { account: plain, slots: {} });
    from.account(hexToBytes(ADDRESS));
    await brought.bring(second, to);
    expect(to.size).toBe(0);
    expect(refused).toEqual(
      reported === 0 ? [] : ['its access list of block 2 was refused: ACCESS_LIST_HASH_MISMATCH'],
    );
  }
});
