import { laterMethod, type RpcContext } from '../methods/context.js';
import { eth_sendTransaction } from '../methods/eth_sendTransaction.js';
import type { Method } from '../protocol/method.js';
import type { WalletMethodName } from '../protocol/method-info.js';

const permissions = () => import('../methods/wallet-permissions.js');
const signing = () => import('../methods/wallet-signing.js');
const chains = () => import('../methods/wallet-chains.js');
const calls = () => import('../methods/wallet-calls.js');

/** The methods of wallets, for a devnet. */
export const WALLET_METHODS: { readonly [Name in WalletMethodName]: Method<RpcContext, Name> } = {
  eth_requestAccounts: laterMethod('eth_requestAccounts', permissions),
  eth_sendTransaction,
  eth_sign: laterMethod('eth_sign', signing),
  eth_signTransaction: laterMethod('eth_signTransaction', signing),
  eth_signTypedData_v4: laterMethod('eth_signTypedData_v4', signing),
  personal_sign: laterMethod('personal_sign', signing),
  wallet_addEthereumChain: laterMethod('wallet_addEthereumChain', chains),
  wallet_getCallsStatus: laterMethod('wallet_getCallsStatus', calls),
  wallet_getCapabilities: laterMethod('wallet_getCapabilities', calls),
  wallet_getPermissions: laterMethod('wallet_getPermissions', permissions),
  wallet_requestPermissions: laterMethod('wallet_requestPermissions', permissions),
  wallet_revokePermissions: laterMethod('wallet_revokePermissions', permissions),
  wallet_sendCalls: laterMethod('wallet_sendCalls', calls),
  wallet_switchEthereumChain: laterMethod('wallet_switchEthereumChain', chains),
  wallet_watchAsset: laterMethod('wallet_watchAsset', chains),
};
