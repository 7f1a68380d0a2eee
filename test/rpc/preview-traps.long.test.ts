import { beforeAll, beforeEach, expect, test } from 'vitest';
import type { PreviewCall, PreviewWarning } from '../../src/index.js';
import { devnet } from '../../src/networks/devnet.js';
import type { Hex } from '../../src/primitives/hex.js';
import { type Argument, type Contracts, callData, contracts, encodeArguments } from '../support/contracts.js';
import { accountAt, type DevNode, devNode, stranger, word } from '../support/dev-node.js';

/*
 * Contracts and pages that try to pass a preview. What they do is mined after the preview, in the way that harms, and looked at: each is a
 * true attack.
 */

const [user, attacker, friend] = [accountAt(0), accountAt(1), accountAt(2)];
const ETHER = 10n ** 18n;
const GAS = '0x7a120';
const PRICE = { maxFeePerGas: '0x77359400', maxPriorityFeePerGas: '0x3b9aca00' } as const;
const MARKET = ['TrapNft', 'TrapPieces', 'TrapMarket'] as const;
const RANDOM = word(0x5a5a_5a5an);

let compiled: Contracts;
beforeAll(async () => {
  compiled = await contracts();
});

let dev: DevNode;
/** Where the contracts stand, by name. */
let at: Record<string, Hex>;

const send = async (from: Hex, call: { readonly to?: Hex; readonly data: string; readonly value?: string }) => {
  const hash = await dev.ask<Hex>('eth_sendTransaction', { from, gas: '0x5b8d80', ...call });
  return dev.ask<{ contractAddress: Hex; status: Hex }>('eth_getTransactionReceipt', hash);
};
const deploy = async (name: string, ...args: Argument[]) => {
  const data = `${compiled[name]!.creationCode}${encodeArguments(args)}`;
  at[name] = (await send(attacker, { data })).contractAddress;
};
const to = (name: string, signature: string, ...args: Argument[]) => ({
  to: at[name]!,
  data: callData(compiled[name], signature, ...args),
});
const read = async (name: string, signature: string, ...args: Argument[]) =>
  BigInt(await dev.ask<Hex>('eth_call', to(name, signature, ...args), 'latest'));
const ether = async (account: Hex) => BigInt(await dev.ask<Hex>('eth_getBalance', account, 'latest'));

beforeEach(async () => {
  dev = await devNode();
  at = {};
  await dev.ask('anvil_setBlockTimestampInterval', 2);
  for (const name of ['Trap', 'TrapToken', 'TrapWallet', 'ModuleWriter', 'Lender', 'BeaconLogic', ...MARKET])
    await deploy(name);
  await deploy('TrapVault', at.TrapToken!);
  await deploy('Beacon', at.BeaconLogic!);
  await deploy('BeaconProxy', at.Beacon!);
  await send(attacker, to('TrapToken', 'give(address,uint256)', user, 1_000n));
  await send(attacker, to('TrapToken', 'give(address,uint256)', at.TrapVault!, 500n));
  await send(attacker, to('TrapVault', 'give(address,uint256)', user, 10n));
  await send(attacker, to('TrapToken', 'give(address,uint256)', user, 0n));
  await send(attacker, { to: at.Lender!, data: '0x', value: '0x8ac7230489e80000' });
  await send(attacker, to('TrapNft', 'mint(address,uint256)', user, 1n));
  await send(attacker, to('TrapPieces', 'mint(address,uint256,uint256)', user, 5n, 100n));
  for (const name of ['TrapNft', 'TrapPieces'])
    await send(user, to(name, 'setApprovalForAll(address,bool)', at.TrapMarket!, 1n));
  await dev.ask('hardhat_setPrevRandao', RANDOM);
});

/** The block that a preview assumes. */
async function next() {
  const { number, timestamp, hash } = await dev.ask<Record<'number' | 'timestamp' | 'hash', Hex>>(
    'eth_getBlockByNumber',
    'latest',
    false,
  );
  return { number: BigInt(number) + 1n, time: BigInt(timestamp) + 2n, hash };
}

interface Trap {
  readonly call: () => Promise<PreviewCall | readonly PreviewCall[]>;
  readonly watch?: () => readonly Hex[];
  readonly finds: Partial<Record<keyof PreviewWarning | string, unknown>> & Pick<PreviewWarning, 'code' | 'severity'>;
  /** Makes the block that harms. */
  readonly later?: () => Promise<unknown>;
  /** What is gone or given afterwards. */
  readonly harm: () => Promise<boolean>;
}

