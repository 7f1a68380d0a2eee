import type { CallFrame } from '../evm/tracing/call-frame.js';
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
  | { readonly kind: 'erc721' | 'erc1155'; readonly address: Hex; readonly id: Hex };

/** One transfer. The zero address as `from` is a mint, as `to` a burn. */
export interface Transfer {
  readonly asset: Asset;
  readonly from: Hex;
  readonly to: Hex;
  readonly amount: Hex;
  /** `native`: of a call with value. `wrap`, `unwrap`: `Deposit` and `Withdrawal` of wrapped ether. Others: an event. */
  readonly cause: 'native' | 'event' | 'wrap' | 'unwrap';
}

/**
 * An approval that was made, raised, lowered or taken back. `before` and `after` are what the contract answers before the first
 * and after the last call; null where it does not answer. `evidence` is `state` where no event told of it; `told` is then null.
 */
export type Approval =
  | (ApprovalBase & {
      readonly kind: 'erc20';
      readonly told: Hex | null;
      readonly before: Hex | null;
      readonly after: Hex | null;
      /** The allowance is as good as without limit. */
      readonly unlimited: boolean;
    })
  | (ApprovalBase & {
      readonly kind: 'permit2';
      /** The contract with the form of Permit2. */
      readonly contract: Hex;
      /** It is Permit2 itself. */
      readonly genuine: boolean;
      readonly told: Hex;
      readonly before: Hex | null;
      readonly after: Hex | null;
      /** Seconds since 1970, as the contract answers after the last call. */
      readonly expiration: Hex | null;
      readonly unlimited: boolean;
    })
  | (ApprovalBase & {
      /** All tokens of a collection. */
      readonly kind: 'operator';
      readonly approved: boolean | null;
      readonly before: boolean | null;
      readonly after: boolean | null;
    })
  | (ApprovalBase & {
      /** One token. `after`: who may transfer it; the zero address if no account may. */
      readonly kind: 'erc721';
      readonly id: Hex;
      readonly after: Hex | null;
    });

/** What all approvals have. */
export interface ApprovalBase {
  readonly token: Hex;
  readonly owner: Hex;
  /** The zero address takes the approval of one token back. */
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
      /** Its code is gone; otherwise only its ether. */
      readonly removed: boolean;
    }
  | {
      /** An account has other code from now on (EIP-7702). Null is no code. */
      readonly event: 'delegated';
      readonly address: Hex;
      readonly before: Hex | null;
      readonly after: Hex | null;
      /** The authorization has chain id 0: it counts on every chain. */
      readonly everyChain?: true;
    }
  | {
      readonly event: 'upgraded';
      readonly address: Hex;
      readonly slot: 'implementation' | 'admin' | 'beacon';
      readonly before: Hex;
      readonly after: Hex;
      /** The contract told it by an event. */
      readonly evented: boolean;
    };

/** A balance before the first and after the last call, as the contract answers. Null: it does not answer. */
export interface BalanceChange {
  readonly account: Hex;
  readonly asset: Asset;
  readonly before: Hex | null;
  readonly after: Hex | null;
  /** Sum of the transfers, less the fee. */
  readonly told: string;
  readonly change: string | null;
}

/** Owner of one token before the first and after the last call, as the contract answers. Null: it does not answer, as most do for a token that does not exist. */
export interface OwnerChange {
  readonly asset: Asset;
  readonly ownerBefore: Hex | null;
  readonly ownerAfter: Hex | null;
}

/** Something that a user should know before signing (docs/spec/preview.md 8.7). */
export type PreviewWarning =
  | {
      readonly code: 'balance-differs' | 'silent-change';
      readonly asset: Asset;
      readonly account: Hex;
      readonly told: string;
      readonly change: string;
    }
  | { readonly code: 'balance-unreadable'; readonly asset: Asset; readonly account: Hex }
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
      readonly after: Hex | boolean;
    }
  | {
      readonly code: 'unlimited-approval';
      readonly kind: 'erc20' | 'permit2';
      readonly token: Hex;
      readonly owner: Hex;
      readonly spender: Hex;
    }
  | { readonly code: 'operator-approval'; readonly token: Hex; readonly owner: Hex; readonly spender: Hex }
  /** A call has data for a contract, and the address has no code: nothing runs. */
  | { readonly code: 'no-code'; readonly address: Hex }
  | { readonly code: 'silent-upgrade'; readonly address: Hex; readonly slot: 'implementation' | 'admin' | 'beacon' }
  | {
      /** With another time and another random number of the block the call ends in another way. */
      readonly code: 'environment-dependent';
      readonly call: number;
    };

/** Takes each warning where it is found. */
export type Warn = (warning: PreviewWarning) => void;

/** Why a call failed. `data`: what it returned. */
export type PreviewedRevert = { readonly data: Hex } & (
  | { readonly kind: 'Error'; readonly text: string }
  | { readonly kind: 'Panic'; readonly code: Hex; readonly text: string }
  | {
      readonly kind: 'custom';
      readonly selector: Hex;
      /** The error as it is declared, if the caller gave it or if it is a well-known one. */
      readonly signature?: string;
      /** Its arguments as text, where all are numbers, addresses, booleans, bytes or text. */
      readonly args?: readonly string[];
    }
  | { readonly kind: 'empty' | 'halt' }
);

/** What one call does. */
export interface PreviewedCall {
  readonly status: 'success' | 'reverted' | 'halted';
  readonly gasUsed: Hex;
  readonly revert?: PreviewedRevert;
  /** In order. Calls that failed inside give none. */
  readonly transfers: readonly Transfer[];
  readonly approvals: readonly Approval[];
  readonly contracts: readonly ContractChange[];
  /** As `callTracer` with `withLog`. */
  readonly tree: CallFrame;
}

/** What a contract says of itself; null where it does not. Anyone can call a token `USDC`: show the address too. */
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
