import { toQuantity } from '../../primitives/quantity.js';
import type { Method } from '../protocol/method.js';
import type { RpcContext } from './context.js';

export const eth_chainId: Method<RpcContext> = {
  name: 'eth_chainId',
  handle: ({ chain }) => toQuantity(chain.network.chainId),
};