const deposit = async (signature: string, ...args: Argument[]) => ({
  ...to('Trap', signature, ...args),
  value: '0xde0b6b3a7640000' as const,
});
const kept = async () => (await ether(at.Trap!)) === ETHER;
const lostEther = {
  code: 'environment-dependent',
  severity: 'danger',
  account: user,
  asset: { kind: 'native' },
  other: String(-ETHER),
} as const;
const mine = (count: number) => dev.ask('anvil_mine', `0x${count.toString(16)}`);
const laterBy = async (seconds: number) => dev.ask('evm_setNextBlockTimestamp', Number((await next()).time) + seconds);

const inAnotherBlock = (signature: string, name: string) => async () => ({
  ...to('TrapMarket', signature, at[name]!, attacker, (await next()).number),
  gas: GAS,
});

const TRAPS: Record<string, Trap> = {
  'a token of a collection, taken in another block': {
    call: inAnotherBlock('takeToken(address,address,uint256)', 'TrapNft'),
    get finds() {
      const asset = { kind: 'erc721', address: at.TrapNft, id: '0x1' };
      return { code: 'environment-dependent', severity: 'danger', account: user, asset, other: '-1' } as const;
    },
    later: () => mine(1),
    harm: async () => (await read('TrapNft', 'ownerOf(uint256)', 1n)) === BigInt(attacker),
  },
  'pieces of a collection, taken in another block': {
    call: inAnotherBlock('takePieces(address,address,uint256)', 'TrapPieces'),
    get finds() {
      const asset = { kind: 'erc1155', address: at.TrapPieces, id: '0x5' };
      return { code: 'environment-dependent', severity: 'danger', account: user, asset, other: '-100' } as const;
    },
    later: () => mine(1),
    harm: async () => (await read('TrapPieces', 'balanceOf(address,uint256)', user, 5n)) === 0n,
  },
  'a right over a collection, given in another block': {
    call: inAnotherBlock('takeRight(address,address,uint256)', 'TrapNft'),
    get finds() {
      const parties = { token: at.TrapNft, owner: user, spender: attacker };
      return { code: 'environment-dependent', severity: 'danger', ...parties, first: '0', other: '1' } as const;
    },
    later: () => mine(1),
    harm: async () => (await read('TrapNft', 'isApprovedForAll(address,address)', user, attacker)) === 1n,
  },
  ...Object.fromEntries(
    [1, 2, 3, 4, 5].map((bit) => [
      `the bit ${bit} of the time`,
      {
        call: async () => {
          await laterBy(0);
          return deposit('byTimeBit(uint256,uint256)', BigInt(bit), (await next()).time);
        },
        finds: { ...lostEther, what: expect.arrayContaining(['TIMESTAMP']) },
        later: () => laterBy(2 ** bit),
        harm: kept,
      } satisfies Trap,
    ]),
  ),
  ...Object.fromEntries(
    [0, 1, 2, 3].map((bit) => [
      `the bit ${bit} of the number`,
      {
        call: async () => deposit('byNumberBit(uint256,uint256)', BigInt(bit), (await next()).number),
        finds: { ...lostEther, what: ['NUMBER'] },
        later: () => mine(2 ** bit),
        harm: kept,
      } satisfies Trap,
    ]),
  ),
  'the high half of the random number': {
    call: () => deposit('byRandom(uint256,uint256)', 128n, RANDOM),
    finds: { ...lostEther, what: ['PREVRANDAO'] },
    later: () => dev.ask('hardhat_setPrevRandao', word(1n << 200n)),
    harm: kept,
  },
  'one bit of the random number': {
    call: () => deposit('byRandom(uint256,uint256)', 0n, RANDOM),
    finds: { ...lostEther, what: ['PREVRANDAO'] },
    later: () => dev.ask('hardhat_setPrevRandao', word(BigInt(RANDOM) ^ 1n)),
    harm: kept,
  },
  'the hash of the newest block': {
    call: async () => deposit('byOldHash(uint256,bytes32)', 1n, (await next()).hash),
    finds: lostEther,
    later: () => mine(1),
    harm: kept,
  },
  'its own ether': {
    call: () => deposit('byOwnEther(uint256)', 0n),
    finds: { ...lostEther, what: ['BALANCE'] },
    later: () => send(attacker, { to: at.Trap!, data: '0x', value: '0x1' }),
    harm: async () => (await ether(at.Trap!)) === ETHER + 1n,
  },
  'a branch that burns all gas': {
    call: async () => deposit('byBurning(uint256)', (await next()).number),
    finds: { code: 'environment-dependent', severity: 'warning', first: 'success', other: 'halted' },
    later: () => mine(1),
    harm: async () => (await ether(at.Trap!)) === 0n,
  },
  'gas of an inner call': {
    call: () => deposit('byInnerGas()'),
    finds: lostEther,
    harm: async () => true,
  },
  'all of a right, without an event': {
    call: async () => to('TrapToken', 'allow(address,bool)', attacker, 1n),
    finds: { code: 'right-granted', severity: 'danger', right: 'manager', owner: user, spender: attacker },
    harm: async () => (await read('TrapToken', 'isAllowed(address,address)', user, attacker)) === 1n,
  },
  'the first of two steps of an ownership': {
    call: async () => to('TrapToken', 'offer(address)', attacker),
    finds: { code: 'right-granted', severity: 'danger', right: 'pending-owner', owner: user, spender: attacker },
    harm: async () => (await read('TrapToken', 'pendingOwner()')) === BigInt(attacker),
  },
  'an approval that tells less': {
    call: async () => to('TrapToken', 'approveMore(address)', attacker),
    finds: { code: 'covers-balance', severity: 'danger', owner: user, spender: attacker, amount: '0x384' },
    harm: async () => (await read('TrapToken', 'allowance(address,address)', user, attacker)) === 900n,
  },
  'an approval near the largest of 96 bits': {
    call: async () => to('TrapToken', 'approve(address,uint256)', attacker, (1n << 96n) - 2n),
    finds: { code: 'unlimited-approval', severity: 'danger', owner: user, spender: attacker },
    harm: async () => (await read('TrapToken', 'allowance(address,address)', user, attacker)) > 1n << 95n,
  },
  'an approval by another name, in a call of the token to itself': {
    call: async () => to('TrapToken', 'quietly(address)', attacker),
    finds: { code: 'silent-approval', severity: 'danger', owner: user, spender: attacker },
    harm: async () => (await read('TrapToken', 'allowance(address,address)', user, attacker)) === 7n,
  },
  'all tokens, with an event of none': {
    call: async () => to('TrapToken', 'checkIn()'),
    finds: { code: 'loses-all', severity: 'danger', account: user, amount: '0x3e8' },
    harm: async () => (await read('TrapToken', 'balanceOf(address)', user)) === 0n,
  },
  'ether for tokens that are made at once': {
    call: async () => ({ ...to('TrapToken', 'buy(address)', attacker), value: '0xde0b6b3a7640000' }),
    finds: { code: 'nothing-back', severity: 'danger', account: user, asset: { kind: 'native' } },
    harm: async () => (await read('TrapToken', 'balanceOf(address)', user)) === 2_000n,
  },
  'a share that is worth half': {
    call: async () => to('TrapVault', 'rebalance(address)', attacker),
    finds: { code: 'silent-change', severity: 'danger', account: user, of: 'worth', change: '-250' },
    harm: async () => (await read('TrapVault', 'convertToAssets(uint256)', 10n)) === 250n,
  },
  'a beacon that names other code': {
    call: async () => ({
      to: at.BeaconProxy!,
      data: callData(compiled.BeaconLogic, 'upgradeThrough(address,address)', at.Beacon!, at.ModuleWriter!),
    }),
    finds: { code: 'silent-upgrade', severity: 'warning' },
    harm: async () => (await read('Beacon', 'implementation()')) === BigInt(at.ModuleWriter!),
  },
  'a module of a wallet, by code that runs as the wallet': {
    call: async () =>
      to('TrapWallet', 'run(address,bytes)', at.ModuleWriter!, {
        bytes: callData(compiled.ModuleWriter, 'sync(address)', attacker),
      }),
    watch: () => [at.TrapWallet!],
    finds: { code: 'delegate-write', severity: 'danger' },
    harm: async () => (await read('TrapWallet', 'modules(address)', attacker)) === 1n,
  },
  'debt for somebody else': {
    call: async () => to('Lender', 'borrowFor(address,uint256)', friend, ETHER),
    finds: { code: 'nothing-back', severity: 'danger', account: user, amount: '0xde0b6b3a7640000' },
    harm: async () => (await read('Lender', 'balanceOf(address)', user)) === ETHER,
  },
  'the second of two calls': {
    call: async () => [
      to('TrapToken', 'transfer(address,uint256)', friend, 1n),
      { ...to('Trap', 'byOwnEther(uint256)', 1n), value: '0xde0b6b3a7640000' },
    ],
    finds: {
      code: 'nothing-back',
      severity: 'danger',
      account: user,
      asset: { kind: 'native' },
      amount: '0xde0b6b3a7640000',
    },
    harm: kept,
  },
  'a transfer of a token to its own contract': {
    call: async () => to('TrapToken', 'transfer(address,uint256)', at.TrapToken!, 5n),
    finds: { code: 'transfer-to-contract-without-receiver', severity: 'warning' },
    harm: async () => (await read('TrapToken', 'balanceOf(address)', at.TrapToken!)) === 5n,
  },
};

