import type { CallFrame } from '../evm/tracing/tracer.js';
import type { Hex } from '../primitives/hex.js';

/*
 * What a preview says. Addresses have 20 bytes and are in lower case. Amounts are quantities, sums with a sign are decimal
 * text. All members can be sent as JSON.
 *
 * @source docs/spec/preview.md 7 and 8
 */

/** What is transferred. `unknown`: the contract does not say whether the number is an amount or an id. */
export type Asset =
  | { readonly kind: 'native' }
  | { readonly kind: 'erc20' | 'unknown'; readonly address: Hex }
  | { readonly kind: 'erc721' | 'erc1155' | 'erc6909'; readonly address: Hex; readonly id: Hex };

/** One transfer. If `from` is the zero address, it is a mint. If `to` is the zero address, it is a burn. */
export interface Transfer {
  readonly asset: Asset;
  readonly from: Hex;
  readonly to: Hex;
  readonly amount: Hex;
  /** `native`: a call with value. `wrap`, `unwrap`: `Deposit` and `Withdrawal` of wrapped ether. `event`: another event. */
  readonly cause: 'native' | 'event' | 'wrap' | 'unwrap';
}

/**
 * An approval that was made, raised, lowered or taken back. `before` and `after` are what the contract answers before the first and
 * after the last call, or null if it does not answer. `evidence` is `state` if no event reported the approval. Then `told` is null,
 * except for a `permit`.
 */
export type Approval =
  | (ApprovalBase & {
      readonly kind: 'erc20';
      readonly told: Hex | null;
      readonly before: Hex | null;
      readonly after: Hex | null;
      /** The allowance is practically unlimited: it is near the largest number, or the whole supply. */
      readonly unlimited: boolean;
      /**
       * How much the allowance covers of what the owner has after the calls. Null if the owner has nothing, or if it is not known.
       * `all`: nine tenths or more.
       */
      readonly covers: 'all' | 'part' | null;
    })
  | (ApprovalBase & {
      readonly kind: 'permit2';
      /** A contract with the interface of Permit2. */
      readonly contract: Hex;
      /** It is Permit2 itself. */
      readonly genuine: boolean;
      readonly told: Hex;
      readonly before: Hex | null;
      readonly after: Hex | null;
      /** Seconds since 1970, as the contract answers after the last call. */
      readonly expiration: Hex | null;
      readonly unlimited: boolean;
      readonly covers: 'all' | 'part' | null;
    })
  | (ApprovalBase & {
      /** All tokens of a collection. */
      readonly kind: 'operator';
      readonly approved: boolean | null;
      readonly before: boolean | null;
      readonly after: boolean | null;
    })
  | (ApprovalBase & {
      /** One token. `after`: the account that may transfer it, or the zero address if no account may. */
      readonly kind: 'erc721';
      readonly id: Hex;
      readonly after: Hex | null;
    })
  | (ApprovalBase & {
      /** Something else that the spender may do. Amounts are quantities. */
      readonly kind: 'right';
      readonly right: Right;
      /** Of one id of an ERC-6909 contract. */
      readonly id?: Hex;
      readonly told: Hex | boolean | null;
      readonly before: Hex | boolean | null;
      readonly after: Hex | boolean | null;
      /** Of a `permit`. */
      readonly validity?: Extract<Validity, 'now' | 'later' | 'past'>;
    });

/**
 * What the right allows: to take all of a token (`operator-777`, `operator-6909`) or an amount of one id (`allowance-6909`), to make
 * debt in the owner's name (`debt`), to use all of an account at a lender (`manager`), to own a contract (`owner`, or the first of two
 * steps, `pending-owner`), or to act for a Safe. `safe-threshold`: how many owners of a Safe must sign. It names no spender. `permit`:
 * a signed allowance whose use failed. Anybody who has seen it can still use it.
 */
export type Right =
  | 'operator-777'
  | 'operator-6909'
  | 'allowance-6909'
  | 'debt'
  | 'manager'
  | 'owner'
  | 'pending-owner'
  | 'safe-module'
  | 'safe-owner'
  | 'safe-fallback-handler'
  | 'safe-guard'
  | 'safe-singleton'
  | 'safe-threshold'
  | 'permit';

/** What all approvals have. `token`: the contract that grants it. */
export interface ApprovalBase {
  readonly token: Hex;
  readonly owner: Hex;
  /** The zero address means that the approval of one token is taken back. */
  readonly spender: Hex;
  readonly evidence: 'event' | 'state';
}

