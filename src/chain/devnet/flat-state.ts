import { PlumblineError } from '../../errors.js';
import { EMPTY_CODE_HASH } from '../../ethereum/constants.js';
import type { AccountChange } from '../../evm/state-overlay.js';
import type { Account, StateReader } from '../../evm/state-reader.js';
import { isZeroBytes } from '../../primitives/bytes.js';
import { bytesToHex } from '../../primitives/hex.js';
import { VersionedMap } from './versioned-map.js';

const ZERO_WORD = new Uint8Array(32);

/** Accounts, slots and code of the devnet after every block. */
export class FlatState {
  private readonly accounts = new VersionedMap<Account>();
  private readonly slots = new Map<string, VersionedMap<Uint8Array>>();
  private readonly codes = new Map<string, Uint8Array>([[bytesToHex(EMPTY_CODE_HASH), new Uint8Array(0)]]);

  /** Takes in what a block changed. */
  apply(block: number, changes: readonly AccountChange[]): void {
    for (const change of changes) {
      const address = bytesToHex(change.address);
      this.accounts.set(address, block, change.after);
      if (change.code !== undefined && change.after !== undefined) {
        this.codes.set(bytesToHex(change.after.codeHash), change.code);
      }
      if (change.destroyed) this.emptyStorage(address, block);
      for (const { key, after } of change.slots) {
        this.storageOf(address).set(bytesToHex(key), block, isZeroBytes(after) ? undefined : after);
      }
    }
  }

  /** Forgets what blocks after this one changed. */
  revertTo(block: number): void {
    this.accounts.truncate(block);
    for (const storage of this.slots.values()) storage.truncate(block);
  }

  /** State after `block`. */
  at(block: number): StateReader {
    return {
      account: async (address) => this.accounts.get(bytesToHex(address), block),
      slot: async (address, slot) => this.slot(bytesToHex(address), bytesToHex(slot), block),
      code: async (codeHash) => this.code(codeHash),
    };
  }

  code(codeHash: Uint8Array): Uint8Array {
    const code = this.codes.get(bytesToHex(codeHash));
    if (code === undefined)
      throw new PlumblineError('INTERNAL', 'code of an account is not held', { reason: 'unknown code hash' });
    return code;
  }

  private emptyStorage(address: string, block: number): void {
    const storage = this.slots.get(address);
    for (const key of storage?.keys() ?? []) storage!.set(key, block, undefined);
  }

  private slot(address: string, slot: string, block: number): Uint8Array {
    return this.slots.get(address)?.get(slot, block) ?? ZERO_WORD;
  }

  private storageOf(address: string): VersionedMap<Uint8Array> {
    let storage = this.slots.get(address);
    if (storage === undefined) {
      storage = new VersionedMap();
      this.slots.set(address, storage);
    }
    return storage;
  }
}
