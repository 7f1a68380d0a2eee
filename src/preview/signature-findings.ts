import type { Hex } from '../primitives/hex.js';
import type { Asset, PreviewWarning, Severity } from './preview.js';

/** Something that a user should know before signing. The findings about what the signature allows are the warnings of a preview. */
export type SignatureFinding =
  | PreviewWarning
  | ({ readonly severity: Severity } & (
      | {
          /** The data does not follow the rules of its format. Some wallets sign it anyway. */
          readonly code: 'malformed';
          readonly at: string;
          readonly reason: string;
        }
      /** The user would sign a hash, or data that contains one. It may stand for anything, such as an order or a transaction. */
      | { readonly code: 'opaque-hash' }
      | { readonly code: 'other-chain'; readonly chainId: string }
      /** The signature is valid on every chain. */
      | { readonly code: 'no-chain' }
      /** The data names no contract. */
      | { readonly code: 'no-contract' }
      /** The domain of the contract differs from the one that is signed. */
      | { readonly code: 'domain-differs'; readonly address: Hex; readonly told: Hex; readonly found: Hex }
      | { readonly code: 'contract-without-code'; readonly address: Hex }
      /** Its nonce is used, so the signature has no effect on this chain. */
      | { readonly code: 'used-nonce'; readonly nonce: Hex }
      /** Its nonce is higher than the current one. Somebody may use the signature later, when the user does not expect it. */
      | { readonly code: 'future-nonce'; readonly nonce: Hex; readonly expected: Hex }
      /** Seconds since 1970. */
      | { readonly code: 'expired' | 'not-yet'; readonly at: number }
      /** The account that may use it has no code, and is not in `known.addresses`. */
      | { readonly code: 'spender-without-code'; readonly address: Hex }
      /** The message has a member that no type declares. A wallet may show it, but it is not signed. */
      | { readonly code: 'undeclared-member'; readonly at: string }
      | { readonly code: 'unknown-type'; readonly type: string }
      /** The message names another account as the one that signs. */
      | { readonly code: 'other-signer'; readonly address: Hex }
      | { readonly code: 'other-receiver'; readonly address: Hex }
      /** The spender may make one transfer: of this amount to itself, or of at most this amount to any address. */
      | { readonly code: 'transfer-allowed'; readonly asset: Asset; readonly amount: Hex; readonly spender: Hex }
      /** A contract wallet runs code of another contract as its own. */
      | { readonly code: 'delegatecall'; readonly account: Hex; readonly address: Hex }
      | { readonly code: 'pays-refund'; readonly address: Hex; readonly token: Hex }
      | { readonly code: 'price-unknown' | 'replayable' | 'used-by-anyone' | 'not-atomic' }
      /** A sign-in message that does not have the form of EIP-4361. */
      | { readonly code: 'not-parsed' }
      | { readonly code: 'origin-differs'; readonly told: string; readonly origin: string }
      | { readonly code: 'origin-unknown'; readonly told: string }
    ));
