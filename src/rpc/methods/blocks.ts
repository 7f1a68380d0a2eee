import type { Hex } from '../../primitives/hex.js';
import { toQuantity } from '../../primitives/quantity.js';
import { formatBlock, formatHeader, formatReceipt } from '../answers/format.js';
import { optional, parseBoolean, parseHash } from '../parsing/parse-params.js';
import { findBlock, withBody } from '../parsing/resolve-block.js';
import { READS } from '../protocol/method-rows.js';
import type { BlockJson, BlockResultJson, HeaderJson, LineaBlockJson, ReceiptJson } from '../schema/json.js';
import { defineMethod } from './context.js';

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
