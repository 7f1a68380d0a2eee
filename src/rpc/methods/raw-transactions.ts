import type { Block } from '../../chain/block.js';
import type { Hex } from '../../primitives/hex.js';
import { bytesToHex } from '../../primitives/hex.js';
import { parseHash, parseIndex } from '../parsing/parse-params.js';
import { findBlock, withBody } from '../parsing/resolve-block.js';
import type { MethodCallOptions } from '../protocol/method.js';
import { READS } from '../protocol/method-rows.js';
import type { LineaBlockJson } from '../schema/json.js';
import { defineMethod, type RpcContext } from './context.js';
import { rawTransaction } from './debug_raw.js';

/** As `debug_getRawTransaction`, under geth's other name. */
export const eth_getRawTransactionByHash = defineMethod<[hash: Hex], Hex | null>(
  'eth_getRawTransactionByHash',
  READS,
  rawTransaction,
);

/** Null for an unknown block, or an index that the block does not have. */
export const eth_getRawTransactionByBlockNumberAndIndex = defineMethod<[block: LineaBlockJson, index: Hex], Hex | null>(
  'eth_getRawTransactionByBlockNumberAndIndex',
  READS,
  async (context, [numberParam, indexParam], call) => {
    const index = parseIndex(indexParam, 'transactionIndex');
    return rawAt(context, await findBlock(context, numberParam, call), index, call);
  },
);

/** Null for an unknown block, or an index that the block does not have. */
export const eth_getRawTransactionByBlockHashAndIndex = defineMethod<[hash: Hex, index: Hex], Hex | null>(
  'eth_getRawTransactionByBlockHashAndIndex',
  READS,
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
