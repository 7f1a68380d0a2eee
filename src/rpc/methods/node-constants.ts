import type { DevnetControl } from '../../chain/devnet/mining/control.js';
import type { Tool } from '../../chain/devnet/options.js';
import type { Hex } from '../../primitives/hex.js';
import { OF_THE_NODE } from '../protocol/method-rows.js';
import { defineMethod } from './context.js';

/** Name and version that `web3_clientVersion` answers. A test compares the version with the package's. */
export const CLIENT_VERSION = 'plumbline/v0.1.0';

/** Chain id in decimal. */
export const net_version = defineMethod<[], string>('net_version', OF_THE_NODE, ({ chain }) =>
  String(chain.network.chainId),
);

/** First part of the version by which tools know their own chain. */
const TOOL_NAMES: Readonly<Record<Tool, string>> = { anvil: 'anvil', hardhat: 'HardhatNetwork', ganache: 'Ganache' };

/** As `web3_clientVersion`. A devnet that answers as a tool begins with the name of that tool. */
export function clientVersion(devnet: Pick<DevnetControl, 'tool'> | undefined): string {
  return devnet?.tool === undefined ? CLIENT_VERSION : `${TOOL_NAMES[devnet.tool]}/${CLIENT_VERSION}`;
}

export const web3_clientVersion = defineMethod<[], string>('web3_clientVersion', OF_THE_NODE, ({ devnet }) =>
  clientVersion(devnet),
);

/** Always true: the node takes requests. */
export const net_listening = defineMethod<[], true>('net_listening', OF_THE_NODE, () => true);

/** There are no peers (docs/decisions.md 10). */
export const net_peerCount = defineMethod<[], Hex>('net_peerCount', OF_THE_NODE, () => '0x0');

export const eth_syncing = defineMethod<[], false>('eth_syncing', OF_THE_NODE, () => false);

/** The dev accounts on a devnet that the caller may use. Other nodes hold no keys, and answer an empty list. */
export const eth_accounts = defineMethod<[], readonly Hex[]>(
  'eth_accounts',
  OF_THE_NODE,
  async ({ devnet }, _, call) => {
    if (devnet === undefined) return [];
    return (await import('./permitted-accounts.js')).permittedAccounts(call);
  },
);
