import type { Log } from '../../ethereum/receipt.js';
import type { AccessListEntry, Authorization } from '../../primitives/call-request.js';
import type { ModuleCounts } from '../interpreter/counters.js';
import type { GasPath } from '../interpreter/gas-path.js';
import type { StepBudget } from '../interpreter/step-budget.js';

/** What execution needs of a transaction, signed or imagined. Prices in wei. */
export interface TransactionMessage {
  /** 20 bytes. */
  readonly from: Uint8Array;
  /** 20 bytes; undefined creates a contract. */
  readonly to: Uint8Array | undefined;
  readonly nonce: bigint;
  readonly gasLimit: bigint;
  /** Price of the types without a cap; the two that follow count where it is absent. */
  readonly gasPrice?: bigint | undefined;
  readonly maxFeePerGas?: bigint | undefined;
  readonly maxPriorityFeePerGas?: bigint | undefined;
  readonly value: bigint;
  readonly data: Uint8Array;
  readonly accessList?: readonly AccessListEntry[] | undefined;
  /** Present in type 4 (EIP-7702). */
  readonly authorizationList?: readonly Authorization[] | undefined;
  /** Present in type 3 (EIP-4844): hashes of 32 bytes, and wei per blob gas. */
  readonly blobVersionedHashes?: readonly Uint8Array[] | undefined;
  readonly maxFeePerBlobGas?: bigint | undefined;
}

/** What a transaction that was let in came to. */
export interface TransactionOutcome {
  readonly succeeded: boolean;
  /** Why it did not: `revert`, `out of gas`, `invalid opcode`, ... */
  readonly exception: string | undefined;
  /** The instruction there is none of, where that is why. */
  readonly opcode?: number;
  /** Charged, that is after refunds. */
  readonly gasUsed: bigint;
  /** Before refunds, and at least the data floor of EIP-7623. */
  readonly gasUsedBeforeRefund: bigint;
  /** Wei per gas. */
  readonly effectiveGasPrice: bigint;
  readonly returnData: Uint8Array;
  readonly logs: readonly Log[];
  /** 20 bytes; of a contract creation that succeeded. */
  readonly createdAddress: Uint8Array | undefined;
  /** What the prover counts of it, where that was asked. */
  readonly counts?: ModuleCounts;
  /** What it touched beside what is warm from the start, where that was asked. */
  readonly touched?: readonly AccessListEntry[];
}

/** What is not asked of a simulated transaction. Each is a check of real ones that is left out. */
export interface Leniency {
  /** `future`: a nonce above the account's will do. `any`: it is not looked at. */
  readonly nonce?: 'future' | 'any';
  /** A price below the base fee will do; the coinbase then gets nothing. */
  readonly lowPrice?: boolean;
  /** The prepayment is left out where the balance does not reach. The value must be there all the same. */
  readonly unfunded?: boolean;
  /** A sender with code will do (EIP-3607). */
  readonly contractSender?: boolean;
  /** The gas limit may exceed the cap of EIP-7825. */
  readonly gasAboveCap?: boolean;
}

/** How to run a transaction. */
export interface RunOptions {
  readonly leniency?: Leniency | undefined;
  /** Base fee to run with, where it is not the block's. */
  readonly baseFeePerGas?: bigint | undefined;
  /** Gas left in the block. */
  readonly gasAvailable?: bigint | undefined;
  /** Counts the steps of the run and ends it; those of all runs of a request together, where they share one. */
  readonly steps?: StepBudget | undefined;
  /** Fill in `counts` of the outcome. */
  readonly counting?: boolean | undefined;
  /** Told of what makes the run need gas. */
  readonly path?: GasPath | undefined;
  /** Fill in `touched` of the outcome. */
  readonly reportTouched?: boolean | undefined;
}
