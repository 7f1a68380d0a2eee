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

/** Block tags of JSON-RPC. */
export const BLOCK_TAGS = ['latest', 'pending', 'earliest', 'safe', 'finalized'] as const;

/** A block tag of JSON-RPC. */
export type BlockTag = (typeof BLOCK_TAGS)[number];

/**
 * How a caller names a block: by tag, by number, or by hash.
 *
 * @source EIP-1898 for the object forms; docs/spec/json-rpc.md 2.2 for the tags
 */
export type BlockReference =
  | { readonly tag: BlockTag }
  /** A safe integer, zero or above. */
  | { readonly number: number }
  /** 32 bytes. `requireCanonical`: the block must be on the chain. */
  | { readonly hash: Uint8Array; readonly requireCanonical?: boolean };

/** Whether a reference names the pending block. */
export function isPending(reference: BlockReference): boolean {
  return 'tag' in reference && reference.tag === 'pending';
}

/** Whether a reference names the newest block or the pending one. */
export function isHead(reference: BlockReference): boolean {
  return 'tag' in reference && (reference.tag === 'latest' || reference.tag === 'pending');
}

/**
 * How far the data of a block can be trusted. `held`: executed by this node. The others are levels of a light node
 * (docs/spec/json-rpc.md 7). `settled`: layer-1 consensus proves it final. `finalized`: endpoints of layer 1 say that it is final.
 * `attested`: a block of layer 1 that two thirds of a sync committee have signed. It may still be replaced.
 */
export type TrustLevel = 'held' | 'settled' | 'finalized' | 'sealed' | 'attested' | 'linked' | 'plain';

/** Trust levels of a head. */
export type HeadLevel = Extract<TrustLevel, 'plain' | 'linked' | 'attested' | 'sealed'>;

/** Trust levels of a block: a block below the head can be settled by layer-1 consensus. */
export type BlockLevel = Extract<TrustLevel, HeadLevel | 'settled'>;

/** Order of the trust levels. A higher number means more trust. */
export const TRUST_RANK: Readonly<Record<TrustLevel, number>> = {
  plain: 0,
  linked: 1,
  attested: 2,
  sealed: 3,
  finalized: 4,
  settled: 5,
  held: 6,
};
