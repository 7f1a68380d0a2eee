import type { Chain, ChainCall } from '../chain/chain.js';
import { type Finding, tried } from './finding.js';

/** Most characters of a reason: an endpoint wrote it. */
const MAX_REASON = 300;

/**
 * Whether the transaction was excluded, by the word of an endpoint (docs/spec/json-rpc.md 2.4). A devnet has recorded it itself.
 *
 * @param hash - 32 bytes
 */
export async function exclusionCheck(chain: Chain, hash: Uint8Array, call: ChainCall): Promise<Finding> {
  const basis = chain.kind === 'devnet' ? 'pool' : 'endpoint';
  const exclusion = await tried(() => chain.exclusion(hash, call));
  if (typeof exclusion === 'string') return { check: 'exclusion', outcome: 'unknown', basis, reason: exclusion };
  if (exclusion === undefined) return { check: 'exclusion', outcome: 'ok', basis };
  const { stage, reason, blockNumber } = exclusion;
  const block = blockNumber === undefined ? '' : ` for block ${blockNumber}`;
  const text = `${basis === 'endpoint' ? 'an endpoint says: ' : ''}${stage}${block}: ${reason.slice(0, MAX_REASON)}`;
  return { check: 'exclusion', outcome: 'fails', basis, reason: text };
}
