import { keccak_256 } from '@noble/hashes/sha3.js';
import { bytesToKey, equalBytes } from '../../../primitives/bytes.js';
import { bytesToHex } from '../../../primitives/hex.js';
import type { BudgetedTable } from '../../../store/budgeted-table.js';

/** Bytes of code that are kept in memory; the least recently used goes first. A contract has 24 KiB at most. */
const MAX_BYTES = 16 * 2 ** 20;
/** Accounts of which it is remembered in memory which code they had. */
const MAX_HOLDERS = 4096;

/** Verified code by its hash. It never goes stale: what has the hash is the code. */
export class CodeCache {
  private readonly codes = new Map<string, Uint8Array>();
  private readonly holders = new Map<string, Uint8Array>();
  private bytes = 0;

  /** @param table - keeps code for other sessions, and which account had which */
  constructor(private readonly table?: BudgetedTable | undefined) {}

  /** @param hash - Keccak-256, 32 bytes */
  get(hash: Uint8Array): Uint8Array | undefined {
    const key = bytesToKey(hash);
    const code = this.codes.get(key);
    if (code === undefined) return undefined;
    this.codes.delete(key);
    this.codes.set(key, code);
    return code;
  }

  /** As `get`, or from an earlier session, where its hash is still the one it is kept by. */
  async load(hash: Uint8Array): Promise<Uint8Array | undefined> {
    const held = this.get(hash);
    if (held !== undefined || this.table === undefined) return held;
    const key = bytesToHex(hash);
    const code = await this.table.get(key);
    if (code === undefined) return undefined;
    if (!equalBytes(keccak_256(code), hash)) {
      await this.table.delete(key);
      return undefined;
    }
    this.keep(hash, code);
    return code;
  }

  /** Loads what accounts had as code when they were last looked at, so that `hasCodeOf` can tell. */
  async recall(addresses: readonly Uint8Array[]): Promise<void> {
    const { table } = this;
    if (table === undefined) return;
    await Promise.all(
      addresses.map(async (address) => {
        if (this.hasCodeOf(address)) return;
        const hash = await table.get(holderKey(address));
        if (hash === undefined || (await this.load(hash)) === undefined) return;
        this.hold(address, hash);
      }),
    );
  }

  /**
   * Whether the code is at hand that an account had when it was last looked at. Should it have another by now, its proof
   * says so.
   *
   * @param address - 20 bytes
   */
  hasCodeOf(address: Uint8Array): boolean {
    const hash = this.holders.get(bytesToKey(address));
    return hash !== undefined && this.codes.has(bytesToKey(hash));
  }

  /** Keeps code that has been verified to have this hash. @param address - of an account that has it, 20 bytes */
  put(hash: Uint8Array, code: Uint8Array, address?: Uint8Array): void {
    if (!this.codes.has(bytesToKey(hash))) {
      this.keep(hash, code);
      void this.table?.put(bytesToHex(hash), code);
    }
    if (address === undefined || this.table === undefined) return;
    const known = this.holders.get(bytesToKey(address));
    if (known !== undefined && equalBytes(known, hash)) return;
    this.hold(address, hash);
    void this.table.put(holderKey(address), hash);
  }

  private keep(hash: Uint8Array, code: Uint8Array): void {
    const key = bytesToKey(hash);
    if (this.codes.has(key)) return;
    this.codes.set(key, code);
    this.bytes += code.length;
    for (const [oldest, dropped] of this.codes) {
      if (this.bytes <= MAX_BYTES || oldest === key) break;
      this.codes.delete(oldest);
      this.bytes -= dropped.length;
    }
  }

  private hold(address: Uint8Array, hash: Uint8Array): void {
    this.holders.set(bytesToKey(address), hash);
    if (this.holders.size > MAX_HOLDERS) this.holders.delete(this.holders.keys().next().value!);
  }
}

function holderKey(address: Uint8Array): string {
  return `of ${bytesToHex(address)}`;
}
