import { PlumblineError } from '../../../errors.js';
import type { BlockHeader } from '../../../ethereum/header.js';
import type { SignedTransaction } from '../../../ethereum/transaction.js';
import type { Network } from '../../../networks/network.js';
import { verifyHeader } from '../../../proof/headers/header-answer.js';
import { verifyHeaderRules } from '../../../proof/headers/header-rules.js';
import type { Block } from '../../chain.js';
import { answerRefused } from '../refused.js';

/**
 * A block of which the header is known and nothing else. Whoever reads its transactions gets an error, never an empty
 * list; `LightChain.withBody` gives the whole block.
 */
export class LightBlock implements Block {
  /** @param hash - of `header`, 32 bytes */
  constructor(
    readonly header: BlockHeader,
    readonly hash: Uint8Array,
  ) {}

  get transactions(): readonly SignedTransaction[] {
    throw bodyMissing();
  }

  get size(): number {
    throw bodyMissing();
  }
}

/**
 * The block of an answer of `eth_getBlockByNumber` or `eth_getBlockByHash`: hash recomputed, fields those of its fork, and
 * the block that was asked for. Whether it is one of the chain is not said by that.
 *
 * @param answer - `result`; null gives undefined
 * @throws PlumblineError `ANSWER_REFUSED`, `PROOF_MALFORMED`
 */
export function readLightBlock(
  network: Network,
  answer: unknown,
  asked: { readonly hash?: Uint8Array; readonly number?: number } = {},
): LightBlock | undefined {
  if (answer === null || answer === undefined) return undefined;
  const verdict = verifyHeader(answer, asked);
  if (!verdict.verified) throw answerRefused('header', verdict);
  return checkedBlock(network, verdict.header, verdict.hash);
}

/**
 * The block of a header whose fields are those of its fork.
 *
 * @param hash - of the header, 32 bytes
 * @throws PlumblineError `ANSWER_REFUSED`
 */
export function checkedBlock(network: Network, header: BlockHeader, hash: Uint8Array): LightBlock {
  const rules = verifyHeaderRules(network, header);
  if (!rules.verified) throw answerRefused(`header of block ${header.number}`, rules);
  return new LightBlock(header, hash);
}

function bodyMissing(): PlumblineError<'INTERNAL'> {
  const reason = 'the body of this block was not fetched';
  return new PlumblineError('INTERNAL', reason, { reason });
}

/** A block of any chain as one of a light chain, without its body. */
export function lightBlock(block: Block): LightBlock {
  return block instanceof LightBlock ? block : new LightBlock(block.header, block.hash);
}
