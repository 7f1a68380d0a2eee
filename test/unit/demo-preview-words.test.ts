import { expect, test } from 'vitest';
import { namesOf } from '../../demo/preview/names.js';
import { approvalWords, contractWords, outcomeWords, warningWords } from '../../demo/preview/words.js';
import type { Approval, Asset, ContractChange, PreviewWarning, TransactionPreview } from '../../src/index.js';
import type { Hex } from '../../src/primitives/hex.js';

const address = (byte: string): Hex => `0x${byte.repeat(20)}`;
const [you, other, token, odd] = ['aa', 'bb', 'cc', 'dd'].map(address) as [Hex, Hex, Hex, Hex];
const zero = address('00');
const names = namesOf({
  calls: [],
  users: [you],
  tokens: {
    [token]: { symbol: 'CASH', decimals: 2 },
    // Looks like CASH, with a Cyrillic letter.
    [odd]: { symbol: 'C\u0410SH', decimals: null },
  },
} as unknown as TransactionPreview);
const cash = { kind: 'erc20', address: token } as const;

test('amounts have their unit and their decimals, and a name that could mislead is not shown', () => {
  expect(names.amount(cash, 12_345n)).toBe('123.45 CASH');
  expect(names.amount({ kind: 'native' }, -(10n ** 18n))).toBe('−1 ETH');
  expect(names.amount(cash, 2n ** 256n - 1n)).toBe('1.15 × 10^75 CASH');
  expect(names.amount({ kind: 'erc20', address: odd }, 7n)).toBe('7 token 0xdddd…dddd with an unusual name');
  expect(names.amount({ kind: 'erc721', address: token, id: '0x7' }, 1n)).toBe('CASH #7');
});

test('approvals say who may take what, from whom', () => {
  const base = { token, owner: you, spender: other, evidence: 'event' } as const;
  const erc20 = (before: Hex | null, after: Hex | null, told: Hex, unlimited = false): Approval => ({
    ...{ ...base, kind: 'erc20', before, after, told, unlimited, covers: null },
  });
  const cases: [Approval, string][] = [
    [erc20('0x0', '0x64', '0x64'), '0xbbbb…bbbb may take up to 1 CASH from you.'],
    [erc20('0x64', '0xc8', '0xc8'), '0xbbbb…bbbb may take up to 2 CASH from you. Before it was 1 CASH.'],
    [erc20('0x0', '0x0', '0x64'), '0xbbbb…bbbb may take 1 CASH from you, and the calls use it up.'],
    [erc20('0x64', '0x0', '0x0'), '0xbbbb…bbbb may no longer take CASH from you.'],
    [erc20('0x0', `0x${'f'.repeat(64)}`, '0x64', true), '0xbbbb…bbbb may take CASH from you without limit.'],
    [
      { ...base, kind: 'operator', approved: true, before: false, after: true },
      '0xbbbb…bbbb may take every token of CASH from you.',
    ],
    [{ ...base, kind: 'erc721', id: '0x9', after: other }, '0xbbbb…bbbb may take CASH #9 from you.'],
    [
      { ...base, kind: 'erc721', id: '0x9', after: zero, spender: zero },
      'No one account may take CASH #9 from you any more.',
    ],
  ];
  for (const [approval, words] of cases) expect(approvalWords(approval, names)).toBe(words);
});

test('contracts say what becomes of them', () => {
  const cases: [ContractChange, string][] = [
    [
      {
        event: 'delegated',
        address: you,
        before: null,
        after: other,
        target: other,
        nonce: '0x1',
        chainId: '0x1',
        validity: 'now',
      },
      'Your account runs the code of 0xbbbb…bbbb from now on.',
    ],
    [
      {
        event: 'delegated',
        address: you,
        before: other,
        after: null,
        target: null,
        nonce: '0x1',
        chainId: '0x1',
        validity: 'now',
      },
      'Your account no longer runs the code of another account.',
    ],
    [
      { event: 'upgraded', address: token, slot: 'admin', before: you, after: other, evented: true },
      '0xcccc…cccc has another admin from now on: 0xbbbb…bbbb.',
    ],
    [{ event: 'created', address: other, by: you, op: 'CREATE' }, `A contract is created at ${other}.`],
  ];
  for (const [change, words] of cases) expect(contractWords(change, names)).toBe(words);
});

/** A warning to which the test adds the severity. */
type Unrated<T> = T extends unknown ? Omit<T, 'severity'> : never;

