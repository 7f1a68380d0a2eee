import { type BlockContext, type PendingOptions, pendingContext } from '../../../evm/block-context.js';
import { keccak256 } from '../../../kernel/keccak.js';
import type { Network } from '../../../networks/network.js';
import type { Block } from '../../block.js';

/**
 * Context of the block after `parent`. The random value of a devnet is the hash of the parent's hash, so that it differs in
 * each block, and can be repeated.
 */
export function contextAfter(parent: Block, network: Network, options: PendingOptions): BlockContext {
  const { prevRandao = keccak256(parent.hash) } = options;
  return pendingContext(parent.header, network, { ...options, prevRandao });
}
