import type { TrustLevel } from '../../chain/block.js';
import type { ForwardOutcome, ReverseOutcome } from '../../chain/names.js';
import { type ErrorCode, PlumblineError, type UpstreamReason } from '../../errors.js';
import type { GasSearch } from '../../networks/gas-searches.js';
import type { Hex } from '../../primitives/hex.js';
import type { Durability, Table } from '../../store/page-store.js';
import type { StoreStatus } from '../../store/store-status.js';
import type { TableUsage } from '../../store/table-usage.js';
import type { LineaBlockJson } from './json.js';

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

/** Use and limit of one table. */
export interface TableReport extends TableUsage {
  /** Bytes; left out if the table has no limit of its own. */
  readonly budget?: number;
}

/** What a node stores, and how much. Plain data. */
export interface StorageReport {
  /** Whether what the node learns is still there after it is closed. */
  readonly status: StoreStatus;
  /** Of commits; left out for a node in memory. */
  readonly durability?: Durability;
  /** All zero for a node in memory, and while the store cannot be read: `status` has the reason. */
  readonly tables: Readonly<Record<Table, TableReport>>;
  /** Of all tables. */
  readonly bytes: number;
  /** Blocks and state of a devnet, with the budget for both if there is one; left out for other chains. */
  readonly devnet?: { readonly bytes: number; readonly budget?: number };
  /**
   * What the browser reports of this origin: bytes in use (an estimate), and the quota. Files of a database shrink some time
   * after their content. Left out if the browser reports nothing.
   */
  readonly origin?: { readonly usage?: number; readonly quota?: number };
  /** Whether the browser has promised not to drop what this origin stores (`navigator.storage.persist`). */
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
  /** Search for this estimate, instead of the node's. */
  readonly gasSearch?: GasSearch;
}

/** An estimate and how it was computed; amounts are quantities in wei, gas in units of gas. */
export interface ExplainedEstimate {
  readonly gasLimit: Hex;
  readonly baseFeePerGas: Hex;
  readonly priorityFeePerGas: Hex;
  readonly evidence: {
    readonly gas: {
      readonly search: GasSearch;
      /** Limits the search tried. */
      readonly runs: number;
      /** Executions that this needed: for some limits another run already proves the outcome. */
      readonly executed: number;
      /** Every limit that was tried, in order. */
      readonly probes: readonly { readonly gasLimit: Hex; readonly succeeded: boolean }[];
      /** Gas used with the answer as limit. */
      readonly gasUsed: Hex;
      readonly gasUsedBeforeRefund: Hex;
      /** The two kinds of gas that a block counts, from Amsterdam on (EIP-8037); before it all is execution gas. */
      readonly executionGas: Hex;
      /** Gas for new accounts, slots and code. */
      readonly stateGas: Hex;
    };
    /** Number of the block after which it was executed. */
    readonly block: number;
    /** `held`: executed on the node's own chain; otherwise the trust level of a light node. */
    readonly trust: TrustLevel;
    /** Which bytes were sized: those of the unsigned transaction, or, in the older form, of the signed one. */
    readonly sizing: 'current' | 'signed';
    readonly transactionBytes: number;
    readonly compressedTxSize: number;
    /** If it is not the network's own, the size is an approximation, and `reason` says why another one was used. */
    readonly dictionary: { readonly name: string; readonly networkOwn: boolean; readonly reason?: string };
    readonly pricingModel: 'extra-data' | 'verification-cost';
    readonly prices: { readonly fixedCostWei: Hex; readonly variableCostWei: Hex; readonly minGasPriceWei: Hex };
    /** Null while the defaults of the network profile apply. */
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
   * Of which kind of address, as ENSIP-9 and ENSIP-11 count them. Default 60: ether on layer 1. `0x80000000 + chainId` is the address on
   * another chain, such as `0x8000e708` for Linea.
   */
  readonly coinType?: number;
  /** The state that is read: a number, a hash or a tag. Default `latest`. */
  readonly block?: LineaBlockJson;
}

/** What an answer about a name rests on. */
export interface NameTrust {
  /** Level of the block whose state was read. */
  readonly level: TrustLevel;
  readonly block: { readonly number: number; readonly hash: Hex };
}

/**
 * What a name resolves to. `status` says what was found; `address` is there only if it is `resolved`. It is in lower case; of coin types
 * that have no addresses of the EVM, it is the record as it is stored (ENSIP-9).
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
