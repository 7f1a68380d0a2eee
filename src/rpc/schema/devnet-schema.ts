import type { Hex } from '../../primitives/hex.js';
import type { BlockResultJson, NodeCapabilitiesJson, ReceiptJson, SentCallJson, TransactionJson } from './json.js';

/** An amount as developer tools send it: a hex quantity, decimal digits, or a safe whole number. */
type Amount = Hex | `${number}` | number;
type Edit = { params: [address: Hex, value: Amount]; result: true };
type EditCode = { params: [address: Hex, code: Hex]; result: true };
type EditSlot = { params: [address: Hex, position: Hex, value: Hex]; result: true };
type OfAccount = { params: [address: Hex]; result: true };
type Switch = { params: [enabled: boolean]; result: true };
type Count<Result = true> = { params: [count: Amount]; result: Result };
type Reads<Result> = { params: []; result: Result };
type BySender<Shown> = { readonly [sender: Hex]: { readonly [nonce: string]: Shown } };

/** Parameters and results of the methods that steer a devnet. */
export interface DevnetSchema {
  admin_nodeInfo: Reads<Record<string, unknown>>;
  eth_capabilities: Reads<NodeCapabilitiesJson>;
  anvil_addBalance: { params: [address: Hex, amount: Amount]; result: null };
  anvil_autoImpersonateAccount: { params: [enabled: boolean]; result: null };
  anvil_deal: Edit;
  anvil_dealERC20: { params: [holder: Hex, token: Hex, balance: Amount]; result: null };
  anvil_dropAllTransactions: Reads<null>;
  anvil_dropTransaction: { params: [hash: Hex]; result: Hex | null };
  anvil_dumpState: Reads<Hex>;
  anvil_getAutomine: Reads<boolean>;
  anvil_getGenesisTime: Reads<number>;
  anvil_getIntervalMining: Reads<number | null>;
  anvil_impersonateAccount: OfAccount;
  anvil_increaseTime: Count<Hex>;
  anvil_loadState: { params: [state: Hex]; result: true };
  anvil_metadata: Reads<
    {
      readonly clientVersion: string;
      readonly chainId: number;
      readonly instanceId: Hex;
      readonly latestBlockNumber: number;
      readonly latestBlockHash: Hex;
    } & {
      readonly forkedNetwork: {
        readonly chainId: number;
        readonly forkBlockNumber: number;
        readonly forkBlockHash: Hex;
      } | null;
      readonly snapshots: Record<Hex, readonly [number, Hex]>;
    }
  >;
  anvil_mine: { params: [blocks?: Amount, seconds?: Amount]; result: null };
  anvil_mine_detailed: {
    params: [at?: Amount | { readonly timestamp?: Amount; readonly blocks?: Amount }];
    result: readonly BlockResultJson[];
  };
  anvil_nodeInfo: Reads<Record<string, unknown>>;
  anvil_removeBlockTimestampInterval: Reads<true>;
  anvil_removePoolTransactions: { params: [sender: Hex]; result: null };
  anvil_reorg: {
    params: [depth: number, pairs?: readonly (readonly [transaction: Hex | SentCallJson, block: number])[]];
    result: null;
  };
  anvil_reset: { params: [options?: object | null]; result: null };
  anvil_revert: Count<boolean>;
  anvil_rollback: { params: [depth?: number]; result: null };
  anvil_setAutomine: Switch;
  anvil_setBalance: Edit;
  anvil_setBlockGasLimit: Count;
  anvil_setBlockTimestampInterval: Count<null>;
  anvil_setChainId: { params: [chainId: Amount]; result: null };
  anvil_setCode: EditCode;
  anvil_setCoinbase: OfAccount;
  anvil_setERC20Allowance: { params: [owner: Hex, spender: Hex, token: Hex, amount: Amount]; result: null };
  anvil_setERC20Balance: { params: [holder: Hex, token: Hex, balance: Amount]; result: null };
  anvil_setIntervalMining: Count;
  anvil_setLoggingEnabled: { params: [enabled: boolean]; result: null };
  anvil_setMinGasPrice: { params: [price: Amount]; result: never };
  anvil_setNextBlockBaseFeePerGas: Count;
  anvil_setNextBlockTimestamp: Count<null>;
  anvil_setNonce: Edit;
  anvil_setRpcUrl: { params: [url: string]; result: never };
  anvil_setStorageAt: EditSlot;
  anvil_setTime: Count<number>;
  anvil_snapshot: Reads<Hex>;
  anvil_stopImpersonatingAccount: OfAccount;
  eth_sendTransactionSync: { params: [transaction: SentCallJson]; result: ReceiptJson };
  eth_sendUnsignedTransaction: { params: [transaction: SentCallJson]; result: Hex };
  evm_increaseTime: Count<Hex>;
  evm_mine: { params: [at?: Amount | { readonly timestamp?: Amount; readonly blocks?: Amount }]; result: Hex };
  evm_mine_detailed: {
    params: [at?: Amount | { readonly timestamp?: Amount; readonly blocks?: Amount }];
    result: readonly BlockResultJson[];
  };
  evm_revert: Count<boolean>;
  evm_setAccountBalance: Edit;
  evm_setAccountCode: EditCode;
  evm_setAccountNonce: Edit;
  evm_setAccountStorageAt: EditSlot;
  evm_setAutomine: Switch;
  evm_setBlockGasLimit: Count;
  evm_setIntervalMining: Count;
  evm_setNextBlockTimestamp: Count<null>;
  evm_setTime: { params: [at: Amount | string]; result: number };
  evm_snapshot: Reads<Hex>;
  hardhat_addBalance: { params: [address: Hex, amount: Amount]; result: null };
  hardhat_autoImpersonateAccount: { params: [enabled: boolean]; result: null };
  hardhat_dealERC20: { params: [holder: Hex, token: Hex, balance: Amount]; result: null };
  hardhat_dropAllTransactions: Reads<null>;
  hardhat_dropTransaction: { params: [hash: Hex]; result: boolean };
  hardhat_dumpState: Reads<Hex>;
  hardhat_getAutomine: Reads<boolean>;
  hardhat_impersonateAccount: OfAccount;
  hardhat_loadState: { params: [state: Hex]; result: true };
  hardhat_metadata: Reads<{
    readonly clientVersion: string;
    readonly chainId: number;
    readonly instanceId: Hex;
    readonly latestBlockNumber: number;
    readonly latestBlockHash: Hex;
    readonly forkedNetwork?: {
      readonly chainId: number;
      readonly forkBlockNumber: number;
      readonly forkBlockHash: Hex;
    };
  }>;
  hardhat_mine: { params: [blocks?: Amount, seconds?: Amount]; result: true };
  hardhat_removeBlockTimestampInterval: Reads<true>;
  hardhat_reset: { params: [options?: object | null]; result: true };
  hardhat_setBalance: Edit;
  hardhat_setBlockTimestampInterval: Count<null>;
  hardhat_setCode: EditCode;
  hardhat_setCoinbase: OfAccount;
  hardhat_setLoggingEnabled: Switch;
  hardhat_setMinGasPrice: { params: [price: Amount]; result: never };
  hardhat_setNextBlockBaseFeePerGas: Count;
  hardhat_setNonce: Edit;
  hardhat_setPrevRandao: { params: [value: Hex]; result: true };
  hardhat_setStorageAt: EditSlot;
  hardhat_stopImpersonatingAccount: OfAccount;
  tenderly_addBalance: { params: [address: Hex, amount: Amount]; result: null };
  tenderly_setBalance: Edit;
  txpool_content: Reads<{ readonly pending: BySender<TransactionJson>; readonly queued: BySender<TransactionJson> }>;
  txpool_contentFrom: {
    params: [sender: Hex];
    result: Readonly<Record<'pending' | 'queued', { readonly [nonce: string]: TransactionJson }>>;
  };
  txpool_inspect: Reads<{ readonly pending: BySender<string>; readonly queued: BySender<string> }>;
  txpool_status: Reads<{ readonly pending: Hex; readonly queued: Hex }>;
}
