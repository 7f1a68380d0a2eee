import { describe, expect, it, vi } from 'vitest';
import { type Alloc, AllocState } from '../../conformance/alloc-state.js';
import { nextBaseFee } from '../../src/ethereum/base-fee.js';
import type { BlockHeader } from '../../src/ethereum/header.js';
import { contextOfHeader, pendingContext } from '../../src/evm/block-context.js';
import { callAt, revertReason, simulateCallAt } from '../../src/evm/call.js';
import { rulesAt } from '../../src/evm/common.js';
import { estimateGasAt } from '../../src/evm/gas.js';
import { Machine } from '../../src/evm/machine.js';
import { StateOverlay } from '../../src/evm/state-overlay.js';
import type { StateReader } from '../../src/evm/state-reader.js';
import { runTransaction } from '../../src/evm/transaction.js';
import { GAS_SEARCHES, type GasSearch } from '../../src/networks/gas-searches.js';
import { linea } from '../../src/networks/linea.js';
import { bytesToBigInt } from '../../src/primitives/bytes.js';
import type { CallRequest, StateOverrides } from '../../src/primitives/call-request.js';
import { bytesToHex, type Hex, hexToBytes } from '../../src/primitives/hex.js';
import {
  allocWith,
  blockContext,
  CONTRACT,
  ETHER,
  message,
  networkAt,
  SENDER,
  SLOT_0,
  STRANGER,
} from '../support/evm.js';

const network = networkAt('osaka');
const contract = hexToBytes(CONTRACT);
const word = (n: number) => new Uint8Array(32).fill(n);

async function call(alloc: Alloc, request: CallRequest, overrides?: StateOverrides): Promise<Hex> {
  const outcome = await callAt(
    new AllocState(alloc),
    blockContext(),
    { to: contract, ...request },
    { network, overrides },
  );
  return bytesToHex(outcome.returnData);
}

const returning = (opcodes: string): Hex => `0x${opcodes}5f5260205ff3`;

describe('runs one after another over one state', () => {
  /** Returns the hash of block 99, and slot 0. */
  const code = '0x6063405f525f5460205260405ff3';
  const run = (state: StateReader, block = blockContext()) =>
    simulateCallAt(state, block, { to: contract }, { network }).then(({ returnData }) => bytesToHex(returnData));
  const answered = (hash: number, slot: Hex): string =>
    `0x${hash.toString(16).padStart(2, '0').repeat(32)}${slot.slice(2)}`;
  const nine: Hex = `0x${'9'.padStart(64, '0')}`;

  it('read it once, and the hashes of blocks anew, which depend on the block', async () => {
    const state = new AllocState(allocWith(code, { [SLOT_0]: nine }));
    const reads = ['account', 'slot', 'code'].map((name) => vi.spyOn(state, name as 'account'));
    expect(await run(state)).toBe(answered(99, nine));
    const before = reads.map(({ mock }) => mock.calls.length);
    expect(before.every((count) => count > 0)).toBe(true);
    expect(await run(state, blockContext({ blockHash: async () => word(0xaa) }))).toBe(answered(0xaa, nine));
    // The sender alone is read beside the run.
    expect(reads.map(({ mock }, i) => mock.calls.length - before[i]!)).toEqual([1, 0, 0]);
    expect(await run(new AllocState(allocWith(code)))).toBe(answered(99, SLOT_0));
    expect(await run(state)).toBe(answered(99, nine));
  });

  it('read a state anew that does not say that it is fixed: its values may be guesses', async () => {
    const fixed = new AllocState(allocWith(code, { [SLOT_0]: nine }));
    let value = word(1);
    const state: StateReader = {
      account: (address) => fixed.account(address),
      code: (hash) => fixed.code(hash),
      slot: async () => value,
    };
    expect(await run(state)).toBe(answered(99, bytesToHex(value)));
    value = word(2);
    expect(await run(state)).toBe(answered(99, bytesToHex(value)));
    const overlay = new StateOverlay(fixed);
    expect(await run(overlay)).toBe(answered(99, nine));
    overlay.setSlot(contract, hexToBytes(SLOT_0), value);
    expect(await run(overlay)).toBe(answered(99, bytesToHex(value)));
  });

  it('know nothing of what another run wrote', async () => {
    const setting = allocWith('0x60075f55', { [SLOT_0]: nine });
    const state = new AllocState({
      ...setting,
      [STRANGER]: { code: '0x5f545f5260205ff3', storage: { [SLOT_0]: nine } },
    });
    const read = () => simulateCallAt(state, blockContext(), { to: hexToBytes(STRANGER) }, { network });
    const before = (await read()).returnData;
    const overlay = new StateOverlay(state);
    const machine = Machine.open(network, blockContext(), overlay);
    const sent = message({ data: new Uint8Array(0) });
    expect((await runTransaction(machine, sent)).succeeded).toBe(true);
    expect((await runTransaction(machine, message({ nonce: 1n, to: hexToBytes(STRANGER), value: 5n }))).succeeded).toBe(
      true,
    );
    machine.close();
    expect(await overlay.slot(contract, hexToBytes(SLOT_0))).toEqual(word(0).with(31, 7));
    expect((await read()).returnData).toEqual(before);
    const slot = await simulateCallAt(
      state,
      blockContext(),
      { to: contract },
      { network, overrides: [{ address: contract, code: hexToBytes('0x5f545f5260205ff3') }] },
    );
    expect(bytesToHex(slot.returnData)).toBe(nine);
    const balance = await simulateCallAt(
      state,
      blockContext(),
      { to: contract },
      { network, overrides: [{ address: contract, code: hexToBytes(`0x73${STRANGER.slice(2)}315f5260205ff3`) }] },
    );
    expect(bytesToBigInt(balance.returnData)).toBe(0n);
  });
});

