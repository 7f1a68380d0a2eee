import { amsterdamArea } from './amsterdam.js';
import { amsterdamBlocksArea } from './amsterdam-blocks.js';
import { amsterdamDiagnosisArea } from './amsterdam-diagnosis.js';
import { amsterdamEstimatesArea } from './amsterdam-estimates.js';
import { amsterdamChainArea, amsterdamRpcArea } from './amsterdam-rpc.js';
import type { Area } from './area.js';
import { attacksArea } from './attacks.js';
import { COMPRESSION_AREAS } from './compression.js';
import { CONSENSUS_AREAS } from './consensus.js';
import { encodingArea } from './encoding.js';
import { endToEndArea } from './end-to-end.js';
import { envelopeArea } from './envelope.js';
import { estimateErrorsArea } from './estimate-errors.js';
import { arithmeticArea } from './evm-arithmetic.js';
import { EVM_VECTOR_AREAS } from './evm-vectors.js';
import { EXECUTION_AREAS } from './execution.js';
import { EXECUTION_API_AREAS } from './execution-apis.js';
import { FEE_AREAS } from './fees.js';
import { generatedTracesArea } from './generated-traces.js';
import { HASHING_AREAS } from './hashing.js';
import { HEADER_AREAS } from './headers.js';
import { inclusionArea } from './inclusion.js';
import { kernelTracesArea } from './kernel-traces.js';
import { messagesArea } from './messages.js';
import { previewsArea } from './previews.js';
import { PROOF_AREAS } from './proofs.js';
import { RECORDED_AREAS } from './recorded-layer-one.js';
import { settledArea } from './settled.js';
import { signaturesArea } from './signatures.js';
import { STATE_AREAS } from './state.js';
import { stateTestsArea } from './state-tests.js';
import { TRACE_AREAS } from './traces.js';
import { tracingArea } from './tracing.js';
import { trieKernelArea } from './trie-kernel.js';

/** Every area, in the order of printing. */
export const AREAS: readonly Area[] = [
  ...HASHING_AREAS,
  ...COMPRESSION_AREAS,
  encodingArea,
  ...FEE_AREAS,
  estimateErrorsArea,
  endToEndArea,
  inclusionArea,
  messagesArea,
  signaturesArea,
  ...EVM_VECTOR_AREAS,
  ...EXECUTION_AREAS,
  stateTestsArea,
  amsterdamArea,
  amsterdamBlocksArea,
  amsterdamEstimatesArea,
  amsterdamDiagnosisArea,
  amsterdamRpcArea,
  amsterdamChainArea,
  arithmeticArea,
  tracingArea,
  previewsArea,
  attacksArea,
  ...STATE_AREAS,
  trieKernelArea,
  ...TRACE_AREAS,
  generatedTracesArea,
  kernelTracesArea,
  ...PROOF_AREAS,
  settledArea,
  ...HEADER_AREAS,
  envelopeArea,
  ...EXECUTION_API_AREAS,
  ...CONSENSUS_AREAS,
  ...RECORDED_AREAS,
];
