import { toQuantity } from '../../primitives/quantity.js';
import { formatBlock, formatReceipt } from '../answers/format.js';
import { optional, parseBoolean, parseHash } from '../parsing/parse-params.js';
import { findBlock, withBody } from '../parsing/resolve-block.js';
import type { Method } from '../protocol/method.js';
import type { RpcContext } from './context.js';

/*
 * Blocks and what is in them. All answer null for a number above the head or an unknown hash; a tag that names no block
 * yet is -39001.
 */

const whole = (value: unknown) => optional(value, (present) => parseBoolean(present, 'fullTransactions')) ?? false;

export const eth_getBlockByNumber: Method<RpcContext> = {
  name: 'eth_getBlockByNumber',
  async handle(context, [numberParam, full]) {
    const fullTransactions = whole(full);
    const block = await findBlock(context, numberParam);
    return block === undefined ? null : formatBlock(await withBody(context, block), fullTransactions);
  },
};

export const eth_getBlockByHash: Method<RpcContext> = {
  name: 'eth_getBlockByHash',
  async handle(context, [hashParam, full]) {
    const fullTransactions = whole(full);
    const block = await context.chain.block({ hash: parseHash(hashParam, 'blockHash') });
    return block === undefined ? null : formatBlock(await withBody(context, block), fullTransactions);
  },
};

/** The block by number, tag or hash. */
export const eth_getBlockReceipts: Method<RpcContext> = {
  name: 'eth_getBlockReceipts',
  async handle(context, [blockParam]) {
    const block = await findBlock(context, blockParam);
    return block === undefined ? null : (await context.chain.receipts(block)).map(formatReceipt);
  },
};

export const eth_getBlockTransactionCountByNumber: Method<RpcContext> = {
  name: 'eth_getBlockTransactionCountByNumber',
  async handle(context, [numberParam]) {
    const block = await findBlock(context, numberParam);
    return block === undefined ? null : toQuantity((await withBody(context, block)).transactions.length);
  },
};

export const eth_getBlockTransactionCountByHash: Method<RpcContext> = {
  name: 'eth_getBlockTransactionCountByHash',
  async handle(context, [hashParam]) {
    const block = await context.chain.block({ hash: parseHash(hashParam, 'blockHash') });
    return block === undefined ? null : toQuantity((await withBody(context, block)).transactions.length);
  },
};
