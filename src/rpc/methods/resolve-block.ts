import type { BlockReference } from '../../chain/block-reference.js';
import type { Block } from '../../chain/chain.js';
import { PlumblineError } from '../../errors.js';
import type { BlockContext } from '../../evm/block-context.js';
import type { StateReader } from '../../evm/state-reader.js';
import { bytesToHex } from '../../primitives/hex.js';
import type { RpcContext } from '../context.js';
import { parseBlockReference } from '../parse-block-reference.js';

const LATEST: BlockReference = { tag: 'latest' };

/** The block of a reference. @throws PlumblineError `BLOCK_NOT_FOUND` */
export async function requireBlock({ chain }: RpcContext, reference: BlockReference): Promise<Block> {
  const block = await chain.block(reference);
  if (block !== undefined) return block;
  const text =
    'number' in reference ? String(reference.number) : 'hash' in reference ? bytesToHex(reference.hash) : reference.tag;
  throw new PlumblineError('BLOCK_NOT_FOUND', `no block ${text}`, { block: text });
}

/** State after the block a parameter names, the newest when it is missing. @throws as `requireBlock`, -32602 */
export async function stateOf(context: RpcContext, parameter: unknown): Promise<StateReader> {
  const block = await requireBlock(context, parseBlockReference(parameter, LATEST));
  return context.chain.stateAt(block);
}

/** Where a call runs: state after the block, and the block's own context, or the next one's for `pending`. */
export async function groundOf(
  context: RpcContext,
  parameter: unknown,
): Promise<{ state: StateReader; block: BlockContext }> {
  const { chain } = context;
  const reference = parseBlockReference(parameter, LATEST);
  const on = await requireBlock(context, reference);
  const pending = 'tag' in reference && reference.tag === 'pending';
  return { state: await chain.stateAt(on), block: pending ? await chain.pendingContext(on) : chain.contextOf(on) };
}
