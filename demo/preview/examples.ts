import { DEV_ACCOUNTS, type Hex, type PreviewCall, TEST_TOKEN } from 'plumbline-l2';
import { balanceSlot } from '../lib/balance-slot.js';
import { word } from '../lib/calls.js';
import { encodeCall } from './abi.js';
import { GOLD_CODE, POOL_CODE, REWARD_CODE } from './contracts.generated.js';

/** Where the contracts of the examples stand. contracts.sol has GOLD and THIEF, too. */
const GOLD: Hex = '0x601d000000000000000000000000000000000001';
const POOL: Hex = '0x9001000000000000000000000000000000000001';
const REWARD: Hex = '0xc1a1000000000000000000000000000000000001';
const THIEF: Hex = '0x00000000000000000000000000000bad00000bad';

/** Accounts that this page can name. */
export const KNOWN_NAMES: Readonly<Record<Hex, string>> = {
  [GOLD]: 'the GOLD token',
  [POOL]: 'the pool',
  [REWARD]: 'the reward contract',
  [THIEF]: 'an unknown account',
};

const ETHER = 10n ** 18n;
const MOST = 2n ** 256n - 1n;

/** What an example needs on the chain, in the form of a state override. */
export interface Contract {
  readonly code: Hex;
  readonly stateDiff: Readonly<Record<Hex, Hex>>;
}

/** The contracts of the examples. The pool has a million GOLD. */
export const CONTRACTS: Readonly<Record<Hex, Contract>> = {
  [GOLD]: { code: GOLD_CODE, stateDiff: { [balanceSlot(POOL)]: `0x${word((1_000_000n * ETHER).toString(16))}` } },
  [POOL]: { code: POOL_CODE, stateDiff: {} },
  [REWARD]: { code: REWARD_CODE, stateDiff: {} },
};

export interface Example {
  readonly label: string;
  /** What a page would say of it. */
  readonly hint: string;
  readonly calls: readonly PreviewCall[];
}

const [{ address: from }, { address: friend }] = DEV_ACCOUNTS as unknown as readonly [
  { address: Hex },
  { address: Hex },
];
/** Another than that of the other examples, which need its tokens. */
const { address: victim } = DEV_ACCOUNTS.at(-1)!;
const ether = (amount: bigint): Hex => `0x${amount.toString(16)}`;
const approve = (spender: Hex, amount: bigint): PreviewCall => ({
  from,
  to: TEST_TOKEN,
  data: encodeCall('095ea7b3', spender, amount),
});
const swap = (amount: bigint, wanted: bigint): PreviewCall => ({
  from,
  to: POOL,
  data: encodeCall('d96073cf', amount, wanted),
});

/** Transactions that a page could ask a visitor to sign. */
export const EXAMPLES = {
  drainer: {
    label: 'A reward that is a drainer',
    hint: '“Claim 5 000 USDC! Approve once and pay 0.5 ETH.”',
    calls: [
      { ...approve(REWARD, MOST), from: victim },
      { from: victim, to: REWARD, value: ether(ETHER / 2n), data: encodeCall('4e71d92d') },
    ],
  },
  swap: {
    label: 'A swap',
    hint: '0.5 ETH for GOLD at a pool',
    calls: [{ from, to: POOL, value: ether(ETHER / 2n), data: encodeCall('d96a094a', ETHER) }],
  },
  batch: {
    label: 'Two calls in a row',
    hint: 'approve 100 PLUMB, then swap them',
    calls: [approve(POOL, 100n * ETHER), swap(100n * ETHER, 50n * ETHER)],
  },
  approval: {
    label: 'An approval without limit',
    hint: 'the pool may take any amount of PLUMB',
    calls: [approve(POOL, MOST)],
  },
  token: {
    label: 'A token transfer',
    hint: '25 PLUMB to a friend',
    calls: [{ from, to: TEST_TOKEN, data: encodeCall('a9059cbb', friend, 25n * ETHER) }],
  },
  ether: {
    label: 'A payment',
    hint: '1 ETH to a friend',
    calls: [{ from, to: friend, value: ether(ETHER) }],
  },
  reverts: {
    label: 'A call that fails',
    hint: 'a swap that asks for too much',
    calls: [{ from, to: POOL, value: ether(ETHER / 2n), data: encodeCall('d96a094a', 1000n * ETHER) }],
  },
} as const satisfies Record<string, Example>;

/** What a page that steals asks to sign: no transaction, and all GOLD may go. */
export const SIGNATURE = {
  types: {
    EIP712Domain: [
      { name: 'name', type: 'string' },
      { name: 'version', type: 'string' },
      { name: 'chainId', type: 'uint256' },
      { name: 'verifyingContract', type: 'address' },
    ],
    Permit: [
      { name: 'owner', type: 'address' },
      { name: 'spender', type: 'address' },
      { name: 'value', type: 'uint256' },
      { name: 'nonce', type: 'uint256' },
      { name: 'deadline', type: 'uint256' },
    ],
  },
  primaryType: 'Permit',
  domain: { name: 'Gold', version: '1', chainId: 59_139, verifyingContract: GOLD },
  message: { owner: from, spender: THIEF, value: String(MOST), nonce: '0', deadline: '4102444800' },
} as const;
/** Who signs it. */
export const SIGNER = from;

export type ExampleName = keyof typeof EXAMPLES;
