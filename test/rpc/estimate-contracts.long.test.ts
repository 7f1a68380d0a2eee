import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createInlineNode } from '../../src/hosts/opening/inline.js';
import type { PlumblineNode } from '../../src/hosts/provider/node-handle.js';
import type { UntypedMethod } from '../../src/hosts/provider/provider.js';
import { devnet } from '../../src/networks/devnet.js';
import { GAS_SEARCHES } from '../../src/networks/gas-searches.js';
import type { Hex } from '../../src/primitives/hex.js';
import { contracts } from '../support/contracts.js';
import { type Action, type EstimateScene, estimateScene } from '../support/estimate-scene.js';
import { signTransaction } from '../support/sign.js';

interface Estimate {
  readonly gasLimit: Hex;
  readonly baseFeePerGas: Hex;
  readonly priorityFeePerGas: Hex;
}

interface Receipt {
  readonly status: Hex;
  readonly gasUsed: Hex;
}

const scene: EstimateScene = estimateScene(await contracts());

describe.each(GAS_SEARCHES)('estimates of the %s search', (gasSearch) => {
  let node: PlumblineNode;
  const ask = <T>(method: string, ...params: unknown[]) =>
    node.request<UntypedMethod>({ method, params }) as Promise<T>;

  beforeAll(async () => {
    node = await createInlineNode({ chain: { kind: 'devnet', network: devnet({ gasSearch }), alloc: scene.alloc } });
  });
  afterAll(() => node.close());

  /** Signs the action with the fees of the estimate and this limit. */
  async function send({ call }: Action, estimate: Estimate, gasLimit: bigint): Promise<Receipt> {
    const priorityFee = BigInt(estimate.priorityFeePerGas);
    const raw = signTransaction(0, {
      nonce: BigInt(await ask<Hex>('eth_getTransactionCount', call.from, 'latest')),
      ...(call.to && { to: call.to }),
      ...(call.data && { data: call.data }),
      ...(call.accessList && { accessList: call.accessList }),
      value: BigInt(call.value ?? 0),
      gasLimit,
      maxFeePerGas: BigInt(estimate.baseFeePerGas) + priorityFee,
      maxPriorityFeePerGas: priorityFee,
    });
    return ask<Receipt>('eth_getTransactionReceipt', await ask('eth_sendRawTransaction', raw));
  }

  /** Status of the receipt, or that the node would not take the transaction. */
  async function outcomeWith(action: Action, estimate: Estimate, gasLimit: bigint): Promise<Hex | 'refused'> {
    try {
      return (await send(action, estimate, gasLimit)).status;
    } catch (error) {
      expect(error).toMatchObject({ message: expect.stringMatching(/intrinsic gas/i) });
      return 'refused';
    }
  }

  test.each(scene.actions)('$name', async (action) => {
    const estimate = await ask<Estimate>('linea_estimateGas', action.call);
    expect(await ask('eth_estimateGas', action.call)).toBe(estimate.gasLimit);
    const gasLimit = BigInt(estimate.gasLimit);
    if (gasSearch === 'exact') {
      expect(await outcomeWith(action, estimate, gasLimit - 1n)).toMatch(/0x0|refused/);
      // The attempt has left everything but nonce and balance as it was.
      expect(await ask('eth_estimateGas', action.call)).toBe(estimate.gasLimit);
    }
    const receipt = await send(action, estimate, gasLimit);
    expect(receipt.status).toBe('0x1');
    expect(BigInt(receipt.gasUsed)).toBeLessThanOrEqual(gasLimit);
    if (action.after === undefined) return;
    const { returns, ...reading } = action.after;
    expect(await ask('eth_call', reading, 'latest')).toBe(returns);
  });
});
