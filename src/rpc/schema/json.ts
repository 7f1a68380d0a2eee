import type { BlockTag } from '../../chain/block.js';
import type { Hex } from '../../primitives/hex.js';

/*
 * Parameters and results of JSON-RPC methods as types. Quantities are hex without leading zeros, bytes are hex of even length.
 */

export type LineaAccessList = readonly { readonly address: Hex; readonly storageKeys: readonly Hex[] }[];

/** A call object as JSON. Quantities are hex, prices are in wei. */
export interface LineaCallJson {
  from?: Hex | undefined;
  to?: Hex | null | undefined;
  data?: Hex | undefined;
  value?: Hex | undefined;
  nonce?: Hex | undefined;
  gas?: Hex | undefined;
  gasPrice?: Hex | undefined;
  maxFeePerGas?: Hex | undefined;
  maxPriorityFeePerGas?: Hex | undefined;
  accessList?: LineaAccessList | undefined;
}

/**
 * The same parameters, with `string` for hex. So libraries whose hex has the type `string`, such as ethers, need no casts. The node
 * checks the value.
 */
export type PlainHex<T> = T extends Hex ? string : T extends object ? { [Name in keyof T]: PlainHex<T[Name]> } : T;

/** State overrides as JSON: by address, the values that the account has during the call. */
export interface LineaOverrideJson {
  [address: Hex]: {
    balance?: Hex;
    nonce?: Hex;
    code?: Hex;
    /** The whole storage. All other slots are zero. */
    state?: Record<Hex, Hex>;
    /** Single slots. All other slots keep their values. */
    stateDiff?: Record<Hex, Hex>;
  };
}

/** Result of `linea_estimateGas`; prices in wei per gas. */
export interface LineaFeesJson {
  gasLimit: Hex;
  baseFeePerGas: Hex;
  priorityFeePerGas: Hex;
}

/** A block number in hex, or a tag. */
export type LineaBlockJson = Hex | BlockTag;

/** An authorization of EIP-7702. */
export interface AuthorizationJson {
  readonly chainId: Hex;
  readonly address: Hex;
  readonly nonce: Hex;
  readonly yParity: Hex;
  readonly r: Hex;
  readonly s: Hex;
}

/** A call or an unsigned transaction. */
export interface CallJson extends LineaCallJson {
  /** The same as `data`. */
  input?: Hex | undefined;
  type?: Hex | undefined;
  chainId?: Hex | undefined;
  authorizationList?: readonly AuthorizationJson[] | undefined;
}

/** A transaction of `eth_sendTransaction`. */
export interface SentCallJson extends CallJson {
  from: Hex;
}

/** A block: its number in hex, a tag, a hash of 32 bytes, or an object of EIP-1898. */
export type BlockJson =
  | LineaBlockJson
  | { readonly blockNumber: Hex }
  | { readonly blockHash: Hex; readonly requireCanonical?: boolean };

/** A log filter: a block hash, or a range of blocks. */
export interface LogFilterJson {
  readonly blockHash?: Hex;
  readonly fromBlock?: LineaBlockJson;
  readonly toBlock?: LineaBlockJson;
  readonly address?: Hex | readonly Hex[] | null;
  /** By position: null for any, one, or several of which one must match. */
  readonly topics?: readonly (Hex | readonly Hex[] | null)[];
}

/** A header. If the block's fork does not have a member, it is missing. */
export interface HeaderJson {
  readonly number: Hex;
  readonly hash: Hex;
  readonly parentHash: Hex;
  readonly sha3Uncles: Hex;
  readonly miner: Hex;
  readonly stateRoot: Hex;
  readonly transactionsRoot: Hex;
  readonly receiptsRoot: Hex;
  readonly logsBloom: Hex;
  readonly difficulty: Hex;
  readonly gasLimit: Hex;
  readonly gasUsed: Hex;
  readonly timestamp: Hex;
  readonly extraData: Hex;
  readonly mixHash: Hex;
  readonly nonce: Hex;
  readonly baseFeePerGas?: Hex;
  readonly withdrawalsRoot?: Hex;
  readonly blobGasUsed?: Hex;
  readonly excessBlobGas?: Hex;
  readonly parentBeaconBlockRoot?: Hex;
  readonly requestsHash?: Hex;
  readonly blockAccessListHash?: Hex;
  readonly slotNumber?: Hex;
}

