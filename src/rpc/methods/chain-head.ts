import type { Hex } from '../../primitives/hex.js';
import { toQuantity } from '../../primitives/quantity.js';
import { OF_THE_NODE, READS } from '../protocol/method-rows.js';
import { defineMethod } from './context.js';

export const eth_chainId = defineMethod<[], Hex>('eth_chainId', OF_THE_NODE, ({ chain }) =>
  toQuantity(chain.network.chainId),
);

export const eth_blockNumber = defineMethod<[], Hex>('eth_blockNumber', READS, async ({ chain }, _, call) =>
  toQuantity((await chain.head(call)).header.number),
);
