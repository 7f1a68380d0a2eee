import type { Hex } from '../../primitives/hex.js';
import { toQuantity } from '../../primitives/quantity.js';
import { parseQuantity, requireObject } from '../parsing/parse-params.js';
import { NEEDS_KEYS } from '../protocol/method-rows.js';
import { defineMethod, type RpcContext } from './context.js';
import { walletRefused } from './permitted-accounts.js';

/** Null for the node's own chain, which is the only one it has. @source EIP-3326 */
export const wallet_switchEthereumChain = defineMethod<[chain: { readonly chainId: Hex }], null>(
  'wallet_switchEthereumChain',
  NEEDS_KEYS,
  ({ chain }, [param]) => {
    const asked = chainIdOf(param);
    if (asked === BigInt(chain.network.chainId)) return null;
    throw walletRefused('unknown-chain', `${onlyChain(chain)}; chain ${toQuantity(asked)} needs a node of its own`);
  },
);

/** Null for the node's own chain. @source EIP-3085 */
export const wallet_addEthereumChain = defineMethod<[chain: { readonly chainId: Hex }], null>(
  'wallet_addEthereumChain',
  NEEDS_KEYS,
  ({ chain }, [param]) => {
    const asked = chainIdOf(param);
    if (asked === BigInt(chain.network.chainId)) return null;
    throw walletRefused('unsupported', `${onlyChain(chain)}; open another node for chain ${toQuantity(asked)}`);
  },
);

/** @source EIP-747 */
export const wallet_watchAsset = defineMethod<[asset: object], never>('wallet_watchAsset', NEEDS_KEYS, () => {
  throw walletRefused('unsupported', 'this node shows no list of tokens; read balances with eth_call');
});

function chainIdOf(param: unknown): bigint {
  return parseQuantity(requireObject(param, 'chain', 'params').chainId, 'chainId');
}

function onlyChain({ network }: RpcContext['chain']): string {
  return `this node has one chain, ${toQuantity(network.chainId)}`;
}
