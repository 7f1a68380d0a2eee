import { keccak256 } from '../../../kernel/keccak.js';
import { bytesToKey, equalBytes } from '../../../primitives/bytes.js';
import { bytesToHex } from '../../../primitives/hex.js';
import type { BudgetedTable } from '../../../store/budgeted-table.js';

/** Bytes of code kept in memory; the least recently used code is dropped first. A contract has 24 KiB at most. */
const MAX_BYTES = 16 * 2 ** 20;
/** Accounts whose code hash is kept in memory. */
const MAX_HOLDERS = 4096;

/** Verified code by its hash. It never goes stale, because the hash identifies the code. */
export class CodeCache {
  private readonly codes = new Map<string, Uint8Array>();
  private readonly holders = new Map<string, Uint8Array>();
  private bytes = 0;

  /** @param table - stores code, and the code hash of accounts, for later sessions */
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

  /** As `get`, or from the table. Stored code whose hash does not match its key is deleted. */
  async load(hash: Uint8Array): Promise<Uint8Array | undefined> {
    const held = this.get(hash);
    if (held !== undefined || this.table === undefined) return held;
    const key = bytesToHex(hash);
    const code = await this.table.get(key);
    if (code === undefined) return undefined;
    if (!equalBytes(keccak256(code), hash)) {
      await this.table.delete(key);
      return undefined;
    }
    this.keep(hash, code);
    return code;
  }

  /** Loads the code that accounts had when they were last read, so that `hasCodeOf` knows it. */
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
   * Whether the code is known that an account had when it was last read. If the account has other code by now, its proof
   * shows that.
   *
   * @param address - 20 bytes
   */
  hasCodeOf(address: Uint8Array): boolean {
    const hash = this.holders.get(bytesToKey(address));
    return hash !== undefined && this.codes.has(bytesToKey(hash));
  }

  /** Keeps code whose hash was verified. @param address - of an account with this code, 20 bytes */
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
