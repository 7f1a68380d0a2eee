import { toQuantity } from '../../primitives/quantity.js';
import { parseHash, parseIndex } from '../parsing/parse-params.js';
import { findBlock } from '../parsing/resolve-block.js';
import { defineMethod } from './context.js';

/*
 * Blocks of layer 2 have no uncles. Imported blocks from before the merge may: their number is known, but the uncles
 * themselves are not kept (docs/decisions.md 10).
 */

export const eth_getUncleCountByBlockNumber = defineMethod(
  'eth_getUncleCountByBlockNumber',
  async (context, [numberParam]) => {
    const block = await findBlock(context, numberParam);
    return block === undefined ? null : toQuantity(block.uncles?.length ?? 0);
  },
);

export const eth_getUncleCountByBlockHash = defineMethod(
  'eth_getUncleCountByBlockHash',
  async ({ chain }, [hashParam]) => {
    const block = await chain.block({ hash: parseHash(hashParam, 'blockHash') });
    return block === undefined ? null : toQuantity(block.uncles?.length ?? 0);
  },
);

export const eth_getUncleByBlockNumberAndIndex = defineMethod(
  'eth_getUncleByBlockNumberAndIndex',
  async (context, [numberParam, indexParam]) => {
    parseIndex(indexParam, 'uncleIndex');
    await findBlock(context, numberParam);
    return null;
  },
);

export const eth_getUncleByBlockHashAndIndex = defineMethod(
  'eth_getUncleByBlockHashAndIndex',
  (_context, [hashParam, indexParam]) => {
    parseHash(hashParam, 'blockHash');
    parseIndex(indexParam, 'uncleIndex');
    return null;
  },
);