describe('callAt', () => {
  it('is free without a price: price and base fee are zero, and the balance is not checked', async () => {
    for (const opcode of ['3a', '48']) expect(BigInt(await call(allocWith(returning(opcode)), {}))).toBe(0n);
    expect(BigInt(await call(allocWith(returning('48')), { strict: true, from: hexToBytes(SENDER) }))).toBe(7n);
    await expect(call(allocWith('0x00'), { strict: true })).rejects.toMatchObject({ code: 'INSUFFICIENT_FUNDS' });
  });

  it('must be payable if it has a price, unless strict is false', async () => {
    const alloc = allocWith(returning('3a'));
    expect(BigInt(await call(alloc, { from: hexToBytes(SENDER), gasPrice: 9n }))).toBe(9n);
    await expect(call(alloc, { gasPrice: 9n })).rejects.toMatchObject({ code: 'INSUFFICIENT_FUNDS' });
    await expect(call(alloc, { from: hexToBytes(SENDER), gasPrice: 6n })).rejects.toMatchObject({
      details: { rule: 'gas-price' },
    });
    expect(BigInt(await call(alloc, { gasPrice: 9n, strict: false }))).toBe(0n);
  });

  it('has 2^24 gas, or the caller’s gas up to the cap of the node', async () => {
    const gasLeft = allocWith(returning('5a'));
    expect(BigInt(await call(gasLeft, {}))).toBe(16_777_216n - 21_002n);
    expect(BigInt(await call(gasLeft, { gas: 99_000_000n }))).toBe(50_000_000n - 21_002n);
    await expect(call(gasLeft, { gas: 20_000n })).rejects.toMatchObject({ details: { rule: 'intrinsic-gas' } });
  });

  it('throws a revert with data and reason and a failure with its cause, or returns them as outcomes', async () => {
    // Error("no"), laid behind the code and returned by REVERT.
    const data = `08c379a0${'20'.padStart(64, '0')}${'2'.padStart(64, '0')}${'6e6f'.padEnd(64, '0')}`;
    const reverting = allocWith(`0x6064600a5f3960645ffd${data}`);
    await expect(call(reverting, {})).rejects.toMatchObject({
      code: 'EXECUTION_REVERTED',
      details: { data: hexToBytes(`0x${data}`), reason: 'no' },
    });
    await expect(call(allocWith('0xfe'), {})).rejects.toMatchObject({
      code: 'EXECUTION_FAILED',
      details: { reason: 'invalid opcode' },
    });
    const outcome = await simulateCallAt(new AllocState(reverting), blockContext(), { to: contract }, { network });
    expect(outcome).toMatchObject({ succeeded: false, exception: 'revert' });
  });

  it('sees the block: number, time, randomness, earlier hashes, minimal blob fee', async () => {
    for (const [opcodes, value] of [
      ['43', 100n],
      ['42', 1_700_000_000n],
      ['4a', 1n],
      ['46', 1n],
      ['606340', BigInt(`0x${'63'.repeat(32)}`)],
    ] as const) {
      expect(BigInt(await call(allocWith(returning(opcodes)), {}))).toBe(value);
    }
  });
});

