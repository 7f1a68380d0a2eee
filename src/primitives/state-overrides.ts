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
