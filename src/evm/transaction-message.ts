import type { Log } from '../ethereum/receipt.js';
import type { AccessListEntry, Authorization } from '../primitives/call-request.js';

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
}

/** What a transaction that was let in came to. */
export interface TransactionOutcome {
  readonly succeeded: boolean;
  /** Why it did not: `revert`, `out of gas`, `invalid opcode`, ... */
  readonly exception: string | undefined;
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
  /** Steps of the interpreter after which it stops with an error. Counting makes each step several times slower. */
  readonly stepBudget?: number | undefined;
  /** Looked at before the run, and at each step when steps are counted. */
  readonly signal?: AbortSignal | undefined;
}