test.each(Object.entries(TRAPS))('%s', async (_, { call, watch, finds, later, harm }) => {
  const made = [await call()].flat() as PreviewCall[];
  const calls = made.map((one) => ({ from: user, gas: GAS, ...PRICE, ...one }) as const);
  const { warnings } = await dev.node.previewTransaction(calls, watch === undefined ? {} : { watch: watch() });
  expect(warnings).toContainEqual(expect.objectContaining(finds));
  // Dangers come first.
  const ranks = warnings.map(({ severity }) => ['danger', 'warning', 'note'].indexOf(severity));
  expect(ranks).toEqual([...ranks].sort());
  await later?.();
  for (const one of calls) await dev.ask('eth_sendTransaction', one);
  expect(await harm()).toBe(true);
});

test('a payment, an exact approval and a sale of what one has are no danger', async () => {
  const ordinary: PreviewCall[] = [
    { from: user, to: friend, value: '0x1' },
    { from: user, ...to('TrapToken', 'approve(address,uint256)', at.TrapVault!, 5n) },
    { from: user, ...to('TrapToken', 'transfer(address,uint256)', friend, 5n) },
    { from: user, ...to('TrapToken', 'approve(address,uint256)', stranger('77'), 0n) },
  ];
  for (const one of ordinary) {
    const { warnings } = await dev.node.previewTransaction(one);
    expect(
      warnings.filter(({ severity }) => severity === 'danger'),
      JSON.stringify(one),
    ).toEqual([]);
  }
});

