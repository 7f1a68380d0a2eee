import { keccak256 } from '../../kernel/keccak.js';
import { ZERO_ADDRESS } from '../../primitives/bytes.js';
import type { Hex } from '../../primitives/hex.js';
import { bytesToHex } from '../../primitives/hex.js';
import { formatPendingTransaction } from '../answers/format.js';
import { parseBytes } from '../parsing/parse-params.js';
import { servedMethods } from '../protocol/method-info.js';
import { OF_THE_NODE } from '../protocol/method-rows.js';
import type { TransactionJson } from '../schema/json.js';
import { defineMethod } from './context.js';

/*
 * What tools ask of any node and seldom use: a chunk of its own.
 */

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
    const names = servedMethods(chain.kind, chain.network.methodPrefix).map((name) => name.slice(0, name.indexOf('_')));
    return Object.fromEntries([...new Set(names)].sort().map((name) => [name, '1.0']));
  },
);

/** The pool of a devnet. Another node knows what it sent in the last minute. */
export const eth_pendingTransactions = defineMethod<[], readonly TransactionJson[]>(
  'eth_pendingTransactions',
  OF_THE_NODE,
  async ({ chain }) => (await chain.pendingTransactions()).map(formatPendingTransaction),
);
