import type { Chain, TrustLevel } from '../chain/chain.js';
import type { Hex } from '../primitives/hex.js';

/**
 * Where an answer comes from: `proved`, upstream data checked against a header or a root on layer 1; `computed`, executed
 * or calculated here from such data; `held`, of our own chain or of no chain at all; `forwarded`, passed on and not checked.
 *
 * @source docs/decisions.md 1
 */
export type AnswerClass = 'proved' | 'computed' | 'held' | 'forwarded';

/** What one answer rests on. */
export interface AnswerReport {
  readonly method: string;
  readonly class: AnswerClass;
  /** The lowest level of the blocks it rests on; left out where it rests on none. */
  readonly level?: TrustLevel;
  /** Blocks it was read or computed from, in the order in which they were needed; not all of a long range. */
  readonly blocks: readonly { readonly number: number; readonly hash: Hex }[];
  /** Of a zk proof: number of the block after which the state is that it shows, and whose root layer 1 holds. */
  readonly zkBlock?: number;
  /** JSON-RPC code of an answer that is an error. */
  readonly errorCode?: number;
}

const COMPUTED = new Set([
  'eth_call',
  'eth_createAccessList',
  'eth_estimateGas',
  'eth_simulateV1',
  'linea_estimateGas',
  'eth_baseFee',
  'eth_blobBaseFee',
  'eth_feeHistory',
  'eth_gasPrice',
  'eth_maxPriorityFeePerGas',
]);

/** About what the node itself keeps, such as its filters: an id, a constant. */
const OF_THE_NODE = new Set([
  'eth_accounts',
  'eth_chainId',
  'eth_newBlockFilter',
  'eth_newFilter',
  'eth_newPendingTransactionFilter',
  'eth_subscribe',
  'eth_syncing',
  'eth_uninstallFilter',
  'eth_unsubscribe',
  'net_listening',
  'net_peerCount',
  'net_version',
  'web3_clientVersion',
]);

const FORWARDED = new Set(['eth_sendRawTransaction', 'linea_getTransactionExclusionStatusV1']);

/** Classes on a devnet of methods whose answers are more than what it holds. */
const OF_A_DEVNET: Readonly<Record<string, AnswerClass>> = {
  eth_getProof: 'proved',
  linea_getProof: 'proved',
  eth_sendRawTransaction: 'computed',
};

/** @param method - by the name of its definition, not an alias of it */
export function answerClass(kind: Chain['kind'], method: string): AnswerClass {
  if (COMPUTED.has(method)) return 'computed';
  if (kind === 'devnet') return OF_A_DEVNET[method] ?? 'held';
  if (OF_THE_NODE.has(method)) return 'held';
  return FORWARDED.has(method) ? 'forwarded' : 'proved';
}

/** Class of an answer that says of a hash that nothing has it: without a proof, unless all blocks are our own. */
export function missingClass(kind: Chain['kind']): AnswerClass {
  return kind === 'devnet' ? 'held' : 'forwarded';
}