describe('state overrides', () => {
  const loadTwo = '0x5f545f5260015460205260405ff3';
  const alloc = allocWith(loadTwo, { [SLOT_0]: bytesToHex(word(7)) });
  const both = (a: number, b: number) => bytesToHex(word(a)) + bytesToHex(word(b)).slice(2);
  const slot1 = hexToBytes(`0x${'1'.padStart(64, '0')}`);

  it('replaces the storage, or single slots', async () => {
    const address = contract;
    expect(await call(alloc, {}, [{ address, stateDiff: [[slot1, word(2)]] }])).toBe(both(7, 2));
    expect(await call(alloc, {}, [{ address, state: [[slot1, word(2)]] }])).toBe(both(0, 2));
    expect(await call(alloc, {})).toBe(both(7, 0));
  });

  it('sets balance, nonce and code, also of accounts that do not exist', async () => {
    const stranger = hexToBytes(STRANGER);
    const balance = await call(alloc, { to: stranger }, [
      { address: stranger, balance: 5n, code: hexToBytes('0x475f5260205ff3') },
    ]);
    expect(BigInt(balance)).toBe(5n);
    // A creation shows the nonce: the address at nonce 1 is not the one at nonce 0.
    const from = hexToBytes(SENDER);
    const create = (nonce: bigint) =>
      callAt(
        new AllocState(alloc),
        blockContext(),
        { from, data: hexToBytes('0x00') },
        { network, overrides: [{ address: from, nonce }] },
      );
    expect((await create(1n)).createdAddress).not.toEqual((await create(0n)).createdAddress);
  });

  it('moves precompiles, and nothing else', async () => {
    const identity = hexToBytes('0x0000000000000000000000000000000000000004');
    const data = hexToBytes('0x1234');
    const moved = [{ address: identity, movePrecompileTo: hexToBytes(STRANGER) }];
    expect(await call(alloc, { to: hexToBytes(STRANGER), data }, moved)).toBe('0x1234');
    expect(await call(alloc, { to: identity, data }, moved)).toBe('0x');
    const wrong = [{ address: contract, movePrecompileTo: identity }];
    await expect(call(alloc, {}, wrong)).rejects.toMatchObject({ code: 'INVALID_PARAMETER' });
  });
});

