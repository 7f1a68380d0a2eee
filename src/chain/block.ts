import type { BlockHeader } from '../ethereum/header.js';
import type { Withdrawal } from '../ethereum/ordered-trie.js';
import type { Log } from '../ethereum/receipt.js';
import type { SignedTransaction } from '../ethereum/transaction.js';
import type { StateEdit } from './state-edits.js';

/** A sealed block. */
export interface Block {
  readonly header: BlockHeader;
  /** 32 bytes. */
  readonly hash: Uint8Array;
  readonly transactions: readonly SignedTransaction[];
  /** Hashes of its uncles, 32 bytes each; left out if there are none. */
  readonly uncles?: readonly Uint8Array[];
  /** From Shanghai on; left out before. */
  readonly withdrawals?: readonly Withdrawal[];
  /** Changes by developer methods of a devnet, made before its first transaction; left out if there are none. */
  readonly edits?: readonly StateEdit[];
  /** Length of its RLP in bytes. */
  readonly size: number;
}

/** A transaction and its position. */
export interface IncludedTransaction {
  readonly transaction: SignedTransaction;
  readonly block: Block;
  readonly index: number;
}

/** The result of an included transaction. */
export interface TransactionReceipt extends IncludedTransaction {
  /** Always true for a block before Byzantium, whose receipts hold `stateRoot` instead. */
  readonly succeeded: boolean;
  /** State root after the transaction, 32 bytes: only before Byzantium. */
  readonly stateRoot?: Uint8Array;
  /** Gas used, after refunds. */
  readonly gasUsed: bigint;
  readonly cumulativeGasUsed: bigint;
  /** Price paid, wei per gas. */
  readonly effectiveGasPrice: bigint;
  /** Only with blobs: gas of its blobs, and the price paid in wei per blob gas. */
  readonly blobGasUsed?: bigint;
  readonly blobGasPrice?: bigint;
  /** Address of the created contract, 20 bytes; undefined for other transactions. */
  readonly contractAddress: Uint8Array | undefined;
  readonly logs: readonly Log[];
  /** Index within the block of the first log. */
  readonly firstLogIndex: number;
}