/** What happened to a contract. */
export type ContractChange =
  | {
      readonly event: 'created';
      readonly address: Hex;
      readonly by: Hex;
      readonly op: 'CREATE' | 'CREATE2' | 'transaction';
    }
  | {
      readonly event: 'destroyed';
      readonly address: Hex;
      readonly beneficiary: Hex;
      /** True if its code is gone. Otherwise only its ether is gone. */
      readonly removed: boolean;
    }
  | {
      /**
       * An authorization (EIP-7702): the account runs the code of `target`, now, or as soon as somebody sends the authorization at the
       * right nonce. `before` and `after`: the address to which the account delegates, or null.
       */
      readonly event: 'delegated';
      readonly address: Hex;
      readonly before: Hex | null;
      readonly after: Hex | null;
      /** The address that the authorization names. Null takes a delegation back. */
      readonly target: Hex | null;
      readonly nonce: Hex;
      readonly chainId: Hex;
      readonly validity: Validity;
      /** The authorization has chain id 0: it is valid on every chain. */
      readonly everyChain?: true;
    }
  | {
      readonly event: 'upgraded';
      readonly address: Hex;
      readonly slot: 'implementation' | 'admin' | 'beacon';
      readonly before: Hex;
      readonly after: Hex;
      /** The contract reported it with an event that names the same address. */
      readonly evented: boolean;
      /** The address that the event named, if there was an event. */
      readonly told?: Hex;
    };

/**
 * State of an authorization. `now`: it took effect. `later`: its nonce is higher than the account's. `past`: its nonce is used.
 * `blocked`: the account has code that is not a delegation. `otherChain`: it is for another chain.
 */
export type Validity = 'now' | 'later' | 'otherChain' | 'past' | 'blocked';

/** A balance before the first and after the last call, as the contract answers. Null if it does not answer. */
export interface BalanceChange {
  readonly account: Hex;
  readonly asset: Asset;
  readonly before: Hex | null;
  readonly after: Hex | null;
  /** Sum of the transfers, less the fee. */
  readonly told: string;
  readonly change: string | null;
}

/**
 * Owner of one token before the first and after the last call, as the contract answers. Null if it does not answer. Most contracts do
 * not answer for a token that does not exist.
 */
export interface OwnerChange {
  readonly asset: Asset;
  readonly ownerBefore: Hex | null;
  readonly ownerAfter: Hex | null;
}

/**
 * `danger`: the user can lose an asset, or control of the account. `warning`: what is shown may not be what happens, or cannot be
 * read. `note`: worth knowing.
 */
export type Severity = 'danger' | 'warning' | 'note';

/** Something that a user should know before signing (docs/spec/preview.md 8.7). Amounts are quantities. */
export type PreviewWarning = { readonly severity: Severity } & (
  | {
      /** The calls take nine tenths or more of what the account has of an asset. */
      readonly code: 'loses-all';
      readonly account: Hex;
      readonly asset: Asset;
      readonly amount: Hex;
      /** The same is true for every known asset. */
      readonly assets?: 'all';
    }
  | {
      /** The account loses an asset and gets nothing, or debt. */
      readonly code: 'nothing-back';
      readonly account: Hex;
      readonly asset: Asset;
      readonly amount: Hex;
    }
  | {
      readonly code: 'balance-differs' | 'silent-change';
      readonly asset: Asset;
      readonly account: Hex;
      readonly told: string;
      readonly change: string;
      /** The number of shares is the same, but they are worth less. */
      readonly of?: 'worth';
    }
  | {
      readonly code: 'balance-unreadable';
      readonly asset: Asset;
      readonly account: Hex;
    }
  | { readonly code: 'owner-differs'; readonly asset: Asset; readonly told: Hex; readonly after: Hex | null }
  | { readonly code: 'unknown-transfer'; readonly address: Hex }
  | {
      readonly code: 'approval-differs';
      readonly kind: Approval['kind'];
      readonly token: Hex;
      readonly owner: Hex;
      readonly spender: Hex;
      readonly told: Hex | boolean;
      readonly after: Hex | boolean;
    }
  | {
      readonly code: 'silent-approval';
      readonly token: Hex;
      readonly owner: Hex;
      readonly spender: Hex;
      /** Of one token. */
      readonly id?: Hex;
      readonly after: Hex | boolean;
    }
  | {
      readonly code: 'unlimited-approval';
      readonly kind: 'erc20' | 'permit2';
      readonly token: Hex;
      readonly owner: Hex;
      readonly spender: Hex;
    }
  | {
      /** The allowance has a limit, but covers all that the owner has today. */
      readonly code: 'covers-balance';
      readonly token: Hex;
      readonly owner: Hex;
      readonly spender: Hex;
      readonly amount: Hex;
    }
  | { readonly code: 'operator-approval'; readonly token: Hex; readonly owner: Hex; readonly spender: Hex }
  | {
      readonly code: 'right-granted';
      readonly right: Right;
      readonly token: Hex;
      readonly owner: Hex;
      readonly spender: Hex;
      readonly id?: Hex;
      readonly amount?: Hex;
    }
  | {
      /** Null: the delegation is taken back. */
      readonly code: 'delegated';
      readonly address: Hex;
      readonly target: Hex | null;
      readonly validity: Validity;
      readonly everyChain?: true;
    }
  | {
      /** The account ran code of `target` as its own. That code wrote this slot of the account. */
      readonly code: 'delegate-write';
      readonly account: Hex;
      readonly slot: Hex;
      readonly target: Hex;
    }
  /** A call has data for a contract, but the address has no code. So nothing runs. */
  | { readonly code: 'no-code'; readonly address: Hex }
  | { readonly code: 'silent-upgrade'; readonly address: Hex; readonly slot: 'implementation' | 'admin' | 'beacon' }
  | {
      /** The event named one address, but the contract wrote another. */
      readonly code: 'upgrade-differs';
      readonly address: Hex;
      readonly slot: 'implementation' | 'admin' | 'beacon';
      readonly told: Hex;
      readonly after: Hex;
    }
  | {
      /**
       * In another block that could come next, or with another limit or price, the calls end in another way. `first` is the result
       * that is shown, and `other` is what differs from it: changes of a balance, amounts of an approval, statuses, or values of a
       * slot.
       */
      readonly code: 'environment-dependent';
      /** The first call that reads one of `what`. */
      readonly call: number;
      /** Names of the instructions that may be the cause. */
      readonly what: readonly string[];
      readonly first: string;
      readonly other: string;
      readonly account?: Hex;
      readonly asset?: Asset;
      /** Of an approval. */
      readonly token?: Hex;
      readonly owner?: Hex;
      readonly spender?: Hex;
      /** Of a contract. */
      readonly address?: Hex;
      readonly slot?: Hex;
      /** The other run could not be finished. This is the code of the error. */
      readonly cut?: string;
    }
  | {
      /** The symbol of a token, or the digits of an address, look almost like one that the caller knows. */
      readonly code: 'look-alike';
      readonly with: Hex;
      readonly asset?: Asset;
      readonly address?: Hex;
    }
  /** A token or a collection goes to a contract, and no call asked this contract whether it can send it on. */
  | { readonly code: 'transfer-to-contract-without-receiver'; readonly asset: Asset; readonly address: Hex }
  /** The receiver has sent nothing and has nothing. */
  | { readonly code: 'new-recipient'; readonly address: Hex }
  /** It is not among the tokens that the caller knows. */
  | { readonly code: 'unverified-token'; readonly asset: Asset }
  /** A contract may have changed more than plumbline asked it about. There was too much to ask. */
  | { readonly code: 'not-all-asked'; readonly address: Hex }
);

