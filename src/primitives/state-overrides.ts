/** What one account looks like for the length of a call. Members left out keep the account's own value. */
export interface AccountOverride {
  /** 20 bytes. */
  readonly address: Uint8Array;
  /** Wei, at most 256 bits. */
  readonly balance?: bigint;
  /** At most 64 bits. */
  readonly nonce?: bigint;
  /** Byte code; empty takes the code away. */
  readonly code?: Uint8Array;
  /** The whole storage, in the order given: slots that are not named are zero. Key and value have 32 bytes. */
  readonly state?: StorageOverride;
  /** Single slots, put over the storage and over `state`. Key and value have 32 bytes. */
  readonly stateDiff?: StorageOverride;
  /** 20 bytes: where the precompile of this address is found during the call. */
  readonly movePrecompileTo?: Uint8Array;
}

/** Pairs of slot key and value, 32 bytes each. */
export type StorageOverride = readonly (readonly [key: Uint8Array, value: Uint8Array])[];

/**
 * The state override set of a call, in the order of the request; an address stands in it once at most.
 *
 * @source docs/spec/interface.md 2.4, docs/spec/fees.md 5.6
 */
export type StateOverrides = readonly AccountOverride[];
