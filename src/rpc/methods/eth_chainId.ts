import { toQuantity } from '../../primitives/quantity.js';
import { defineMethod } from './context.js';

export const eth_chainId = defineMethod('eth_chainId', ({ chain }) => toQuantity(chain.network.chainId));
