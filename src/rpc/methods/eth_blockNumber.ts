import { toQuantity } from '../../primitives/quantity.js';
import { defineMethod } from './context.js';

export const eth_blockNumber = defineMethod('eth_blockNumber', async ({ chain }) =>
  toQuantity((await chain.head()).header.number),
);
