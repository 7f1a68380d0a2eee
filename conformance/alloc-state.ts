import { keccak_256 } from '@noble/hashes/sha3.js';
import type { Account, StateReader } from '../src/evm/state-reader.js';
import { ZERO_WORD } from '../src/primitives/bytes.js';
import { bytesToHex, type Hex, hexToBytes } from '../src/primitives/hex.js';

/** Accounts as fixtures list them, by address. */
export type Alloc = Record<
  Hex,
  { nonce?: Hex; balance?: Hex; code?: Hex; storage?: Record<Hex, Hex> | undefined } | undefined
>;

/** The state that an alloc describes; whatever it does not name is empty. Counts what is asked of it. */
export class AllocState implements StateReader {
  readonly isFixed = true;
  readonly reads = { accounts: 0, slots: 0, codes: 0 };
  private readonly codes = new Map<Hex, Uint8Array>();
  private readonly accounts = new Map<Hex, Account>();

  constructor(private readonly alloc: Alloc) {
    for (const [address, entry] of Object.entries(alloc)) {
      const code = hexToBytes(entry?.code ?? '0x');
      const codeHash = keccak_256(code);
      this.codes.set(bytesToHex(codeHash), code);
      const account = { nonce: BigInt(entry?.nonce ?? 0), balance: BigInt(entry?.balance ?? 0), codeHash };
      this.accounts.set(address.toLowerCase() as Hex, account);
    }
  }

  async account(address: Uint8Array): Promise<Account | undefined> {
    this.reads.accounts++;
    return this.accounts.get(bytesToHex(address));
  }

  async slot(address: Uint8Array, slot: Uint8Array): Promise<Uint8Array> {
    this.reads.slots++;
    const value = this.alloc[bytesToHex(address)]?.storage?.[bytesToHex(slot)];
    return value === undefined ? ZERO_WORD : hexToBytes(value, 32);
  }

  async code(codeHash: Uint8Array): Promise<Uint8Array> {
    this.reads.codes++;
    const code = this.codes.get(bytesToHex(codeHash));
    if (code === undefined) throw new Error(`no code for ${bytesToHex(codeHash)}`);
    return code;
  }
}