test('what is lost comes first, then what is got for it', () => {
  const change = (asset: Asset, before: bigint, sum: bigint) => ({
    account: you,
    asset,
    before: `0x${before.toString(16)}`,
    change: String(sum),
  });
  const native = { kind: 'native' } as const;
  const words = (balances: object[], warnings: object[] = []) =>
    outcomeWords({ balances, warnings, fees: { [you]: '0x5' } } as unknown as TransactionPreview, names);
  const ether = change(native, 10n ** 18n, -(10n ** 17n) - 5n);
  const losesAll = { code: 'loses-all', account: you, asset: cash };
  expect(words([ether, change(cash, 500n, -500n)], [losesAll, { code: 'nothing-back', account: you }])).toBe(
    'You lose 5 CASH, all you have, and 0.1 ETH, and get nothing.',
  );
  expect(words([ether, change(cash, 0n, 700n)])).toBe('You lose 0.1 ETH and get 7 CASH.');
  expect(words([ether])).toBe('You send 0.1 ETH.');
  // The fee alone is no loss.
  expect(words([change(native, 10n, -5n)])).toBe(undefined);
  expect(words([change(native, 10n, -5n), change(cash, 0n, 100n)])).toBe('You get 1 CASH.');
});

test('warnings say what is wrong, and for whom', () => {
  const parties = { token, owner: you, spender: other } as const;
  const cases: [Unrated<PreviewWarning>, string][] = [
    [
      { code: 'balance-differs', asset: cash, account: you, told: '500', change: '-100' },
      'The token says +5 CASH for you; in truth it is −1 CASH',
    ],
    [
      { code: 'silent-change', asset: cash, account: you, told: '0', change: '-100' },
      'You: −1 CASH, and no event says so',
    ],
    [{ code: 'balance-unreadable', asset: cash, account: other }, 'CASH does not say how much 0xbbbb…bbbb has'],
    [
      { code: 'owner-differs', asset: { kind: 'erc721', address: token, id: '0x1' }, told: you, after: other },
      'CASH #1 is said to go to you, and does not',
    ],
    [{ code: 'unknown-transfer', address: odd }, '0xdddd…dddd reports a transfer that cannot be read'],
    [
      { code: 'approval-differs', kind: 'erc20', ...parties, told: '0x1', after: '0x2' },
      'The approval for 0xbbbb…bbbb is not what the event says',
    ],
    [{ code: 'silent-approval', ...parties, after: '0x2' }, '0xbbbb…bbbb may take CASH from you, and no event says so'],
    [
      { code: 'unlimited-approval', kind: 'erc20', ...parties },
      '0xbbbb…bbbb may take all CASH from you, now and later',
    ],
    [{ code: 'operator-approval', ...parties }, '0xbbbb…bbbb may take every token of CASH from you'],
    [
      { code: 'silent-upgrade', address: token, slot: 'implementation' },
      '0xcccc…cccc gets another implementation, and no event says so',
    ],
    [{ code: 'no-code', address: other }, 'There is no contract at 0xbbbb…bbbb on this network'],
    [
      { code: 'environment-dependent', call: 1, what: ['NUMBER'], first: 'success', other: 'reverted' },
      'Call 2 ends in another way in another block',
    ],
    [
      { code: 'environment-dependent', call: 0, what: [], first: '0', other: '-100', asset: cash, account: you },
      'You: −1 CASH in another block, +0 CASH in this one',
    ],
    [{ code: 'loses-all', account: you, asset: cash, amount: '0x64' }, 'You lose 1 CASH, all or nearly all there is'],
    [{ code: 'nothing-back', account: other, asset: cash, amount: '0x64' }, '0xbbbb…bbbb gets nothing for 1 CASH'],
    [
      { code: 'covers-balance', ...parties, amount: '0x64' },
      '0xbbbb…bbbb may take 1 CASH from you: as much as there is',
    ],
    [{ code: 'right-granted', right: 'debt', ...parties }, '0xbbbb…bbbb gets a right of you: to make debt at CASH'],
    [
      { code: 'right-granted', right: 'safe-threshold', ...parties, spender: zero, amount: '0x1' },
      'Fewer owners have to sign for you',
    ],
    [
      { code: 'delegated', address: you, target: other, validity: 'later' },
      'You hand over to the code at 0xbbbb…bbbb, as soon as its nonce comes up',
    ],
    [{ code: 'look-alike', asset: cash, with: other }, 'CASH looks like 0xbbbb…bbbb, and is not it'],
  ];
  for (const [warning, words] of cases)
    expect(warningWords({ ...warning, severity: 'danger' } as PreviewWarning, names).title).toBe(words);
});
