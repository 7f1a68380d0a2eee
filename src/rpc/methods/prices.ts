import type { ChainCall } from '../../chain/chain.js';
import type { Hex } from '../../primitives/hex.js';
import { toQuantity } from '../../primitives/quantity.js';
import { COMPUTES } from '../protocol/method-rows.js';
import { defineMethod, type RpcContext } from './context.js';

/**
 * The network's minimum from the newest header that has it, but at least the next base fee (docs/spec/json-rpc.md 2.1).
 */
export async function gasPrice({ chain }: RpcContext, call: ChainCall): Promise<{ gasPrice: bigint; baseFee: bigint }> {
  const { baseFeePerGas: baseFee } = await chain.pendingContext(undefined, call);
  const { minGasPriceWei } = (await chain.prices(undefined, call)).prices;
  return { gasPrice: minGasPriceWei > baseFee ? minGasPriceWei : baseFee, baseFee };
}

export const eth_gasPrice = defineMethod<[], Hex>('eth_gasPrice', COMPUTES, async (context, _, call) =>
  toQuantity((await gasPrice(context, call)).gasPrice),
);

/** The gas price minus the base fee. */
export const eth_maxPriorityFeePerGas = defineMethod<[], Hex>(
  'eth_maxPriorityFeePerGas',
  COMPUTES,
  async (context, _, call) => {
    const { gasPrice: price, baseFee } = await gasPrice(context, call);
    return toQuantity(price - baseFee);
  },
);

/** Of the next block, wei. */
export const eth_baseFee = defineMethod<[], Hex>('eth_baseFee', COMPUTES, async ({ chain }, _, call) =>
  toQuantity((await chain.pendingContext(undefined, call)).baseFeePerGas),
);

/** Of the next block, wei per blob gas; 1, the minimum, on networks that refuse blob transactions. */
export const eth_blobBaseFee = defineMethod<[], Hex>('eth_blobBaseFee', COMPUTES, async ({ chain }, _, call) =>
  toQuantity((await chain.pendingContext(undefined, call)).blobBaseFee ?? 1n),
);
