import { eoaCode7702SignAuthorization, privateToAddress } from '@ethereumjs/util';
import { describe, expect, it } from 'vitest';
import { type Alloc, AllocState } from '../../conformance/alloc-state.js';
import { StepBudget } from '../../src/evm/step-budget.js';
import { runSystemCalls } from '../../src/evm/system-calls.js';
import { runTransaction, simulateTransaction } from '../../src/evm/transaction.js';
import type { RunOptions, TransactionMessage } from '../../src/evm/transaction-message.js';
import type { Hardfork } from '../../src/networks/network.js';
import { bigIntToBytes, bytesToBigInt } from '../../src/primitives/bytes.js';
import type { Authorization } from '../../src/primitives/call-request.js';
import { bytesToHex, type Hex, hexToBytes } from '../../src/primitives/hex.js';
import {
  allocWith,
  COINBASE,
  CONTRACT,
  ETHER,
  FIRST_CREATED,
  message,
  openMachine,
  SECOND_CREATED,
  SENDER,
  SLOT_0,
  STRANGER,
} from '../support/evm.js';
import { fixtureJson, fixturesPresent } from '../support/fixtures.js';

const word = (value: bigint): Hex => bytesToHex(bigIntToBytes(value, 32));

async function gasOf(alloc: Alloc, overrides: Partial<TransactionMessage> = {}, hardfork: Hardfork = 'osaka') {
  return (await runTransaction(await openMachine(alloc, hardfork), message(overrides))).gasUsed;
}

function rejection(promise: Promise<unknown>): Promise<unknown> {
  return promise.then(
    () => 'accepted',
    (error) => error.details.rule ?? error.code,
  );
}

describe('gas of a transaction', () => {
  const plain = allocWith('0x');

  it.each<[string, Partial<TransactionMessage>, Hardfork, bigint]>([
    ['transfer', { to: hexToBytes(STRANGER), value: 1n }, 'osaka', 21_000n],
    [
      'data floor of EIP-7623: 10 zero bytes, 10 others',
      { data: hexToBytes(`0x${'0011'.repeat(10)}`) },
      'osaka',
      21_500n,
    ],
    ['before Prague 4 and 16 per byte', { data: hexToBytes(`0x${'0011'.repeat(10)}`) }, 'cancun', 21_200n],
    [
      'access list: 2400 an address, 1900 a key',
      {
        accessList: [{ address: hexToBytes(STRANGER), storageKeys: [new Uint8Array(32), new Uint8Array(32).fill(1)] }],
      },
      'osaka',
      27_200n,
    ],
    ['creation', { to: undefined }, 'osaka', 53_000n],
    ['init code word of EIP-3860', { to: undefined, data: hexToBytes('0x00') }, 'cancun', 53_006n],
    ['no init code word before Shanghai', { to: undefined, data: hexToBytes('0x00') }, 'london', 53_004n],
  ])('%s', async (_, overrides, hardfork, gas) => {
    expect(await gasOf(plain, overrides, hardfork)).toBe(gas);
  });

  it('finds the coinbase warm from Shanghai on, and the sender, the target and precompiles always', async () => {
    const balanceOfCoinbase = allocWith('0x413100');
    expect(await gasOf(balanceOfCoinbase, {}, 'shanghai')).toBe(21_000n + 2n + 100n);
    expect(await gasOf(balanceOfCoinbase, {}, 'london')).toBe(21_000n + 2n + 2600n);
    for (const code of ['0x333100', '0x303100'] as const) expect(await gasOf(allocWith(code))).toBe(21_102n);
    expect(await gasOf(allocWith('0x60013100'))).toBe(21_103n);
    expect(await gasOf(allocWith('0x61ffff3100'))).toBe(23_603n);
  });

  it('takes what a listed slot costs warm', async () => {
    const accessList = [{ address: hexToBytes(CONTRACT), storageKeys: [new Uint8Array(32)] }];
    expect(await gasOf(allocWith('0x5f5400'))).toBe(21_000n + 2n + 2100n);
    expect(await gasOf(allocWith('0x5f5400'), { accessList })).toBe(21_000n + 4300n + 2n + 100n);
  });

  it('starts each transaction with its own original values, warm set and transient storage', async () => {
    const machine = await openMachine(allocWith('0x60003560005500'));
    const write = (value: bigint, nonce: bigint) =>
      runTransaction(machine, message({ nonce, data: value === 0n ? new Uint8Array(0) : bigIntToBytes(value, 32) }));
    // 21000 + 31 * 4 + 16 of data, 9 of the three other instructions, 22100 of a cold slot that was empty.
    expect((await write(5n, 0n)).gasUsed).toBe(43_249n);
    // 21000 + 9 + 5000 of a cold slot that was not; 4800 come back.
    expect(await write(0n, 1n)).toMatchObject({ gasUsed: 21_209n, gasUsedBeforeRefund: 26_009n });

    const transient = await openMachine(allocWith('0x5f5c5f5560015f5d00'));
    await runTransaction(transient, message());
    await runTransaction(transient, message({ nonce: 1n }));
    expect(bytesToHex(await transient.state.slot(hexToBytes(CONTRACT), new Uint8Array(32)))).toBe(SLOT_0);
  });

  it('refunds a fifth at most', async () => {
    const clear = '0x5f5f55600060015560006002555f6003555f600455'.concat('00') as Hex;
    const storage = Object.fromEntries([0n, 1n, 2n, 3n, 4n].map((slot) => [word(slot), word(9n)])) as Record<Hex, Hex>;
    const machine = await openMachine(allocWith(clear, storage));
    const { gasUsed, gasUsedBeforeRefund } = await runTransaction(machine, message());
    expect(gasUsed).toBe(gasUsedBeforeRefund - gasUsedBeforeRefund / 5n);
  });

  it('gives the same result run after run', async () => {
    const machine = await openMachine(allocWith('0x5f545f5260206000f3', { [SLOT_0]: word(7n) }));
    const first = await simulateTransaction(machine, message());
    for (let i = 0; i < 3; i++) expect(await simulateTransaction(machine, message())).toEqual(first);
    expect(await machine.state.changes()).toEqual([]);
  });
});

