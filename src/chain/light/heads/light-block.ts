import { PlumblineError } from '../../../errors.js';
import type { BlockHeader } from '../../../ethereum/header.js';
import type { SignedTransaction } from '../../../ethereum/transaction.js';
import type { Network } from '../../../networks/network.js';
import { toQuantity } from '../../../primitives/quantity.js';
import { verifyHeader, verifyHeaderLink, verifyHeaderRules } from '../../../proof/headers.js';
import { upstreamError } from '../../../upstream/failure.js';
import type { EndpointGroup } from '../../../upstream/group.js';
import type { Block } from '../../block.js';
import { answerRefused, isNotAvailableYet, missing } from '../refused.js';

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

/** Most headers fetched by one request. */
export const AT_ONCE = 64;

/**
 * Fetches the headers from `child`'s parent down to `number` by one request. Each has the hash that its child names as parent.
 *
 * @param number - less than that of `child`
 * @throws PlumblineError `ANSWER_REFUSED` if they do not link or one is missing, `PROOF_MALFORMED`, of the endpoints
 */
export async function fetchLinked(
  group: EndpointGroup,
  network: Network,
  child: LightBlock,
  number: number,
  signal?: AbortSignal,
): Promise<LightBlock[]> {
  const top = child.header.number;
  const numbers = Array.from({ length: top - number }, (_, i) => top - 1 - i);
  const calls = numbers.map((height) => ({ method: 'eth_getBlockByNumber', params: [toQuantity(height), false] }));
  return group.requestMany(calls, {
    ...(signal !== undefined && { signal }),
    isTransient: isNotAvailableYet,
    accept: (answers, from) => {
      let above = child;
      return answers.map((answer, i) => {
        if (answer.kind === 'error') throw upstreamError(from, calls[i]!, answer.error);
        const block = readLightBlock(network, answer.result, { number: numbers[i]! });
        if (block === undefined) throw missingHeader(numbers[i]!);
        requireLink(network, block, above);
        above = block;
        return block;
      });
    },
  });
}

/**
 * Fetches the header that `child` names as its parent.
 *
 * @throws PlumblineError `ANSWER_REFUSED`, `PROOF_MALFORMED`, of the endpoints
 */
export async function fetchParent(
  group: EndpointGroup,
  network: Network,
  child: LightBlock,
  signal?: AbortSignal,
): Promise<LightBlock> {
  const number = child.header.number - 1;
  return group.request('eth_getBlockByNumber', [toQuantity(number), false], {
    ...(signal !== undefined && { signal }),
    isTransient: isNotAvailableYet,
    accept: (answer) => {
      const block = readLightBlock(network, answer, { number, hash: child.header.parentHash });
      if (block === undefined) throw missingHeader(number);
      return block;
    },
  });
}

/** @throws PlumblineError `ANSWER_REFUSED` unless `parent` is the parent of `child` */
export function requireLink(
  { equalTimestamps }: Pick<Network, 'equalTimestamps'>,
  parent: LightBlock,
  child: LightBlock,
): void {
  const verdict = verifyHeaderLink(parent, child, equalTimestamps);
  if (verdict.verified) return;
  const refused = answerRefused(`header of block ${child.header.number}`, verdict);
  if (verdict.reason !== 'TIMESTAMP_ORDER') throw refused;
  const [time, before] = [child.header.timestamp, parent.header.timestamp];
  const setting = time === before ? "; the profile's equalTimestamps: 'allowed' takes equal times of test chains" : '';
  const hint = `its time is ${time}, that of its parent ${before}${setting}`;
  throw new PlumblineError('ANSWER_REFUSED', `${refused.message}${setting}`, { ...refused.details, hint });
}

/** The error for a header that an endpoint does not have. */
export function missingHeader(number: number): PlumblineError<'ANSWER_REFUSED'> {
  return missing(`header of block ${number}`);
}
