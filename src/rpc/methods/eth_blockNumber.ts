import { toQuantity } from '../../primitives/quantity.js';
import type { Method } from '../protocol/method.js';
import type { RpcContext } from './context.js';

export const eth_blockNumber: Method<RpcContext> = {
  name: 'eth_blockNumber',
  handle: async ({ chain }) => toQuantity((await chain.head()).header.number),
};
