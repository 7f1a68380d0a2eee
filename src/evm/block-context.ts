import { blobBaseFee, INITIAL_BASE_FEE, nextBaseFee, nextExcessBlobGas } from '../ethereum/base-fee.js';
import type { BlockHeader } from '../ethereum/header.js';
import type { Network } from '../networks/network.js';
import { ZERO_ADDRESS, ZERO_WORD } from '../primitives/bytes.js';
import { type Rules, rulesAt } from './common.js';

/** Block data that execution can read. */
export interface BlockContext {
  readonly number: number;
  /** Seconds. */
  readonly timestamp: number;
  /** Slot of the beacon chain, from Amsterdam on (EIP-7843); zero if left out. */
  readonly slotNumber?: bigint | undefined;
  readonly gasLimit: bigint;
  /** Wei; zero before London. */
  readonly baseFeePerGas: bigint;
  /** 20 bytes; receives the priority fees. */
  readonly coinbase: Uint8Array;
  /** 32 bytes. */
  readonly prevRandao: Uint8Array;
  /** 32 bytes, from Cancun on. */
  readonly parentBeaconBlockRoot?: Uint8Array | undefined;
  /** Result of DIFFICULTY before Paris; zero if left out. */
  readonly difficulty?: bigint | undefined;
  /** Wei per blob gas; if left out, 1, which is the minimum. */
  readonly blobBaseFee?: bigint | undefined;
  /**
   * Hash (32 bytes) of one of the 256 blocks before this one, for BLOCKHASH. An unknown hash must throw: with zero,
   * execution would silently take another path.
   */
  blockHash(number: number): Promise<Uint8Array>;
}

/** Base fee of the block after `parent`, wei: the initial base fee at the first block of London, undefined before. */
export function nextBlockBaseFee(parent: BlockHeader, rules: Pick<Rules, 'london'>): bigint | undefined {
  if (!rules.london) return undefined;
  const { baseFeePerGas, gasUsed, gasLimit } = parent;
  return baseFeePerGas === undefined ? INITIAL_BASE_FEE : nextBaseFee({ baseFeePerGas, gasUsed, gasLimit });
}

/** Slot of the block after `parent`; undefined before Amsterdam. The first block of the fork has its own number, as if each slot had had one. */
export function nextSlotNumber(
  { slotNumber, number }: Pick<BlockHeader, 'slotNumber' | 'number'>,
  rules: Pick<Rules, 'amsterdam'>,
): bigint | undefined {
  return rules.amsterdam ? (slotNumber ?? BigInt(number)) + 1n : undefined;
}

/**
 * The context in which a sealed block was executed.
 *
 * @param network - gives the blob parameters; without it the blob base fee is left out
 */
export function contextOfHeader(
  header: BlockHeader,
  blockHash: BlockContext['blockHash'],
  network?: Pick<Network, 'forks' | 'chainId'>,
): BlockContext {
  const { excessBlobGas } = header;
  const rules = network && rulesAt(network, header.number, header.timestamp);
  return {
    number: header.number,
    timestamp: header.timestamp,
    slotNumber: header.slotNumber,
    gasLimit: header.gasLimit,
    baseFeePerGas: header.baseFeePerGas ?? 0n,
    coinbase: header.miner,
    prevRandao: header.mixHash,
    parentBeaconBlockRoot: header.parentBeaconBlockRoot,
    difficulty: header.difficulty,
    blobBaseFee:
      rules?.blobs === undefined || excessBlobGas === undefined ? undefined : blobBaseFee(excessBlobGas, rules.blobs),
    blockHash,
  };
}

/** Values of the pending block that do not follow from the head. */
export interface PendingOptions {
  /** 20 bytes; the zero address if left out. */
  readonly coinbase?: Uint8Array | undefined;
  /** 32 bytes; zero if left out. */
  readonly prevRandao?: Uint8Array | undefined;
  /** The head's if left out. */
  readonly gasLimit?: bigint | undefined;
  /** Wei; if left out, what follows from the head. */
  readonly baseFeePerGas?: bigint | undefined;
  /** Seconds; the head's plus one slot if left out. */
  readonly timestamp?: number | undefined;
  /** From Amsterdam on; the slot after the head's if left out. */
  readonly slotNumber?: bigint | undefined;
  readonly blockHash: BlockContext['blockHash'];
}

/**
 * Context of the pending block after `head`. Its time is the head's plus one slot, not the clock's.
 *
 * @source docs/spec/fees.md 5.5
 */
export function pendingContext(
  head: BlockHeader,
  network: Pick<Network, 'slotSeconds' | 'forks' | 'chainId'>,
  options: PendingOptions,
): BlockContext {
  const number = head.number + 1;
  const timestamp = options.timestamp ?? head.timestamp + network.slotSeconds;
  const rules = rulesAt(network, number, timestamp);
  return {
    number,
    timestamp,
    slotNumber: rules.amsterdam ? (options.slotNumber ?? nextSlotNumber(head, rules)) : undefined,
    gasLimit: options.gasLimit ?? head.gasLimit,
    baseFeePerGas: options.baseFeePerGas ?? nextBlockBaseFee(head, rules) ?? 0n,
    coinbase: options.coinbase ?? ZERO_ADDRESS,
    prevRandao: options.prevRandao ?? ZERO_WORD,
    parentBeaconBlockRoot: ZERO_WORD,
    difficulty: rules.paris ? undefined : head.difficulty,
    blobBaseFee:
      rules.blobs === undefined
        ? undefined
        : blobBaseFee(nextExcessBlobGas(head, rules.blobs, rules.osaka), rules.blobs),
    blockHash: options.blockHash,
  };
}

/** Block values that a simulated call replaces; the others are the block's own. */
export interface BlockOverrides {
  readonly number?: number;
  /** Seconds. */
  readonly time?: number;
  readonly gasLimit?: bigint;
  readonly difficulty?: bigint;
  /** 20 bytes. */
  readonly feeRecipient?: Uint8Array;
  /** 32 bytes. */
  readonly prevRandao?: Uint8Array;
  /** Wei. */
  readonly baseFeePerGas?: bigint;
  /** Wei. */
  readonly blobBaseFee?: bigint;
}

/**
 * The context with overrides applied. Number and time also choose the fork. BLOCKHASH gives the hashes of the chain,
 * and zero for blocks between the real block and an overridden number.
 *
 * @source docs/spec/fees.md 5.6; ethereum/go-ethereum@02b73d4ea7 internal/ethapi/override/override.go
 */
export function withBlockOverrides(context: BlockContext, overrides: BlockOverrides | undefined): BlockContext {
  if (overrides === undefined) return context;
  const { number, time, feeRecipient, ...amounts } = overrides;
  return {
    ...context,
    ...amounts,
    ...(number !== undefined && { number }),
    ...(time !== undefined && { timestamp: time }),
    ...(feeRecipient !== undefined && { coinbase: feeRecipient }),
    blockHash: async (wanted) => (wanted >= context.number ? ZERO_WORD : context.blockHash(wanted)),
  };
}
