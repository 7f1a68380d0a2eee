import type { Block } from '../../chain/block.js';
import { bytesToHex } from '../../primitives/hex.js';
import { parseHash, parseIndex } from '../parsing/parse-params.js';
import { findBlock, withBody } from '../parsing/resolve-block.js';
import { defineMethod, type RpcContext } from './context.js';
import { debug_getRawTransaction } from './debug_raw.js';

/** As `debug_getRawTransaction`, under geth's other name. */
export const eth_getRawTransactionByHash = defineMethod('eth_getRawTransactionByHash', debug_getRawTransaction.handle);

/** Null for an unknown block, or an index that the block does not have. */
export const eth_getRawTransactionByBlockNumberAndIndex = defineMethod(
  'eth_getRawTransactionByBlockNumberAndIndex',
  async (context, [numberParam, indexParam]) => {
    const index = parseIndex(indexParam, 'transactionIndex');
    return rawAt(context, await findBlock(context, numberParam), index);
  },
);

/** Null for an unknown block, or an index that the block does not have. */
export const eth_getRawTransactionByBlockHashAndIndex = defineMethod(
  'eth_getRawTransactionByBlockHashAndIndex',
  async (context, [hashParam, indexParam]) => {
    const index = parseIndex(indexParam, 'transactionIndex');
    return rawAt(context, await context.chain.block({ hash: parseHash(hashParam, 'blockHash') }), index);
  },
);

async function rawAt(context: RpcContext, found: Block | undefined, index: number) {
  if (found === undefined) return null;
  const transaction = (await withBody(context, found)).transactions[index];
  return transaction === undefined ? null : bytesToHex(transaction.raw);
}
