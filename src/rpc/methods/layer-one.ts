import type { BlockReference, TransactionReceipt } from '../../chain/block.js';
import type { SimulatedBeacon } from '../../chain/devnet/layer-one/simulated-beacon.js';
import { L1_CHAIN_ID, type L1Block, type SimulatedL1 } from '../../chain/devnet/layer-one/simulated-l1.js';
import { matchesLog } from '../../chain/log-filter.js';
import { PlumblineError } from '../../errors.js';
import { type Network, rollupOf } from '../../networks/network.js';
import { equalBytes } from '../../primitives/bytes.js';
import { bytesToHex, hexToBytes } from '../../primitives/hex.js';
import { toQuantity } from '../../primitives/quantity.js';
import { createMethodTable, type Method, type MethodTable } from '../method.js';
import { METHOD_INFO } from '../method-info.js';
import { parseCallRequest } from '../parse-call.js';
import { parseLogRequest } from '../parse-log-filter.js';
import { parseAddress, parseHash, parseStorageKeys, requireText } from '../parse-params.js';
import { parseBlockReference } from '../resolve-block.js';
import { formatBlock, formatLog, formatReceipt, formatTransaction, formatTrieProof } from '../schema/format.js';
import { showKeys } from './accounts.js';

/** The context of the methods of the simulated layer 1. */
export interface L1Context {
  readonly layerOne: SimulatedL1;
  readonly beacon: () => Promise<SimulatedBeacon>;
  readonly network: Network;
}

function l1Method(name: keyof typeof METHOD_INFO.l1, handle: Method<L1Context>['handle']): Method<L1Context> {
  return { name, info: METHOD_INFO.l1[name], handle };
}

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

const net_version = l1Method('net_version', () => String(L1_CHAIN_ID));

const eth_blockNumber = l1Method('eth_blockNumber', ({ layerOne }) => toQuantity(layerOne.head.header.number));

function findBlock(layerOne: SimulatedL1, reference: BlockReference, full: unknown) {
  const block = blockOf(layerOne, reference);
  return block === undefined ? null : formatBlock(block, full === true);
}

const eth_getBlockByNumber = l1Method('eth_getBlockByNumber', ({ layerOne }, [reference, full]) =>
  findBlock(layerOne, parseBlockReference(reference), full),
);

const eth_getBlockByHash = l1Method('eth_getBlockByHash', ({ layerOne }, [hash, full]) =>
  findBlock(layerOne, { hash: parseHash(hash, 'blockHash') }, full),
);

/** The receipt of a transaction; undefined if layer 1 has no such transaction. */
function receiptOf(layerOne: SimulatedL1, hash: unknown): TransactionReceipt | undefined {
  return layerOne.blockOfTransaction(parseHash(hash, 'transactionHash'))?.receipts[0];
}

const eth_getTransactionByHash = l1Method('eth_getTransactionByHash', ({ layerOne }, [hash]) => {
  const receipt = receiptOf(layerOne, hash);
  return receipt === undefined ? null : formatTransaction(receipt);
});

const eth_getTransactionReceipt = l1Method('eth_getTransactionReceipt', ({ layerOne }, [hash]) => {
  const receipt = receiptOf(layerOne, hash);
  return receipt === undefined ? null : formatReceipt(receipt);
});

const eth_getBlockReceipts = l1Method('eth_getBlockReceipts', ({ layerOne }, [reference]) => {
  const block = blockOf(layerOne, parseBlockReference(reference));
  return block === undefined ? null : block.receipts.map(formatReceipt);
});

const eth_getCode = l1Method('eth_getCode', ({ layerOne }, [address, reference]) => {
  requireBlock(layerOne, parseBlockReference(reference, LATEST));
  return bytesToHex(layerOne.codeOf(parseAddress(address)));
});

/** The getters of the rollup contract; any other account has no code and returns nothing. */
const eth_call = l1Method('eth_call', ({ layerOne, network }, [callParam, blockParam]) => {
  const { to, data = new Uint8Array(0) } = parseCallRequest(callParam);
  const block = requireBlock(layerOne, parseBlockReference(blockParam, LATEST));
  if (to === undefined || !equalBytes(to, hexToBytes(rollupOf(network).rollup.address))) return '0x';
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
    .flatMap(({ receipts }) => receipts)
    .flatMap((transaction) =>
      transaction.logs.flatMap((log, logIndex) =>
        matchesLog(filter, log) ? [formatLog({ log, transaction, logIndex })] : [],
      ),
    );
});

/** EIP-1186. */
const eth_getProof = l1Method('eth_getProof', async ({ layerOne }, [addressParam, keysParam, blockParam]) => {
  const address = parseAddress(addressParam);
  const keys = parseStorageKeys(keysParam);
  const block = requireBlock(layerOne, parseBlockReference(blockParam, LATEST));
  return formatTrieProof(address, await layerOne.prove(block, address, keys), showKeys(keysParam, keys));
});

/**
 * A request to the beacon API: path and query in, with `ssz` for the bytes of an object; status and body out. `src/rpc/http` sends
 * it for a GET.
 */
const beacon_get = l1Method('beacon_get', async ({ beacon }, [target, form], { signal }) => {
  const [{ answerBeaconRequest }, chain] = await Promise.all([import('./beacon-api.js'), beacon()]);
  return answerBeaconRequest(chain, requireText(target, 'target', 'params'), form === 'ssz', signal);
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
    eth_getBlockReceipts,
    eth_getCode,
    eth_getLogs,
    eth_getProof,
    eth_getTransactionByHash,
    eth_getTransactionReceipt,
    net_version,
  ]);
}
