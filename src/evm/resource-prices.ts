/**
 * What a transaction pays from Amsterdam on: the base is the sum of what it touches, and what it adds to the state is state gas
 * (docs/spec/amsterdam.md 1, 3 and 4). The prices of instructions are in assembly/evm/forks.ts.
 */

import { EMPTY_CODE_HASH } from '../ethereum/constants.js';
import { bytesToKey, equalBytes, isZeroBytes } from '../primitives/bytes.js';
import { TRANSACTION_GAS_CAP } from './common.js';
import type { Account } from './state-reader.js';
import type { GasSplit, TransactionMessage } from './transaction-message.js';

const TX_BASE = 12_000n;
/** Gas of the cheapest transaction, which is to oneself. */
export const LEAST_BASE = TX_BASE;
const TX_VALUE = 6_000n;
const COLD_ACCOUNT = 3_000n;
const CREATE_ACCESS = 12_000n;
const AUTHORIZATION = 7_816n;
const ZERO_BYTE = 4n;
const OTHER_BYTE = 16n;
const FLOOR_BYTE = 64n;
const INIT_CODE_WORD = 2n;
/** Besides its bytes. */
const LIST_ADDRESS = 2_900n;
const LIST_KEY = 2_000n;
const ADDRESS_BYTES = 20n;
const KEY_BYTES = 32n;

const ACCOUNT_WRITE = 9_000n;
/** State gas of 120 bytes. */
const NEW_ACCOUNT = 183_600n;
/** State gas of 23 bytes. */
const DELEGATION = 35_190n;

/** Sender, recipient or new contract, and the move of ether (EIP-2780). */
function baseGas({ from, to, value }: TransactionMessage): bigint {
  if (to === undefined) return TX_BASE + CREATE_ACCESS;
  if (equalBytes(from, to)) return TX_BASE;
  return TX_BASE + COLD_ACCOUNT + (value > 0n ? TX_VALUE : 0n);
}

/** Addresses and keys of the access list, each as often as it is there. */
function countEntries({ accessList = [] }: TransactionMessage): { addresses: bigint; keys: bigint } {
  const keys = accessList.reduce((sum, { storageKeys }) => sum + storageKeys.length, 0);
  return { addresses: BigInt(accessList.length), keys: BigInt(keys) };
}

/** Execution gas used before the first instruction, without what depends on the state. */
export function intrinsicResources(message: TransactionMessage, zeroBytes: bigint, otherBytes: bigint): bigint {
  const { to, data, authorizationList = [] } = message;
  const { addresses, keys } = countEntries(message);
  return (
    baseGas(message) +
    AUTHORIZATION * BigInt(authorizationList.length) +
    ZERO_BYTE * zeroBytes +
    OTHER_BYTE * otherBytes +
    (to === undefined ? INIT_CODE_WORD * BigInt(Math.ceil(data.length / 32)) : 0n) +
    (LIST_ADDRESS + FLOOR_BYTE * ADDRESS_BYTES) * addresses +
    (LIST_KEY + FLOOR_BYTE * KEY_BYTES) * keys
  );
}

/** Minimum gas for the bytes of a transaction (EIP-7976, EIP-7981). */
export function floorOfBytes(message: TransactionMessage): bigint {
  const { addresses, keys } = countEntries(message);
  const bytes = BigInt(message.data.length) + ADDRESS_BYTES * addresses + KEY_BYTES * keys;
  return baseGas(message) + FLOOR_BYTE * bytes;
}

/** Before Amsterdam, and where the cap is lifted, all gas is execution gas. */
export function splitGas(gasLimit: bigint, isSplit: boolean): GasSplit {
  if (!isSplit || gasLimit <= TRANSACTION_GAS_CAP) return { execution: gasLimit, reservoir: 0n };
  return { execution: TRANSACTION_GAS_CAP, reservoir: gasLimit - TRANSACTION_GAS_CAP };
}

/** What the valid authorizations of one transaction cost, besides their intrinsic gas. */
export class AuthorityPrices {
  /** By authority: whether its delegation costs nothing. */
  private readonly known = new Map<string, boolean>();

  constructor(private readonly message: TransactionMessage) {}

  /**
   * Price of the next one.
   *
   * @param authority - 20 bytes
   * @param account - of the authority, at this point
   * @param delegate - the address that it names, 20 bytes; zeros clear the delegation
   */
  of(authority: Uint8Array, account: Account | undefined, delegate: Uint8Array): { execution: bigint; state: bigint } {
    const key = bytesToKey(authority);
    const isFirst = !this.known.has(key);
    const hasCode = account !== undefined && !equalBytes(account.codeHash, EMPTY_CODE_HASH);
    const isDelegated = this.known.get(key) ?? hasCode;
    const sets = !isDelegated && !isZeroBytes(delegate);
    this.known.set(key, isDelegated || sets);
    const isEmpty = !hasCode && (account === undefined || (account.nonce === 0n && account.balance === 0n));
    return {
      execution: isFirst && !this.isWritten(authority) ? ACCOUNT_WRITE : 0n,
      state: (isEmpty ? NEW_ACCOUNT : 0n) + (sets ? DELEGATION : 0n),
    };
  }

  /** Whether the transaction pays for the write elsewhere. */
  private isWritten(authority: Uint8Array): boolean {
    const { from, to, value } = this.message;
    return equalBytes(authority, from) || (to !== undefined && value > 0n && equalBytes(authority, to));
  }
}
