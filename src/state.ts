/**
 * Entry point `plumbline-l2/state`: the zk state of Linea and of networks with the same software. You can apply blocks to it, prove
 * and verify accounts and slots, follow selected keys, and make and check state traces. It needs no EVM, no worker and no network.
 *
 * @module plumbline-l2/state
 *
 * @example
 * const state = await openState({ scheme: 'poseidon2' });
 * const { blockNumber, changes } = decodeTrieLog(trieLog);
 * const stateRoot = state.applyBlock(blockNumber, changes);
 * const answer = state.prove(blockNumber, address, [slot]);
 * const verdict = verifyLineaProof(await loadHasher('poseidon2'), { address, storageKeys: [slot], stateRoot }, answer);
 */
export type { AccountValue } from './accumulator/account-value.js';
export type { LeafOpening } from './accumulator/leaf-opening.js';
export type {
  InclusionProofJson,
  LineaProofJson,
  MerkleProofJson,
  NonInclusionProofJson,
  ProofItemJson,
} from './accumulator/proof-shape.js';
export { type ErrorCode, type ErrorDetails, isPlumblineError, PlumblineError } from './errors.js';
export { openStatePages, type StatePages } from './hosts/opening/state-pages.js';
export type { Hasher, HashScheme, KernelBuild, KernelOptions } from './kernel/contracts.js';
export { loadHasher } from './kernel/hasher.js';
export { bytesToHex, type Hex, hexToBytes } from './primitives/hex.js';
export type { LineaProofFailureReason } from './proof/linea-proof.js';
export {
  type LineaProofVerdict,
  type VerifiedLineaProof,
  type VerifiedSlot,
  verifyLineaProof,
} from './proof/linea-proof.js';
export type { ProofFailure, ProofRequest } from './proof/verdict.js';
export type { CodeFields } from './state/block-application.js';
export { type FollowedAccount, KeyFollower } from './state/key-follower.js';
export type { LoadOptions } from './state/load-world-state.js';
export { openState, type StateOptions } from './state/load-world-state.js';
export type { Page, PageChanges, PageSource } from './state/page-format.js';
export { openPagedState, type PagedState } from './state/paged-state.js';
export type {
  BranchProof,
  DeleteStep,
  InsertStep,
  ReadStep,
  ReadZeroStep,
  StateTrace,
  StepTrie,
  TrieStep,
  UpdateStep,
} from './state/trace.js';
export {
  type BranchProofJson,
  formatTrace,
  type LeafJson,
  parseBlockTraces,
  type StateTraceJson,
} from './state/trace.js';
export type { TraceFailure, TraceFault } from './state/trace-check.js';
export { checkTraces, type TraceCheckOptions, type TracesVerified } from './state/trace-check.js';
export type { TracedChange, TracedState } from './state/traced-application.js';
export { decodeTrieLog, type TrieLog } from './state/trie-log.js';
export { WitnessState, witnessBefore, witnessFromProofs } from './state/witness-state.js';
export { WitnessTrie } from './state/witness-trie.js';
export type {
  AccountAfter,
  AccountBefore,
  SlotChange,
  TracedBlock,
  WorldState,
  ZkAccountChange,
} from './state/world-state.js';
