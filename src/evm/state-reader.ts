import { EMPTY_CODE_HASH } from '../ethereum/constants.js';
import { bytesToKey, equalBytes } from '../primitives/bytes.js';

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
   * This object always gives the same values. A kernel keeps what it has read from it for later runs, which do not ask again. Left out if
   * values are guesses, or may change.
   */
  readonly isFixed?: true;
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

/**
 * A reader that reads each value from its base once. It is for one state, across the runs of a search: use one for each
 * block. A failed read is repeated.
 */
export class ReadCache implements StateReader {
  private readonly accounts = new Map<string, Promise<Account | undefined>>();
  private readonly slots = new Map<string, Promise<Uint8Array>>();
  private readonly codes = new Map<string, Promise<Uint8Array>>();

  constructor(readonly base: StateReader) {}

  /** `base` itself if it reads each value once already. */
  static over(base: StateReader): ReadCache {
    return base instanceof ReadCache ? base : new ReadCache(base);
  }

  account(address: Uint8Array): Promise<Account | undefined> {
    return readOnce(this.accounts, bytesToKey(address), () => this.base.account(address));
  }

  slot(address: Uint8Array, slot: Uint8Array): Promise<Uint8Array> {
    return readOnce(this.slots, bytesToKey(address) + bytesToKey(slot), () => this.base.slot(address, slot));
  }

  code(codeHash: Uint8Array): Promise<Uint8Array> {
    return readOnce(this.codes, bytesToKey(codeHash), () => this.base.code(codeHash));
  }
}

function readOnce<T>(known: Map<string, Promise<T>>, key: string, read: () => Promise<T>): Promise<T> {
  let pending = known.get(key);
  if (pending === undefined) {
    pending = read();
    known.set(key, pending);
    pending.catch(() => known.delete(key));
  }
  return pending;
}
