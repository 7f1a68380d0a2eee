import type { Block } from '../../chain/block.js';
import { bytesToHex } from '../../primitives/hex.js';
import { parseHash, parseIndex } from '../parsing/parse-params.js';
import { findBlock, withBody } from '../parsing/resolve-block.js';
import type { MethodCallOptions } from '../protocol/method.js';
import { defineMethod, type RpcContext } from './context.js';
import { debug_getRawTransaction } from './debug_raw.js';

/** As `debug_getRawTransaction`, under geth's other name. */
export const eth_getRawTransactionByHash = defineMethod('eth_getRawTransactionByHash', debug_getRawTransaction.handle);

/** Null for an unknown block, or an index that the block does not have. */
export const eth_getRawTransactionByBlockNumberAndIndex = defineMethod(
  'eth_getRawTransactionByBlockNumberAndIndex',
  async (context, [numberParam, indexParam], call) => {
    const index = parseIndex(indexParam, 'transactionIndex');
    return rawAt(context, await findBlock(context, numberParam, call), index, call);
  },
);

/** Null for an unknown block, or an index that the block does not have. */
export const eth_getRawTransactionByBlockHashAndIndex = defineMethod(
  'eth_getRawTransactionByBlockHashAndIndex',
  async (context, [hashParam, indexParam], call) => {
    const index = parseIndex(indexParam, 'transactionIndex');
    return rawAt(context, await context.chain.block({ hash: parseHash(hashParam, 'blockHash') }, call), index, call);
  },
);

async function rawAt(context: RpcContext, found: Block | undefined, index: number, call: MethodCallOptions) {
  if (found === undefined) return null;
  const transaction = (await withBody(context, found, call)).transactions[index];
  return transaction === undefined ? null : bytesToHex(transaction.raw);
}
