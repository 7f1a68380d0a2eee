import { defineMethod } from './context.js';

/** Name and version that `web3_clientVersion` answers. A test compares the version with the package's. */
export const CLIENT_VERSION = 'plumbline/v0.1.0';

/** Chain id in decimal. */
export const net_version = defineMethod('net_version', ({ chain }) => String(chain.network.chainId));

export const web3_clientVersion = defineMethod('web3_clientVersion', () => CLIENT_VERSION);

/** Always true: the node takes requests. */
export const net_listening = defineMethod('net_listening', () => true);

/** There are no peers (docs/decisions.md 10). */
export const net_peerCount = defineMethod('net_peerCount', () => '0x0');

export const eth_syncing = defineMethod('eth_syncing', () => false);

/** The dev accounts on a devnet that the caller may use. Other nodes hold no keys, and answer an empty list. */
export const eth_accounts = defineMethod('eth_accounts', async ({ devnet }, _, call) => {
  if (devnet === undefined) return [];
  return (await import('./permitted-accounts.js')).permittedAccounts(call);
});
