import { nextBaseFee } from '../ethereum/base-fee.js';
import type { BlockHeader } from '../ethereum/header.js';
import type { Network } from '../networks/network.js';

/** What execution sees of the block it runs in. */
export interface BlockContext {
  readonly number: number;
  /** Seconds. */
  readonly timestamp: number;
  readonly gasLimit: bigint;
  /** Wei. */
  readonly baseFeePerGas: bigint;
  /** 20 bytes; who is paid the tips. */
  readonly coinbase: Uint8Array;
  /** 32 bytes. */
  readonly prevRandao: Uint8Array;
  /** 32 bytes, from Cancun on. */
  readonly parentBeaconBlockRoot?: Uint8Array | undefined;
  /** What DIFFICULTY gives before Paris; zero when left out. */
  readonly difficulty?: bigint | undefined;
  /**
   * Hash (32 bytes) of one of the 256 blocks before this one, for BLOCKHASH. An unknown hash is an error, not zero:
   * execution would silently take another path.
   */
  blockHash(number: number): Promise<Uint8Array>;
}

const ZERO_ADDRESS = new Uint8Array(20);
const ZERO_WORD = new Uint8Array(32);
const GAS_LIMIT_DENOMINATOR = 1024n;

/** Gas limit after a block: moved towards `target` by less than 1/1024 of the present one. */
export function nextGasLimit(current: bigint, target: bigint): bigint {
  const step = current / GAS_LIMIT_DENOMINATOR - 1n;
  if (target > current) return target - current > step ? current + step : target;
  return current - target > step ? current - step : target;
}

/** The context a sealed block was executed in. */
export function contextOfHeader(header: BlockHeader, blockHash: BlockContext['blockHash']): BlockContext {
  return {
    number: header.number,
    timestamp: header.timestamp,
    gasLimit: header.gasLimit,
    baseFeePerGas: header.baseFeePerGas,
    coinbase: header.miner,
    prevRandao: header.mixHash,
    parentBeaconBlockRoot: header.parentBeaconBlockRoot,
    difficulty: header.difficulty,
    blockHash,
  };
}

/** What the simulated next block does not take from the head. */
export interface PendingOptions {
  /** 20 bytes; the zero address when left out. */
  readonly coinbase?: Uint8Array;
  /** Gas limit the operator aims at; the head's when left out. */
  readonly gasLimitTarget?: bigint;
  readonly blockHash: BlockContext['blockHash'];
}

/**
 * The simulated block after `head`: nothing but the head is needed, and its time is the head's plus one slot, not the
 * clock's.
 *
 * @source spec/fees.md 5.5
 */
export function pendingContext(
  head: BlockHeader,
  network: Pick<Network, 'slotSeconds'>,
  options: PendingOptions,
): BlockContext {
  return {
    number: head.number + 1,
    timestamp: head.timestamp + network.slotSeconds,
    gasLimit: nextGasLimit(head.gasLimit, options.gasLimitTarget ?? head.gasLimit),
    baseFeePerGas: nextBaseFee(head),
    coinbase: options.coinbase ?? ZERO_ADDRESS,
    prevRandao: ZERO_WORD,
    parentBeaconBlockRoot: ZERO_WORD,
    blockHash: options.blockHash,
  };
}
