import { toQuantity } from '../../primitives/quantity.js';
import type { RpcContext } from '../context.js';
import type { Method } from '../method.js';

export const eth_chainId: Method<RpcContext> = {
  name: 'eth_chainId',
  handle: ({ chain }) => toQuantity(chain.network.chainId),
};
