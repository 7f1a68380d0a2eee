import { defineMethod } from './context.js';

/** Name and version that `web3_clientVersion` shows; the version is the package's, a test compares them. */
export const CLIENT_VERSION = 'plumbline/v0.1.0';

/** Chain id in decimal. */
export const net_version = defineMethod('net_version', ({ chain }) => String(chain.network.chainId));

export const web3_clientVersion = defineMethod('web3_clientVersion', () => CLIENT_VERSION);

/** Always true: requests are heard. */
export const net_listening = defineMethod('net_listening', () => true);

/** There are no peers (DESIGN.md 8). */
export const net_peerCount = defineMethod('net_peerCount', () => '0x0');

export const eth_syncing = defineMethod('eth_syncing', () => false);

/** The dev accounts on a devnet; none elsewhere, where nobody's keys are held. */
export const eth_accounts = defineMethod('eth_accounts', async ({ devnet }) => {
  if (devnet === undefined) return [];
  const { DEV_ACCOUNTS } = await import('../../chain/devnet/state/dev-accounts.js');
  return DEV_ACCOUNTS.map(({ address }) => address);
});
