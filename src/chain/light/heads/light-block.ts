import { PlumblineError } from '../../../errors.js';
import type { BlockHeader } from '../../../ethereum/header.js';
import type { SignedTransaction } from '../../../ethereum/transaction.js';
import type { Network } from '../../../networks/network.js';
import { verifyHeader, verifyHeaderRules } from '../../../proof/headers.js';
import type { Block } from '../../block.js';
import { answerRefused } from '../refused.js';

/**
 * A block of which only the header is known. Reading its transactions or size throws; `LightChain.withBody` returns the whole
 * block.
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
 * Reads an answer of `eth_getBlockByNumber` or `eth_getBlockByHash`. Checks the hash, the fields of the fork, and that it is
 * the block that was requested. Whether the block is on the chain is not checked.
 *
 * @param answer - `result`; null returns undefined
 * @throws PlumblineError `ANSWER_REFUSED`, `PROOF_MALFORMED`, `HEADER_UNSUPPORTED`
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
 * A block whose header was checked against the rules of its fork.
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
  const reason = 'the body of this block was not fetched; call withBody first';
  return new PlumblineError('INTERNAL', reason, { reason });
}

/** The block as a `LightBlock`. */
export function lightBlock(block: Pick<Block, 'header' | 'hash'>): LightBlock {
  return block instanceof LightBlock ? block : new LightBlock(block.header, block.hash);
}
