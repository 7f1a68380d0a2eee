import { type BlockContext, type PendingOptions, pendingContext } from '../../../evm/block-context.js';
import { keccak256 } from '../../../kernel/keccak.js';
import type { Network } from '../../../networks/network.js';
import type { Block } from '../../block.js';
import type { NextBlock } from '../options.js';

/** Without what is left out, the block is as the chain would go on. */
type NextOptions = Omit<PendingOptions, 'prevRandao'> & Partial<Omit<NextBlock, 'coinbase'>>;

/**
 * Context of the block after `parent`. The random value of a devnet is the hash of the parent's hash, so that it differs in
 * each block, and can be repeated.
 */
export function contextAfter(parent: Block, network: Network, options: NextOptions): BlockContext {
  const { baseFeePerGas, gasLimit, prevRandao = keccak256(parent.hash), ...rest } = options;
  const context = pendingContext(parent.header, network, { ...rest, prevRandao });
  return {
    ...context,
    ...(baseFeePerGas !== undefined && { baseFeePerGas }),
    ...(gasLimit !== undefined && { gasLimit }),
  };
}
