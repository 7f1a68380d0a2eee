import { ZERO_WORD } from '../primitives/bytes.js';
import type { BlockContext } from './block-context.js';

/** What a simulated call sees of its block otherwise than it is; members left out are the block's own. */
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
 * The context with overrides on it. Number and time choose the fork as well. BLOCKHASH gives the chain's own blocks, and
 * zero for those between the real block and an overridden number.
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
    blockHash: async (asked) => (asked >= context.number ? ZERO_WORD : context.blockHash(asked)),
  };
}
