import type { Block } from '../../chain/block.js';
import { type BlockReference, isHead, isPending } from '../../chain/block-reference.js';
import type { CallPlan, Chain, ChainCall } from '../../chain/chain.js';
import { PlumblineError } from '../../errors.js';
import type { BlockContext } from '../../evm/block-context.js';
import type { StateReader } from '../../evm/state/state-reader.js';
import { bytesToHex } from '../../primitives/hex.js';
import { parseBlockReference } from './parse-block-reference.js';

const LATEST: BlockReference = { tag: 'latest' };

/** What is needed to find a block. Every context of methods has it. */
interface Holder {
  readonly chain: Chain;
}

/** The block of a reference. @throws PlumblineError `BLOCK_NOT_FOUND` */
export async function requireBlock({ chain }: Holder, reference: BlockReference, call?: ChainCall): Promise<Block> {
  const block = await chain.block(reference, call);
  if (block !== undefined) return block;
  throw blockNotFound(reference);
}

function blockNotFound(reference: BlockReference): PlumblineError<'BLOCK_NOT_FOUND'> {
  const text =
    'number' in reference ? String(reference.number) : 'hash' in reference ? bytesToHex(reference.hash) : reference.tag;
  return new PlumblineError('BLOCK_NOT_FOUND', `no block ${text}`, { block: text });
}

/**
 * The block a parameter names, for methods that answer null for an unknown number or hash.
 *
 * @throws PlumblineError `BLOCK_NOT_FOUND` for a tag that names no block yet; RpcError -32602
 */
export async function findBlock(holder: Holder, parameter: unknown, call?: ChainCall): Promise<Block | undefined> {
  const reference = parseBlockReference(parameter);
  return 'tag' in reference ? requireBlock(holder, reference, call) : holder.chain.block(reference, call);
}

/** The block a parameter names, the newest when it is missing. @throws as `requireBlock`, RpcError -32602 */
export function blockAtParameter(holder: Holder, parameter: unknown, call?: ChainCall): Promise<Block> {
  return requireBlock(holder, parseBlockReference(parameter, LATEST), call);
}

/** State after the block a parameter names, the newest when it is missing. @throws as `requireBlock`, -32602 */
export async function stateOf({ chain }: Holder, parameter: unknown, call: ChainCall): Promise<StateReader> {
  const reference = parseBlockReference(parameter, LATEST);
  const state = await chain.accountsAt(reference, call);
  if (state === undefined) throw blockNotFound(reference);
  return state;
}

/** Where a call is executed: the state after the block, in the context of that block, or of the next one for `pending`. */
export async function executionPointOf(
  holder: Holder,
  parameter: unknown,
  plan: Omit<CallPlan, 'block' | 'tag'>,
  call: ChainCall,
): Promise<{ state: StateReader; block: BlockContext }> {
  const { chain } = holder;
  const reference = parseBlockReference(parameter, LATEST);
  const named = isHead(reference) ? undefined : await requireBlock(holder, reference, call);
  const tag = 'tag' in reference && reference.tag !== 'earliest' ? reference.tag : undefined;
  const { block: on, state } = await chain.prepare({ ...plan, block: named, tag }, call);
  return { state, block: isPending(reference) ? await chain.pendingContext(on, call) : chain.contextOf(on) };
}

/** A block with its transactions. */
export function withBody({ chain }: Holder, block: Block, call?: ChainCall): Promise<Block> {
  return chain.withBody(block, call);
}
