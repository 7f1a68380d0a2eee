import type { Chain } from '../chain/chain.js';
import type { AnswerClass } from './answer-report.js';

/*
 * What is known of a method apart from its code. A method names one of these rows where it is defined; `scripts/build-methods.mjs` collects
 * them in `method-rows.generated.ts`, for nodes without the method, the RPC proxy and the client of a shared store.
 */

/** What is known of one method. */
export interface MethodInfo {
  /** The class of its answers on each kind of chain; `off` where that kind does not have the method. */
  readonly answers: Readonly<Record<Chain['kind'], AnswerClass | 'off'>>;
  /**
   * What a request changes of what the node keeps. `none`: nothing. `idempotent`: sending it a second time changes nothing
   * more. `every-time`: a second request changes something again, so that it is never sent twice. A filter, a subscription or a
   * permission does not count: it ends with the node that holds it.
   */
  readonly effect: 'none' | 'idempotent' | 'every-time';
  /** Whether the time limit of a request ends it. Without, it runs until it is done, and its batch has no time limit. */
  readonly timed: boolean;
  /** Set for a method that a node without keys cannot have. */
  readonly needsKeys?: true;
}

const held = { devnet: 'held', light: 'held', replica: 'held' } as const;
const computed = { devnet: 'computed', light: 'computed', replica: 'computed' } as const;
const proved = { devnet: 'proved', light: 'proved', replica: 'proved' } as const;
const devnetOnly = { devnet: 'held', light: 'off', replica: 'off' } as const;

/** Reads blocks or state: a devnet holds them, the others have them proved. */
export const READS = {
  answers: { devnet: 'held', light: 'proved', replica: 'proved' },
  effect: 'none',
  timed: true,
} as const satisfies MethodInfo;
/** A constant, a filter or a subscription of the node itself. */
export const OF_THE_NODE = { answers: held, effect: 'none', timed: true } as const satisfies MethodInfo;
export const COMPUTES = { answers: computed, effect: 'none', timed: true } as const satisfies MethodInfo;
export const PROVES = { answers: proved, effect: 'none', timed: true } as const satisfies MethodInfo;
/** Reads something that only a devnet has. */
export const READS_DEVNET = { answers: devnetOnly, effect: 'none', timed: true } as const satisfies MethodInfo;
/** Changes a devnet. */
export const CHANGES_DEVNET = { answers: devnetOnly, effect: 'every-time', timed: true } as const satisfies MethodInfo;

/** As the method sends a transaction: a second request with the same one changes nothing more. */
export const SENDS_RAW = {
  answers: { devnet: 'computed', light: 'forwarded', replica: 'forwarded' },
  effect: 'idempotent',
  timed: true,
} as const satisfies MethodInfo;
/** Passes the request on to an endpoint. A devnet has none. */
export const FORWARDS = {
  answers: { devnet: 'off', light: 'forwarded', replica: 'forwarded' },
  effect: 'none',
  timed: true,
} as const satisfies MethodInfo;
/** Puts another devnet in the place of this one. That is carried out to its end. */
export const RESETS_DEVNET = { answers: devnetOnly, effect: 'every-time', timed: false } as const satisfies MethodInfo;

/** Needs the keys of an account. Only a devnet holds keys: the others answer -32604, with what to do. */
export const NEEDS_KEYS = { ...READS_DEVNET, needsKeys: true } as const satisfies MethodInfo;
/** Sends a transaction that it signs. */
export const SENDS_WITH_KEYS = { ...CHANGES_DEVNET, needsKeys: true } as const satisfies MethodInfo;

/** What the library offers beside JSON-RPC. It is not reachable over HTTP. */
export const INSPECT = {
  clear: { answers: { devnet: 'held', light: 'held', replica: 'off' }, effect: 'every-time', timed: false },
  depositStatus: PROVES,
  diagnoseTransaction: COMPUTES,
  explainEstimate: COMPUTES,
  exportEvidence: { answers: { devnet: 'off', light: 'proved', replica: 'off' }, effect: 'none', timed: true },
  exportChain: { answers: devnetOnly, effect: 'none', timed: false },
  messages: PROVES,
  prepareClaim: PROVES,
  previewTransaction: COMPUTES,
  importChain: { answers: devnetOnly, effect: 'every-time', timed: false },
  sharing: OF_THE_NODE,
  status: OF_THE_NODE,
  storage: OF_THE_NODE,
} as const satisfies Rows;

/** The simulated layer 1 of a devnet: methods that a devnet has too, and its beacon API. */
export const L1 = {
  beacon_get: READS_DEVNET,
  debug_traceCall: READS_DEVNET,
  debug_traceTransaction: READS_DEVNET,
  eth_accounts: READS_DEVNET,
  eth_blockNumber: READS_DEVNET,
  eth_call: READS_DEVNET,
  eth_chainId: READS_DEVNET,
  eth_createAccessList: READS_DEVNET,
  eth_estimateGas: READS_DEVNET,
  eth_feeHistory: READS_DEVNET,
  eth_gasPrice: READS_DEVNET,
  eth_getBalance: READS_DEVNET,
  eth_getBlockByHash: READS_DEVNET,
  eth_getBlockByNumber: READS_DEVNET,
  eth_getBlockReceipts: READS_DEVNET,
  eth_getCode: READS_DEVNET,
  eth_getLogs: READS_DEVNET,
  eth_getProof: READS_DEVNET,
  eth_getStorageAt: READS_DEVNET,
  eth_getTransactionByHash: READS_DEVNET,
  eth_getTransactionCount: READS_DEVNET,
  eth_getTransactionReceipt: READS_DEVNET,
  eth_maxPriorityFeePerGas: READS_DEVNET,
  eth_sendRawTransaction: SENDS_RAW,
  eth_sendTransaction: SENDS_WITH_KEYS,
  evm_mine: CHANGES_DEVNET,
  net_version: READS_DEVNET,
  web3_clientVersion: READS_DEVNET,
} as const satisfies Rows;

type Rows<Answers = unknown> = Readonly<Record<string, MethodInfo & { readonly answers: Answers }>>;
