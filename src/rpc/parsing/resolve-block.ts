import type { Block } from '../../chain/block.js';
import { type BlockReference, isHead, isPending } from '../../chain/block-reference.js';
import type { CallPlan, Chain } from '../../chain/chain.js';
import { PlumblineError } from '../../errors.js';
import type { BlockContext } from '../../evm/block-context.js';
import type { StateReader } from '../../evm/state/state-reader.js';
import { bytesToHex } from '../../primitives/hex.js';
import type { MethodCallOptions } from '../protocol/method.js';
import { parseBlockReference } from './parse-block-reference.js';

const LATEST: BlockReference = { tag: 'latest' };

/** What is needed to find a block. Every context of methods has it. */
interface Holder {
  readonly chain: Chain;
}

/** The block of a reference. @throws PlumblineError `BLOCK_NOT_FOUND` */
export async function requireBlock({ chain }: Holder, reference: BlockReference, signal?: AbortSignal): Promise<Block> {
  const block = await chain.block(reference, signal);
  if (block !== undefined) return block;
  const text =
    'number' in reference ? String(reference.number) : 'hash' in reference ? bytesToHex(reference.hash) : reference.tag;
  throw new PlumblineError('BLOCK_NOT_FOUND', `no block ${text}`, { block: text });
}

/**
 * The block a parameter names, for methods that answer null for an unknown number or hash.
 *
 * @throws PlumblineError `BLOCK_NOT_FOUND` for a tag that names no block yet; RpcError -32602
 */
export async function findBlock(holder: Holder, parameter: unknown, signal?: AbortSignal): Promise<Block | undefined> {
  const reference = parseBlockReference(parameter);
  return 'tag' in reference ? requireBlock(holder, reference, signal) : holder.chain.block(reference, signal);
}

/** The block a parameter names, the newest when it is missing. @throws as `requireBlock`, RpcError -32602 */
export function blockAtParameter(holder: Holder, parameter: unknown, signal?: AbortSignal): Promise<Block> {
  return requireBlock(holder, parseBlockReference(parameter, LATEST), signal);
}

/** State after the block a parameter names, the newest when it is missing. @throws as `requireBlock`, -32602 */
export async function stateOf(holder: Holder, parameter: unknown, { signal }: MethodCallOptions): Promise<StateReader> {
  const { chain } = holder;
  const reference = parseBlockReference(parameter, LATEST);
  const accounts = isHead(reference) ? undefined : await chain.accountsAt?.(reference, () => {}, signal);
  return accounts ?? chain.stateAt(await requireBlock(holder, reference, signal), signal);
}

/** Where a call is executed: the state after the block, in the context of that block, or of the next one for `pending`. */
export async function executionPointOf(
  holder: Holder,
  parameter: unknown,
  plan: Omit<CallPlan, 'block' | 'tag'>,
): Promise<{ state: StateReader; block: BlockContext }> {
  const { chain } = holder;
  const reference = parseBlockReference(parameter, LATEST);
  const named = isHead(reference) ? undefined : await requireBlock(holder, reference, plan.signal);
  const tag = 'tag' in reference && reference.tag !== 'earliest' ? reference.tag : undefined;
  const prepared = await chain.prepare?.({ ...plan, block: named, tag });
  const on = prepared?.block ?? named ?? (await chain.head());
  const state = prepared?.state ?? (await chain.stateAt(on));
  return { state, block: isPending(reference) ? await chain.pendingContext(on) : chain.contextOf(on) };
}

/** A block with its transactions. */
export async function withBody({ chain }: Holder, block: Block): Promise<Block> {
  return (await chain.withBody?.(block)) ?? block;
}
