import type { Hex } from '../../primitives/hex.js';
import { toQuantity } from '../../primitives/quantity.js';
import { OF_THE_NODE } from '../protocol/method-rows.js';
import { defineMethod } from './context.js';

export const eth_chainId = defineMethod<[], Hex>('eth_chainId', OF_THE_NODE, ({ chain }) =>
  toQuantity(chain.network.chainId),
);
