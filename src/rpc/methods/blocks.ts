import type { RpcContext } from '../context.js';
import { formatBlock } from '../format.js';
import type { Method } from '../method.js';
import { parseBlockReference } from '../parse-block-reference.js';
import { optional, parseBoolean, parseHash } from '../parse-params.js';
import { requireBlock } from './resolve-block.js';

const whole = (value: unknown) => optional(value, (present) => parseBoolean(present, 'fullTransactions')) ?? false;

/** Null for a number above the head. A tag that names no block yet is -39001. */
export const eth_getBlockByNumber: Method<RpcContext> = {
  name: 'eth_getBlockByNumber',
  async handle(context, [numberParam, full]) {
    const reference = parseBlockReference(numberParam);
    const withBodies = whole(full);
    if ('tag' in reference) return formatBlock(await requireBlock(context, reference), withBodies);
    const block = await context.chain.block(reference);
    return block === undefined ? null : formatBlock(block, withBodies);
  },
};

/** Null for an unknown hash. */
export const eth_getBlockByHash: Method<RpcContext> = {
  name: 'eth_getBlockByHash',
  async handle({ chain }, [hashParam, full]) {
    const withBodies = whole(full);
    const block = await chain.block({ hash: parseHash(hashParam, 'blockHash') });
    return block === undefined ? null : formatBlock(block, withBodies);
  },
};
