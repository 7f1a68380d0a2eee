import { invalidParameter, PlumblineError } from '../../../errors.js';
import { type EncodedTransaction, encodeToSign, encodeTransaction } from '../../../ethereum/encode-transaction.js';
import { parseSignedTransaction, type SignedTransaction } from '../../../ethereum/transaction.js';
import { keccak256 } from '../../../kernel/keccak.js';
import { bytesToBigInt } from '../../../primitives/bytes.js';
import type { AccessListEntry, Authorization } from '../../../primitives/call-request.js';
import { bytesToHex, type Hex, hexToBytes } from '../../../primitives/hex.js';
import { DEV_ACCOUNTS, type DevAccount, OPERATOR } from '../state/dev-accounts.js';
import type { RecoverableSignature } from './dev-signature.js';

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
  /** A transaction of type 4. Needs the prices of EIP-1559. */
  readonly authorizationList?: readonly Authorization[] | undefined;
  /** Run it unsigned, from any sender. */
  readonly unsigned?: boolean;
}

const ABOVE_ADDRESSES = 2n ** 160n;

/** The accounts whose keys a devnet holds, and those whose transactions it runs without their signature. */
export class Impersonation {
  /** Those of `eth_accounts`. */
  readonly accounts: readonly Hex[];
  private readonly keys: ReadonlyMap<string, Hex>;
  private readonly addresses = new Set<string>();
  /** If set, every account is impersonated. */
  everyone = false;

  constructor(accounts: readonly DevAccount[] = DEV_ACCOUNTS) {
    const held = (address: Hex) => address.toLowerCase() as Hex;
    this.accounts = accounts.map(({ address }) => held(address));
    this.keys = new Map([...accounts, OPERATOR].map(({ address, privateKey }) => [held(address), privateKey]));
  }

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
    if (this.everyone || this.keys.has(address) || this.addresses.has(address)) return;
    const held = 'eth_accounts lists the accounts that are held';
    const reason = `no key is held for ${address}; ${held}, or call anvil_impersonateAccount ["${address}"] first`;
    throw new PlumblineError('TRANSACTION_REJECTED', reason, { rule: 'sender', reason });
  }

  /**
   * Builds a transaction from a request: signed if the sender is a dev account, else unsigned.
   *
   * @throws PlumblineError as `requireSender` and `parseSignedTransaction`
   */
  async send(request: TransactionRequest & { readonly nonce: bigint }, chainId: number): Promise<SignedTransaction> {
    const unsigned = request.unsigned === true;
    if (!unsigned) this.requireSender(request.from);
    if (!unsigned && this.keys.has(bytesToHex(request.from))) {
      return parseSignedTransaction(await this.signed(request, chainId), chainId, { sender: request.from });
    }
    const transaction = unsignedTransaction(request, chainId);
    // Including the sender in `r` makes hashes differ by sender. `r` must not be zero.
    const signature = { yParity: 0, r: ABOVE_ADDRESSES + bytesToBigInt(request.from), s: 1n };
    return parseSignedTransaction(withSignature(transaction, signature), chainId, { impersonated: request.from });
  }

  /**
   * The bytes of a transaction, signed with the key of its sender.
   *
   * @throws PlumblineError as `sign`
   */
  async signed(request: TransactionRequest & { readonly nonce: bigint }, chainId: number): Promise<Uint8Array> {
    const transaction = unsignedTransaction(request, chainId);
    return withSignature(transaction, await this.sign(request.from, keccak256(encodeToSign(transaction))));
  }

  /**
   * Signs a hash (32 bytes) with the key of a dev account (20 bytes).
   *
   * @throws PlumblineError `INVALID_PARAMETER` for another account
   */
  async sign(address: Uint8Array, hash: Uint8Array): Promise<RecoverableSignature> {
    const key = this.keys.get(bytesToHex(address));
    if (key === undefined) throw invalidParameter('address', 'is not a dev account; sign with one of DEV_ACCOUNTS');
    const { sign } = await import('./dev-signature.js');
    return sign(hash, hexToBytes(key));
  }
}

/** Whether the signature fields of a transaction hold the devnet's placeholder for a sender who did not sign. */
export function isUnsigned({ from, r, s }: Pick<SignedTransaction, 'from' | 'r' | 's'>): boolean {
  return r === ABOVE_ADDRESSES + bytesToBigInt(from) && s === 1n;
}

type Unsigned = EncodedTransaction & { readonly chainId: bigint };

function unsignedTransaction({ price, accessList, ...fields }: TransactionRequest, chainId: number): Unsigned {
  const transaction = { ...fields, ...price, accessList, chainId: BigInt(chainId) };
  if ('maxFeePerGas' in price) return { ...transaction, type: fields.authorizationList === undefined ? 2 : 4 };
  return { ...transaction, type: accessList === undefined ? 0 : 1 };
}

/** The encoding with a signature. In a legacy transaction, `v` contains the chain id (EIP-155). */
function withSignature(transaction: Unsigned, { yParity, r, s }: RecoverableSignature): Uint8Array {
  const offset = transaction.type === 0 ? 35n + 2n * transaction.chainId : 0n;
  return encodeTransaction(transaction, { v: offset + BigInt(yParity), r, s });
}
