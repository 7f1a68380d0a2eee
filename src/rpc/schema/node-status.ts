import type { ErrorCode, UpstreamReason } from '../../errors.js';
import type { Hex } from '../../primitives/hex.js';

/** The compression dictionary that a node sizes transactions with. */
export interface DictionaryReport {
  readonly name: string;
  readonly sha256: Hex;
  /** Whether it is the network's own. Fee estimates with another one are approximations. */
  readonly networkOwn: boolean;
  /** Why the network's own could not be had, each address with its origin; left out where it was, or was not asked for. */
  readonly reason?: string;
}

/** Why an endpoint does not answer rightly. */
export interface EndpointProblem {
  readonly code: ErrorCode;
  /** Of the endpoint's fault, where there was one: `configuration` will not pass by itself. */
  readonly kind?: UpstreamReason['kind'];
  /** HTTP status, when there was one. */
  readonly status?: number;
  /** What was found, and what to do. Without path, query and keys. */
  readonly reason: string;
}

/** What one endpoint answered. */
export interface EndpointReport {
  /** `l2`, `l1`, `l1-consensus`, `l1-checkpoint`, `maru`, `trie-logs` or `state-manager`. */
  readonly role: string;
  /** Its origin; with `#2` and so on if a role has several endpoints of one origin. */
  readonly endpoint: string;
  /** Whether it answered, and rightly as far as one answer shows: the expected chain, a well-formed newest block. */
  readonly answers: boolean;
  /** That it gave; left out where it gave none. Of JSON-RPC only. */
  readonly chainId?: number;
  /** Number of its newest block. */
  readonly head?: number;
  /** Left out where it answers. */
  readonly problem?: EndpointProblem;
}

/** What a node found. Plain data. */
export interface NodeStatus {
  /** When, milliseconds since 1970. */
  readonly checkedAt: number;
  /** Whether an endpoint of layer 2 answers; true for a devnet, which has none. */
  readonly ready: boolean;
  readonly endpoints: readonly EndpointReport[];
  readonly dictionary: DictionaryReport;
}

/** Who writes to the store of a node. */
export interface SharingReport {
  /**
   * `alone`: no other node uses the store. `writer`: this node writes to it. `follower`: the node of another page or worker
   * writes to it, and answers the requests of this one.
   */
  readonly role: 'alone' | 'writer' | 'follower';
  /** Id of the node that writes; left out while it is not known. */
  readonly writer?: string;
  /** Grows with each writer; roughly the time at which it started, in ms. */
  readonly epoch?: number;
}
