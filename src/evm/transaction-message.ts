import type { BlockAccesses } from '../ethereum/block-access-list.js';
import type { Log } from '../ethereum/receipt.js';
import type { EvmChange } from '../kernel/evm.js';
import type { AccessListEntry, Authorization } from '../primitives/call-request.js';
import type { ModuleCounts, RunBudget } from './run-budget.js';

/** A transaction as execution needs it, signed or simulated. Prices in wei. */
export interface TransactionMessage {
  /** 20 bytes. */
  readonly from: Uint8Array;
  /** 20 bytes; undefined creates a contract. */
  readonly to: Uint8Array | undefined;
  readonly nonce: bigint;
  readonly gasLimit: bigint;
  /** Price of types without a fee cap. If undefined, the next two apply. */
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

/** Outcome of an executed transaction. */
export interface TransactionOutcome {
  readonly succeeded: boolean;
  /** Reason of a failure: `revert`, `out of gas`, `invalid opcode`, ... */
  readonly exception: string | undefined;
  /** The invalid opcode, for `invalid opcode`. */
  readonly opcode?: number | undefined;
  /** Gas charged, after refunds. */
  readonly gasUsed: bigint;
  /** Before refunds, and at least the data floor of EIP-7623. */
  readonly gasUsedBeforeRefund: bigint;
  /** Counted in the block: before refunds and without state gas from Amsterdam on (EIP-8037), as charged before. */
  readonly executionGas: bigint;
  /** State gas counted in the block; zero before Amsterdam. */
  readonly stateGas: bigint;
  /** Earned by the authorizations, before the first instruction (EIP-7702). */
  readonly authorizationRefund: bigint;
  /** Wei per gas. */
  readonly effectiveGasPrice: bigint;
  readonly returnData: Uint8Array;
  readonly logs: readonly Log[];
  /** 20 bytes; only for a successful contract creation. */
  readonly createdAddress: Uint8Array | undefined;
  /**
   * How much lower a gas limit would give exactly the same execution; undefined if not known. It is known if nothing that
   * the run reads depends on its gas limit.
   */
  readonly spareGas?: bigint | undefined;
  /** Bit `opcode & 63` is set for each executed instruction that reads the block, the price, a balance or the gas left. */
  readonly environment?: bigint;
  /** Module lines, if counting was requested. */
  readonly counts?: ModuleCounts | undefined;
  /** Accounts and slots touched that were not warm from the start, if requested. */
  readonly touched?: readonly AccessListEntry[] | undefined;
}

/** Checks of real transactions that a simulated one may skip. */
export interface Leniency {
  /** `future`: the nonce may be above the account's. `any`: the nonce is not checked. */
  readonly nonce?: 'future' | 'any';
  /** The price may be below the base fee; the coinbase then gets nothing. */
  readonly lowPrice?: boolean;
  /** Blobs cost nothing if the sender offers nothing for them. */
  readonly freeBlobs?: boolean;
  /** The prepayment is skipped if the balance is too low. The value must still be covered. */
  readonly unfunded?: boolean;
  /** The sender may have code (EIP-3607). */
  readonly contractSender?: boolean;
  /** The gas limit may exceed the cap of EIP-7825. From Amsterdam on all of it is then execution gas. */
  readonly gasAboveCap?: boolean;
}

/** The two kinds of gas that a transaction gets (EIP-8037). */
export interface GasSplit {
  readonly execution: bigint;
  /** State gas; what it lacks comes out of the execution gas. */
  readonly reservoir: bigint;
}

/** Options of one run. */
export interface RunOptions {
  readonly leniency?: Leniency | undefined;
  /** Base fee, if it is not the block's. */
  readonly baseFeePerGas?: bigint | undefined;
  /** Gas left in the block; from Amsterdam on execution gas. */
  readonly gasAvailable?: bigint | undefined;
  /** State gas left in the block, from Amsterdam on; as `gasAvailable` if left out. */
  readonly stateGasAvailable?: bigint | undefined;
  /** The two kinds of gas in the gas limit, from Amsterdam on; if left out, as the cap of EIP-8037 splits it. */
  readonly split?: GasSplit | undefined;
  /** Limits, possibly shared by all runs of a request. */
  readonly budget?: RunBudget | undefined;
  /** Fill in `counts` of the outcome. */
  readonly counting?: boolean | undefined;
  /** Fill in `touched` of the outcome. */
  readonly reportTouched?: boolean | undefined;
  /** Gets what the transaction writes, before the state has it. */
  readonly onChanges?: ((changes: readonly EvmChange[]) => Promise<void>) | undefined;
  /** Where to add what the transaction accesses, and its index in the block (EIP-7928). */
  readonly accesses?: { readonly of: BlockAccesses; readonly index: number } | undefined;
}
