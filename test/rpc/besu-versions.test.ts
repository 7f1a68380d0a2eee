import { describe, expect, test } from 'vitest';
import { devnet } from '../../src/networks/devnet.js';
import type { Hex } from '../../src/primitives/hex.js';
import { accountAt, devNode } from '../support/dev-node.js';

const TO: Hex = `0x${'c0'.repeat(20)}`;
/** PUSH1 1 PUSH0 SSTORE STOP: 21 000 + 3 + 2 + 22 100. */
const STORES: Hex = '0x60015f5500';
/** GAS PUSH0 MSTORE PUSH1 32 PUSH0 RETURN. */
const GAS_LEFT: Hex = '0x5a5f5260205ff3';
const open = (besuVersion?: '26.8' | '26.9') =>
  devNode({
    chain: { kind: 'devnet', network: { ...devnet(), ...(besuVersion && { besuVersion }) } },
    gasSearch: 'besu',
  });

describe('rules of Besu by its version', () => {
  test('an estimate without data is exact from 26.9 on', async () => {
    const estimates: [number, boolean][] = [];
    for (const version of [undefined, '26.8', '26.9'] as const) {
      const dev = await open(version);
      await dev.ask('anvil_setCode', TO, STORES);
      const call = { from: accountAt(0), to: TO };
      const gas = await dev.ask<Hex>('eth_estimateGas', call);
      await dev.ask('eth_call', { ...call, gas }, 'latest');
      const less = `0x${(Number(gas) - 1).toString(16)}`;
      const isLeast = await dev.ask('eth_call', { ...call, gas: less }, 'latest').then(
        () => false,
        () => true,
      );
      estimates.push([Number(gas), isLeast]);
      // A transfer was exact before.
      expect(await dev.ask('eth_estimateGas', { from: accountAt(0), to: accountAt(1), value: '0x1' })).toBe('0x5208');
      const data = { from: accountAt(0), to: TO, data: '0x00' };
      expect(Number(await dev.ask('eth_estimateGas', data))).toBeGreaterThan(43_109);
    }
    const [unnamed, older, newer] = estimates;
    expect(unnamed).toEqual(older);
    expect(older![0]).toBeGreaterThan(43_105);
    expect(newer).toEqual([43_105, true]);
  });

  test('an inner call that needs a 64th more ends the search as before', async () => {
    // Calls STORES with all gas, and reverts if that fails.
    const calls: Hex = `0x5f5f5f5f5f73${'c0'.repeat(20)}5af1602257${'5f5ffd'}5b00`;
    const outer: Hex = `0x${'c1'.repeat(20)}`;
    const found: number[] = [];
    for (const version of ['26.8', '26.9'] as const) {
      const dev = await open(version);
      await dev.ask('anvil_setCode', TO, STORES);
      await dev.ask('anvil_setCode', outer, calls);
      const gas = await dev.ask<Hex>('eth_estimateGas', { from: accountAt(0), to: outer });
      await dev.ask('eth_call', { from: accountAt(0), to: outer, gas }, 'latest');
      found.push(Number(gas));
    }
    const [older, newer] = found;
    expect(Math.abs(newer! - older!) / older!).toBeLessThan(0.015);
  });

  test('a call that names no gas has no cap of 2^24 from 26.9 on', async () => {
    const left: bigint[] = [];
    for (const version of ['26.8', '26.9'] as const) {
      const dev = await open(version);
      await dev.ask('anvil_setCode', TO, GAS_LEFT);
      left.push(BigInt(await dev.ask<Hex>('eth_call', { from: accountAt(0), to: TO }, 'latest')));
    }
    expect(left[0]).toBeLessThan(2n ** 24n);
    expect(left[1]).toBeGreaterThan(2n ** 24n);
    expect(left[1]).toBeLessThanOrEqual(50_000_000n);
  });
});
