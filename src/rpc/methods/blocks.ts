import type { Block } from '../../chain/block.js';
import { findReceipt } from '../../chain/chain.js';
import { PlumblineError } from '../../errors.js';
import { EMPTY_UNCLES_HASH } from '../../ethereum/constants.js';
import { equalBytes } from '../../primitives/bytes.js';
import type { Hex } from '../../primitives/hex.js';
import { toQuantity } from '../../primitives/quantity.js';
import type { MethodCallOptions } from '../method.js';
import { READS } from '../method-rows.js';
import { optional, parseBoolean, parseHash, parseIndex } from '../parse-params.js';
import { findBlock, withBody } from '../resolve-block.js';
import {
  formatBlock,
  formatHeader,
  formatPendingTransaction,
  formatReceipt,
  formatTransaction,
} from '../schema/format.js';
import type {
  BlockJson,
  BlockResultJson,
  HeaderJson,
  LineaBlockJson,
  ReceiptJson,
  TransactionJson,
} from '../schema/json.js';
import { defineMethod, type RpcContext } from './context.js';

/*
 * Blocks and their contents. All methods answer null for a number above the head or an unknown hash, and -39001 for a tag
 * that names no block yet.
 */

const whole = (value: unknown) => optional(value, (present) => parseBoolean(present, 'fullTransactions')) ?? false;

export const eth_getBlockByNumber = defineMethod<[block: LineaBlockJson, full?: boolean], BlockResultJson | null>(
  'eth_getBlockByNumber',
  READS,
  async (context, [numberParam, full], call) => {
    const fullTransactions = whole(full);
    const block = await findBlock(context, numberParam, call);
    return block === undefined ? null : formatBlock(await withBody(context, block, call), fullTransactions);
  },
);

export const eth_getBlockByHash = defineMethod<[hash: Hex, full?: boolean], BlockResultJson | null>(
  'eth_getBlockByHash',
  READS,
  async (context, [hashParam, full], call) => {
    const fullTransactions = whole(full);
    const block = await context.chain.block({ hash: parseHash(hashParam, 'blockHash') }, call);
    return block === undefined ? null : formatBlock(await withBody(context, block, call), fullTransactions);
  },
);

/** As geth: the header alone, null for a block that is not known. */
export const eth_getHeaderByNumber = defineMethod<[block: LineaBlockJson], HeaderJson | null>(
  'eth_getHeaderByNumber',
  READS,
  async (context, [numberParam], call) => {
    const block = await findBlock(context, numberParam, call);
    return block === undefined ? null : formatHeader(block);
  },
);

export const eth_getHeaderByHash = defineMethod<[hash: Hex], HeaderJson | null>(
  'eth_getHeaderByHash',
  READS,
  async (context, [hashParam], call) => {
    const block = await context.chain.block({ hash: parseHash(hashParam, 'blockHash') }, call);
    return block === undefined ? null : formatHeader(block);
  },
);

/** The block by number, tag or hash. */
export const eth_getBlockReceipts = defineMethod<[block: BlockJson], readonly ReceiptJson[] | null>(
  'eth_getBlockReceipts',
  READS,
  async (context, [blockParam], call) => {
    const block = await findBlock(context, blockParam, call);
    return block === undefined ? null : (await context.chain.receipts(block, call)).map(formatReceipt);
  },
);

export const eth_getBlockTransactionCountByNumber = defineMethod<[block: LineaBlockJson], Hex | null>(
  'eth_getBlockTransactionCountByNumber',
  READS,
  async (context, [numberParam], call) => {
    const block = await findBlock(context, numberParam, call);
    return block === undefined ? null : toQuantity((await withBody(context, block, call)).transactions.length);
  },
);

export const eth_getBlockTransactionCountByHash = defineMethod<[hash: Hex], Hex | null>(
  'eth_getBlockTransactionCountByHash',
  READS,
  async (context, [hashParam], call) => {
    const block = await context.chain.block({ hash: parseHash(hashParam, 'blockHash') }, call);
    return block === undefined ? null : toQuantity((await withBody(context, block, call)).transactions.length);
  },
);

/*
 * Blocks of layer 2 have no uncles. Imported blocks from before the merge may: their number is known, but the uncles
 * themselves are not kept (docs/decisions.md 10).
 */

/**
 * @throws PlumblineError `ANSWER_REFUSED` for a block of a light node whose header names uncles: it has no list of them, so
 *   their number is not known
 */
function countUncles({ header, uncles }: Block): number {
  if (uncles !== undefined) return uncles.length;
  if (equalBytes(header.sha3Uncles, EMPTY_UNCLES_HASH)) return 0;
  const what = `uncles of block ${header.number}`;
  const details = { what, check: 'UNCLES_MISMATCH', at: 'sha3Uncles' };
  throw new PlumblineError('ANSWER_REFUSED', `${what}: the header names some, which cannot be verified here`, details);
}

function countOf(block: Block | undefined): string | null {
  return block === undefined ? null : toQuantity(countUncles(block));
}

/** An uncle itself is never held. */
function noUncle(block: Block | undefined): null {
  if (block !== undefined) countUncles(block);
  return null;
}

export const eth_getUncleCountByBlockNumber = defineMethod<[block: LineaBlockJson], Hex | null>(
  'eth_getUncleCountByBlockNumber',
  READS,
  async (context, [numberParam], call) => countOf(await findBlock(context, numberParam, call)),
);

export const eth_getUncleCountByBlockHash = defineMethod<[hash: Hex], Hex | null>(
  'eth_getUncleCountByBlockHash',
  READS,
  async ({ chain }, [hashParam], call) => countOf(await chain.block({ hash: parseHash(hashParam, 'blockHash') }, call)),
);

export const eth_getUncleByBlockNumberAndIndex = defineMethod<[block: LineaBlockJson, index: Hex], null>(
  'eth_getUncleByBlockNumberAndIndex',
  READS,
  async (context, [numberParam, indexParam], call) => {
    parseIndex(indexParam, 'uncleIndex');
    return noUncle(await findBlock(context, numberParam, call));
  },
);

export const eth_getUncleByBlockHashAndIndex = defineMethod<[hash: Hex, index: Hex], null>(
  'eth_getUncleByBlockHashAndIndex',
  READS,
  async ({ chain }, [hashParam, indexParam], call) => {
    const hash = parseHash(hashParam, 'blockHash');
    parseIndex(indexParam, 'uncleIndex');
    return noUncle(await chain.block({ hash }, call));
  },
);

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
