import type { BlockHeader } from '../../ethereum/header.js';
import type { Log } from '../../ethereum/receipt.js';
import type { SignedTransaction } from '../../ethereum/transaction.js';
import type { Withdrawal } from '../../ethereum/withdrawal.js';
import type { Network } from '../../networks/network.js';
import type { CallRequest } from '../../primitives/call-request.js';
import type { StateOverrides } from '../../primitives/state-overrides.js';
import type { BlockOverrides } from '../block-overrides.js';
import type { StepLimits } from '../interpreter/step-budget.js';
import type { AccountChange } from '../state/state-overlay.js';
import type { StateReader } from '../state/state-reader.js';
import type { TransactionOutcome } from '../transactions/transaction-message.js';

/** A call of a simulated block. */
export interface BlockCall extends CallRequest {
  /** 32 bytes each; makes it a transaction with blobs. */
  readonly blobVersionedHashes?: readonly Uint8Array[] | undefined;
}

/** What a simulated block is otherwise than it would be by itself. */
export interface SimulatedBlockOverrides extends BlockOverrides {
  /** 32 bytes; zero when left out. */
  readonly parentBeaconBlockRoot?: Uint8Array;
  /** None when left out. */
  readonly withdrawals?: readonly Withdrawal[];
}

/** A block to simulate: changes before it, and calls in their order. */
export interface BlockRequest {
  readonly overrides: SimulatedBlockOverrides;
  readonly stateOverrides: StateOverrides;
  readonly calls: readonly BlockCall[];
}

/** How blocks are simulated. */
export interface SimulationOptions extends StepLimits {
  /** Base fee, price and nonce are those of a real block; otherwise nothing has to be paid, and nonces are not looked at. */
  readonly validation: boolean;
  /** Adds logs for transfers of ether. They are in no bloom and no receipt. */
  readonly traceTransfers: boolean;
}

/** What the simulated chain grows on. */
export interface SimulationBase {
  readonly network: Pick<Network, 'forks' | 'chainId' | 'rpcGasCap' | 'slotSeconds' | 'depositContract'>;
  readonly header: BlockHeader;
  /** Of that header, 32 bytes. */
  readonly hash: Uint8Array;
  /** State after it. */
  readonly state: StateReader;
  /** Hash (32 bytes) of a block before it. */
  blockHash(number: number): Promise<Uint8Array>;
  /** State root (32 bytes) after the changes of one more block. */
  stateRoot(changes: readonly AccountChange[]): Promise<Uint8Array>;
}

/** What a call came to. */
export interface SimulatedCall {
  readonly outcome: TransactionOutcome;
  /** Of the call, with those of transfers where they are traced. */
  readonly logs: readonly Log[];
}

/** A block that was simulated, as if it had been sealed. */
export interface SimulatedBlock {
  readonly header: BlockHeader;
  /** 32 bytes. */
  readonly hash: Uint8Array;
  /** One for each call. Nobody signed them: their signatures are zero. */
  readonly transactions: readonly SignedTransaction[];
  readonly withdrawals: readonly Withdrawal[];
  /** Bytes of its RLP. */
  readonly size: number;
  readonly calls: readonly SimulatedCall[];
}
