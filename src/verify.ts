/**
 * Entry point `plumbline-l2/verify`: verifies proofs in the page. It needs no EVM, no worker and no store.
 *
 * @module plumbline-l2/verify
 *
 * @example
 * const hasher = await loadHasher('poseidon2');
 * const anchor = verifyL1Anchor({ l1StateRoot, rollup, l2BlockNumber }, ethGetProofResult);
 * if (anchor.verified && anchor.stateRoot !== undefined) {
 *   const verdict = verifyLineaProof(hasher, { address, storageKeys, stateRoot: anchor.stateRoot }, lineaGetProofResult);
 * }
 */
import type { ConsensusRequest, ConsensusVerdict } from './consensus/judge-consensus.js';

export type { AccountValue } from './accumulator/account-value.js';
export type {
  InclusionProofJson,
  LineaProofJson,
  MerkleProofJson,
  NonInclusionProofJson,
  ProofItemJson,
} from './accumulator/proof-shape.js';
export type { LayerOneBlock } from './consensus/containers.js';
export type {
  ConsensusAnswer,
  ConsensusRequest,
  ConsensusVerdict,
  VerifiedConsensus,
} from './consensus/judge-consensus.js';
export type { ConsensusRefusal, ConsensusRefusalReason } from './consensus/rules.js';
export type { SignatureFailure } from './consensus/signatures.js';
export { type ErrorCode, type ErrorDetails, isPlumblineError, PlumblineError } from './errors.js';
export type { BlockHeader } from './ethereum/header.js';
export {
  EVIDENCE_FORMAT,
  type EvidenceBundle,
  type EvidenceClaim,
  type EvidenceHistory,
  type EvidenceLink,
  type EvidenceNetwork,
  type EvidenceRefusal,
  type EvidenceTrust,
  type EvidenceVerdict,
  type UnchangedSlot,
  type VerifiedEvidence,
} from './evidence/evidence-bundle.js';
export { verifyEvidence } from './evidence/verify-evidence.js';
export type { Hasher, HashScheme, KernelBuild, KernelOptions } from './kernel/contracts.js';
export { loadHasher } from './kernel/hasher.js';
export { beaconNetwork } from './networks/beacon-networks.js';
export type { BeaconFork, BeaconNetwork, LayerOneName, RollupContract } from './networks/network.js';
export { bytesToHex, type Hex, hexToBytes } from './primitives/hex.js';
export type { PatriciaFailureReason } from './proof/ethereum-proof.js';
export {
  type EthereumAccount,
  type EthereumProofFailureReason,
  type EthereumProofVerdict,
  type VerifiedEthereumProof,
  verifyEthereumProof,
} from './proof/ethereum-proof.js';
export {
  type FinalizedStateFailureReason,
  type FinalizedStateVerdict,
  type ForcedTransactionCall,
  type ForcedTransactionGateway,
  type ForcedTransactionRefusal,
  type ForcedTransactionState,
  finalizedStateHash,
  forcedRollingHash,
  forcedTransactionCalldata,
  forcedTransactionDeadline,
  forcedTransactionRefusal,
  forcedTransactionSlots,
  type LastFinalizedState,
  livenessRecoveryTime,
  readForcedTransaction,
  type StoredForcedTransaction,
  type VerifiedFinalizedState,
  verifyFinalizedState,
} from './proof/forced-transactions.js';
export type { HashedHeader, VerifiedHeader } from './proof/headers.js';
export {
  anchorSlots,
  type L1AnchorFailureReason,
  type L1AnchorRequest,
  type L1AnchorVerdict,
  stateRootSlot,
  type VerifiedL1Anchor,
  verifyL1Anchor,
} from './proof/l1-anchor.js';
export {
  type LeafPlace,
  type LineaProofFailureReason,
  type LineaProofVerdict,
  type TreeQuestion,
  type VerifiedItem,
  type VerifiedLineaProof,
  type VerifiedSlot,
  verifyLineaProof,
  verifyTreeItem,
} from './proof/linea-proof.js';
export {
  type BridgeMessage,
  type ClaimQuestion,
  type ClaimRefusal,
  type ClaimState,
  type ClaimStateFailureReason,
  type ClaimStateVerdict,
  claimCalldata,
  claimRefusal,
  hashMessage,
  inboxClaimCalldata,
  inboxSlot,
  type MessageClaim,
  type MessageProofFailureReason,
  type MessageProofRequest,
  type MessageProofVerdict,
  type MessageTree,
  messageSlots,
  messageTrees,
  rollingHash,
  siblingsOf,
  verifyClaimState,
  verifyMessageProof,
} from './proof/messages.js';
export {
  type SettledHeaderFailureReason,
  type SettledHeaderRequest,
  type SettledHeaderVerdict,
  verifySettledHeader,
} from './proof/settled-header.js';
export type { ProofFailure, ProofRequest } from './proof/verdict.js';

/**
 * Verifies what beacon nodes say about layer-1 finality. It checks that at least two thirds of the sync committees, chained from the
 * trusted block, signed a state that names the block as final. The code is loaded with the first call.
 *
 * @throws PlumblineError `PROOF_MALFORMED`; `FORK_UNSUPPORTED`; `INVALID_PARAMETER` for an unknown network; `STORE_CORRUPT` for an
 *   unusable `state`; `LAYER_ONE_CONTRADICTS` for a `state` in which layer 1 contradicted itself
 * @source docs/spec/consensus.md 6 and 7
 */
export async function verifyConsensusUpdate(request: ConsensusRequest): Promise<ConsensusVerdict> {
  // The curve is a file of its own: other code of the page shares it, and another release of this package keeps it.
  const [{ judgeConsensus }] = await Promise.all([
    import('./consensus/judge-consensus.js'),
    import('@noble/curves/bls12-381.js'),
  ]);
  return judgeConsensus(request);
}
