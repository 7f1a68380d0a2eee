import type { DevnetControl } from '../../chain/devnet/mining/control.js';
import type { Tool } from '../../chain/devnet/options.js';
import { defineMethod } from './context.js';

/** Name and version that `web3_clientVersion` answers. A test compares the version with the package's. */
export const CLIENT_VERSION = 'plumbline/v0.1.0';

/** Chain id in decimal. */
export const net_version = defineMethod('net_version', ({ chain }) => String(chain.network.chainId));

/** First part of the version by which tools know their own chain. */
const TOOL_NAMES: Readonly<Record<Tool, string>> = { anvil: 'anvil', hardhat: 'HardhatNetwork', ganache: 'Ganache' };

/** As `web3_clientVersion`. A devnet that answers as a tool begins with the name of that tool. */
export function clientVersion(devnet: Pick<DevnetControl, 'tool'> | undefined): string {
  return devnet?.tool === undefined ? CLIENT_VERSION : `${TOOL_NAMES[devnet.tool]}/${CLIENT_VERSION}`;
}

export const web3_clientVersion = defineMethod('web3_clientVersion', ({ devnet }) => clientVersion(devnet));

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
