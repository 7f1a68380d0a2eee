import { EMPTY_CODE_HASH } from '../../ethereum/constants.js';

/** An account as execution sees it. */
export interface Account {
  readonly nonce: bigint;
  readonly balance: bigint;
  /** Keccak-256 of the byte code, 32 bytes. */
  readonly codeHash: Uint8Array;
}

/** What execution takes an account for that does not exist. */
export const NO_ACCOUNT: Account = { nonce: 0n, balance: 0n, codeHash: EMPTY_CODE_HASH };

/**
 * The state execution reads, one block's. Everything is asynchronous; implementations batch underneath. The EVM, the
 * RPC reads and the estimator see nothing else.
 */
export interface StateReader {
  /** @param address - 20 bytes. @returns undefined for an account that does not exist */
  account(address: Uint8Array): Promise<Account | undefined>;
  /** @param address - 20 bytes. @param slot - 32 bytes. @returns 32 bytes, zero for an empty slot */
  slot(address: Uint8Array, slot: Uint8Array): Promise<Uint8Array>;
  /** Byte code by its Keccak-256 hash (32 bytes). */
  code(codeHash: Uint8Array): Promise<Uint8Array>;
}
