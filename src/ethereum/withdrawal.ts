import { RLP } from '@ethereumjs/rlp';
import { PlumblineError } from '../errors.js';
import { bigIntToMinimalBytes, bytesToBigInt } from '../primitives/bytes.js';
import { orderedTrieRoot } from './ordered-trie.js';

/** A withdrawal from the beacon chain to an account (EIP-4895). */
export interface Withdrawal {
  readonly index: bigint;
  readonly validatorIndex: bigint;
  /** 20 bytes. */
  readonly address: Uint8Array;
  /** In gwei. */
  readonly amount: bigint;
}

/** The items of a withdrawal's RLP list. */
export function withdrawalFields({ index, validatorIndex, address, amount }: Withdrawal): Uint8Array[] {
  return [bigIntToMinimalBytes(index), bigIntToMinimalBytes(validatorIndex), address, bigIntToMinimalBytes(amount)];
}

/** @throws PlumblineError `INVALID_LENGTH` unless the items are a withdrawal */
export function withdrawalFromFields(items: readonly Uint8Array[]): Withdrawal {
  const [index, validatorIndex, address, amount] = items;
  if (items.length !== 4 || address!.length !== 20) {
    throw new PlumblineError('INVALID_LENGTH', 'a withdrawal has 4 fields, the third an address of 20 bytes', {
      what: 'withdrawal fields',
      expected: '4',
      actual: items.length,
    });
  }
  return {
    index: bytesToBigInt(index!),
    validatorIndex: bytesToBigInt(validatorIndex!),
    address: address!,
    amount: bytesToBigInt(amount!),
  };
}

/** `withdrawalsRoot` of a header, 32 bytes. */
export function withdrawalsRoot(withdrawals: readonly Withdrawal[]): Uint8Array {
  return orderedTrieRoot(withdrawals.map((withdrawal) => RLP.encode(withdrawalFields(withdrawal))));
}
