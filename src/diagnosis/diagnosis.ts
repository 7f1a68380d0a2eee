import type { TrustLevel } from '../chain/block.js';
import type { Hex } from '../primitives/hex.js';
import type { CheckBasis, CheckName, CheckUnit } from './check-table.js';

/** One check of a transaction: its outcome, what was found and what the limit is. */
export interface TransactionCheck {
  readonly check: CheckName;
  /** `unknown`: it could not be checked, and `reason` says why. `fails`: it was checked, and it is false. */
  readonly outcome: 'ok' | 'fails' | 'unknown';
  /** What the outcome rests on. `endpoint` is not verified. */
  readonly basis: CheckBasis;
  /** What follows from `fails`. */
  readonly failure: 'refused' | 'waits' | 'none';
  /** Unit of `found` and `needed`. */
  readonly unit?: CheckUnit;
  /** How `found` must compare with `needed`. */
  readonly rule?: 'at least' | 'at most' | 'equal';
  /** The value of the transaction or the account, as a quantity. Left out where there is none, or it is not known. */
  readonly found?: Hex;
  /** The limit, as a quantity. */
  readonly needed?: Hex;
  /** Why it fails or is unknown; of `line-counts`, the module that comes nearest to its limit. */
  readonly reason?: string;
  /** Of `state-gas`: what the run with `needed` uses, as quantities; if the gas limit is enough, what the run with it uses. */
  readonly used?: { readonly executionGas: Hex; readonly stateGas: Hex };
}

/**
 * Whether a transaction will be included.
 *
 * - `included`: a block has it.
 * - `will-be-included`: all checks that decide are ok. It holds for the newest block; prices, nonces and balances may change.
 * - `will-wait`: the pool keeps it, and no block takes it yet.
 * - `will-be-refused`: the pool or block building refuses it.
 * - `cannot-tell`: a check that decides could not be made.
 */
export type InclusionVerdict = 'included' | 'will-be-included' | 'will-wait' | 'will-be-refused' | 'cannot-tell';

/** Fields that a call left out, and that were filled in as `linea_estimateGas` does. */
export type FilledField = 'nonce' | 'gas' | 'maxFeePerGas' | 'maxPriorityFeePerGas';

/** Answer of `node.diagnoseTransaction` (docs/spec/fees.md 11). */
export interface TransactionDiagnosis {
  readonly verdict: InclusionVerdict;
  /** What to do next, as one or more sentences. Amounts in it are decimal. */
  readonly nextStep: string;
  /**
   * Where the transaction came from: the call or the bytes that were given, a block, the transactions that this node knows as
   * pending, the pool of an endpoint (its hash was checked), or nowhere.
   */
  readonly origin: 'call' | 'raw' | 'block' | 'pool' | 'endpoint' | 'none';
  /** 32 bytes; left out for a call. */
  readonly hash?: Hex;
  /** The sender, 20 bytes; of a signed transaction, as its signature says. */
  readonly from?: Hex;
  readonly nonce?: Hex;
  /** Fields that were not in the call, with the value that was checked. */
  readonly filled: Readonly<Partial<Record<FilledField, Hex>>>;
  /** The block that includes it. */
  readonly included?: { readonly blockNumber: number; readonly blockHash: Hex; readonly transactionIndex: number };
  /** In the order in which the network makes them. Empty for a transaction that is included. */
  readonly checks: readonly TransactionCheck[];
  /** Limits of the prover: those that were counted, and those that cannot be counted here. */
  readonly limits: {
    readonly checked: readonly { readonly module: string; readonly count: number; readonly limit: number }[];
    readonly unchecked: readonly string[];
  };
  /** Number of the block after which it was checked; null if none could be read. */
  readonly block: number | null;
  /** `held`: on the node's own chain; otherwise the trust level of a light node for that block. Null without a block. */
  readonly trust: TrustLevel | null;
  /** If it is not the network's own, the compressed size is an approximation. A price that may or may not do is `unknown`. */
  readonly dictionary: { readonly name: string; readonly networkOwn: boolean };
}