describe('money, nonce and outcome', () => {
  it('moves value, pays the tip to the coinbase and burns the base fee', async () => {
    const machine = await openMachine(allocWith('0x'));
    const outcome = await runTransaction(
      machine,
      message({
        to: hexToBytes(STRANGER),
        value: 5n,
        gasPrice: undefined,
        maxFeePerGas: 100n,
        maxPriorityFeePerGas: 3n,
      }),
    );
    expect(outcome).toMatchObject({ succeeded: true, effectiveGasPrice: 10n, gasUsed: 21_000n });
    const after = new Map((await machine.state.changes()).map((change) => [bytesToHex(change.address), change.after]));
    expect(after.size).toBe(3);
    expect(after.get(SENDER)).toMatchObject({ nonce: 1n, balance: ETHER - 5n - 210_000n });
    expect(after.get(STRANGER)).toMatchObject({ nonce: 0n, balance: 5n });
    expect(after.get(COINBASE)).toMatchObject({ balance: 63_000n });
  });

  it('charges a revert and a failure, and undoes them', async () => {
    // Writes a slot, logs, then reverts with one byte.
    const machine = await openMachine(allocWith('0x60015f555f5fa060aa5f5360015ffd'));
    const reverted = await runTransaction(machine, message({ value: 3n }));
    expect(reverted).toMatchObject({ succeeded: false, exception: 'revert', logs: [] });
    expect(bytesToHex(reverted.returnData)).toBe('0xaa');
    const changes = await machine.state.changes();
    expect(changes.map((change) => bytesToHex(change.address))).toEqual([SENDER]);
    expect(changes[0]!.after).toMatchObject({ nonce: 1n, balance: ETHER - reverted.gasUsed * 7n });

    const failing = await openMachine(allocWith('0xfe'));
    const failed = await runTransaction(failing, message());
    expect(failed).toMatchObject({ succeeded: false, exception: 'invalid opcode', gasUsed: 1_000_000n });
  });

  it('creates contracts at the published addresses', async () => {
    const machine = await openMachine(allocWith('0x'));
    const initCode = hexToBytes('0x60fe60005360016000f3');
    for (const [nonce, address] of [FIRST_CREATED, SECOND_CREATED].entries()) {
      const created = await runTransaction(machine, message({ to: undefined, nonce: BigInt(nonce), data: initCode }));
      expect(bytesToHex(created.createdAddress!)).toBe(address);
    }
    const change = (await machine.state.changes()).find(({ address }) => bytesToHex(address) === FIRST_CREATED)!;
    expect(change).toMatchObject({ before: undefined, after: { nonce: 1n }, destroyed: false });
    expect(bytesToHex(change.code!)).toBe('0xfe');
  });

  it('leaves no empty account behind', async () => {
    const machine = await openMachine(allocWith('0x'));
    await runTransaction(machine, message({ to: hexToBytes(STRANGER) }));
    expect((await machine.state.changes()).map(({ address }) => bytesToHex(address))).toEqual([SENDER]);
  });

  it('destroys contracts before Cancun, and afterwards only those of the same transaction', async () => {
    const code: Hex = `0x73${STRANGER.slice(2)}ff`;
    const alloc = {
      ...allocWith(code, { [SLOT_0]: word(1n) }),
      [CONTRACT]: { balance: '0x5', code, storage: {} },
    } as Alloc;
    const changeOf = async (hardfork: Hardfork, target: Hex, overrides: Partial<TransactionMessage> = {}) => {
      const machine = await openMachine(alloc, hardfork);
      expect((await runTransaction(machine, message(overrides))).succeeded).toBe(true);
      return (await machine.state.changes()).find(({ address }) => bytesToHex(address) === target);
    };
    expect(await changeOf('london', CONTRACT)).toMatchObject({ after: undefined, destroyed: true });
    expect(await changeOf('osaka', CONTRACT)).toMatchObject({ after: { balance: 0n }, destroyed: false });
    expect(await changeOf('osaka', STRANGER)).toMatchObject({ after: { balance: 5n } });
    const create = { to: undefined, value: 9n, data: hexToBytes(code) };
    expect(await changeOf('osaka', FIRST_CREATED, create)).toBeUndefined();
    expect(await changeOf('osaka', STRANGER, create)).toMatchObject({ after: { balance: 9n } });
  });
});

