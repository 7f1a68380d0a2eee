import type { Hex } from '../../primitives/hex.js';
import type { SentCallJson, TransactionJson } from './json.js';

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
  anvil_autoImpersonateAccount: { params: [enabled: boolean]; result: null };
  anvil_dropAllTransactions: Reads<null>;
  anvil_dropTransaction: { params: [hash: Hex]; result: Hex | null };
  anvil_getAutomine: Reads<boolean>;
  anvil_getIntervalMining: Reads<number | null>;
  anvil_impersonateAccount: OfAccount;
  anvil_increaseTime: Count<Hex>;
  anvil_mine: { params: [blocks?: Amount, seconds?: Amount]; result: null };
  anvil_removeBlockTimestampInterval: Reads<true>;
  anvil_revert: Count<boolean>;
  anvil_setAutomine: Switch;
  anvil_setBalance: Edit;
  anvil_setBlockGasLimit: Count;
  anvil_setBlockTimestampInterval: Count<null>;
  anvil_setCode: EditCode;
  anvil_setCoinbase: OfAccount;
  anvil_setIntervalMining: Count;
  anvil_setNextBlockBaseFeePerGas: Count;
  anvil_setNextBlockTimestamp: Count<null>;
  anvil_setNonce: Edit;
  anvil_setStorageAt: EditSlot;
  anvil_snapshot: Reads<Hex>;
  anvil_stopImpersonatingAccount: OfAccount;
  eth_sendUnsignedTransaction: { params: [transaction: SentCallJson]; result: Hex };
  evm_increaseTime: Count<Hex>;
  evm_mine: { params: [at?: Amount | { readonly timestamp?: Amount; readonly blocks?: Amount }]; result: Hex };
  evm_revert: Count<boolean>;
  evm_setAccountBalance: Edit;
  evm_setAccountCode: EditCode;
  evm_setAccountNonce: Edit;
  evm_setAccountStorageAt: EditSlot;
  evm_setAutomine: Switch;
  evm_setBlockGasLimit: Count;
  evm_setIntervalMining: Count;
  evm_setNextBlockTimestamp: Count<null>;
  evm_snapshot: Reads<Hex>;
  hardhat_dropTransaction: { params: [hash: Hex]; result: boolean };
  hardhat_getAutomine: Reads<boolean>;
  hardhat_impersonateAccount: OfAccount;
  hardhat_mine: { params: [blocks?: Amount, seconds?: Amount]; result: true };
  hardhat_removeBlockTimestampInterval: Reads<true>;
  hardhat_setBalance: Edit;
  hardhat_setBlockTimestampInterval: Count<null>;
  hardhat_setCode: EditCode;
  hardhat_setCoinbase: OfAccount;
  hardhat_setNextBlockBaseFeePerGas: Count;
  hardhat_setNonce: Edit;
  hardhat_setStorageAt: EditSlot;
  hardhat_stopImpersonatingAccount: OfAccount;
  txpool_content: Reads<{ readonly pending: BySender<TransactionJson>; readonly queued: BySender<TransactionJson> }>;
  txpool_inspect: Reads<{ readonly pending: BySender<string>; readonly queued: BySender<string> }>;
  txpool_status: Reads<{ readonly pending: Hex; readonly queued: Hex }>;
}
