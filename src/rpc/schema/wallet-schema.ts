import type { Hex } from '../../primitives/hex.js';
import type { SentCallJson } from './json.js';

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

/** By name, permissions that are asked for. */
export interface PermissionRequestJson {
  /** Leave out `restrictReturnedAccounts` for all accounts. */
  readonly eth_accounts: { readonly restrictReturnedAccounts?: readonly Hex[] };
}

/** By name, capabilities of EIP-5792 that are asked for. A devnet takes only optional ones. */
export type CapabilitiesJson = { readonly [name: string]: { readonly optional?: boolean } };

/** A batch of `wallet_sendCalls`. */
export interface BatchJson {
  readonly version: '2.0.0';
  /** Made by the node when left out; at most 8194 characters. */
  readonly id?: string;
  /** The first permitted account when left out. */
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
  /** Of the transactions that are in blocks. */
  readonly receipts: readonly {
    readonly logs: readonly { readonly address: Hex; readonly data: Hex; readonly topics: readonly Hex[] }[];
    readonly status: Hex;
    readonly blockHash: Hex;
    readonly blockNumber: Hex;
    readonly gasUsed: Hex;
    readonly transactionHash: Hex;
  }[];
}

/** Parameters and results of the methods of wallets. */
export interface WalletSchema {
  eth_requestAccounts: { params: []; result: readonly Hex[] };
  eth_sendTransaction: { params: [transaction: SentCallJson]; result: Hex };
  eth_sign: { params: [address: Hex, message: Hex]; result: Hex };
  eth_signTransaction: { params: [transaction: SentCallJson]; result: Hex };
  eth_signTypedData_v4: { params: [address: Hex, data: TypedDataJson | string]; result: Hex };
  personal_sign: { params: [message: Hex, address: Hex]; result: Hex };
  wallet_addEthereumChain: { params: [chain: { readonly chainId: Hex }]; result: null };
  wallet_getCallsStatus: { params: [id: string]; result: BatchStatusJson };
  wallet_getCapabilities: {
    params: [address: Hex, chainIds?: readonly Hex[]];
    result: { readonly [chainId: Hex]: { readonly atomic: { readonly status: 'unsupported' } } };
  };
  wallet_getPermissions: { params: []; result: readonly PermissionJson[] };
  wallet_requestPermissions: { params: [permissions: PermissionRequestJson]; result: readonly PermissionJson[] };
  wallet_revokePermissions: { params: [permissions: { readonly eth_accounts: object }]; result: null };
  wallet_sendCalls: { params: [batch: BatchJson]; result: { readonly id: string } };
  wallet_switchEthereumChain: { params: [chain: { readonly chainId: Hex }]; result: null };
  wallet_watchAsset: { params: [asset: object]; result: never };
}