describe('transactions that may not run', () => {
  const cases: [string, Partial<TransactionMessage>, RunOptions, Hardfork, string][] = [
    ['too little gas', { gasLimit: 20_999n }, {}, 'osaka', 'intrinsic-gas'],
    ['gas below the data floor', { gasLimit: 21_039n, data: Uint8Array.of(1) }, {}, 'osaka', 'intrinsic-gas'],
    ['gas above the cap of EIP-7825', { gasLimit: 16_777_217n }, {}, 'osaka', 'gas-limit'],
    ['gas at the cap', { gasLimit: 16_777_216n }, {}, 'osaka', 'accepted'],
    ['no cap before Osaka', { gasLimit: 16_777_217n }, {}, 'prague', 'accepted'],
    ['more gas than the block has left', {}, { gasAvailable: 999_999n }, 'osaka', 'block-gas-limit'],
    ['used nonce', { nonce: 0n, from: hexToBytes(STRANGER) }, {}, 'osaka', 'nonce-too-low'],
    ['nonce ahead', { nonce: 1n }, {}, 'osaka', 'nonce-too-high'],
    ['nonce ahead in a simulation', { nonce: 1n }, { leniency: { nonce: 'future' } }, 'osaka', 'accepted'],
    ['price below the base fee', { gasPrice: 6n }, {}, 'osaka', 'gas-price'],
    [
      'tip above the cap',
      { gasPrice: undefined, maxFeePerGas: 8n, maxPriorityFeePerGas: 9n },
      {},
      'osaka',
      'gas-price',
    ],
    ['value out of reach', { value: ETHER }, {}, 'osaka', 'INSUFFICIENT_FUNDS'],
    [
      'value within reach when gas is not asked for',
      { value: ETHER },
      { leniency: { unfunded: true } },
      'osaka',
      'accepted',
    ],
    [
      'value out of reach even then',
      { value: ETHER + 1n },
      { leniency: { unfunded: true } },
      'osaka',
      'INSUFFICIENT_FUNDS',
    ],
    ['contract as sender (EIP-3607)', { from: hexToBytes(CONTRACT), nonce: 1n, gasPrice: 7n }, {}, 'osaka', 'sender'],
    [
      'large init code',
      { to: undefined, data: new Uint8Array(49_153), gasLimit: 5_000_000n },
      {},
      'osaka',
      'calldata-size',
    ],
  ];

  it.each(cases)('%s', async (_, overrides, options, hardfork, answer) => {
    const alloc = { ...allocWith('0x00'), [STRANGER]: { nonce: '0x1', balance: '0xffffffff' } } as Alloc;
    const machine = await openMachine(alloc, hardfork);
    expect(await rejection(runTransaction(machine, message(overrides), options))).toBe(answer);
    if (answer !== 'accepted') expect(await machine.state.changes()).toEqual([]);
  });
});

