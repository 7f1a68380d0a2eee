import { ZERO_WORD } from '../primitives/bytes.js';
import type { BlockContext } from './block-context.js';

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
