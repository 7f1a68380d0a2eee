import type { TrustLevel } from '../../chain/block.js';
import type { ForwardOutcome, ReverseOutcome } from '../../chain/names.js';
import { type ErrorCode, PlumblineError, type UpstreamReason } from '../../errors.js';
import type { GasSearch } from '../../networks/gas-searches.js';
import type { Hex } from '../../primitives/hex.js';
import type { Durability, Table } from '../../store/page-store.js';
import type { StoreStatus } from '../../store/store-status.js';
import type { TableUsage } from '../../store/table-usage.js';
import type { LineaBlockJson } from './json.js';

/** The compression dictionary with which a node sizes transactions. */
export interface DictionaryReport {
  readonly name: string;
  readonly sha256: Hex;
  /** Whether it is the network's own dictionary. With another one, fee estimates are approximations. */
  readonly networkOwn: boolean;
  /**
   * Why the network's own dictionary could not be loaded, with the origin of each address. Left out if it was loaded, or was not
   * requested.
   */
  readonly reason?: string;
}

/** Why an endpoint gives no right answer. */
export interface EndpointProblem {
  readonly code: ErrorCode;
  /** The kind of problem at the endpoint, if there was one. `configuration` does not pass by itself. */
  readonly kind?: UpstreamReason['kind'];
  /** The HTTP status, if there was one. */
  readonly status?: number;
  /** What was found, and what to do. It contains no path, no query and no keys. */
  readonly reason: string;
}

/** What one endpoint answered. */
export interface EndpointReport {
  /** `l2`, `l1`, `l1-consensus`, `l1-checkpoint`, `maru`, `trie-logs` or `state-manager`. */
  readonly role: string;
  /** The origin of the endpoint. If a role has several endpoints of one origin, it ends with `#2` and so on. */
  readonly endpoint: string;
  /** Whether it gave a right answer, as far as one answer shows this: the expected chain, and a well-formed newest block. */
  readonly answers: boolean;
  /** The chain id in its answer. Left out if it gave none. Only for JSON-RPC. */
  readonly chainId?: number;
  /** Number of its newest block. */
  readonly head?: number;
  /** Left out if it answers. */
  readonly problem?: EndpointProblem;
}

/** What a node found when it asked its endpoints. Plain data. */
export interface NodeStatus {
  /** When the endpoints were asked, in milliseconds since 1970. */
  readonly checkedAt: number;
  /** Whether a layer-2 endpoint answers. Always true for a devnet, which has no endpoints. */
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
  /** Id of the node that writes. Left out as long as it is not known. */
  readonly writer?: string;
  /** The number of the writer, higher for each new writer. It is roughly the time at which the writer started, in ms. */
  readonly epoch?: number;
}

/** Use and limit of one table. */
export interface TableReport extends TableUsage {
  /** Bytes; left out if the table has no limit of its own. */
  readonly budget?: number;
}

/** What a node stores, and how much. Plain data. */
export interface StorageReport {
  /** Whether the data of the node is still there after it is closed. */
  readonly status: StoreStatus;
  /** When a commit counts as done. Left out for a node in memory. */
  readonly durability?: Durability;
  /** All zero for a node in memory, or if the store cannot be read. `status` has the reason. */
  readonly tables: Readonly<Record<Table, TableReport>>;
  /** Of all tables. */
  readonly bytes: number;
  /** Blocks and state of a devnet, with the budget for both if there is one. Left out for other chains. */
  readonly devnet?: { readonly bytes: number; readonly budget?: number };
  /**
   * What the browser reports about this origin: bytes in use (an estimate), and the quota. After data is deleted, it takes some time
   * until the database files shrink. Left out if the browser reports nothing.
   */
  readonly origin?: { readonly usage?: number; readonly quota?: number };
  /** Whether the browser has promised not to delete what this origin stores (`navigator.storage.persist`). */
  readonly persisted?: boolean;
}

/** Result of importing a chain. */
export interface ChainImport {
  /** Number of the newest block. */
  readonly head: number;
}

/** Control of what a node stores. */
export interface StorageControl {
  report(): Promise<StorageReport>;
  /** Deletes everything that is stored. A devnet continues from genesis, a light node with nothing. */
  clear(): Promise<void>;
  /** @throws PlumblineError `METHOD_NOT_ENABLED` on other chains than devnets; `STORE_UNAVAILABLE` without a store */
  exportChain(): Promise<Uint8Array>;
  /**
   * @param signal - ends it before anything is changed; once writing has begun it has no effect
   * @throws PlumblineError `CHAIN_FILE_REFUSED`; `METHOD_NOT_ENABLED` on other chains than devnets; the signal's reason
   */
  importChain(file: Uint8Array, signal?: AbortSignal): Promise<ChainImport>;
}

/** A typed error as the result of a method of the library: a JSON-RPC error would leave out its code and details. */
interface Thrown {
  readonly plumblineError: Pick<PlumblineError, 'code' | 'message' | 'details'>;
}

