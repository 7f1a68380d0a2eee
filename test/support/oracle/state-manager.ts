import type { AccountFields, StateManagerInterface } from '@ethereumjs/common';
import { type Address, Account as EvmAccount, KECCAK256_RLP } from '@ethereumjs/util';
import { PlumblineError } from '../../../src/errors.js';
import { EMPTY_CODE_HASH } from '../../../src/ethereum/constants.js';
import type { OracleOverlay } from './state-overlay.js';

/** The overlay in the interface of the interpreter. It has no state root, and execution does not need one. */
export class OverlayStateManager implements StateManagerInterface {
  readonly originalStorageCache = {
    get: (address: Address, key: Uint8Array): Promise<Uint8Array> => this.overlay.originalSlot(address.bytes, key),
    clear: (): void => this.overlay.beginTransaction(),
  };

  /** @param overlay - can be replaced between runs */
  constructor(public overlay: OracleOverlay) {}

  /** Returns a copy, because the interpreter modifies it. */
  async getAccount(address: Address): Promise<EvmAccount | undefined> {
    const account = await this.overlay.account(address.bytes);
    return account && new EvmAccount(account.nonce, account.balance, KECCAK256_RLP, account.codeHash);
  }

  async putAccount(address: Address, account?: EvmAccount): Promise<void> {
    const { bytes } = address;
    if (account === undefined) this.overlay.setAccount(bytes, undefined);
    else {
      const { nonce, balance, codeHash } = account;
      this.overlay.setAccount(bytes, { nonce, balance, codeHash });
    }
  }

  /** Also called for touched empty accounts, most of which never existed (EIP-161). */
  async deleteAccount(address: Address): Promise<void> {
    this.overlay.destroy(address.bytes);
  }

  async modifyAccountFields(address: Address, fields: AccountFields): Promise<void> {
    const account = (await this.getAccount(address)) ?? new EvmAccount();
    if (fields.nonce !== undefined) account.nonce = fields.nonce;
    if (fields.balance !== undefined) account.balance = fields.balance;
    if (fields.codeHash !== undefined) account.codeHash = fields.codeHash;
    await this.putAccount(address, account);
  }

  async putCode(address: Address, value: Uint8Array): Promise<void> {
    await this.modifyAccountFields(address, { codeHash: this.overlay.addCode(value) });
  }

  async getCode(address: Address): Promise<Uint8Array> {
    const account = await this.overlay.account(address.bytes);
    return this.overlay.code(account?.codeHash ?? EMPTY_CODE_HASH);
  }

  async getCodeSize(address: Address): Promise<number> {
    return (await this.getCode(address)).length;
  }

  getStorage(address: Address, key: Uint8Array): Promise<Uint8Array> {
    return this.overlay.slot(address.bytes, key);
  }

  putStorage(address: Address, key: Uint8Array, value: Uint8Array): Promise<void> {
    return this.overlay.setSlot(address.bytes, key, value);
  }

  async clearStorage(address: Address): Promise<void> {
    this.overlay.clearStorage(address.bytes);
  }

  async checkpoint(): Promise<void> {
    this.overlay.checkpoint();
  }

  async commit(): Promise<void> {
    this.overlay.commit();
  }

  async revert(): Promise<void> {
    this.overlay.revert();
  }

  getStateRoot(): Promise<Uint8Array> {
    throw unsupported('state root');
  }

  setStateRoot(): Promise<void> {
    throw unsupported('state root');
  }

  async hasStateRoot(): Promise<boolean> {
    return false;
  }

  /** Cached reads stay valid: they are of one state. */
  clearCaches(): void {}

  shallowCopy(): StateManagerInterface {
    throw unsupported('copy');
  }
}

function unsupported(what: string): PlumblineError<'INTERNAL'> {
  const reason = `the overlay has no ${what}`;
  return new PlumblineError('INTERNAL', reason, { reason });
}
