import { Common, Hardfork, Mainnet } from '@ethereumjs/common';
import { createAccessList2930Tx, createFeeMarket1559Tx, createLegacyTx } from '@ethereumjs/tx';
import { PlumblineError } from '../../../errors.js';
import { parseSignedTransaction, type SignedTransaction } from '../../../ethereum/transaction.js';
import { bytesToBigInt } from '../../../primitives/bytes.js';
import type { AccessListEntry } from '../../../primitives/call-request.js';
import { bytesToHex, hexToBytes } from '../../../primitives/hex.js';
import { DEV_ACCOUNTS } from '../state/dev-accounts.js';

/** A transaction to sign, or to run unsigned. Prices in wei per gas. */
export interface TransactionRequest {
  /** 20 bytes. */
  readonly from: Uint8Array;
  /** 20 bytes; undefined creates a contract. */
  readonly to: Uint8Array | undefined;
  /** If undefined, the sender's next nonce, pool transactions included. */
  readonly nonce: bigint | undefined;
  readonly gasLimit: bigint;
  readonly price:
    | { readonly gasPrice: bigint }
    | { readonly maxFeePerGas: bigint; readonly maxPriorityFeePerGas: bigint };
  readonly value: bigint;
  readonly data: Uint8Array;
  readonly accessList: readonly AccessListEntry[] | undefined;
  /** Run it unsigned, from any sender. */
  readonly unsigned?: boolean;
}

const ABOVE_ADDRESSES = 2n ** 160n;
const KEYS = new Map(DEV_ACCOUNTS.map(({ address, privateKey }) => [address as string, privateKey]));

/** Accounts whose transactions the devnet runs without their signature. */
export class Impersonation {
  private readonly addresses = new Set<string>();
  /** If set, every account is impersonated. */
  everyone = false;

  start(address: Uint8Array): void {
    this.addresses.add(bytesToHex(address));
  }

  stop(address: Uint8Array): void {
    this.addresses.delete(bytesToHex(address));
  }

  /**
   * @throws PlumblineError `TRANSACTION_REJECTED`, rule `sender`, unless `sender` (20 bytes) is a dev account or
   *   impersonated
   */
  requireSender(sender: Uint8Array): void {
    const address = bytesToHex(sender);
    if (this.everyone || KEYS.has(address) || this.addresses.has(address)) return;
    const reason = `no key is held for ${address}; send from a dev account, or impersonate the sender first`;
    throw new PlumblineError('TRANSACTION_REJECTED', reason, { rule: 'sender', reason });
  }

  /**
   * Builds a transaction from a request: signed if the sender is a dev account, else unsigned.
   *
   * @throws PlumblineError as `requireSender`
   */
  send(request: TransactionRequest & { readonly nonce: bigint }, chainId: number): SignedTransaction {
    const unsigned = request.unsigned === true;
    if (!unsigned) this.requireSender(request.from);
    const key = unsigned ? undefined : KEYS.get(bytesToHex(request.from));
    if (key !== undefined) {
      return parseSignedTransaction(build(request, chainId).sign(hexToBytes(key)).serialize(), chainId);
    }
    // Including the sender in `r` makes hashes differ by sender. `r` must not be zero.
    const signature = { r: ABOVE_ADDRESSES + bytesToBigInt(request.from), s: 1n };
    const raw = build(request, chainId, signature).serialize();
    return parseSignedTransaction(raw, chainId, { impersonated: request.from });
  }
}

/** Whether the signature fields of a transaction hold the devnet's placeholder for a sender who did not sign. */
export function isUnsigned({ from, r, s }: Pick<SignedTransaction, 'from' | 'r' | 's'>): boolean {
  return r === ABOVE_ADDRESSES + bytesToBigInt(from) && s === 1n;
}

function build(
  { to, nonce, gasLimit, price, value, data, accessList }: TransactionRequest & { readonly nonce: bigint },
  chainId: number,
  signature?: { readonly r: bigint; readonly s: bigint },
) {
  const common = new Common({ chain: { ...Mainnet, chainId }, hardfork: Hardfork.Prague });
  const fields = { nonce, gasLimit, value, data, ...(to !== undefined && { to }) };
  const list = accessList?.map(({ address, storageKeys }): [Uint8Array, Uint8Array[]] => [address, [...storageKeys]]);
  if ('gasPrice' in price && list === undefined) {
    const v = 35n + 2n * BigInt(chainId);
    return createLegacyTx({ ...fields, ...price, ...(signature && { v, ...signature }) }, { common });
  }
  const typed = { ...fields, chainId, accessList: list ?? [], ...(signature && { v: 0n, ...signature }) };
  if ('gasPrice' in price) return createAccessList2930Tx({ ...typed, ...price }, { common });
  return createFeeMarket1559Tx({ ...typed, ...price }, { common });
}
