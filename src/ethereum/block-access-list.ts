/**
 * Block access lists (EIP-7928): what a block reads and changes, by account. Each step of a block has an index: 0 for the calls before
 * the transactions, then one for each transaction, and one for what follows the last.
 */

import { keccak256 } from '../kernel/keccak.js';
import { bigIntToMinimalBytes, bytesToBigInt, equalBytes } from '../primitives/bytes.js';
import { bytesToHex, hexToBytes } from '../primitives/hex.js';
import { encodedList, encodeRlp } from '../primitives/rlp-list.js';

/** What one step did to one account that it loaded. A value that is left out did not change. */
export interface StepAccess {
  /** 20 bytes. */
  readonly address: Uint8Array;
  /** Slots that were read or written, 32 bytes each. */
  readonly slots: readonly { readonly key: Uint8Array; readonly before: Uint8Array; readonly after: Uint8Array }[];
  readonly balance?: bigint | undefined;
  readonly nonce?: bigint | undefined;
  /** Byte code; empty if it was removed. */
  readonly code?: Uint8Array | undefined;
}

/** A value from the step with this index on. */
export interface IndexedChange<Value> {
  readonly index: number;
  readonly value: Value;
}

/** What a block accesses of one account. Everything ascends, and is there once. */
export interface AccountAccesses {
  /** 20 bytes. */
  readonly address: Uint8Array;
  /** Values of slots, 32 bytes each. */
  readonly storageChanges: readonly {
    readonly key: Uint8Array;
    readonly changes: readonly IndexedChange<Uint8Array>[];
  }[];
  /** Slots that did not change, 32 bytes each. */
  readonly storageReads: readonly Uint8Array[];
  readonly balanceChanges: readonly IndexedChange<bigint>[];
  readonly nonceChanges: readonly IndexedChange<bigint>[];
  readonly codeChanges: readonly IndexedChange<Uint8Array>[];
}

/** In ascending order of addresses. */
export type BlockAccessList = readonly AccountAccesses[];

/** Changes of one account while a list is built. */
interface OpenAccount {
  /** By slot, as hex; without changes it was read. */
  readonly slots: Map<`0x${string}`, IndexedChange<Uint8Array>[]>;
  readonly balances: IndexedChange<bigint>[];
  readonly nonces: IndexedChange<bigint>[];
  readonly codes: IndexedChange<Uint8Array>[];
}

/** Collects the steps of a block. */
export class BlockAccesses {
  /** By address, as hex. */
  private readonly accounts = new Map<`0x${string}`, OpenAccount>();

  /** @param index - of the step; not below that of the one before */
  add(index: number, accesses: readonly StepAccess[]): void {
    for (const { address, slots, balance, nonce, code } of accesses) {
      const account = this.open(bytesToHex(address));
      for (const { key, before, after } of slots) {
        const changes = account.slots.get(bytesToHex(key)) ?? [];
        account.slots.set(bytesToHex(key), changes);
        if (!equalBytes(before, after)) changes.push({ index, value: after });
      }
      if (balance !== undefined) account.balances.push({ index, value: balance });
      if (nonce !== undefined) account.nonces.push({ index, value: nonce });
      if (code !== undefined) account.codes.push({ index, value: code });
    }
  }

  list(): BlockAccessList {
    return [...this.accounts.keys()].sort().map((address) => {
      const { slots, balances, nonces, codes } = this.accounts.get(address)!;
      const sorted = [...slots].sort(([a], [b]) => (a < b ? -1 : 1)).map(([key, changes]) => ({ key, changes }));
      const changed = sorted.filter(({ changes }) => changes.length > 0);
      return {
        address: hexToBytes(address),
        storageChanges: changed.map(({ key, changes }) => ({ key: hexToBytes(key), changes })),
        storageReads: sorted.filter(({ changes }) => changes.length === 0).map(({ key }) => hexToBytes(key)),
        balanceChanges: balances,
        nonceChanges: nonces,
        codeChanges: codes,
      };
    });
  }

  private open(address: `0x${string}`): OpenAccount {
    let account = this.accounts.get(address);
    if (account === undefined) {
      account = { slots: new Map(), balances: [], nonces: [], codes: [] };
      this.accounts.set(address, account);
    }
    return account;
  }
}

/** RLP of a list; slots and their values are integers in it. */
export function encodeBlockAccessList(list: BlockAccessList): Uint8Array {
  return encodedList(list.map(encodeAccountAccesses));
}

/** RLP of one item of a list. */
export function encodeAccountAccesses({
  address,
  storageChanges,
  storageReads,
  balanceChanges,
  nonceChanges,
  codeChanges,
}: AccountAccesses): Uint8Array {
  const int = (value: bigint | number) => bigIntToMinimalBytes(BigInt(value));
  const word = (bytes: Uint8Array) => int(bytesToBigInt(bytes));
  return encodeRlp([
    address,
    storageChanges.map(({ key, changes }) => [word(key), changes.map(({ index, value }) => [int(index), word(value)])]),
    storageReads.map(word),
    balanceChanges.map(({ index, value }) => [int(index), int(value)]),
    nonceChanges.map(({ index, value }) => [int(index), int(value)]),
    codeChanges.map(({ index, value }) => [int(index), value]),
  ]);
}

const GAS_PER_ITEM = 2_000n;

/** Accounts, changed slots and read slots of a list, which its block's gas limit bounds. */
export function countAccessItems(list: BlockAccessList): number {
  return list.reduce(
    (sum, { storageChanges, storageReads }) => sum + 1 + storageChanges.length + storageReads.length,
    0,
  );
}

/** Most items of the list of a block with this gas limit (EIP-7928). */
export function maxAccessItems(gasLimit: bigint): number {
  return Number(gasLimit / GAS_PER_ITEM);
}

/** `blockAccessListHash` of a header, 32 bytes. */
export function blockAccessListHash(list: BlockAccessList): Uint8Array {
  return keccak256(encodeBlockAccessList(list));
}
