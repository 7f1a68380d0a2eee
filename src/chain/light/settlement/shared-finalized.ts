import { isPlumblineError } from '../../../errors.js';
import { bytesToHex } from '../../../primitives/hex.js';
import { toQuantity } from '../../../primitives/quantity.js';
import type { HashedHeader } from '../../../proof/headers.js';
import type { EndpointInfo } from '../../../upstream/failure.js';
import type { EndpointGroup } from '../../../upstream/group.js';

const METHOD = 'eth_getBlockByNumber';

/**
 * The newest final layer-1 block that enough origins agree on. Origins learn of final blocks at different times. If they name
 * different blocks, it is the block at the greatest height that enough of them have reached.
 *
 * @param read - verifies an answer, and its block number if one is given
 * @throws PlumblineError `UPSTREAM_DISAGREEMENT` if they have different blocks at that height; of the endpoints
 */
export async function sharedFinalized(
  group: EndpointGroup,
  needed: number,
  read: (answer: unknown, from: EndpointInfo, number?: number) => HashedHeader,
  signal?: AbortSignal,
): Promise<HashedHeader> {
  const key = ({ hash }: HashedHeader) => bytesToHex(hash);
  const stop = signal && { signal };
  const newest = { needed, ...stop, accept: (answer: unknown, from: EndpointInfo) => read(answer, from) };
  try {
    return (await group.requestAll(METHOD, ['finalized', false], { ...newest, key })).value;
  } catch (error) {
    if (!isPlumblineError(error, 'UPSTREAM_DISAGREEMENT')) throw error;
  }
  const { votes } = await group.requestAll(METHOD, ['finalized', false], { ...newest, key: () => '', wait: 'all' });
  const heights = new Map<string, number>();
  for (const vote of votes) {
    if (!('value' in vote)) continue;
    const { number } = vote.value.header;
    heights.set(vote.from.origin, Math.max(number, heights.get(vote.from.origin) ?? 0));
  }
  const number = [...heights.values()].sort((a, b) => b - a)[needed - 1]!;
  const accept = (answer: unknown, from: EndpointInfo) => read(answer, from, number);
  return (await group.requestAll(METHOD, [toQuantity(number), false], { needed, accept, key, ...stop })).value;
}
