import { PlumblineError } from '../errors.js';
import type { HashScheme } from '../kernel/contracts.js';
import { bigIntToBytes, bytesToBigInt, concatBytes, copyBytes } from '../primitives/bytes.js';
import { encodeFull, encodeInt } from './scheme.js';

/** An account in the zk state. Hashes are 32 bytes; nonce, balance and code size are below 2^256. */
export interface AccountValue {
  readonly nonce: bigint;
  readonly balance: bigint;
  /** Top root of the account's storage trie. */
  readonly storageRoot: Uint8Array;
  readonly zkCodeHash: Uint8Array;
  readonly keccakCodeHash: Uint8Array;
  readonly codeSize: bigint;
}

/** Length of the compact form in bytes. */
export const ACCOUNT_VALUE_BYTES = 192;

/**
 * The compact form, as in JSON and storage: six 32-byte words in the order of the fields.
 *
 * @example
 * ```ts
 * import { decodeAccountValue, encodeAccountValue } from 'plumbline-l2/hash';
 *
 * const word = new Uint8Array(32);
 * const account = { nonce: 7n, balance: 5n, storageRoot: word, zkCodeHash: word, keccakCodeHash: word, codeSize: 0n };
 * decodeAccountValue(encodeAccountValue(account)); // => account
 * ```
 */
export function encodeAccountValue(account: AccountValue): Uint8Array {
  return concatBytes(
    bigIntToBytes(account.nonce, 32),
    bigIntToBytes(account.balance, 32),
    account.storageRoot,
    account.zkCodeHash,
    account.keccakCodeHash,
    bigIntToBytes(account.codeSize, 32),
  );
}

/**
 * @param compact - 192 bytes
 * @throws PlumblineError `INVALID_LENGTH`
 *
 * @example
 * ```ts
 * import { decodeAccountValue } from 'plumbline-l2/hash';
 *
 * const compact = new Uint8Array(192);
 * compact[31] = 7;
 * decodeAccountValue(compact).nonce; // => 7n
 * ```
 */
export function decodeAccountValue(compact: Uint8Array): AccountValue {
  if (compact.length !== ACCOUNT_VALUE_BYTES) {
    throw new PlumblineError('INVALID_LENGTH', `an account value must have 192 bytes, got ${compact.length}`, {
      what: 'account value',
      expected: String(ACCOUNT_VALUE_BYTES),
      actual: compact.length,
    });
  }
  const word = (i: number) => copyBytes(compact, 32 * i, 32 * i + 32);
  return {
    nonce: bytesToBigInt(word(0)),
    balance: bytesToBigInt(word(1)),
    storageRoot: word(2),
    zkCodeHash: word(3),
    keccakCodeHash: word(4),
    codeSize: bytesToBigInt(word(5)),
  };
}

/** The hash input for a compact account value (192 bytes): 224 bytes (mimc) or 320 (poseidon2). */
export function accountHashInput(scheme: HashScheme, compact: Uint8Array): Uint8Array {
  const word = (i: number) => compact.subarray(32 * i, 32 * i + 32);
  return concatBytes(
    encodeInt(scheme, word(0)),
    encodeInt(scheme, word(1)),
    word(2),
    word(3),
    encodeFull(scheme, word(4)),
    encodeInt(scheme, word(5)),
  );
}
