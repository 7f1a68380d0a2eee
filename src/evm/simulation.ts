import { PlumblineError, type SimulationRule } from '../errors.js';
import type { BlockHeader } from '../ethereum/header.js';
import type { Withdrawal } from '../ethereum/ordered-trie.js';
import type { Log } from '../ethereum/receipt.js';
import type { SignedTransaction } from '../ethereum/transaction.js';
import type { Network } from '../networks/network.js';
import type { CallRequest, StateOverrides } from '../primitives/call-request.js';
import type { BlockOverrides } from './block-context.js';
import type { RunLimits } from './run-budget.js';
import type { AccountChange } from './state-overlay.js';
import type { StateReader } from './state-reader.js';
import type { TransactionOutcome } from './transaction-message.js';

/** A call of a simulated block. */
export interface BlockCall extends CallRequest {
  /** 32 bytes each; makes the call a blob transaction. */
  readonly blobVersionedHashes?: readonly Uint8Array[] | undefined;
}

/** Values of a simulated block that differ from the defaults. */
export interface SimulatedBlockOverrides extends BlockOverrides {
  /** 32 bytes; zero if left out. */
  readonly parentBeaconBlockRoot?: Uint8Array;
  /** None if left out. */
  readonly withdrawals?: readonly Withdrawal[];
}

/** A block to simulate: overrides, and calls in order. */
export interface BlockRequest {
  readonly overrides: SimulatedBlockOverrides;
  readonly stateOverrides: StateOverrides;
  readonly calls: readonly BlockCall[];
}

/** Options of a simulation. */
export interface SimulationOptions extends RunLimits {
  /**
   * Check base fee, price and nonce as for a real block. Otherwise nothing must be paid, and nonces are not checked.
   */
  readonly validation: boolean;
  /** Add logs for transfers of ether. They are not part of bloom and receipts. */
  readonly traceTransfers: boolean;
}

/** A simulation that is run to find out what it reads. What refuses a call does not end it. */
export interface SpeculativeRun {
  /** Most gas of a call. */
  readonly gas: bigint;
  /** Called before each call. @param created - address of the contract that the call creates, 20 bytes; undefined for others */
  begin(created: Uint8Array | undefined): void;
  /** Called after each call. */
  ended(succeeded: boolean): void;
}

/** The block that a simulation starts from. */
export interface SimulationBase {
  readonly network: Pick<Network, 'forks' | 'chainId' | 'rpcGasCap' | 'slotSeconds' | 'depositContract'>;
  readonly header: BlockHeader;
  /** Hash of that header, 32 bytes. */
  readonly hash: Uint8Array;
  /** State after the block. */
  readonly state: StateReader;
  /** Hash (32 bytes) of an earlier block. */
  blockHash(number: number): Promise<Uint8Array>;
  /** State root (32 bytes) after the changes of one more block. */
  stateRoot(changes: readonly AccountChange[]): Promise<Uint8Array>;
}

export interface SimulatedCall {
  readonly outcome: TransactionOutcome;
  /** Logs of the call, and those of transfers if they are traced. */
  readonly logs: readonly Log[];
}

/** A simulated block, as if it had been sealed. */
export interface SimulatedBlock {
  readonly header: BlockHeader;
  /** 32 bytes. */
  readonly hash: Uint8Array;
  /** One for each call. They are not signed: their signatures are zero. */
  readonly transactions: readonly SignedTransaction[];
  readonly withdrawals: readonly Withdrawal[];
  /** Length of its RLP in bytes. */
  readonly size: number;
  readonly calls: readonly SimulatedCall[];
}

/** Maximum number of blocks of one simulation, including those that fill gaps. */
const MAX_SIMULATED_BLOCKS = 256;
/** Maximum number of calls of one block, and of all together. */
const MAX_CALLS_OF_BLOCK = 5_000;
const MAX_CALLS = 10_000;

/** A block with its number and time in the simulated chain. */
export interface PlannedBlock extends BlockRequest {
  readonly number: number;
  /** Seconds. */
  readonly timestamp: number;
}

/**
 * Gives each block its number and time, in ascending order, and fills gaps between numbers with empty blocks.
 *
 * @param base - the block before the first
 * @param slotSeconds - time between two blocks, if the request gives none
 * @throws PlumblineError `SIMULATION_REFUSED` for numbers or times out of order, for more than 256 blocks, 5 000 calls of a
 *   block or 10 000 calls in all
 * @source ethereum/execution-apis@033ca6e6 tests/eth_simulateV1;
 *   ethereum/go-ethereum@02b73d4ea7 internal/ethapi/simulate.go
 */
export function planBlocks(
  requests: readonly BlockRequest[],
  base: { readonly number: number; readonly timestamp: number },
  slotSeconds: number,
): PlannedBlock[] {
  if (requests.length > MAX_SIMULATED_BLOCKS) throw tooMany();
  requireFewCalls(requests);
  const planned: PlannedBlock[] = [];
  let { number, timestamp } = base;
  for (const request of requests) {
    const { number: wanted = number + 1, time } = request.overrides;
    if (wanted <= number) {
      throw simulationRefused('block-number', `block numbers must be in order: ${wanted} <= ${number}`);
    }
    if (wanted - base.number > MAX_SIMULATED_BLOCKS) throw tooMany();
    while (number + 1 < wanted) {
      number++;
      timestamp += slotSeconds;
      planned.push({ number, timestamp, overrides: {}, stateOverrides: [], calls: [] });
    }
    if (time !== undefined && time <= timestamp) {
      throw simulationRefused('timestamp', `block timestamps must be in order: ${time} <= ${timestamp}`);
    }
    number = wanted;
    timestamp = time ?? timestamp + slotSeconds;
    planned.push({ ...request, number, timestamp });
  }
  return planned;
}

function requireFewCalls(requests: readonly BlockRequest[]): void {
  let total = 0;
  for (const { calls } of requests) {
    total += calls.length;
    if (calls.length > MAX_CALLS_OF_BLOCK)
      throw tooManyCalls(`${calls.length} in a block, at most ${MAX_CALLS_OF_BLOCK}`);
  }
  if (total > MAX_CALLS) throw tooManyCalls(`${total} in all blocks, at most ${MAX_CALLS}`);
}

function tooManyCalls(counts: string): PlumblineError<'SIMULATION_REFUSED'> {
  return simulationRefused('too-many-calls', `too many calls: ${counts}`);
}

/** Error that refuses a simulation as a whole. */
export function simulationRefused(
  rule: SimulationRule,
  reason: string,
  cause?: unknown,
): PlumblineError<'SIMULATION_REFUSED'> {
  return new PlumblineError('SIMULATION_REFUSED', reason, { rule, reason }, { cause });
}

function tooMany(): PlumblineError<'SIMULATION_REFUSED'> {
  return simulationRefused('too-many-blocks', 'too many blocks');
}
