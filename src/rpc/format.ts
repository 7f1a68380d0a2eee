import type { Block, IncludedTransaction, TransactionReceipt } from '../chain/chain.js';
import { effectiveGasPrice } from '../ethereum/base-fee.js';
import { logsBloom } from '../ethereum/receipt.js';
import type { SignedTransaction } from '../ethereum/transaction.js';
import { bytesToHex, type Hex } from '../primitives/hex.js';
import { toQuantity } from '../primitives/quantity.js';

/** Domain values in the members that JSON-RPC shows. */

export type BlockJson = Record<string, Hex | readonly unknown[]>;

/** @param full - whole transactions instead of their hashes */
export function formatBlock(block: Block, full: boolean): BlockJson {
  const { header } = block;
  return {
    number: toQuantity(header.number),
    hash: bytesToHex(block.hash),
    parentHash: bytesToHex(header.parentHash),
    sha3Uncles: bytesToHex(header.sha3Uncles),
    miner: bytesToHex(header.miner),
    stateRoot: bytesToHex(header.stateRoot),
    transactionsRoot: bytesToHex(header.transactionsRoot),
    receiptsRoot: bytesToHex(header.receiptsRoot),
    logsBloom: bytesToHex(header.logsBloom),
    difficulty: toQuantity(header.difficulty),
    totalDifficulty: toQuantity(0),
    gasLimit: toQuantity(header.gasLimit),
    gasUsed: toQuantity(header.gasUsed),
    timestamp: toQuantity(header.timestamp),
    extraData: bytesToHex(header.extraData),
    mixHash: bytesToHex(header.mixHash),
    nonce: bytesToHex(header.nonce),
    baseFeePerGas: toQuantity(header.baseFeePerGas),
    ...(header.withdrawalsRoot !== undefined && {
      withdrawalsRoot: bytesToHex(header.withdrawalsRoot),
      withdrawals: [],
    }),
    ...(header.blobGasUsed !== undefined && { blobGasUsed: toQuantity(header.blobGasUsed) }),
    ...(header.excessBlobGas !== undefined && { excessBlobGas: toQuantity(header.excessBlobGas) }),
    ...(header.parentBeaconBlockRoot !== undefined && {
      parentBeaconBlockRoot: bytesToHex(header.parentBeaconBlockRoot),
    }),
    ...(header.requestsHash !== undefined && { requestsHash: bytesToHex(header.requestsHash) }),
    size: toQuantity(block.size),
    uncles: [],
    transactions: block.transactions.map((transaction, index) =>
      full ? formatTransaction({ transaction, block, index }) : bytesToHex(transaction.hash),
    ),
  };
}

export type TransactionJson = Record<string, Hex | null | readonly unknown[]>;

export function formatTransaction({ transaction: tx, block, index }: IncludedTransaction): TransactionJson {
  return {
    blockHash: bytesToHex(block.hash),
    blockNumber: toQuantity(block.header.number),
    transactionIndex: toQuantity(index),
    hash: bytesToHex(tx.hash),
    type: toQuantity(tx.type),
    from: bytesToHex(tx.from),
    to: tx.to === undefined ? null : bytesToHex(tx.to),
    nonce: toQuantity(tx.nonce),
    gas: toQuantity(tx.gasLimit),
    gasPrice: toQuantity(effectiveGasPrice(tx, block.header.baseFeePerGas)),
    ...(tx.maxFeePerGas !== undefined && { maxFeePerGas: toQuantity(tx.maxFeePerGas) }),
    ...(tx.maxPriorityFeePerGas !== undefined && { maxPriorityFeePerGas: toQuantity(tx.maxPriorityFeePerGas) }),
    value: toQuantity(tx.value),
    input: bytesToHex(tx.data),
    ...(tx.chainId !== undefined && { chainId: toQuantity(tx.chainId) }),
    ...(tx.accessList !== undefined && { accessList: tx.accessList.map(formatAccess) }),
    ...(tx.authorizationList !== undefined && { authorizationList: tx.authorizationList.map(formatAuthorization) }),
    ...(tx.type !== 0 && { yParity: toQuantity(tx.v) }),
    v: toQuantity(tx.v),
    r: toQuantity(tx.r),
    s: toQuantity(tx.s),
  };
}

type ReceiptJson = Record<string, Hex | null | readonly unknown[]>;

export function formatReceipt(receipt: TransactionReceipt): ReceiptJson {
  const { transaction: tx, block, index } = receipt;
  const place = {
    transactionHash: bytesToHex(tx.hash),
    transactionIndex: toQuantity(index),
    blockHash: bytesToHex(block.hash),
    blockNumber: toQuantity(block.header.number),
  };
  return {
    ...place,
    type: toQuantity(tx.type),
    from: bytesToHex(tx.from),
    to: tx.to === undefined ? null : bytesToHex(tx.to),
    status: toQuantity(receipt.succeeded ? 1 : 0),
    gasUsed: toQuantity(receipt.gasUsed),
    cumulativeGasUsed: toQuantity(receipt.cumulativeGasUsed),
    effectiveGasPrice: toQuantity(receipt.effectiveGasPrice),
    contractAddress: receipt.contractAddress === undefined ? null : bytesToHex(receipt.contractAddress),
    logsBloom: bytesToHex(logsBloom(receipt.logs)),
    logs: receipt.logs.map((log, i) => ({
      address: bytesToHex(log.address),
      topics: log.topics.map(bytesToHex),
      data: bytesToHex(log.data),
      ...place,
      logIndex: toQuantity(receipt.firstLogIndex + i),
      removed: false,
    })),
  };
}

function formatAccess(entry: { address: Uint8Array; storageKeys: readonly Uint8Array[] }) {
  return { address: bytesToHex(entry.address), storageKeys: entry.storageKeys.map(bytesToHex) };
}

function formatAuthorization(item: NonNullable<SignedTransaction['authorizationList']>[number]) {
  return {
    chainId: toQuantity(item.chainId),
    address: bytesToHex(item.address),
    nonce: toQuantity(item.nonce),
    yParity: toQuantity(item.yParity),
    r: toQuantity(item.r),
    s: toQuantity(item.s),
  };
}