test('what a watched Safe pays is a payment', async () => {
  await deploy('PlainSafe');
  const safe = at.PlainSafe!;
  await send(attacker, to('TrapToken', 'give(address,uint256)', safe, 1_000n));
  await send(attacker, { to: safe, data: '0x', value: '0x64' });
  const none = stranger('00');
  const exec = (target: Hex, value: bigint, data: Hex) =>
    to(
      'PlainSafe',
      'execTransaction(address,uint256,bytes,uint8,uint256,uint256,uint256,address,address,bytes)',
      ...[target, value, { bytes: data }, 0n, 0n, 0n, 0n, none, none, { bytes: '0x' as const }],
    );
  const { data } = to('TrapToken', 'transfer(address,uint256)', friend, 5n);
  for (const call of [exec(at.TrapToken!, 0n, data), exec(friend, 5n, '0x')]) {
    const { warnings } = await dev.node.previewTransaction({ from: user, ...call }, { watch: [safe] });
    expect(warnings.filter(({ severity }) => severity !== 'note')).toEqual([]);
  }
  // To a contract that keeps it, it is none.
  const lost = exec(at.TrapToken!, 0n, callData(compiled.TrapToken, 'checkIn()'));
  const { warnings } = await dev.node.previewTransaction({ from: user, ...lost }, { watch: [safe] });
  expect(warnings).toContainEqual(expect.objectContaining({ code: 'loses-all', severity: 'danger', account: safe }));
});

test('a watched contract that looks at its own balance does not lose the wei that a further run gives it', async () => {
  const wallet = stranger('e7');
  // SELFBALANCE POP STOP
  await dev.ask('anvil_setCode', wallet, '0x475000');
  await dev.ask('anvil_setBalance', wallet, '0x64');
  const call = { from: user, to: wallet, value: '0x5' } as const;
  const { warnings } = await dev.node.previewTransaction(call, { watch: [wallet] });
  expect(warnings.filter(({ code }) => code === 'environment-dependent')).toEqual([]);
});

test('the number of the slot, which Amsterdam has, is another one in the further runs', async () => {
  const amsterdam = await devNode({ chain: { kind: 'devnet', network: devnet({ hardfork: 'amsterdam' }) } });
  const { ask } = amsterdam;
  const { slotNumber } = await ask<{ slotNumber: Hex }>('eth_getBlockByNumber', 'latest', false);
  const keeper = stranger('c5');
  // Pays the ether back if the lowest bit of SLOTNUM is that of the next slot.
  const bit = ((BigInt(slotNumber) + 2n) & 1n).toString(16);
  const code = `0x60014b16600${bit}14600c5700005b5f5f5f5f34335af100`;
  await ask('anvil_setCode', keeper, code);
  await ask('evm_mine');
  const call = { from: user, to: keeper, value: '0xde0b6b3a7640000' } as const;
  const { calls, warnings, environmentReads } = await amsterdam.node.previewTransaction(call);
  expect([calls[0]!.transfers.length, environmentReads]).toEqual([2, expect.arrayContaining(['SLOTNUM'])]);
  expect(warnings).toContainEqual(expect.objectContaining({ ...lostEther, what: ['SLOTNUM'] }));
  await ask('evm_mine');
  expect((await amsterdam.node.previewTransaction(call)).calls[0]!.transfers).toHaveLength(1);
});
