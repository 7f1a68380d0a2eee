import type { PlumblineError } from '../../../errors.js';
import type { Network } from '../../../networks/network.js';
import { toQuantity } from '../../../primitives/quantity.js';
import { verifyHeaderLink } from '../../../proof/headers/header-link.js';
import type { EndpointGroup } from '../../../upstream/group.js';
import { answeredError, answerRefused, isNotThereYet, missing } from '../refused.js';
import { type LightBlock, readLightBlock } from './light-block.js';

/** Headers asked for in one request. */
export const AT_ONCE = 64;

/**
 * The headers below a known one, in one request, each with the hash that the one above it names: from `child`'s parent down
 * to `number`.
 *
 * @param number - below that of `child`
 * @throws PlumblineError `ANSWER_REFUSED` where they do not link or one is missing, `PROOF_MALFORMED`, of the endpoints
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
    mayCome: isNotThereYet,
    accept: (answers, from) => {
      let above = child;
      return answers.map((answer, i) => {
        if (answer.kind === 'error') throw answeredError(from, answer.error);
        const block = readLightBlock(network, answer.result, { number: numbers[i]! });
        if (block === undefined) throw missingHeader(numbers[i]!);
        requireLink(block, above);
        above = block;
        return block;
      });
    },
  });
}

/**
 * The header whose hash `child` names.
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
    mayCome: isNotThereYet,
    accept: (answer) => {
      const block = readLightBlock(network, answer, { number, hash: child.header.parentHash });
      if (block === undefined) throw missingHeader(number);
      return block;
    },
  });
}

/** @throws PlumblineError `ANSWER_REFUSED` unless `child` is of the block right after `parent` */
export function requireLink(parent: LightBlock, child: LightBlock): void {
  const verdict = verifyHeaderLink(parent, child);
  if (!verdict.verified) throw answerRefused(`header of block ${child.header.number}`, verdict);
}

/** The error for a header that no endpoint has. */
export function missingHeader(number: number): PlumblineError<'ANSWER_REFUSED'> {
  return missing(`header of block ${number}`);
}
