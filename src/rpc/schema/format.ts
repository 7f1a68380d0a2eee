import type { Block, IncludedTransaction, TransactionReceipt } from '../../chain/block.js';
import type { FoundLog } from '../../chain/log-filter.js';
import { effectiveGasPrice } from '../../ethereum/base-fee.js';
import { EMPTY_CODE_HASH } from '../../ethereum/constants.js';
import type { Withdrawal } from '../../ethereum/ordered-trie.js';
import { logsBloom } from '../../ethereum/receipt.js';
import type { TrieProof } from '../../ethereum/state-trie.js';
import type { SignedTransaction } from '../../ethereum/transaction.js';
import { bytesToHex, type Hex } from '../../primitives/hex.js';
import { toQuantity } from '../../primitives/quantity.js';

/*
 * From domain values to the members of JSON-RPC (ethereum/execution-apis@033ca6e6 src/schemas). A member that the fork of
 * the block or the type of the transaction does not have is left out.
 */

type Json = Hex | boolean | null | readonly Json[] | { readonly [member: string]: Json };
type JsonObject = Readonly<Record<string, Json>>;
/** The same while it is made. */
type Making = Record<string, Json>;

/** A header, as a subscription to new heads shows it. */
export function formatHeader({ header, hash }: Pick<Block, 'header' | 'hash'>): Making {
  const json: Making = {
    number: toQuantity(header.number),
    hash: bytesToHex(hash),
    parentHash: bytesToHex(header.parentHash),
    sha3Uncles: bytesToHex(header.sha3Uncles),
    miner: bytesToHex(header.miner),
    stateRoot: bytesToHex(header.stateRoot),
    transactionsRoot: bytesToHex(header.transactionsRoot),
    receiptsRoot: bytesToHex(header.receiptsRoot),
    logsBloom: bytesToHex(header.logsBloom),
    difficulty: toQuantity(header.difficulty),
    gasLimit: toQuantity(header.gasLimit),
    gasUsed: toQuantity(header.gasUsed),
    timestamp: toQuantity(header.timestamp),
    extraData: bytesToHex(header.extraData),
    mixHash: bytesToHex(header.mixHash),
    nonce: bytesToHex(header.nonce),
  };
  if (header.baseFeePerGas !== undefined) json.baseFeePerGas = toQuantity(header.baseFeePerGas);
  if (header.withdrawalsRoot !== undefined) json.withdrawalsRoot = bytesToHex(header.withdrawalsRoot);
  if (header.blobGasUsed !== undefined) json.blobGasUsed = toQuantity(header.blobGasUsed);
  if (header.excessBlobGas !== undefined) json.excessBlobGas = toQuantity(header.excessBlobGas);
  if (header.parentBeaconBlockRoot !== undefined) json.parentBeaconBlockRoot = bytesToHex(header.parentBeaconBlockRoot);
  if (header.requestsHash !== undefined) json.requestsHash = bytesToHex(header.requestsHash);
  if (header.blockAccessListHash !== undefined) json.blockAccessListHash = bytesToHex(header.blockAccessListHash);
  if (header.slotNumber !== undefined) json.slotNumber = toQuantity(header.slotNumber);
  return json;
}

/** A block. @param full - whole transactions instead of their hashes */
export function formatBlock(block: Block, full: boolean): JsonObject {
  const json = formatHeader(block);
  json.size = toQuantity(block.size);
  json.uncles = (block.uncles ?? []).map(bytesToHex);
  json.transactions = block.transactions.map((transaction, index) =>
    full ? formatTransaction({ transaction, block, index }) : bytesToHex(transaction.hash),
  );
  if (block.header.withdrawalsRoot !== undefined) json.withdrawals = (block.withdrawals ?? []).map(formatWithdrawal);
  return json;
}

/** A transaction in its block. */
export function formatTransaction({ transaction, block, index }: IncludedTransaction): JsonObject {
  return {
    ...placeOf(block),
    transactionIndex: toQuantity(index),
    gasPrice: toQuantity(effectiveGasPrice(transaction, block.header.baseFeePerGas ?? 0n)),
    ...formatSigned(transaction),
  };
}

/** A transaction in the pool: it is in no block yet, and its gas price is the highest that it may pay. */
export function formatPendingTransaction(transaction: SignedTransaction): JsonObject {
  return {
    blockHash: null,
    blockNumber: null,
    blockTimestamp: null,
    transactionIndex: null,
    gasPrice: toQuantity(transaction.gasPrice ?? transaction.maxFeePerGas ?? 0n),
    ...formatSigned(transaction),
  };
}

