import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { DEV_ACCOUNTS } from '../../src/chain/devnet/state/dev-accounts.js';
import { createInlineNode } from '../../src/hosts/opening/inline.js';
import type { PlumblineNode } from '../../src/hosts/provider/node-handle.js';
import type { UntypedMethod } from '../../src/hosts/provider/provider.js';
import type { Hex } from '../../src/primitives/hex.js';
import { rewardsOf } from '../../src/rpc/methods/prices.js';
import { seededRandom } from '../support/random.js';
import { signTransaction } from '../support/sign.js';

describe('rewards', () => {
  test('are what the gas of a block paid, unit by unit', () => {
    const random = seededRandom(0xfee5);
    for (let round = 0; round < 300; round++) {
      const receipts = Array.from({ length: 1 + random(6) }, () => ({
        gasUsed: BigInt(1 + random(50)),
        effectiveGasPrice: BigInt(7 + random(9)),
      }));
      // The tip that each single unit of gas paid, cheapest first; a percentile is the unit that it ends on.
      const units = receipts.flatMap(({ gasUsed, effectiveGasPrice }) =>
        Array(Number(gasUsed)).fill(effectiveGasPrice - 7n),
      );
      units.sort((a, b) => Number(a - b));
      const percentiles = Array.from({ length: 5 }, () => random(101)).sort((a, b) => a - b);
      const expected = percentiles.map((p) => units[Math.max(0, Math.floor((units.length * p) / 100) - 1)]);
      expect(rewardsOf(receipts, { gasUsed: BigInt(units.length), baseFeePerGas: 7n }, percentiles)).toEqual(expected);
    }
  });

  test('are zero in a block without transactions', () => {
    expect(rewardsOf([], { gasUsed: 0n, baseFeePerGas: 7n }, [0, 50, 100])).toEqual([0n, 0n, 0n]);
  });
});

interface History {
  readonly oldestBlock: Hex;
  readonly baseFeePerGas: readonly Hex[];
  readonly gasUsedRatio: readonly number[];
  readonly reward?: readonly (readonly Hex[])[];
}

describe('eth_feeHistory on a devnet', () => {
  let node: PlumblineNode;
  const ask = <T>(method: string, ...params: unknown[]) =>
    node.request<UntypedMethod>({ method, params }) as Promise<T>;

  beforeAll(async () => {
    node = await createInlineNode({ chain: { kind: 'devnet', mining: 'manual' } });
    for (const [sender, tip] of [3n, 1n, 2n].entries()) {
      const maxPriorityFeePerGas = tip * 10n ** 9n;
      const fields = { nonce: 0, to: DEV_ACCOUNTS[5]!.address, gasLimit: 21_000n, maxFeePerGas: 10n ** 10n };
      await ask('eth_sendRawTransaction', signTransaction(sender, { ...fields, maxPriorityFeePerGas }));
    }
    await ask('evm_mine');
    await ask('evm_mine');
  });
  afterAll(() => node.close());

  test('one base fee more than blocks, and rewards by percentile', async () => {
    const history = await ask<History>('eth_feeHistory', '0x2', '0x1', [0, 33, 34, 66, 67]);
    expect(history).toMatchObject({ oldestBlock: '0x0', baseFeePerGas: ['0x7', '0x7', '0x7'] });
    expect(history.gasUsedRatio).toEqual([0, 63_000 / 2_000_000_000]);
    expect(history.reward?.[1]?.map(Number)).toEqual([1e9, 1e9, 2e9, 2e9, 3e9]);
    const { baseFeePerBlobGas, blobGasUsedRatio } = history as unknown as Record<string, unknown[]>;
    expect([baseFeePerBlobGas, blobGasUsedRatio]).toEqual([
      ['0x1', '0x1', '0x1'],
      [0, 0],
    ]);
  });

  test('a reward is never below what the header prices ask', async () => {
    // Header prices of the devnet: at least 41 904 000 wei per gas, of which 7 are the base fee
    // (docs/spec/json-rpc.md 2.1).
    const { reward } = await ask<History>('eth_feeHistory', '0x1', 'latest', [10, 90]);
    expect(reward).toEqual([['0x27f6779', '0x27f6779']]);
  });

  test('no more blocks than there are, and no rewards unless asked', async () => {
    const history = await ask<History>('eth_feeHistory', 1024, 'latest');
    // In decimal digits, as geth takes it.
    expect(await ask<History>('eth_feeHistory', '1024', 'latest')).toEqual(history);
    expect(history.oldestBlock).toBe('0x0');
    expect(history.gasUsedRatio).toHaveLength(3);
    expect(history).not.toHaveProperty('reward');
    expect(await ask('eth_baseFee')).toBe(history.baseFeePerGas.at(-1));
    expect(await ask('eth_blobBaseFee')).toBe('0x1');
  });
});