export function thrownResult({ code, message, details }: PlumblineError): Thrown {
  return { plumblineError: { code, message, details } };
}

/** The result of a method. @throws PlumblineError the one that the method threw */
export function storageResult(answer: unknown): unknown {
  const thrown = (answer as Partial<Thrown> | null)?.plumblineError;
  if (thrown !== undefined) throw new PlumblineError(thrown.code, thrown.message, thrown.details);
  return answer;
}

/** Options of an explained estimate, beside the parameters of `linea_estimateGas`. */
export interface ExplainOptions {
  /** Gas search for this estimate. Default: the node's search. */
  readonly gasSearch?: GasSearch;
}

/** An estimate, and how it was computed. Amounts are quantities in wei, gas is in units of gas. */
export interface ExplainedEstimate {
  readonly gasLimit: Hex;
  readonly baseFeePerGas: Hex;
  readonly priorityFeePerGas: Hex;
  readonly evidence: {
    readonly gas: {
      readonly search: GasSearch;
      /** Number of limits that the search tried. */
      readonly runs: number;
      /** Number of executions. It can be lower than `runs`: for some limits, another run already proves the outcome. */
      readonly executed: number;
      /** Every limit that was tried, in order. */
      readonly probes: readonly { readonly gasLimit: Hex; readonly succeeded: boolean }[];
      /** Gas used with the answer as limit. */
      readonly gasUsed: Hex;
      readonly gasUsedBeforeRefund: Hex;
      /** Execution gas. From Amsterdam on, a block counts two kinds of gas (EIP-8037). Before that, all gas is execution gas. */
      readonly executionGas: Hex;
      /** Gas for new accounts, slots and code. */
      readonly stateGas: Hex;
    };
    /** Number of the block after which it was executed. */
    readonly block: number;
    /** `held`: executed on the node's own chain. Otherwise the trust level of the block on a light node. */
    readonly trust: TrustLevel;
    /** Which bytes were sized. `current`: the unsigned transaction. `signed`: the signed one, which is the older form. */
    readonly sizing: 'current' | 'signed';
    readonly transactionBytes: number;
    readonly compressedTxSize: number;
    /** If it is not the network's own dictionary, the size is an approximation, and `reason` says why another one was used. */
    readonly dictionary: { readonly name: string; readonly networkOwn: boolean; readonly reason?: string };
    readonly pricingModel: 'extra-data' | 'verification-cost';
    readonly prices: { readonly fixedCostWei: Hex; readonly variableCostWei: Hex; readonly minGasPriceWei: Hex };
    /** Null if the defaults of the network profile are used. */
    readonly pricesFromBlock: number | null;
    readonly margin: number;
    /** False if the base fee is not that of the network profile. */
    readonly baseFeeIsConstant: boolean;
    /** Base fee plus priority fee, without a reserve for a higher base fee (docs/spec/fees.md 1). */
    readonly maxFeePerGas: Hex;
    /** Highest cost of the transaction without its value: gas limit times `maxFeePerGas`. */
    readonly totalFee: Hex;
    /** Limits of the prover: those that were counted and kept, and those that cannot be counted here. */
    readonly limits: {
      readonly checked: readonly { readonly module: string; readonly count: number; readonly limit: number }[];
      readonly unchecked: readonly string[];
    };
  };
}

/** The parameters of `explainEstimate`, followed by the options. */
export function explainParams(params: readonly unknown[], options: ExplainOptions): readonly unknown[] {
  if (options.gasSearch === undefined) return params;
  const [call, second = null, third = null] = params;
  return [call, second, third, { gasSearch: options.gasSearch }];
}

/** Options of `node.resolveName` and `node.lookupAddress`. */
export interface NameOptions {
  /**
   * The kind of address, with the numbers of ENSIP-9 and ENSIP-11. Default 60: ether on layer 1. `0x80000000 + chainId` is the address
   * on another chain, such as `0x8000e708` for Linea.
   */
  readonly coinType?: number;
  /** The state that is read: a number, a hash or a tag. Default `latest`. */
  readonly block?: LineaBlockJson;
}

/** What an answer about a name is based on. */
export interface NameTrust {
  /** Level of the block whose state was read. */
  readonly level: TrustLevel;
  readonly block: { readonly number: number; readonly hash: Hex };
}

/**
 * What a name resolves to. `status` says what was found. `address` is there only if the status is `resolved`. It is in lower case. For
 * coin types without EVM addresses, it is the record as it is stored (ENSIP-9).
 */
export type NameResolution = {
  /** The name as it was asked for, normalised (ENSIP-15). */
  readonly name: string;
  readonly coinType: number;
  readonly trust: NameTrust;
} & ForwardOutcome;

/** The name of an address. `name` is there only if `status` is `found`: the reverse record names it, and it resolves to the address. */
export type AddressLookup = {
  readonly address: Hex;
  readonly coinType: number;
  readonly trust: NameTrust;
} & ReverseOutcome;
