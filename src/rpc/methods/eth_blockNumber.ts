import { toQuantity } from '../../primitives/quantity.js';
import { defineMethod } from './context.js';

export const eth_blockNumber = defineMethod('eth_blockNumber', async ({ chain }, _, call) =>
  toQuantity((await chain.head(call)).header.number),
);
