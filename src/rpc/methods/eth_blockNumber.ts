import type { Hex } from '../../primitives/hex.js';
import { toQuantity } from '../../primitives/quantity.js';
import { READS } from '../protocol/method-rows.js';
import { defineMethod } from './context.js';

export const eth_blockNumber = defineMethod<[], Hex>('eth_blockNumber', READS, async ({ chain }, _, call) =>
  toQuantity((await chain.head(call)).header.number),
);
