import { describe, expect, test } from 'vitest';
import { type Alloc, AllocState } from '../../conformance/alloc-state.js';
import { estimateGasAt } from '../../src/evm/gas.js';
import type { GasSearch } from '../../src/networks/gas-searches.js';
import type { CallRequest } from '../../src/primitives/call-request.js';
import { type Hex, hexToBytes } from '../../src/primitives/hex.js';
import { allocWith, blockContext, CONTRACT, ETHER, networkAt, SENDER, SLOT_0 } from '../support/evm.js';

const ONE: Hex = `0x${'00'.repeat(31)}01`;
/** `SSTORE(0, 1)`. */
const STORE: Hex = '0x60015f5500';
/** Goes the long way, 100 more stores of the same, where `SELFBALANCE` is odd. */
const LOOK_AT_OWN_BALANCE: Hex = `0x47600116600857005b${'60015f55'.repeat(100)}00`;

const call: CallRequest = { from: hexToBytes(SENDER), to: hexToBytes(CONTRACT), data: Uint8Array.of(1) };

function estimate(alloc: Alloc, request: CallRequest = call, search: GasSearch = 'besu') {
  const options = { network: networkAt('osaka'), search };
  return estimateGasAt(new AllocState(alloc), blockContext(), request, options);
}

describe('proved runs of a search', () => {
  test('are not executed: a contract without calls is executed once', async () => {
    for (const search of ['besu', 'geth'] as const) {
      const { runs, executed } = await estimate(allocWith(STORE), call, search);
      expect(executed).toBe(1);
      expect(runs).toBeGreaterThan(2);
    }
  });

  test('the exact search executes all runs', async () => {
    const { runs, executed } = await estimate(allocWith(STORE), call, 'exact');
    expect(executed).toBe(runs);
  });

  test('nothing is proved if the sender has code, which can read the prepaid balance', async () => {
    const alloc: Alloc = { [SENDER]: { balance: `0x${ETHER.toString(16)}`, code: LOOK_AT_OWN_BALANCE } };
    const { runs, executed } = await estimate(alloc, { ...call, to: hexToBytes(SENDER) });
    expect(executed).toBe(runs);
  });

  test('nothing is proved if an authorization may give the sender code', async () => {
    const zero = new Uint8Array(20);
    const authorizationList = [{ chainId: 1n, address: zero, nonce: 5n, yParity: 0n, r: 1n, s: 1n }];
    const { runs, executed } = await estimate(allocWith(STORE), { ...call, authorizationList });
    expect(executed).toBe(runs);
  });

  test('nothing is proved under rules before EIP-2200 and EIP-2929', async () => {
    const options = { network: networkAt('istanbul'), search: 'besu' as const };
    const context = blockContext({ baseFeePerGas: 0n });
    const { runs, executed } = await estimateGasAt(new AllocState(allocWith('0x6001600055')), context, call, options);
    expect(executed).toBe(runs);
  });
});

describe('kernels that are used again', () => {
  test('give each estimate its own state, block and rules', async () => {
    const fresh = allocWith(STORE);
    const written = allocWith(STORE, { [SLOT_0]: ONE });
    const expected = [await estimate(fresh), await estimate(written)];
    expect(expected[0]!.gasUsed).not.toBe(expected[1]!.gasUsed);
    for (let round = 0; round < 3; round++) {
      expect(await estimate(fresh)).toEqual(expected[0]);
      expect(await estimate(written)).toEqual(expected[1]);
    }
  });

  test('serve several estimates at once', async () => {
    const allocs = [allocWith(STORE), allocWith(STORE, { [SLOT_0]: ONE }), allocWith('0x'), allocWith('0x5f545000')];
    const expected = await Promise.all(allocs.map((alloc) => estimate(alloc)));
    for (let round = 0; round < 3; round++) {
      expect(await Promise.all(allocs.map((alloc) => estimate(alloc)))).toEqual(expected);
    }
  });

  test('are not reused after an aborted run', async () => {
    const expected = await estimate(allocWith(STORE));
    const broken = new AllocState(allocWith('0x60015f5560015450'));
    broken.slot = async () => {
      throw new Error('no such slot');
    };
    const options = { network: networkAt('osaka'), search: 'besu' as const };
    await expect(estimateGasAt(broken, blockContext(), call, options)).rejects.toThrow('no such slot');
    expect(await estimate(allocWith(STORE))).toEqual(expected);
  });
});
