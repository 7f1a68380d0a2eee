import { type ErrorCode, type ErrorDetails, PlumblineError } from '../../src/errors.js';
import { InlineTransport } from '../../src/hosts/opening/inline-transport.js';
import type { NodeTransport } from '../../src/hosts/provider/transport.js';
import { createDispatcher } from '../../src/rpc/handle.js';
import { createMethodTable } from '../../src/rpc/method.js';
import { someMethod } from './some-method.js';

export const ORIGIN = 'https://host.example';
const endpoints = [{ origin: ORIGIN, kind: 'unavailable', reason: 'status 503', status: 503 }] as const;

/** Details of each code: the compiler asks for all. */
export const EVERY_ERROR: { readonly [C in ErrorCode]: ErrorDetails[C] } = {
  INVALID_HEX: { value: 'zz', reason: 'zz is not hex' },
  INVALID_QUANTITY: { value: '0x01', reason: '0x01 has a leading zero' },
  INVALID_LENGTH: { what: 'address', expected: '20 bytes', actual: 19 },
  INVALID_PARAMETER: { parameter: 'to', reason: 'must be an address' },
  OUT_OF_RANGE: { what: 'gas', value: '-1', limit: '0 to 2^63 - 1' },
  KERNEL_UNAVAILABLE: { kernel: 'hash', reason: 'no WebAssembly' },
  KERNEL_OUT_OF_MEMORY: { kernel: 'trie', memoryBytes: 1 },
  HASH_INPUT_LENGTH: { scheme: 'mimc', length: 31 },
  HASH_INPUT_NOT_CANONICAL: { scheme: 'mimc' },
  CALLDATA_TOO_LARGE: { length: 60_001, limit: 60_000 },
  DICTIONARY_LENGTH_MISMATCH: { expected: 65_536, actual: 1 },
  DICTIONARY_CHECKSUM_MISMATCH: { expected: '0x01', actual: '0x02' },
  DICTIONARY_UNREACHABLE: { origin: ORIGIN, status: 404 },
  PROOF_MALFORMED: { path: 'accountProof[0]', reason: 'is not hex' },
  PREVIEW_TOO_LARGE: { limit: 8192 },
  WALLET_REFUSED: { rule: 'unsupported', reason: 'tokens are not kept; watch them in the wallet' },
  GAS_IS_ZERO: {},
  TRANSACTION_TYPE_UNSUPPORTED: { type: 3 },
  MARGIN_INVALID: { value: '-1' },
  STATE_MISMATCH: { what: 'root', expected: '0x01', actual: '0x02' },
  STATE_NOT_HELD: { block: 1 },
  TRIE_LOG_MALFORMED: { path: 'accounts', reason: 'is not a list' },
  TRACE_MALFORMED: { path: 'traces[0]', reason: 'is not an object' },
  WITNESS_MISSING: { part: 'leaf' },
  WITNESS_CONFLICT: { position: 1, reason: 'differs' },
  BLOCK_NOT_FOUND: { block: '0x1' },
  BLOCK_NOT_PROVABLE: { block: '0x1' },
  BLOCK_PRUNED: { block: 1, from: 5 },
  TRIE_LOG_MISSING: { block: 7 },
  REPLICA_DIVERGED: { block: 7, what: 'layer-one-root', expected: '0x01', actual: '0x02' },
  BLOCK_INVALID: { block: 7, what: 'gasUsed', expected: '1', actual: '2', head: 6 },
  TRANSACTION_REJECTED: { rule: 'nonce-too-low', reason: 'is 0, the account has 1' },
  EXECUTION_REVERTED: { data: new Uint8Array(), reason: 'paused' },
  EXECUTION_FAILED: { reason: 'out of gas' },
  MODULE_LIMIT_EXCEEDED: { module: 'BLOCK_KECCAK', count: 8193, limit: 8192 },
  INSUFFICIENT_FUNDS: { sender: '0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266', required: 2n, balance: 1n },
  UPFRONT_COST_EXCEEDS_BALANCE: { sender: '0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266' },
  GAS_ALLOWANCE_EXCEEDED: { allowance: 21_000n },
  GAS_BUDGET_EXCEEDED: { budget: 500 },
  SIMULATION_REFUSED: { rule: 'timestamp', reason: 'block timestamps must grow' },
  REQUEST_MALFORMED: { reason: 'nested deeper than 256 levels' },
  REQUEST_TOO_LARGE: { what: 'body', limit: 1000 },
  TRANSACTION_NOT_FOUND: { hash: '0x01' },
  TRANSACTION_PENDING: { hash: '0x01', waitedMs: 20_000 },
  BLOCK_INCOMPLETE: { block: 0, reason: 'genesis is not traceable' },
  METHOD_NOT_FOUND: { method: 'eth_nothing' },
  METHOD_NOT_ENABLED: { method: 'evm_mine' },
  REQUEST_TIMED_OUT: { timeoutMs: 60_000 },
  ABORTED: {},
  ANSWER_TOO_LARGE: { limit: 1000 },
  FILTER_NOT_FOUND: { id: '0x1' },
  FILTER_LIMIT: { limit: 128 },
  SUBSCRIPTION_NOT_FOUND: { id: '0x1' },
  SUBSCRIPTION_LIMIT: { limit: 128 },
  UPSTREAM_CONFIGURATION: { endpoints },
  UPSTREAM_RATE_LIMITED: { endpoints },
  UPSTREAM_MALFORMED: { endpoints },
  UPSTREAM_UNAVAILABLE: { endpoints },
  UPSTREAM_ERROR: { origin: ORIGIN, code: -32601, message: 'Method not found' },
  UPSTREAM_WRONG_CHAIN: { origin: ORIGIN, expected: 59_144, found: '1' },
  UPSTREAM_DISAGREEMENT: {
    needed: 2,
    agreed: 1,
    answers: 2,
    said: [
      { origin: ORIGIN, answer: '0x01' },
      { origin: 'https://other.example', answer: '0x02' },
    ],
    endpoints,
  },
  TRUST_LEVEL_NOT_REACHED: { required: 'linked', reached: 'plain', reason: 'one endpoint answered' },
  ANSWER_REFUSED: { what: 'header', check: 'HASH_MISMATCH', at: '', origin: ORIGIN },
  HEADER_UNSUPPORTED: { block: '7', members: ['newMember'] },
  FORK_UNSUPPORTED: { network: 'mainnet', fork: 'gloas' },
  STATE_ROOT_MISSING: { block: '7' },
  FORK_SCHEDULE: { network: 'sepolia', fork: 'gloas', slot: 11_296_768 },
  LAYER_ONE_UNUSABLE: { origin: ORIGIN, problem: 'not-final', reason: `${ORIGIN} names no finalized block` },
  LAYER_ONE_CONTRADICTS: { reason: 'EQUIVOCATION', slot: 7 },
  CHECKPOINT_NEEDED: { reason: 'no checkpoint is known; give chain.layerOne.checkpoint' },
  WORKER_FAILED: { reason: 'its script does not load' },
  NODE_CLOSED: {},
  STORE_UNAVAILABLE: { reason: 'no IndexedDB' },
  STORE_TOO_NEW: { version: 9, supported: 8 },
  STORE_CORRUPT: { table: 'headers', reason: 'cannot be decoded' },
  STORE_QUOTA_EXCEEDED: {},
  CHAIN_FILE_REFUSED: { reason: 'is damaged' },
  STORE_TAKEN_OVER: {},
  STORE_IN_USE: { reason: 'other options' },
  OUTCOME_UNKNOWN: { method: 'evm_mine' },
  INTERNAL: { reason: 'a secret' },
};

/** A node with a method for each code, of the same name, which throws it; `TypeError` throws what no code is for. */
export function throwingNode(): NodeTransport {
  const methods = (Object.keys(EVERY_ERROR) as ErrorCode[]).map((code) =>
    someMethod<undefined>(code, () => {
      throw new PlumblineError(code, `thrown ${code}`, EVERY_ERROR[code]);
    }),
  );
  const unknown = someMethod<undefined>('TypeError', () => {
    throw new TypeError('a secret');
  });
  const dispatch = createDispatcher(createMethodTable([...methods, unknown]), undefined);
  const info = {
    chainId: 1,
    networkName: 'devnet',
    hashScheme: 'mimc',
    rollupAddress: `0x${'00'.repeat(20)}`,
    kernelBuild: 'scalar',
    dictionary: { name: 'general', sha256: '0x00', networkOwn: true },
  } as const;
  return new InlineTransport({ close: async () => {} }, { l2: dispatch, l1: dispatch, inspect: dispatch }, info);
}
