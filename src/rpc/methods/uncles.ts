import type { Block } from '../../chain/block.js';
import { PlumblineError } from '../../errors.js';
import { EMPTY_UNCLES_HASH } from '../../ethereum/constants.js';
import { equalBytes } from '../../primitives/bytes.js';
import type { Hex } from '../../primitives/hex.js';
import { toQuantity } from '../../primitives/quantity.js';
import { parseHash, parseIndex } from '../parsing/parse-params.js';
import { findBlock } from '../parsing/resolve-block.js';
import { READS } from '../protocol/method-rows.js';
import type { LineaBlockJson } from '../schema/json.js';
import { defineMethod } from './context.js';

/*
 * Blocks of layer 2 have no uncles. Imported blocks from before the merge may: their number is known, but the uncles
 * themselves are not kept (docs/decisions.md 10).
 */

/**
 * @throws PlumblineError `ANSWER_REFUSED` for a block of a light node whose header names uncles: it has no list of them, so
 *   their number is not known
 */
function countUncles({ header, uncles }: Block): number {
  if (uncles !== undefined) return uncles.length;
  if (equalBytes(header.sha3Uncles, EMPTY_UNCLES_HASH)) return 0;
  const what = `uncles of block ${header.number}`;
  const details = { what, check: 'UNCLES_MISMATCH', at: 'sha3Uncles' };
  throw new PlumblineError('ANSWER_REFUSED', `${what}: the header names some, which cannot be verified here`, details);
}

function countOf(block: Block | undefined): string | null {
  return block === undefined ? null : toQuantity(countUncles(block));
}

/** An uncle itself is never held. */
function noUncle(block: Block | undefined): null {
  if (block !== undefined) countUncles(block);
  return null;
}

export const eth_getUncleCountByBlockNumber = defineMethod<[block: LineaBlockJson], Hex | null>(
  'eth_getUncleCountByBlockNumber',
  READS,
  async (context, [numberParam], call) => countOf(await findBlock(context, numberParam, call)),
);

export const eth_getUncleCountByBlockHash = defineMethod<[hash: Hex], Hex | null>(
  'eth_getUncleCountByBlockHash',
  READS,
  async ({ chain }, [hashParam], call) => countOf(await chain.block({ hash: parseHash(hashParam, 'blockHash') }, call)),
);

export const eth_getUncleByBlockNumberAndIndex = defineMethod<[block: LineaBlockJson, index: Hex], null>(
  'eth_getUncleByBlockNumberAndIndex',
  READS,
  async (context, [numberParam, indexParam], call) => {
    parseIndex(indexParam, 'uncleIndex');
    return noUncle(await findBlock(context, numberParam, call));
  },
);

export const eth_getUncleByBlockHashAndIndex = defineMethod<[hash: Hex, index: Hex], null>(
  'eth_getUncleByBlockHashAndIndex',
  READS,
  async ({ chain }, [hashParam, indexParam], call) => {
    const hash = parseHash(hashParam, 'blockHash');
    parseIndex(indexParam, 'uncleIndex');
    return noUncle(await chain.block({ hash }, call));
  },
);
