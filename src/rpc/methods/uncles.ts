import { toQuantity } from '../../primitives/quantity.js';
import type { RpcContext } from '../context.js';
import type { Method } from '../method.js';
import { parseHash, parseIndex } from '../parsing/parse-params.js';
import { findBlock } from '../resolve-block.js';

/*
 * Blocks of layer 2 have no uncles; imported blocks of before the merge may. Their number is known, they themselves are
 * not kept (docs/decisions.md 10).
 */

export const eth_getUncleCountByBlockNumber: Method<RpcContext> = {
  name: 'eth_getUncleCountByBlockNumber',
  async handle(context, [numberParam]) {
    const block = await findBlock(context, numberParam);
    return block === undefined ? null : toQuantity(block.uncles?.length ?? 0);
  },
};

export const eth_getUncleCountByBlockHash: Method<RpcContext> = {
  name: 'eth_getUncleCountByBlockHash',
  async handle({ chain }, [hashParam]) {
    const block = await chain.block({ hash: parseHash(hashParam, 'blockHash') });
    return block === undefined ? null : toQuantity(block.uncles?.length ?? 0);
  },
};

export const eth_getUncleByBlockNumberAndIndex: Method<RpcContext> = {
  name: 'eth_getUncleByBlockNumberAndIndex',
  async handle(context, [numberParam, indexParam]) {
    parseIndex(indexParam, 'uncleIndex');
    await findBlock(context, numberParam);
    return null;
  },
};

export const eth_getUncleByBlockHashAndIndex: Method<RpcContext> = {
  name: 'eth_getUncleByBlockHashAndIndex',
  handle(_context, [hashParam, indexParam]) {
    parseHash(hashParam, 'blockHash');
    parseIndex(indexParam, 'uncleIndex');
    return null;
  },
};