/** What a node holds: its head, and the oldest block of each kind of data. */
export interface NodeCapabilitiesJson
  extends Readonly<Record<'state' | 'tx' | 'logs' | 'receipts' | 'blocks' | 'stateproofs', HeldFromJson>> {
  readonly head: { readonly number: Hex; readonly hash: Hex };
}

/** Data from `oldestBlock` on. Older data was deleted if there is a strategy. */
export interface HeldFromJson {
  readonly disabled: boolean;
  readonly oldestBlock: Hex;
  readonly deleteStrategy?: { readonly type: 'window'; readonly retentionBlocks: Hex };
}

/** A block, with the hashes of its transactions, or with whole transactions. */
export interface BlockResultJson<Transaction = Hex | TransactionJson> extends HeaderJson {
  readonly size: Hex;
  readonly uncles: readonly Hex[];
  readonly transactions: readonly Transaction[];
  readonly withdrawals?: readonly { readonly [member: string]: Hex }[];
}

/** A transaction. If it is pending, the members about its block are null. */
export interface TransactionJson {
  readonly blockHash: Hex | null;
  readonly blockNumber: Hex | null;
  readonly blockTimestamp: Hex | null;
  readonly transactionIndex: Hex | null;
  readonly hash: Hex;
  readonly type: Hex;
  readonly from: Hex;
  readonly to: Hex | null;
  readonly nonce: Hex;
  readonly gas: Hex;
  readonly gasPrice: Hex;
  readonly value: Hex;
  readonly input: Hex;
  readonly v: Hex;
  readonly r: Hex;
  readonly s: Hex;
  readonly yParity?: Hex;
  readonly chainId?: Hex;
  readonly maxFeePerGas?: Hex;
  readonly maxPriorityFeePerGas?: Hex;
  readonly maxFeePerBlobGas?: Hex;
  readonly accessList?: LineaAccessList;
  readonly blobVersionedHashes?: readonly Hex[];
  readonly authorizationList?: readonly AuthorizationJson[];
}

/** What a block read and changed in one account (EIP-7928). `index`: the step of the block from which a value is valid. */
export interface AccountAccessesJson {
  readonly address: Hex;
  readonly storageChanges: readonly {
    readonly key: Hex;
    readonly changes: readonly { readonly index: Hex; readonly value: Hex }[];
  }[];
  /** Slots that did not change. */
  readonly storageReads: readonly Hex[];
  readonly balanceChanges: readonly { readonly index: Hex; readonly value: Hex }[];
  readonly nonceChanges: readonly { readonly index: Hex; readonly value: Hex }[];
  readonly codeChanges: readonly { readonly index: Hex; readonly code: Hex }[];
}

/** A log in its block. */
export interface LogJson {
  readonly address: Hex;
  readonly topics: readonly Hex[];
  readonly data: Hex;
  readonly blockHash: Hex;
  readonly blockNumber: Hex;
  readonly blockTimestamp: Hex;
  readonly transactionHash: Hex;
  readonly transactionIndex: Hex;
  readonly logIndex: Hex;
  readonly removed: boolean;
}

/** A receipt. Before Byzantium, it has `root` and not `status`. */
export interface ReceiptJson {
  readonly blockHash: Hex;
  readonly blockNumber: Hex;
  readonly transactionHash: Hex;
  readonly transactionIndex: Hex;
  readonly type: Hex;
  readonly from: Hex;
  readonly to: Hex | null;
  readonly status?: Hex;
  readonly root?: Hex;
  readonly gasUsed: Hex;
  readonly cumulativeGasUsed: Hex;
  readonly effectiveGasPrice: Hex;
  readonly blobGasUsed?: Hex;
  readonly blobGasPrice?: Hex;
  readonly contractAddress: Hex | null;
  readonly logsBloom: Hex;
  readonly logs: readonly LogJson[];
}

