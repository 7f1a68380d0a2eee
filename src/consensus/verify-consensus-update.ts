import type { ConsensusRequest, ConsensusVerdict } from './judge-consensus.js';

/**
 * Verifies what beacon nodes tell of layer-1 finality: at least two thirds of the sync committees, chained from the trusted
 * block, signed a state that names the block as final. The code for it is loaded with the first call.
 *
 * @throws PlumblineError `PROOF_MALFORMED`; `FORK_UNSUPPORTED`; `INVALID_PARAMETER` for an unknown network; `STORE_CORRUPT`
 *   for an unusable `state`; `LAYER_ONE_CONTRADICTS` for one in which layer 1 contradicted itself
 * @source docs/spec/consensus.md 6 and 7
 */
export async function verifyConsensusUpdate(request: ConsensusRequest): Promise<ConsensusVerdict> {
  // The curve is a file of its own: other code of the page shares it, and another release of this package keeps it.
  const [{ judgeConsensus }] = await Promise.all([
    import('./judge-consensus.js'),
    import('@noble/curves/bls12-381.js'),
  ]);
  return judgeConsensus(request);
}
