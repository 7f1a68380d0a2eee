import type { Hex } from '../primitives/hex.js';
import type { Asset, PreviewWarning, Severity } from './preview.js';

/** Something that a user should know before signing. Findings of what the signature allows are those of a preview. */
export type SignatureFinding =
  | PreviewWarning
  | ({ readonly severity: Severity } & (
      | {
          /** It cannot be read strictly. Some wallets sign it all the same. */
          readonly code: 'malformed';
          readonly at: string;
          readonly reason: string;
        }
      /** What is signed is a hash, or hides one: it may stand for anything, such as an order or a transaction. */
      | { readonly code: 'opaque-hash' }
      | { readonly code: 'other-chain'; readonly chainId: string }
      /** It counts on every chain. */
      | { readonly code: 'no-chain' }
      /** It names no contract. */
      | { readonly code: 'no-contract' }
      /** The contract has another domain than the one that is signed. */
      | { readonly code: 'domain-differs'; readonly address: Hex; readonly told: Hex; readonly found: Hex }
      | { readonly code: 'contract-without-code'; readonly address: Hex }
      /** Its nonce is used: it is of no use on this chain. */
      | { readonly code: 'used-nonce'; readonly nonce: Hex }
      /** Its nonce is still to come: it can be used when nobody expects it. */
      | { readonly code: 'future-nonce'; readonly nonce: Hex; readonly expected: Hex }
      /** Seconds since 1970. */
      | { readonly code: 'expired' | 'not-yet'; readonly at: number }
      /** Who may use it has no code, and is not known. */
      | { readonly code: 'spender-without-code'; readonly address: Hex }
      /** A member that no type declares: it is shown, and not signed. */
      | { readonly code: 'undeclared-member'; readonly at: string }
      | { readonly code: 'unknown-type'; readonly type: string }
      /** The message names another account as the one that signs. */
      | { readonly code: 'other-signer'; readonly address: Hex }
      | { readonly code: 'other-receiver'; readonly address: Hex }
      /** One transfer: of this amount to the spender, or by it to any address, up to this amount. */
      | { readonly code: 'transfer-allowed'; readonly asset: Asset; readonly amount: Hex; readonly spender: Hex }
      /** A contract wallet runs code of another contract as its own. */
      | { readonly code: 'delegatecall'; readonly account: Hex; readonly address: Hex }
      | { readonly code: 'pays-refund'; readonly address: Hex; readonly token: Hex }
      | { readonly code: 'price-unknown' | 'replayable' | 'used-by-anyone' | 'not-atomic' }
      /** A message to sign in that is not of the form of EIP-4361. */
      | { readonly code: 'not-parsed' }
      | { readonly code: 'origin-differs'; readonly told: string; readonly origin: string }
      | { readonly code: 'origin-unknown'; readonly told: string }
    ));