describe('estimateGasAt', () => {
  const from = hexToBytes(SENDER);
  const transfer = { from, to: hexToBytes(STRANGER), value: 1n };
  const estimate = (alloc: Alloc, request: CallRequest, search: GasSearch, overrides?: StateOverrides) =>
    estimateGasAt(new AllocState(alloc), blockContext(), request, { network, search, overrides });

  it('gives the recorded value for an authorization (execution-apis: estimate-with-eip7702)', async () => {
    const authorization = {
      address: hexToBytes(`0x${'aa'.repeat(20)}`),
      chainId: 1n,
      nonce: 0n,
      r: bytesToBigInt(word(0x11)),
      s: bytesToBigInt(word(0x22)),
      yParity: 0n,
    };
    const options = { network: networkAt('osaka', 3_503_995_874_084_926), search: 'geth' } as const;
    const request = { ...transfer, authorizationList: [authorization] };
    const { gasLimit } = await estimateGasAt(new AllocState(allocWith('0x')), blockContext(), request, options);
    expect(gasLimit).toBe(0xb52en);
  });

  it('pays with an overridden balance; with Besu also with that of the chain, if it is larger', async () => {
    const poor = { [SENDER]: { balance: '0x1' } } as Alloc;
    const rich: StateOverrides = [{ address: from, balance: ETHER }];
    const priced = { ...transfer, value: 0n, gasPrice: 7n };
    expect((await estimate(poor, priced, 'geth', rich)).gasLimit).toBe(21_000n);
    expect((await estimate(poor, priced, 'besu', rich)).gasLimit).toBe(21_000n);
    await expect(estimate(poor, priced, 'besu')).rejects.toMatchObject({ code: 'UPFRONT_COST_EXCEEDS_BALANCE' });
    const held = { [SENDER]: { balance: `0x${ETHER.toString(16)}` } } as Alloc;
    const taken: StateOverrides = [{ address: from, balance: 1n }];
    expect((await estimate(held, priced, 'besu', taken)).gasLimit).toBe(21_000n);
    await expect(estimate(held, priced, 'geth', taken)).rejects.toMatchObject({ code: 'GAS_ALLOWANCE_EXCEEDED' });
    await expect(estimate(poor, priced, 'geth')).rejects.toMatchObject({ code: 'GAS_ALLOWANCE_EXCEEDED' });
    expect((await estimate(poor, { ...priced, strict: false }, 'besu')).gasLimit).toBe(21_000n);
    expect((await estimate(poor, { ...priced, gasPrice: undefined }, 'besu')).gasLimit).toBe(21_000n);
    await expect(estimate(poor, { ...transfer, value: 2n }, 'besu')).rejects.toMatchObject({
      code: 'INSUFFICIENT_FUNDS',
    });
  });

  it('without a price, runs at the base fee with Besu and for free with geth', async () => {
    // Reverts unless the price of gas is 7.
    const wantsSeven = allocWith('0x3a600714600a575f5ffd5b00');
    const request = { from, to: contract, data: Uint8Array.of(1) };
    expect((await estimate(wantsSeven, request, 'besu')).gasLimit).toBeGreaterThan(21_000n);
    await expect(estimate(wantsSeven, request, 'geth')).rejects.toMatchObject({ code: 'EXECUTION_REVERTED' });
  });

  it('uses the caller’s gas as a bound with geth and ignores it with Besu', async () => {
    const request = { from, to: contract, gas: 30_000n };
    const fresh = allocWith('0x60015f5500');
    await expect(estimate(fresh, request, 'geth')).rejects.toMatchObject({ details: { allowance: 30_000n } });
    expect((await estimate(fresh, request, 'besu')).gasLimit).toBeGreaterThan(43_000n);
  });

  it('refuses both storage forms', async () => {
    const overrides: StateOverrides = [{ address: contract, state: [], stateDiff: [] }];
    for (const search of ['geth', 'besu'] as const)
      await expect(estimate(allocWith('0x'), transfer, search, overrides)).rejects.toMatchObject({
        code: 'INVALID_PARAMETER',
      });
  });

  it.each(GAS_SEARCHES)('finds, with %s, a limit that succeeds, the same each time', async (search) => {
    // Clears four slots: refunds let the searches start at different ends.
    const clearing = allocWith('0x5f5f555f6001555f6002555f60035500', {
      [SLOT_0]: bytesToHex(word(1)),
      [bytesToHex(hexToBytes(`0x${'1'.padStart(64, '0')}`))]: bytesToHex(word(1)),
    });
    const request = { from, to: contract, data: Uint8Array.of(1) };
    const found = await estimate(clearing, request, search);
    expect(await estimate(clearing, request, search)).toEqual(found);
    const run = (gas: bigint) =>
      simulateCallAt(new AllocState(clearing), blockContext(), { ...request, gas }, { network });
    expect((await run(found.gasLimit)).succeeded).toBe(true);
    expect((await run(found.gasLimit)).gasUsed).toBe(found.gasUsed);
    if (search === 'exact') expect((await run(found.gasLimit - 1n)).succeeded).toBe(false);
  });

  it('stops when aborted between runs', async () => {
    const controller = new AbortController();
    const state = new AllocState(allocWith('0x60015f5500'));
    const slot = state.slot.bind(state);
    state.slot = async (...of) => {
      controller.abort();
      return slot(...of);
    };
    const options = { network, search: 'exact', signal: controller.signal } as const;
    const promise = estimateGasAt(state, blockContext(), { from, to: contract, data: Uint8Array.of(1) }, options);
    await expect(promise).rejects.toMatchObject({ code: 'ABORTED' });
  });
});

