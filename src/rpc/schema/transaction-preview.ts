import type { TrustLevel } from '../../chain/block.js';
import type { KnownNames, PreviewedCall, PreviewedChanges } from '../../preview/preview.js';
import type { PreviewedSignature } from '../../preview/signature-preview.js';
import type { Hex } from '../../primitives/hex.js';
import type { CallJson, PlainHex, TypedDataJson } from './json.js';

/**
 * A call to preview: what `linea_estimateGas` and `eth_call` take. The limit and the prices are those that will be signed; what is left
 * out is filled in as a wallet would: as `linea_estimateGas` says, with the sender's next nonce.
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
  /** As in `eth_call`. Without it the sender has what it has: a call that it cannot pay is an error. */
  readonly stateOverrides?: object;
  /** As in `eth_call`. */
  readonly blockOverrides?: object;
  /** Accounts whose balances are shown besides those of the senders. At most 16. */
  readonly watch?: readonly string[];
  /**
   * Errors that contracts may revert with: `Name(type,type)`, also as Solidity declares them, or items of an ABI; other items are
   * passed over. At most 256.
   */
  readonly errors?: readonly (string | ErrorAbi | { readonly type: string })[];
  /**
   * What the caller knows: its own list of tokens, and addresses, at most 2048 each. Names and digits that look like these are told. Of
   * 32 tokens, the first, it is asked whether the calls take some without a word.
   */
  readonly known?: PlainHex<KnownNames>;
  /**
   * Whether an endpoint may be sent the calls themselves (`eth_createAccessList`), to fetch with fewer round trips. Default
   * false: endpoints see accounts and slots only.
   */
  readonly accessLists?: boolean;
}

/**
 * What `linea_estimateGas` says of a call, wei per gas. `total`: wei that the call can cost at most. It is the gas limit times the price,
 * those that the call names, and those of the estimate where it names none.
 */
export interface PreviewedFee {
  readonly gasLimit: Hex;
  readonly baseFeePerGas: Hex;
  readonly priorityFeePerGas: Hex;
  readonly total: Hex;
}

/** What an endpoint was asked for a preview. */
export interface SeenByEndpoint {
  /** Its id, as in the events of endpoints. */
  readonly endpoint: string;
  /** Accounts, each with the slots that were asked for, and whether its code was. */
  readonly accounts: readonly { readonly address: Hex; readonly slots: readonly Hex[]; readonly code: boolean }[];
  /** It was sent the calls themselves. */
  readonly calls: boolean;
}

/**
 * What transactions would do, worked out here. A preview is no promise: the state may change before the transaction is included.
 *
 * @source docs/spec/preview.md 7 to 10
 */
export interface TransactionPreview extends Omit<PreviewedChanges, 'calls'> {
  /**
   * `fee` is left out where the estimate fails, as for a call that reverts. `feeError` then says why, unless that is what `revert`
   * says.
   */
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
    /** What the caller overrode: the preview is not of the real state then. */
    readonly overridden: readonly ('state' | 'block')[];
  };
  /** What endpoints were asked, by endpoint. Empty on a devnet and a replica, which ask none. */
  readonly seen: readonly SeenByEndpoint[];
}

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
