import { RLP } from '@ethereumjs/rlp';
import type { Block } from '../../chain/block.js';
import { blockBytes } from '../../chain/block-bytes.js';
import { PlumblineError } from '../../errors.js';
import { EMPTY_UNCLES_HASH } from '../../ethereum/constants.js';
import { headerFields } from '../../ethereum/header.js';
import { encodeReceipt } from '../../ethereum/receipt.js';
import { equalBytes } from '../../primitives/bytes.js';
import { bytesToHex, type Hex } from '../../primitives/hex.js';
import type { MethodCallOptions } from '../method.js';
import { READS } from '../method-rows.js';
import { parseHash, parseIndex } from '../parse-params.js';
import { findBlock, requireHexNumber, withBody } from '../resolve-block.js';
import type { BlockJson, LineaBlockJson } from '../schema/json.js';
import { defineMethod, type RpcContext } from './context.js';

/*
 * Blocks and their parts in the encoding that their hashes and roots are made of. An unknown block or transaction is null.
 *
 * Source: ethereum/execution-apis@033ca6e6 src/debug/getters.yaml, tests/debug_getRaw*
 */

/** RLP of the header. */
export const debug_getRawHeader = defineMethod<[block: BlockJson], Hex | null>(
  'debug_getRawHeader',
  READS,
  async (context, [blockParam], call) => {
    const block = await findBlock(context, requireHexNumber(blockParam), call);
    return block === undefined ? null : bytesToHex(RLP.encode(headerFields(block.header)));
  },
);

/** RLP of the block. @throws PlumblineError `BLOCK_INCOMPLETE` for a block with uncles, which are not kept (docs/decisions.md 10) */
export const debug_getRawBlock = defineMethod<[block: BlockJson], Hex | null>(
  'debug_getRawBlock',
  READS,
  async (context, [blockParam], call) => {
    const found = await findBlock(context, requireHexNumber(blockParam), call);
    if (found === undefined) return null;
    requireNoUncles(found);
    const { header, transactions, withdrawals = [] } = await withBody(context, found, call);
    return bytesToHex(blockBytes({ header, transactions, uncles: [], withdrawals }));
  },
);

/** The transaction as it was signed, with its type in front, if it is typed. One in the pool too. */
export async function rawTransaction(
  { chain }: RpcContext,
  [hashParam]: readonly unknown[],
  call: MethodCallOptions,
): Promise<Hex | null> {
  const hash = parseHash(hashParam, 'transactionHash');
  const included = await chain.transaction(hash, call);
  if (included !== undefined) return bytesToHex(included.transaction.raw);
  const waiting = (await chain.pendingTransactions()).find((transaction) => equalBytes(transaction.hash, hash));
  return waiting === undefined ? null : bytesToHex(waiting.raw);
}

export const debug_getRawTransaction = defineMethod<[hash: Hex], Hex | null>(
  'debug_getRawTransaction',
  READS,
  rawTransaction,
);

/** The receipts of a block, each with its type in front, if it is typed. */
export const debug_getRawReceipts = defineMethod<[block: BlockJson], readonly Hex[] | null>(
  'debug_getRawReceipts',
  READS,
  async (context, [blockParam], call) => {
    const block = await findBlock(context, requireHexNumber(blockParam), call);
    if (block === undefined) return null;
    const receipts = await context.chain.receipts(block, call);
    return receipts.map((receipt) => bytesToHex(encodeReceipt({ ...receipt, type: receipt.transaction.type })));
  },
);

function requireNoUncles({ header }: Block): void {
  if (equalBytes(header.sha3Uncles, EMPTY_UNCLES_HASH)) return;
  const reason = `block ${header.number} has uncles, which this node does not keep`;
  throw new PlumblineError('BLOCK_INCOMPLETE', reason, { block: header.number, reason });
}

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