describe('revertReason', () => {
  it('decodes Error(string) and Panic(uint256), and nothing else', () => {
    const panic = hexToBytes(`0x4e487b71${'11'.padStart(64, '0')}`);
    expect(revertReason(panic)).toBe('Panic(17): arithmetic overflow or underflow');
    expect(revertReason(hexToBytes('0xdeadbeef'))).toBeUndefined();
    expect(revertReason(hexToBytes(`0x08c379a0${'20'.padStart(64, '0')}${'f'.repeat(64)}`))).toBeUndefined();
    expect(revertReason(hexToBytes(`0x08c379a0${'f'.repeat(64)}${'0'.repeat(64)}`))).toBeUndefined();
  });
});

describe('block context', () => {
  // From the tests of go-ethereum's consensus/misc/eip1559; the last two from docs/spec/fees.md 4.
  it.each([
    [1_000_000_000n, 20_000_000n, 10_000_000n, 1_000_000_000n],
    [1_000_000_000n, 20_000_000n, 9_000_000n, 987_500_000n],
    [1_000_000_000n, 20_000_000n, 11_000_000n, 1_012_500_000n],
    [7n, 2_000_000_000n, 0n, 7n],
    [7n, 2_000_000_000n, 1_000_000_001n, 8n],
  ])('base fee after %d with limit %d, used %d', (baseFeePerGas, gasLimit, gasUsed, next) => {
    expect(nextBaseFee({ baseFeePerGas, gasLimit, gasUsed })).toBe(next);
  });

  it('builds the pending block from the head only', async () => {
    const head = {
      number: 9,
      timestamp: 50,
      gasLimit: 2_000_000_000n,
      gasUsed: 0n,
      baseFeePerGas: 7n,
      miner: word(1).slice(12),
      mixHash: word(2),
      difficulty: 0n,
    } as BlockHeader;
    const blockHash = async () => word(9);
    expect(pendingContext(head, { slotSeconds: 2, chainId: 1, forks: [{ hardfork: 'osaka' }] }, { blockHash })).toEqual(
      {
        number: 10,
        timestamp: 52,
        gasLimit: 2_000_000_000n,
        baseFeePerGas: 7n,
        coinbase: new Uint8Array(20),
        prevRandao: new Uint8Array(32),
        parentBeaconBlockRoot: new Uint8Array(32),
        blockHash,
      },
    );
    expect(contextOfHeader(head, blockHash)).toMatchObject({ number: 9, coinbase: head.miner, prevRandao: word(2) });
  });

  it('finds the active fork by number and by time (docs/spec/json-rpc.md 1.1, mainnet)', () => {
    const hardforkAt = (number: number, timestamp: number) => rulesAt(linea, number, timestamp).hardfork;
    expect(hardforkAt(8_718_330, 1_724_000_000)).toBe('london');
    expect(hardforkAt(24_787_632, 1_761_200_000)).toBe('paris');
    expect(hardforkAt(24_800_000, 1_761_646_199)).toBe('cancun');
    expect(hardforkAt(28_279_139, 0x6975752e)).toBe('osaka');
  });
});
