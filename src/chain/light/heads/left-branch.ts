import type { Network } from '../../../networks/network.js';
import { equalBytes } from '../../../primitives/bytes.js';
import { bytesToHex } from '../../../primitives/hex.js';
import { toQuantity } from '../../../primitives/quantity.js';
import { upstreamError } from '../../../upstream/failure.js';
import { type EndpointGroup, requestFirstFound } from '../../../upstream/group.js';
import type { BlockLevel } from '../../block.js';
import { isNotAvailableYet, missing, notReached, takesBackFinal } from '../refused.js';
import type { HeaderStore } from './header-store.js';
import type { AcceptedBlock } from './heads.js';
import { AT_ONCE, fetchLinked, type LightBlock, readLightBlock, requireLink } from './light-block.js';

/*
 * Headers of a branch that the endpoints may have left: read when a head of another branch comes before enough headers were
 * linked. A chunk of its own, because that is rare.
 */

/** What such headers are read from, and for. */
export interface LeftBranch {
  readonly group: EndpointGroup;
  readonly network: Network;
  readonly store: HeaderStore | undefined;
  readonly maxReorgDepth: number;
  /** Level of the head of the other branch. */
  readonly level: BlockLevel;
}

/**
 * The parent of a block, stored or by its hash.
 *
 * @throws PlumblineError `TRUST_LEVEL_NOT_REACHED` if no endpoint has it any more; `ANSWER_REFUSED`, of the endpoints
 */
export async function leftParent(
  { group, network, store, maxReorgDepth, level }: LeftBranch,
  child: LightBlock,
  signal: AbortSignal | undefined,
): Promise<LightBlock> {
  const [number, hash] = [child.header.number - 1, child.header.parentHash];
  const [stored] = (await store?.below(child, number)) ?? [];
  const parent =
    stored ??
    (await requestFirstFound(group, 'eth_getBlockByHash', [bytesToHex(hash), false], {
      agreeing: group.endpoints.length,
      ...(signal !== undefined && { signal }),
      accept: (answer) => readLightBlock(network, answer, { number, hash }),
    }));
  if (parent === undefined) {
    const reason = `the new head is of another branch, and no endpoint has block ${number} of the known one any more`;
    throw notReached(level, undefined, `${reason}: it may replace more than ${maxReorgDepth} blocks (maxReorgDepth)`);
  }
  requireLink(network, parent, child);
  return parent;
}

/**
 * Whether all endpoints have lost a head: each of them names `named` at its height, and none has `head` by its hash any more.
 * An endpoint that does not answer has lost nothing. Each is asked several times, because some of the nodes behind one address
 * may be behind the others.
 *
 * @throws the reason of the signal
 */
export async function isLostEverywhere(
  { group, network }: Pick<LeftBranch, 'group' | 'network'>,
  head: LightBlock,
  named: LightBlock,
  signal: AbortSignal | undefined,
): Promise<boolean> {
  const { number } = named.header;
  const calls = [
    { method: 'eth_getBlockByHash', params: [bytesToHex(head.hash), false] },
    { method: 'eth_getBlockByNumber', params: [toQuantity(number), false] },
  ];
  const asked = group.endpoints.map(async ({ id }) => {
    try {
      return await group.requestMany(calls, {
        endpoint: id,
        ...(signal !== undefined && { signal }),
        isTransient: isNotAvailableYet,
        accept: ([byHash, byNumber], from) => {
          // One that has no block of that height says nothing about the other.
          if (byNumber!.kind === 'error') return false;
          const there = readLightBlock(network, byNumber!.result, { number });
          if (there === undefined || !equalBytes(there.hash, named.hash)) return false;
          if (byHash!.kind === 'error') throw upstreamError(from, calls[0]!, byHash!.error);
          if (readLightBlock(network, byHash!.result, { hash: head.hash }) !== undefined) return false;
          throw missing('known head');
        },
      });
    } catch (error) {
      return isNotAvailableYet(error);
    }
  });
  const lost = await Promise.all(asked);
  signal?.throwIfAborted();
  return lost.every(Boolean);
}

/**
 * Requires that a head has a final block of the known headers below it, or is that block.
 *
 * @param known - the headers that would be left
 * @throws PlumblineError `TRUST_LEVEL_NOT_REACHED`; of the endpoints
 */
export async function requireKept(
  { group, network }: Pick<LeftBranch, 'group' | 'network'>,
  taken: Pick<AcceptedBlock, 'block' | 'level'>,
  known: ReadonlyMap<number, LightBlock>,
  final: number,
  signal: AbortSignal | undefined,
): Promise<void> {
  const held = known.get(final);
  let below = taken.block;
  while (held !== undefined && below.header.number > final) {
    const down = Math.max(final, below.header.number - AT_ONCE);
    below = (await fetchLinked(group, network, below, down, signal)).at(-1)!;
  }
  const isKept = held === undefined ? below.header.number >= final : equalBytes(held.hash, below.hash);
  if (!isKept) throw takesBackFinal(taken.level, taken.block.header.number, final);
}