describe('EIP-7702', () => {
  const key = new Uint8Array(32).fill(1);
  const authority = bytesToHex(privateToAddress(key));

  function authorize(nonce: bigint, chainId: bigint, delegate: Hex = CONTRACT): Authorization {
    const int = (value: bigint) => (value === 0n ? new Uint8Array(0) : bigIntToBytes(value, 1));
    const signed = eoaCode7702SignAuthorization([int(chainId), hexToBytes(delegate), int(nonce)], key);
    const [yParity, r, s] = [signed[3], signed[4], signed[5]].map((bytes) => bytesToBigInt(bytes!));
    return { chainId, nonce, address: hexToBytes(delegate), yParity: yParity!, r: r!, s: s! };
  }

  /** The other signature of the same message by the same key, which EIP-2 rules out. */
  function malleated(authorization: Authorization): Authorization {
    const order = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n;
    return { ...authorization, s: order - authorization.s, yParity: 1n - authorization.yParity };
  }

  // Returns its own address, so that the delegated account shows.
  const alloc = { ...allocWith('0x305f5260205ff3'), [authority]: { balance: '0x1' } } as Alloc;

  it('sets the code of the authority, runs it there and refunds an account that existed', async () => {
    const machine = await openMachine(alloc);
    const to = hexToBytes(authority as Hex);
    const outcome = await runTransaction(machine, message({ to, authorizationList: [authorize(0n, 1n)] }));
    expect(outcome.succeeded).toBe(true);
    expect(bytesToBigInt(outcome.returnData)).toBe(BigInt(authority));
    const change = (await machine.state.changes()).find(({ address }) => bytesToHex(address) === authority)!;
    expect(bytesToHex(change.code!)).toBe(`0xef0100${CONTRACT.slice(2)}`);
    expect(change.after!.nonce).toBe(1n);
    // Taken away again by the zero address.
    const clear = [authorize(1n, 0n, `0x${'00'.repeat(20)}`)];
    await runTransaction(machine, message({ to: hexToBytes(STRANGER), nonce: 1n, authorizationList: clear }));
    const cleared = (await machine.state.changes()).find(({ address }) => bytesToHex(address) === authority)!;
    expect([cleared.code, cleared.after!.nonce]).toEqual([undefined, 2n]);
  });

  it.each<[string, Alloc, Authorization, bigint]>([
    ['existing authority: 46000 less a fifth', alloc, authorize(0n, 0n), 36_800n],
    ['new authority', allocWith('0x00'), authorize(0n, 1n), 46_000n],
    ['other chain', alloc, authorize(0n, 2n), 46_000n],
    ['other nonce', alloc, authorize(3n, 1n), 46_000n],
    ['the twin of the signature with s in the upper half', alloc, malleated(authorize(0n, 1n)), 46_000n],
  ])('%s', async (_, state, authorization, gas) => {
    expect(await gasOf(state, { to: hexToBytes(STRANGER), authorizationList: [authorization] })).toBe(gas);
  });
});

