import type { BlockAccessList } from '../../../ethereum/block-access-list.js';
import { bytesToHex } from '../../../primitives/hex.js';
import { verifyAccessList } from '../../../proof/access-list.js';
import type { EndpointGroup } from '../../../upstream/group.js';
import type { Block } from '../../block.js';
import { answerRefused, isNotAvailableYet, missing } from '../refused.js';

/**
 * The access list of a block, verified against its header.
 *
 * @throws PlumblineError `ANSWER_REFUSED`, `PROOF_MALFORMED`, of the endpoints
 */
export function fetchAccessList(
  group: EndpointGroup,
  { header, hash }: Pick<Block, 'header' | 'hash'>,
  signal?: AbortSignal,
): Promise<BlockAccessList> {
  const what = `access list of block ${header.number}`;
  return group.request('eth_getBlockAccessList', [bytesToHex(hash)], {
    ...(signal !== undefined && { signal }),
    isTransient: isNotAvailableYet,
    accept: async (answer) => {
      if (answer === null) throw missing(what);
      const verdict = await verifyAccessList(header, answer);
      if (!verdict.verified) throw answerRefused(what, verdict);
      return verdict.list;
    },
  });
}
