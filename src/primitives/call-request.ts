/** One entry of an EIP-2930 access list: an address of 20 bytes, and storage keys of 32 bytes each. */
export interface AccessListEntry {
  readonly address: Uint8Array;
  readonly storageKeys: readonly Uint8Array[];
}

/** One signed authorization of an EIP-7702 transaction; `address` is 20 bytes. */
export interface Authorization {
  readonly chainId: bigint;
  readonly address: Uint8Array;
  readonly nonce: bigint;
  readonly yParity: bigint;
  readonly r: bigint;
  readonly s: bigint;
  /** 20 bytes. Only for a simulated authorization without a signature: the account that would sign it. */
  readonly authority?: Uint8Array;
}

/**
 * The parsed call object of `eth_call` and the estimates. Amounts are bigints (prices in wei), `from` and `to` are 20
 * bytes, `data` is the request's `data` or `input`. Absent fields stay absent.
 */
export interface CallRequest {
  readonly from?: Uint8Array | undefined;
  readonly to?: Uint8Array | undefined;
  readonly gas?: bigint | undefined;
  readonly gasPrice?: bigint | undefined;
  readonly maxFeePerGas?: bigint | undefined;
  readonly maxPriorityFeePerGas?: bigint | undefined;
  readonly maxFeePerBlobGas?: bigint | undefined;
  readonly value?: bigint | undefined;
  readonly data?: Uint8Array | undefined;
  readonly nonce?: bigint | undefined;
  readonly chainId?: bigint | undefined;
  readonly accessList?: readonly AccessListEntry[] | undefined;
  readonly authorizationList?: readonly Authorization[] | undefined;
  /** If false, prices and base fee are zero and funds are not checked (docs/spec/fees.md 5.2). */
  readonly strict?: boolean | undefined;
}

/** The highest price that a call may pay, in wei; zero if it has none. */
export function priceOf(call: CallRequest): bigint {
  return call.maxFeePerGas ?? call.gasPrice ?? 0n;
}

/** Overrides of one account for the duration of a call. Fields left out keep the account's own value. */
export interface AccountOverride {
  /** 20 bytes. */
  readonly address: Uint8Array;
  /** Wei, at most 256 bits. */
  readonly balance?: bigint;
  /** At most 64 bits. */
  readonly nonce?: bigint;
  /** Byte code; empty removes the code. */
  readonly code?: Uint8Array;
  /** The complete storage; other slots are zero. Key and value are 32 bytes. */
  readonly state?: StorageOverride;
  /** Single slots, applied over the storage and over `state`. Key and value are 32 bytes. */
  readonly stateDiff?: StorageOverride;
  /** 20 bytes: new address of the precompile at this address. */
  readonly movePrecompileTo?: Uint8Array;
}

/** Pairs of slot key and value, 32 bytes each. */
export type StorageOverride = readonly (readonly [key: Uint8Array, value: Uint8Array])[];

/**
 * The state override set of a call, in the order of the request; each address at most once.
 *
 * @source docs/spec/interface.md 2.4, docs/spec/fees.md 5.6
 */
export type StateOverrides = readonly AccountOverride[];