/** What the caller knows and trusts: its own list of tokens, and addresses. */
export interface KnownNames {
  readonly tokens?: readonly { readonly address: Hex; readonly symbol: string }[];
  readonly addresses?: readonly Hex[];
}

/** Takes each warning where it is found. */
export type Warn = (warning: PreviewWarning) => void;

/** Why a call failed. `data`: what it returned. */
export type PreviewedRevert = { readonly data: Hex } & (
  | { readonly kind: 'Error'; readonly text: string }
  | { readonly kind: 'Panic'; readonly code: Hex; readonly text: string }
  | {
      readonly kind: 'custom';
      readonly selector: Hex;
      /** The declaration of the error, if the caller gave it or if the error is well known. */
      readonly signature?: string;
      /** Its arguments as text, if all are numbers, addresses, booleans, bytes or text. */
      readonly args?: readonly string[];
    }
  | { readonly kind: 'empty' | 'halt' }
);

/** What one call does. */
export interface PreviewedCall {
  readonly status: 'success' | 'reverted' | 'halted';
  readonly gasUsed: Hex;
  readonly revert?: PreviewedRevert;
  /** In order. Inner calls that failed give no transfers. */
  readonly transfers: readonly Transfer[];
  readonly approvals: readonly Approval[];
  readonly contracts: readonly ContractChange[];
  /** As `callTracer` with `withLog`. */
  readonly tree: CallFrame;
}

/** What a contract says about itself. Null if it says nothing. Anyone can call a token `USDC`: show the address too. */
export interface TokenName {
  readonly symbol: string | null;
  readonly decimals: number | null;
}

/** What the calls change, apart from fees and trust. */
export interface PreviewedChanges {
  readonly calls: readonly PreviewedCall[];
  readonly balances: readonly (BalanceChange | OwnerChange)[];
  /** By address. */
  readonly tokens: Readonly<Record<Hex, TokenName>>;
  readonly warnings: readonly PreviewWarning[];
  /** Senders, accounts of authorizations, and those of `watch`. */
  readonly users: readonly Hex[];
  /** What each sender paid for gas in this run, wei. */
  readonly fees: Readonly<Record<Hex, Hex>>;
  /** Names of the instructions that read the block, the price, a balance or the gas left. */
  readonly environmentReads: readonly string[];
}

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
      /** The contract wallet pays the receiver for gas: this much at least, of a token or, by the zero address, of ether. */
      | { readonly code: 'pays-refund'; readonly address: Hex; readonly token: Hex; readonly amount: Hex }
      | { readonly code: 'price-unknown' | 'replayable' | 'used-by-anyone' | 'not-atomic' }
      /** A sign-in message that does not have the form of EIP-4361. */
      | { readonly code: 'not-parsed' }
      | { readonly code: 'origin-differs'; readonly told: string; readonly origin: string }
      | { readonly code: 'origin-unknown'; readonly told: string }
    ));