/** Result of `eth_getProof`. */
export interface TrieProofJson {
  readonly address: Hex;
  readonly accountProof: readonly Hex[];
  readonly balance: Hex;
  readonly nonce: Hex;
  readonly codeHash: Hex;
  readonly storageHash: Hex;
  readonly storageProof: readonly { readonly key: Hex; readonly value: Hex; readonly proof: readonly Hex[] }[];
}

/** Parameters of a method that reads an account. Default for the block: the newest. */
export type OfAccount = [address: Hex, block?: BlockJson];
/** Parameters of a method that runs a call. */
export type OfCall = [call: CallJson, block?: BlockJson, override?: LineaOverrideJson, blockOverride?: object];
/** An amount as developer tools send it: a hex quantity, decimal digits, or a safe whole number. */
export type Amount = Hex | `${number}` | number;
/** Transactions of the pool: by sender, then by nonce in decimal digits. */
export type BySender<Shown> = { readonly [sender: Hex]: { readonly [nonce: string]: Shown } };

/** Typed data of EIP-712. */
export interface TypedDataJson {
  /** Members by type, those of `EIP712Domain` included. */
  readonly types: { readonly [name: string]: readonly { readonly name: string; readonly type: string }[] };
  readonly primaryType: string;
  readonly domain: object;
  readonly message: object;
}

/** Permission to see accounts (EIP-2255). */
export interface PermissionJson {
  /** Origin of the page in which the node runs, `null` outside of pages. */
  readonly invoker: string;
  readonly parentCapability: 'eth_accounts';
  readonly caveats: readonly { readonly type: 'restrictReturnedAccounts'; readonly value: readonly Hex[] }[];
}

/** The permissions that a page asks for, by name. */
export interface PermissionRequestJson {
  /** To get all accounts, leave out `restrictReturnedAccounts`. */
  readonly eth_accounts: { readonly restrictReturnedAccounts?: readonly Hex[] };
}

/** The capabilities of EIP-5792 that a page asks for, by name. A devnet accepts only optional ones. */
export type CapabilitiesJson = { readonly [name: string]: { readonly optional?: boolean } };

/** A batch of `wallet_sendCalls`. */
export interface BatchJson {
  readonly version: '2.0.0';
  /** At most 8194 characters. Default: the node makes one. */
  readonly id?: string;
  /** Default: the first permitted account. */
  readonly from?: Hex;
  readonly chainId: Hex;
  readonly atomicRequired: boolean;
  /** 1 to 32. */
  readonly calls: readonly {
    readonly to?: Hex;
    readonly data?: Hex;
    readonly value?: Hex;
    readonly capabilities?: CapabilitiesJson;
  }[];
  readonly capabilities?: CapabilitiesJson;
}

/** Status of a batch: 100 pending, 200 confirmed, 400 not included, 500 reverted, 600 included in part. */
export interface BatchStatusJson {
  readonly version: '2.0.0';
  readonly id: string;
  readonly chainId: Hex;
  readonly status: 100 | 200 | 400 | 500 | 600;
  readonly atomic: false;
  /** Receipts of the transactions that are in blocks. */
  readonly receipts: readonly {
    readonly logs: readonly { readonly address: Hex; readonly data: Hex; readonly topics: readonly Hex[] }[];
    readonly status: Hex;
    readonly blockHash: Hex;
    readonly blockNumber: Hex;
    readonly gasUsed: Hex;
    readonly transactionHash: Hex;
  }[];
}

/** What a devnet tells tools about itself. */
export interface DevnetMetadataJson {
  readonly clientVersion: string;
  readonly chainId: number;
  /** 32 bytes. It changes with each reset. */
  readonly instanceId: Hex;
  readonly latestBlockNumber: number;
  readonly latestBlockHash: Hex;
}

/** The block that a fork begins after. */
export interface ForkedNetworkJson {
  readonly chainId: number;
  readonly forkBlockNumber: number;
  readonly forkBlockHash: Hex;
}
