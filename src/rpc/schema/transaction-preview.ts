import type { TrustLevel } from '../../chain/block.js';
import type { KnownNames, PreviewedCall, PreviewedChanges } from '../../preview/preview.js';
import type { PreviewedSignature } from '../../preview/signature-preview.js';
import type { Hex } from '../../primitives/hex.js';
import type { CallJson, PlainHex, TypedDataJson } from './json.js';

/**
 * A call to preview, in the form of `linea_estimateGas` and `eth_call`. Give the gas limit and the prices that will be signed. What
 * you leave out is filled in as a wallet would do it: with the values of `linea_estimateGas` and the sender's next nonce.
 */
export type PreviewCall = Readonly<PlainHex<CallJson>>;

/** An error in an ABI. */
export interface ErrorAbi {
  readonly type: 'error';
  readonly name: string;
  readonly inputs: readonly AbiInput[];
}

/** A parameter in an ABI. */
export interface AbiInput {
  readonly type: string;
  readonly components?: readonly AbiInput[];
}

/** Options of a preview. */
export interface PreviewOptions {
  /** The state that the calls run on: a number, a hash or a tag. Default `latest`. They run in the block after it. */
  readonly block?: string;
  /** As in `eth_call`. Without it, the sender has its real funds. If it cannot pay for a call, you get an error. */
  readonly stateOverrides?: object;
  /** As in `eth_call`. */
  readonly blockOverrides?: object;
  /** More accounts whose balances are shown, in addition to the senders. At most 16. */
  readonly watch?: readonly string[];
  /**
   * Errors with which contracts may revert: `Name(type,type)`, Solidity declarations, or items of an ABI. Other items of an ABI are
   * ignored. At most 256.
   */
  readonly errors?: readonly (string | ErrorAbi | { readonly type: string })[];
  /**
   * What you know: your own list of tokens, and addresses, at most 2048 each. The preview warns of names and digits that look like
   * these. For the first 32 tokens, it also asks whether the calls take some without an event.
   */
  readonly known?: PlainHex<KnownNames>;
  /**
   * Whether an endpoint may be sent the calls themselves (`eth_createAccessList`), to fetch with fewer round trips. Default
   * false: endpoints see accounts and slots only.
   */
  readonly accessLists?: boolean;
}

/**
 * The fee of a call by `linea_estimateGas`; prices in wei per gas. `total`: the most that the call can cost, in wei. It is the gas
 * limit times the price. If the call does not name them, those of the estimate are used.
 */
export interface PreviewedFee {
  readonly gasLimit: Hex;
  readonly baseFeePerGas: Hex;
  readonly priorityFeePerGas: Hex;
  readonly total: Hex;
}

/** What an endpoint was asked for a preview. */
export interface SeenByEndpoint {
  /** Id of the endpoint, as in the events of endpoints. */
  readonly endpoint: string;
  /** Accounts, each with the slots that were asked for, and whether its code was. */
  readonly accounts: readonly { readonly address: Hex; readonly slots: readonly Hex[]; readonly code: boolean }[];
  /** Whether the endpoint got the calls themselves. */
  readonly calls: boolean;
}

/**
 * What transactions would do, computed by this node. A preview is not a promise: the state may change before the transaction is
 * included.
 *
 * @source docs/spec/preview.md 7 to 10
 */
export interface TransactionPreview extends Omit<PreviewedChanges, 'calls'> {
  /** `fee` is left out if the estimate fails, as for a call that reverts. `feeError` then says why, unless `revert` already says it. */
  readonly calls: readonly (PreviewedCall & {
    readonly fee?: PreviewedFee;
    readonly feeError?: string;
  })[];
  readonly trust: {
    /** Level of the block that the state is of. */
    readonly level: TrustLevel;
    readonly block: { readonly number: number; readonly hash: Hex };
    /** Whether endpoints may have been sent the calls themselves. */
    readonly accessLists: boolean;
    /** What you overrode. If it is not empty, the preview is not based on the real state. */
    readonly overridden: readonly ('state' | 'block')[];
  };
  /** What endpoints were asked, by endpoint. Empty on a devnet and a replica, which ask none. */
  readonly seen: readonly SeenByEndpoint[];
}

/** What an account is asked to sign: one of these. */
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
  /** The page that asks, such as `https://app.example.org`. A sign-in message must be for this page. */
  readonly origin?: string;
  /** The state on which the signature is used: a number, a hash or a tag. Default `latest`. */
  readonly block?: Hex | 'latest' | 'safe' | 'finalized' | 'earliest';
  /** What the caller knows: its own list of tokens, and addresses. */
  readonly known?: KnownNames;
}

/**
 * What a signature would allow, computed by this node. If something is unknown, it is called unknown. That does not mean that it is
 * harmless.
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
