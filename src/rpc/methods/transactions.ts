import type { Block } from '../../chain/block.js';
import { findReceipt } from '../../chain/chain.js';
import { equalBytes } from '../../primitives/bytes.js';
import type { Hex } from '../../primitives/hex.js';
import { parseHash, parseIndex } from '../parsing/parse-params.js';
import { findBlock, withBody } from '../parsing/resolve-block.js';
import type { MethodCallOptions } from '../protocol/method.js';
import { READS } from '../protocol/method-rows.js';
import { formatPendingTransaction, formatReceipt, formatTransaction } from '../schema/format.js';
import type { LineaBlockJson, ReceiptJson, TransactionJson } from '../schema/json.js';
import { defineMethod, type RpcContext } from './context.js';

/** Null for a transaction that is not in a block. */
export const eth_getTransactionReceipt = defineMethod<[hash: Hex], ReceiptJson | null>(
  'eth_getTransactionReceipt',
  READS,
  async ({ chain }, [hash], call) => {
    const receipt = await findReceipt(chain, parseHash(hash, 'transactionHash'), call);
    return receipt === undefined ? null : formatReceipt(receipt);
  },
);

/** A transaction in the pool has no block. Null for one that is neither in the pool nor in a block. */
export const eth_getTransactionByHash = defineMethod<[hash: Hex], TransactionJson | null>(
  'eth_getTransactionByHash',
  READS,
  async ({ chain }, [hashParam], call) => {
    const hash = parseHash(hashParam, 'transactionHash');
    const included = await chain.transaction(hash, call);
    if (included !== undefined) return formatTransaction(included);
    const waiting = (await chain.pendingTransactions()).find((transaction) => equalBytes(transaction.hash, hash));
    return waiting === undefined ? null : formatPendingTransaction(waiting);
  },
);

/** Null for an unknown block, or an index that the block does not have. */
export const eth_getTransactionByBlockNumberAndIndex = defineMethod<
  [block: LineaBlockJson, index: Hex],
  TransactionJson | null
>('eth_getTransactionByBlockNumberAndIndex', READS, async (context, [numberParam, indexParam], call) => {
  const index = parseIndex(indexParam, 'transactionIndex');
  return transactionAt(context, await findBlock(context, numberParam, call), index, call);
});

/** Null for an unknown block, or an index that the block does not have. */
export const eth_getTransactionByBlockHashAndIndex = defineMethod<[hash: Hex, index: Hex], TransactionJson | null>(
  'eth_getTransactionByBlockHashAndIndex',
  READS,
  async (context, [hashParam, indexParam], call) => {
    const index = parseIndex(indexParam, 'transactionIndex');
    return transactionAt(
      context,
      await context.chain.block({ hash: parseHash(hashParam, 'blockHash') }, call),
      index,
      call,
    );
  },
);

async function transactionAt(context: RpcContext, found: Block | undefined, index: number, call: MethodCallOptions) {
  if (found === undefined) return null;
  const block = await withBody(context, found, call);
  const transaction = block.transactions[index];
  return transaction === undefined ? null : formatTransaction({ transaction, block, index });
}
