import type { DevnetControl } from '../../chain/devnet/mining/control.js';
import type { Tool } from '../../chain/devnet/options.js';
import { keccak256 } from '../../kernel/keccak.js';
import { isLayerOne } from '../../networks/network.js';
import { ZERO_ADDRESS } from '../../primitives/bytes.js';
import { bytesToHex, type Hex } from '../../primitives/hex.js';
import { servedMethods } from '../method-info.js';
import { OF_THE_NODE } from '../method-rows.js';
import { parseBytes } from '../parse-params.js';
import { formatPendingTransaction } from '../schema/format.js';
import type { TransactionJson } from '../schema/json.js';
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
    return (await import('./permitted-accounts.js')).permittedAccounts(devnet, call);
  },
);

/* What tools ask of any node and seldom use. */

/** Keccak-256. */
export const web3_sha3 = defineMethod<[data: Hex], Hex>('web3_sha3', OF_THE_NODE, (_, [data]) =>
  bytesToHex(keccak256(parseBytes(data, 'data'))),
);

/** As anvil. The node has no peers, and speaks no protocol of layer 1. */
export const eth_protocolVersion = defineMethod<[], Hex>('eth_protocolVersion', OF_THE_NODE, () => '0x1');

/** The address that receives the priority fees of the blocks that this node makes; zero for a node that makes none. */
export const eth_coinbase = defineMethod<[], Hex>('eth_coinbase', OF_THE_NODE, ({ devnet }) =>
  bytesToHex(devnet?.coinbase ?? ZERO_ADDRESS),
);

/** Whether this node makes blocks by itself. */
export const eth_mining = defineMethod<[], boolean>(
  'eth_mining',
  OF_THE_NODE,
  ({ devnet }) => devnet !== undefined && devnet.mining !== 'manual',
);

/** There is no proof of work. */
export const eth_hashrate = defineMethod<[], Hex>('eth_hashrate', OF_THE_NODE, () => '0x0');

/** The prefixes of this node's methods, each with a version, which is always 1.0. */
export const rpc_modules = defineMethod<[], Readonly<Record<string, string>>>(
  'rpc_modules',
  OF_THE_NODE,
  ({ chain }) => {
    const names = servedMethods(chain.kind, chain.network.methodPrefix, !isLayerOne(chain.network)).map(
      (name) => /^[^_.]+/.exec(name)![0],
    );
    return Object.fromEntries([...new Set(names)].sort().map((name) => [name, '1.0']));
  },
);

/** The pool of a devnet. Another node knows what it sent in the last minute. */
export const eth_pendingTransactions = defineMethod<[], readonly TransactionJson[]>(
  'eth_pendingTransactions',
  OF_THE_NODE,
  async ({ chain }) => (await chain.pendingTransactions()).map(formatPendingTransaction),
);
