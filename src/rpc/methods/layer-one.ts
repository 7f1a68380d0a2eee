import type { BlockReference } from '../../chain/block-reference.js';
import type { SimulatedBeacon } from '../../chain/devnet/layer-one/simulated-beacon.js';
import type { L1Block, SimulatedL1 } from '../../chain/devnet/layer-one/simulated-l1.js';
import { matchesLog } from '../../chain/log-filter.js';
import { PlumblineError } from '../../errors.js';
import type { Log } from '../../ethereum/receipt.js';
import type { Network } from '../../networks/network.js';
import { equalBytes } from '../../primitives/bytes.js';
import { bytesToHex, hexToBytes } from '../../primitives/hex.js';
import { toQuantity } from '../../primitives/quantity.js';
import { formatBlock, formatTrieProof } from '../answers/format.js';
import { parseBlockReference } from '../parsing/parse-block-reference.js';
import { parseCallRequest } from '../parsing/parse-call.js';
import { parseLogRequest } from '../parsing/parse-log-filter.js';
import { parseAddress, parseHash, parseStorageKeys, requireText } from '../parsing/parse-params.js';
import { createMethodTable, type Method, type MethodTable } from '../protocol/method.js';
import { METHOD_INFO } from '../protocol/method-info.js';
import { showKeys } from './eth_getProof.js';

/** The context of the methods of the simulated layer 1. */
export interface L1Context {
  readonly layerOne: SimulatedL1;
  readonly beacon: () => Promise<SimulatedBeacon>;
  readonly network: Network;
}

function l1Method(name: keyof typeof METHOD_INFO.l1, handle: Method<L1Context>['handle']): Method<L1Context> {
  return { name, info: METHOD_INFO.l1[name], handle };
}

const L1_CHAIN_ID = 1337;
const LATEST: BlockReference = { tag: 'latest' };

function blockOf(layerOne: SimulatedL1, reference: BlockReference): L1Block | undefined {
  if ('tag' in reference) return reference.tag === 'earliest' ? layerOne.blocks()[0] : layerOne.head;
  if ('number' in reference) return layerOne.blocks()[reference.number];
  return layerOne.blocks().find((block) => equalBytes(block.hash, reference.hash));
}

function requireBlock(layerOne: SimulatedL1, reference: BlockReference): L1Block {
  const block = blockOf(layerOne, reference);
  if (block !== undefined) return block;
  throw new PlumblineError('BLOCK_NOT_FOUND', 'layer 1 has no such block', {
    block: 'tag' in reference ? reference.tag : 'number' in reference ? String(reference.number) : 'hash',
  });
}

const eth_chainId = l1Method('eth_chainId', () => toQuantity(L1_CHAIN_ID));

const eth_blockNumber = l1Method('eth_blockNumber', ({ layerOne }) => toQuantity(layerOne.head.header.number));

function findBlock(layerOne: SimulatedL1, reference: BlockReference) {
  const block = blockOf(layerOne, reference);
  return block === undefined
    ? null
    : formatBlock({ header: block.header, hash: block.hash, transactions: [], size: 0 }, false);
}

const eth_getBlockByNumber = l1Method('eth_getBlockByNumber', ({ layerOne }, [reference]) =>
  findBlock(layerOne, parseBlockReference(reference)),
);

const eth_getBlockByHash = l1Method('eth_getBlockByHash', ({ layerOne }, [hash]) =>
  findBlock(layerOne, { hash: parseHash(hash, 'blockHash') }),
);

/** The getters of the rollup contract; any other account has no code and returns nothing. */
const eth_call = l1Method('eth_call', ({ layerOne, network }, [callParam, blockParam]) => {
  const { to, data = new Uint8Array(0) } = parseCallRequest(callParam);
  const block = requireBlock(layerOne, parseBlockReference(blockParam, LATEST));
  if (to === undefined || !equalBytes(to, hexToBytes(network.rollup.address))) return '0x';
  const result = layerOne.callRollup(block, data);
  if (result !== undefined) return bytesToHex(result);
  throw new PlumblineError('EXECUTION_REVERTED', 'the rollup contract has no such function', {
    data: new Uint8Array(0),
  });
});

const eth_getLogs = l1Method('eth_getLogs', ({ layerOne }, [filterParam]) => {
  const { range, filter } = parseLogRequest(filterParam);
  const bounds = 'blockHash' in range ? [{ hash: range.blockHash }, { hash: range.blockHash }] : [range.from, range.to];
  const [from, to] = bounds.map((bound) => requireBlock(layerOne, bound ?? LATEST).header.number);
  return layerOne
    .blocks()
    .slice(from, to! + 1)
    .flatMap((block) => block.logs.flatMap((log, i) => (matchesLog(filter, log) ? [formatL1Log(block, log, i)] : [])));
});

/** The transaction of a log is not simulated. */
function formatL1Log(block: L1Block, log: Log, index: number) {
  return {
    address: bytesToHex(log.address),
    topics: log.topics.map(bytesToHex),
    data: bytesToHex(log.data),
    blockNumber: toQuantity(block.header.number),
    blockHash: bytesToHex(block.hash),
    blockTimestamp: toQuantity(block.header.timestamp),
    logIndex: toQuantity(index),
    transactionIndex: '0x0',
    transactionHash: null,
    removed: false,
  };
}

/** EIP-1186. */
const eth_getProof = l1Method('eth_getProof', async ({ layerOne }, [addressParam, keysParam, blockParam]) => {
  const address = parseAddress(addressParam);
  const keys = parseStorageKeys(keysParam);
  const block = requireBlock(layerOne, parseBlockReference(blockParam, LATEST));
  return formatTrieProof(address, await layerOne.prove(block, address, keys), showKeys(keysParam, keys));
});

/** A request to the beacon API: path and query in, status and body out. `src/rpc/http` sends it for a GET. */
const beacon_get = l1Method('beacon_get', async ({ beacon }, [target], { signal }) => {
  const [{ answerBeaconRequest }, chain] = await Promise.all([import('./beacon-api.js'), beacon()]);
  return answerBeaconRequest(chain, requireText(target, 'target', 'params'), signal);
});

/** The methods by which the code of light nodes reads the simulated layer 1 as it reads Ethereum (docs/decisions.md 25). */
export function layerOneTable(): MethodTable<L1Context> {
  return createMethodTable([
    beacon_get,
    eth_blockNumber,
    eth_call,
    eth_chainId,
    eth_getBlockByHash,
    eth_getBlockByNumber,
    eth_getLogs,
    eth_getProof,
  ]);
}