function formatSigned(tx: SignedTransaction): JsonObject {
  return {
    hash: bytesToHex(tx.hash),
    type: toQuantity(tx.type),
    from: bytesToHex(tx.from),
    to: tx.to === undefined ? null : bytesToHex(tx.to),
    nonce: toQuantity(tx.nonce),
    gas: toQuantity(tx.gasLimit),
    ...quantityMember('maxFeePerGas', tx.maxFeePerGas),
    ...quantityMember('maxPriorityFeePerGas', tx.maxPriorityFeePerGas),
    ...quantityMember('maxFeePerBlobGas', tx.maxFeePerBlobGas),
    value: toQuantity(tx.value),
    input: bytesToHex(tx.data),
    ...quantityMember('chainId', tx.chainId),
    ...(tx.accessList !== undefined && { accessList: tx.accessList.map(formatAccess) }),
    ...(tx.blobVersionedHashes !== undefined && { blobVersionedHashes: tx.blobVersionedHashes.map(bytesToHex) }),
    ...(tx.authorizationList !== undefined && { authorizationList: tx.authorizationList.map(formatAuthorization) }),
    ...(tx.type !== 0 && { yParity: toQuantity(tx.v) }),
    v: toQuantity(tx.v),
    r: toQuantity(tx.r),
    s: toQuantity(tx.s),
  };
}

/** A receipt with its logs; before Byzantium with a state root instead of a status. */
export function formatReceipt(receipt: TransactionReceipt): JsonObject {
  const { transaction: tx, block, index, firstLogIndex } = receipt;
  return {
    blockHash: bytesToHex(block.hash),
    blockNumber: toQuantity(block.header.number),
    transactionHash: bytesToHex(tx.hash),
    transactionIndex: toQuantity(index),
    type: toQuantity(tx.type),
    from: bytesToHex(tx.from),
    to: tx.to === undefined ? null : bytesToHex(tx.to),
    ...(receipt.stateRoot === undefined
      ? { status: toQuantity(receipt.succeeded ? 1 : 0) }
      : { root: bytesToHex(receipt.stateRoot) }),
    gasUsed: toQuantity(receipt.gasUsed),
    cumulativeGasUsed: toQuantity(receipt.cumulativeGasUsed),
    effectiveGasPrice: toQuantity(receipt.effectiveGasPrice),
    ...quantityMember('blobGasUsed', receipt.blobGasUsed),
    ...quantityMember('blobGasPrice', receipt.blobGasPrice),
    contractAddress: receipt.contractAddress === undefined ? null : bytesToHex(receipt.contractAddress),
    logsBloom: bytesToHex(logsBloom(receipt.logs)),
    logs: receipt.logs.map((log, i) => formatLog({ log, transaction: receipt, logIndex: firstLogIndex + i })),
  };
}

/** A log in its block. */
export function formatLog({ log, transaction, logIndex, removed }: FoundLog): JsonObject {
  return {
    address: bytesToHex(log.address),
    topics: log.topics.map(bytesToHex),
    data: bytesToHex(log.data),
    ...placeOf(transaction.block),
    transactionHash: bytesToHex(transaction.transaction.hash),
    transactionIndex: toQuantity(transaction.index),
    logIndex: toQuantity(logIndex),
    removed: removed === true,
  };
}

function placeOf({ hash, header }: Block): JsonObject {
  return {
    blockHash: bytesToHex(hash),
    blockNumber: toQuantity(header.number),
    blockTimestamp: toQuantity(header.timestamp),
  };
}

function formatWithdrawal(withdrawal: Withdrawal): JsonObject {
  return {
    index: toQuantity(withdrawal.index),
    validatorIndex: toQuantity(withdrawal.validatorIndex),
    address: bytesToHex(withdrawal.address),
    amount: toQuantity(withdrawal.amount),
  };
}

function formatAccess(entry: { address: Uint8Array; storageKeys: readonly Uint8Array[] }): JsonObject {
  return { address: bytesToHex(entry.address), storageKeys: entry.storageKeys.map(bytesToHex) };
}

function formatAuthorization(item: NonNullable<SignedTransaction['authorizationList']>[number]): JsonObject {
  return {
    chainId: toQuantity(item.chainId),
    address: bytesToHex(item.address),
    nonce: toQuantity(item.nonce),
    yParity: toQuantity(item.yParity),
    r: toQuantity(item.r),
    s: toQuantity(item.s),
  };
}

/**
 * An answer of `eth_getProof`.
 *
 * @param shownKeys - the requested keys as the answer shows them, in the order of `proof.storage`
 */
export function formatTrieProof(address: Uint8Array, proof: TrieProof, shownKeys: readonly Hex[]): JsonObject {
  const { account } = proof;
  return {
    address: bytesToHex(address),
    accountProof: proof.accountProof.map(bytesToHex),
    balance: toQuantity(account?.balance ?? 0n),
    nonce: toQuantity(account?.nonce ?? 0n),
    codeHash: bytesToHex(account?.codeHash ?? EMPTY_CODE_HASH),
    storageHash: bytesToHex(proof.storageRoot),
    storageProof: proof.storage.map(({ value, proof: nodes }, i) => ({
      key: shownKeys[i]!,
      value: toQuantity(value),
      proof: nodes.map(bytesToHex),
    })),
  };
}

function quantityMember(name: string, value: bigint | undefined): JsonObject {
  return value === undefined ? {} : { [name]: toQuantity(value) };
}
