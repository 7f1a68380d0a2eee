import { toQuantity } from '../../primitives/quantity.js';
import type { RpcContext } from '../context.js';
import type { Method } from '../method.js';

/**
 * The network's minimum, from the newest header that says it, and at least the next base fee (docs/spec/json-rpc.md 2.1).
 */
async function gasPrice({ chain }: RpcContext): Promise<{ gasPrice: bigint; baseFee: bigint }> {
  const { baseFeePerGas: baseFee } = await chain.pendingContext();
  const { minGasPriceWei } = (await chain.prices()).prices;
  return { gasPrice: minGasPriceWei > baseFee ? minGasPriceWei : baseFee, baseFee };
}

export const eth_gasPrice: Method<RpcContext> = {
  name: 'eth_gasPrice',
  handle: async (context) => toQuantity((await gasPrice(context)).gasPrice),
};

/** What is left of the gas price over the base fee. */
export const eth_maxPriorityFeePerGas: Method<RpcContext> = {
  name: 'eth_maxPriorityFeePerGas',
  async handle(context) {
    const { gasPrice: price, baseFee } = await gasPrice(context);
    return toQuantity(price - baseFee);
  },
};

/** Of the next block, wei. */
export const eth_baseFee: Method<RpcContext> = {
  name: 'eth_baseFee',
  handle: async ({ chain }) => toQuantity((await chain.pendingContext()).baseFeePerGas),
};

/** Of the next block, wei per blob gas; 1, the least there is, where no blob transactions are let in. */
export const eth_blobBaseFee: Method<RpcContext> = {
  name: 'eth_blobBaseFee',
  handle: async ({ chain }) => toQuantity((await chain.pendingContext()).blobBaseFee ?? 1n),
};
