import type { Hex } from '../../primitives/hex.js';
import type {
  HeaderJson,
  LineaBlockJson,
  LogFilterJson,
  LogJson,
  ReceiptJson,
  TransactionJson,
  TrieProofJson,
} from './json.js';
import type { ChainSchema, DevnetSchema, WalletSchema } from './methods.generated.js';

/** Parameters and result of one method. */
export interface MethodType {
  readonly params: readonly unknown[];
  readonly result: unknown;
}

/** The methods of a node, by name, with parameters and results. */
export interface RpcSchema extends ChainSchema, DevnetSchema, WalletSchema {
  l2_estimateGas: ChainSchema['linea_estimateGas'];
  l2_getProof: ChainSchema['linea_getProof'];
}

/** The methods of a devnet's simulated layer 1. */
export interface LayerOneSchema {
  /** Path and query of the beacon API, and whether objects are wanted as bytes of SSZ in hex; status and body. */
  beacon_get: { params: [target: string, form?: 'json' | 'ssz']; result: unknown };
  eth_blockNumber: { params: []; result: Hex };
  eth_call: { params: [call: { readonly to: Hex; readonly data: Hex }, block?: LineaBlockJson]; result: Hex };
  eth_chainId: { params: []; result: Hex };
  eth_getBlockByHash: { params: [hash: Hex, full?: boolean]; result: HeaderJson | null };
  eth_getBlockByNumber: { params: [block: LineaBlockJson, full?: boolean]; result: HeaderJson | null };
  eth_getBlockReceipts: { params: [block: LineaBlockJson]; result: readonly ReceiptJson[] | null };
  eth_getCode: { params: [address: Hex, block?: LineaBlockJson]; result: Hex };
  eth_getLogs: { params: [filter: LogFilterJson]; result: readonly LogJson[] };
  eth_getProof: { params: [address: Hex, keys: readonly Hex[], block?: LineaBlockJson]; result: TrieProofJson };
  eth_getTransactionByHash: { params: [hash: Hex]; result: TransactionJson | null };
  eth_getTransactionReceipt: { params: [hash: Hex]; result: ReceiptJson | null };
  net_version: { params: []; result: string };
}
