import type { Hex } from '../../primitives/hex.js';
import { toQuantity } from '../../primitives/quantity.js';
import type { MethodCallOptions } from '../method.js';
import { NEEDS_KEYS, OF_THE_NODE } from '../method-rows.js';
import { parseQuantity, requireObject } from '../parse-params.js';
import { walletRefused } from '../rpc-errors.js';
import { defineMethod, type RpcContext } from './context.js';

/**
 * Null for a chain that the caller can switch to: the chain of the node, or one of its `chains`. The session of the caller goes on with that
 * chain; over HTTP there is none, and each chain has its own path. @source EIP-3326
 */
export const wallet_switchEthereumChain = defineMethod<[chain: { readonly chainId: Hex }], null>(
  'wallet_switchEthereumChain',
  OF_THE_NODE,
  ({ chain }, [param], call) => {
    const asked = chainIdOf(param);
    const reachable = chainsOf(chain, call);
    if (reachable.includes(asked)) return null;
    throw walletRefused(
      'unknown-chain',
      `${told(reachable)}; chain ${toQuantity(asked)} needs a connection of its own`,
    );
  },
);

/** Null for a chain that `wallet_switchEthereumChain` can switch to. @source EIP-3085 */
export const wallet_addEthereumChain = defineMethod<[chain: { readonly chainId: Hex }], null>(
  'wallet_addEthereumChain',
  OF_THE_NODE,
  ({ chain }, [param], call) => {
    const asked = chainIdOf(param);
    const reachable = chainsOf(chain, call);
    if (reachable.includes(asked)) return null;
    throw walletRefused('unsupported', `${told(reachable)}; open another node for chain ${toQuantity(asked)}`);
  },
);

/** @source EIP-747 */
export const wallet_watchAsset = defineMethod<[asset: object], never>('wallet_watchAsset', NEEDS_KEYS, () => {
  throw walletRefused('unsupported', 'this node shows no list of tokens; read balances with eth_call');
});

function chainIdOf(param: unknown): bigint {
  return parseQuantity(requireObject(param, 'chain', 'params').chainId, 'chainId');
}

function chainsOf({ network }: RpcContext['chain'], { chains = [network.chainId] }: MethodCallOptions): bigint[] {
  return chains.map(BigInt);
}

function told(chains: readonly bigint[]): string {
  const ids = chains.map(toQuantity).join(', ');
  return `this connection has ${chains.length > 1 ? 'the chains' : 'one chain,'} ${ids}`;
}