describe('runs that end early', () => {
  const loop = allocWith('0x5b5f56');
  const budget = () => new StepBudget({ stepBudget: 50 });

  it('stops at the step budget, takes everything back, and goes on', async () => {
    const machine = await openMachine(loop);
    await expect(runTransaction(machine, message(), { steps: budget() })).rejects.toMatchObject({
      code: 'STEP_BUDGET_EXCEEDED',
      details: { budget: 50 },
    });
    expect(await machine.state.changes()).toEqual([]);
    const outcome = await runTransaction(machine, message({ to: hexToBytes(STRANGER), value: 1n }), {
      steps: budget(),
    });
    expect(outcome.gasUsed).toBe(21_000n);
  });

  it('forgets what a run that was cut short had warmed', async () => {
    // Reads slot 0, then stops if there is data, else loops.
    const machine = await openMachine(allocWith('0x5f545036600b575b6007565b00'));
    const withData = message({ data: Uint8Array.of(1) });
    const wanted = await simulateTransaction(machine, withData);
    expect(wanted.succeeded).toBe(true);
    await expect(simulateTransaction(machine, message(), { steps: budget() })).rejects.toThrow();
    expect(await simulateTransaction(machine, withData)).toEqual(wanted);
  });

  it('does not begin once aborted', async () => {
    const signal = AbortSignal.abort();
    await expect(
      runTransaction(await openMachine(loop), message(), { steps: new StepBudget({ signal }) }),
    ).rejects.toMatchObject({
      code: 'ABORTED',
    });
  });

  it('passes on what the state throws, and asks again the next time', async () => {
    const state = new AllocState(allocWith('0x5f545f5260205ff3', { [SLOT_0]: word(9n) }));
    const read = state.slot.bind(state);
    let failures = 1;
    state.slot = async (address, slot) => {
      if (failures-- > 0) throw new Error('endpoint is gone');
      return read(address, slot);
    };
    const machine = await openMachine(state);
    await expect(runTransaction(machine, message())).rejects.toThrow('endpoint is gone');
    expect(await machine.state.changes()).toEqual([]);
    expect(bytesToHex((await runTransaction(machine, message())).returnData)).toBe(word(9n));
  });

  it('fails the point evaluation instead of crashing', async () => {
    const code = '0x5f5f5f5f600a620186a0fa5f5260205ff3';
    const outcome = await runTransaction(await openMachine(allocWith(code)), message());
    expect([outcome.succeeded, bytesToHex(outcome.returnData)]).toEqual([true, SLOT_0]);
  });
});

describe('reads', () => {
  it('asks for sender, target and coinbase at once', async () => {
    const state = new AllocState(allocWith('0x00'));
    const account = state.account.bind(state);
    let [inFlight, most] = [0, 0];
    state.account = async (address) => {
      most = Math.max(most, ++inFlight);
      await new Promise((resolve) => setTimeout(resolve, 0));
      inFlight--;
      return account(address);
    };
    await runTransaction(await openMachine(state), message());
    expect(most).toBe(3);
  });

  it('asks for each thing once, over many runs', async () => {
    const state = new AllocState(allocWith('0x5f545f5260205ff3', { [SLOT_0]: word(7n) }));
    const machine = await openMachine(state);
    for (let i = 0; i < 4; i++) await simulateTransaction(machine, message());
    expect(state.reads).toEqual({ accounts: 3, slots: 1, codes: 1 });
  });
});

describe.skipIf(!fixturesPresent)('system calls', () => {
  type Genesis = { alloc: Record<string, { code?: Hex } | undefined> };
  const codeOf = (address: string) => fixtureJson<Genesis>('execution-apis/genesis.json').alloc[address]!.code!;

  it('gives the contracts of EIP-2935 and EIP-4788 what they keep', async () => {
    const hashes = '0000f90827f1c53a10cb7a02335b175320002935';
    const roots = '000f3df6d732807ef1319fb7b8bb8522d0beac02';
    const alloc = {
      [`0x${hashes}`]: { nonce: '0x1', code: codeOf(hashes) },
      [`0x${roots}`]: { nonce: '0x1', code: codeOf(roots) },
    };
    const parentBeaconBlockRoot = new Uint8Array(32).fill(0xbb);
    const machine = await openMachine(alloc as Alloc, 'osaka', { parentBeaconBlockRoot });
    await runSystemCalls(machine);
    const slot = async (address: string, key: bigint) =>
      bytesToHex(await machine.state.slot(hexToBytes(`0x${address}`), bigIntToBytes(key, 32)));
    expect(await slot(hashes, 99n)).toBe(`0x${'63'.repeat(32)}`);
    // Rings of 8191 entries; the second keeps the time, and the root behind it.
    const index = 1_700_000_000n % 8191n;
    expect(await slot(roots, index)).toBe(word(1_700_000_000n));
    expect(await slot(roots, index + 8191n)).toBe(bytesToHex(parentBeaconBlockRoot));
    expect((await machine.state.changes()).length).toBe(2);
  });

  it('does nothing where the contracts are not deployed', async () => {
    const machine = await openMachine({});
    await runSystemCalls(machine);
    expect(await machine.state.changes()).toEqual([]);
  });
});
