import type { RpcContext } from '../context.js';
import type { Method } from '../method.js';

/** Name and version that `web3_clientVersion` shows; the version is the package's, a test compares them. */
export const CLIENT_VERSION = 'plumbline/v0.1.0';

/** Chain id in decimal. */
export const net_version: Method<RpcContext> = {
  name: 'net_version',
  handle: ({ chain }) => String(chain.network.chainId),
};

export const web3_clientVersion: Method<RpcContext> = {
  name: 'web3_clientVersion',
  handle: () => CLIENT_VERSION,
};

/** Always true: requests are heard. */
export const net_listening: Method<RpcContext> = { name: 'net_listening', handle: () => true };

/** There are no peers (docs/decisions.md 10). */
export const net_peerCount: Method<RpcContext> = { name: 'net_peerCount', handle: () => '0x0' };

export const eth_syncing: Method<RpcContext> = { name: 'eth_syncing', handle: () => false };

/** The dev accounts on a devnet; none elsewhere, where nobody's keys are held. */
export const eth_accounts: Method<RpcContext> = {
  name: 'eth_accounts',
  async handle({ devnet }) {
    if (devnet === undefined) return [];
    const { DEV_ACCOUNTS } = await import('../../chain/devnet/state/dev-accounts.js');
    return DEV_ACCOUNTS.map(({ address }) => address);
  },
};
