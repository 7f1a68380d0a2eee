import { EMPTY_CODE_HASH } from '../../ethereum/constants.js';
import { equalBytes } from '../../primitives/bytes.js';

/** An account in the ordinary state. */
export interface Account {
  readonly nonce: bigint;
  readonly balance: bigint;
  /** Keccak-256 of the byte code, 32 bytes. */
  readonly codeHash: Uint8Array;
}

/** Values that execution uses for an account that does not exist. */
export const NO_ACCOUNT: Account = { nonce: 0n, balance: 0n, codeHash: EMPTY_CODE_HASH };

/**
 * The state of one block, as execution reads it. Everything is asynchronous, so implementations can batch. EVM, RPC
 * reads and estimator use nothing else of a state.
 */
export interface StateReader {
  /**
   * @param address - 20 bytes.
   * @returns undefined if the account does not exist
   */
  account(address: Uint8Array): Promise<Account | undefined>;
  /** @param address - 20 bytes. @param slot - 32 bytes. @returns 32 bytes, zero for an empty slot */
  slot(address: Uint8Array, slot: Uint8Array): Promise<Uint8Array>;
  /** Byte code by its Keccak-256 hash (32 bytes). */
  code(codeHash: Uint8Array): Promise<Uint8Array>;
}

/** Whether an account has code. @param address - 20 bytes */
export async function hasCode(state: StateReader, address: Uint8Array): Promise<boolean> {
  const account = await state.account(address);
  return account !== undefined && !equalBytes(account.codeHash, EMPTY_CODE_HASH);
}
