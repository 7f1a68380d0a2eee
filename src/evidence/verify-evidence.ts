import type { EvidenceTrust, EvidenceVerdict } from './evidence-bundle.js';

/**
 * Verifies a bundle of `node.exportEvidence` without any endpoint, link by link: layer-1 consensus, rollup contract, zk state, header.
 * The code is loaded with the first call.
 *
 * @param bundle - as parsed
 * @throws PlumblineError `PROOF_MALFORMED` if it is not a bundle; `FORK_UNSUPPORTED`; `HEADER_UNSUPPORTED` for a header of a later
 *   fork; `INVALID_PARAMETER` for a network without a known layer 1; `INVALID_LENGTH` for the checkpoint
 * @source docs/spec/settled.md 7
 */
export async function verifyEvidence(bundle: unknown, trust: EvidenceTrust): Promise<EvidenceVerdict> {
  const { judgeEvidence } = await import('./judge-evidence.js');
  return judgeEvidence(bundle, trust);
}
