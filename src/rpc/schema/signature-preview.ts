import type { TrustLevel } from '../../chain/block.js';
import type { KnownNames } from '../../preview/preview.js';
import type { PreviewedSignature } from '../../preview/signature-preview.js';
import type { Hex } from '../../primitives/hex.js';
import type { TypedDataJson } from './json.js';
import type { PreviewCall, SeenByEndpoint } from './transaction-preview.js';

/** What an account is asked to sign; one of these. */
export type SignatureToPreview =
  /** As `eth_signTypedData_v4` takes it, or its JSON. */
  | { readonly typedData: TypedDataJson | string }
  /** Bytes, as `personal_sign` takes them. */
  | { readonly message: Hex }
  /** 32 bytes, as `eth_sign` takes them in old wallets. */
  | { readonly hash: Hex }
  /** An authorization to run the code of another account (EIP-7702), before it is signed. */
  | { readonly authorization: { readonly chainId: Hex; readonly address: Hex; readonly nonce: Hex } }
  /** As `wallet_sendCalls` takes it (EIP-5792). */
  | {
      readonly calls: readonly Pick<PreviewCall, 'to' | 'data' | 'value'>[];
      readonly chainId?: Hex;
      readonly atomicRequired?: boolean;
    };

/** Options of the preview of a signature. */
export interface SignatureOptions {
  /** Who signs. */
  readonly account: Hex;
  /** The page that asks, such as `https://app.example.org`: a message to sign in must be for it. */
  readonly origin?: string;
  /** The state that it is used on: a number, a hash or a tag. Default `latest`. */
  readonly block?: Hex | 'latest' | 'safe' | 'finalized' | 'earliest';
  /** What the caller knows: its own list of tokens, and addresses. */
  readonly known?: KnownNames;
}

/**
 * What a signature would allow, worked out here. What is not known is called unknown: it is not harmless for that.
 *
 * @source docs/spec/signatures.md 2 and 3
 */
export interface SignaturePreview extends PreviewedSignature {
  readonly account: Hex;
  readonly trust: {
    /** Level of the block that the state is of. */
    readonly level: TrustLevel;
    readonly block: { readonly number: number; readonly hash: Hex };
  };
  /** What endpoints were asked, by endpoint. Empty on a devnet and a replica, which ask none. */
  readonly seen: readonly SeenByEndpoint[];
}
