import type { Block } from '../../chain/block.js';
import type { Chain, ChainCall } from '../../chain/chain.js';
import type { DevnetControl } from '../../chain/devnet/mining/control.js';
import { isPlumblineError } from '../../errors.js';
import { rulesAt } from '../../evm/common.js';
import { ZERO_ADDRESS } from '../../primitives/bytes.js';
import { bytesToHex, type Hex } from '../../primitives/hex.js';
import { toQuantity } from '../../primitives/quantity.js';
import type { MethodCallOptions } from '../method.js';
import { READS_DEVNET } from '../method-rows.js';
import { requireBlock } from '../resolve-block.js';
import type { DevnetMetadataJson, ForkedNetworkJson, NodeCapabilitiesJson } from '../schema/json.js';
import type { RpcContext } from './context.js';
import { devnetMethods } from './devnet-method.js';
import { clientVersion } from './node-info.js';
import { gasPrice } from './prices.js';

/*
 * What tools ask a devnet about itself. A chunk of its own.
 */

/** @source Hardhat's documentation, hardhat_metadata; anvil adds the rest */
export const INFO_METHODS = [
  ...devnetMethods<[], DevnetMetadataJson & { readonly forkedNetwork?: ForkedNetworkJson }>(
    ['hardhat_metadata'],
    READS_DEVNET,
    async (devnet, _, call) => {
      const forkedNetwork = forkedNetworkOf(devnet, call.context);
      return { ...(await metadataOf(devnet, call)), ...(forkedNetwork && { forkedNetwork }) };
    },
  ),

  ...devnetMethods<
    [],
    DevnetMetadataJson & {
      readonly forkedNetwork: ForkedNetworkJson | null;
      readonly snapshots: Record<Hex, readonly [number, Hex]>;
    }
  >(['anvil_metadata'], READS_DEVNET, async (devnet, _, call) => {
    const { context } = call;
    const snapshots: Record<Hex, [number, Hex]> = {};
    for (const { id, block } of devnet.snapshots) {
      snapshots[toQuantity(id)] = [block, bytesToHex((await requireBlock(context, { number: block }, call)).hash)];
    }
    const forkedNetwork = forkedNetworkOf(devnet, context) ?? null;
    return { ...(await metadataOf(devnet, call)), forkedNetwork, snapshots };
  }),

  ...devnetMethods<[], Record<string, unknown>>(['anvil_nodeInfo'], READS_DEVNET, async ({ forkedFrom }, _, call) => {
    const { context } = call;
    const { header, hash } = await context.chain.head(call);
    const { network } = context.chain;
    const { baseFeePerGas, gasLimit, number, timestamp } = await context.chain.pendingContext(undefined, call);
    const { hardfork } = rulesAt(network, number, timestamp);
    return {
      currentBlockNumber: toQuantity(header.number),
      currentBlockTimestamp: header.timestamp,
      currentBlockHash: bytesToHex(hash),
      hardFork: `${hardfork[0]!.toUpperCase()}${hardfork.slice(1)}`,
      transactionOrder: 'fifo',
      environment: {
        baseFee: toQuantity(baseFeePerGas),
        chainId: network.chainId,
        gasLimit: toQuantity(gasLimit),
        gasPrice: toQuantity((await gasPrice(context, call)).gasPrice),
      },
      forkConfig: { forkUrl: null, forkBlockNumber: forkedFrom?.number ?? null, forkRetryBackoff: null },
    };
  }),

  ...devnetMethods<[], number>(
    ['anvil_getGenesisTime'],
    READS_DEVNET,
    async (_, __, call) => (await genesisOf(call)).header.timestamp,
  ),

  /** As geth and Besu, of a node without peers: it has no address and no port. */
  ...devnetMethods<[], Record<string, unknown>>(['admin_nodeInfo'], READS_DEVNET, async (devnet, _, call) => {
    const { chain } = call.context;
    const { chainId } = chain.network;
    const [genesis, head] = [await genesisOf(call), await chain.head(call)];
    const eth = {
      config: { chainId },
      difficulty: 0,
      genesis: bytesToHex(genesis.hash),
      head: bytesToHex(head.hash),
      network: chainId,
    };
    const nothing = { enode: '', id: '', ip: '', listenAddr: '', ports: { discovery: 0, listener: 0 } };
    return { ...nothing, name: clientVersion(devnet), protocols: { eth } };
  }),

  /** @source ethereum/execution-apis@033ca6e6 src/eth/client.yaml */
  ...devnetMethods<[], NodeCapabilitiesJson>(['eth_capabilities'], READS_DEVNET, async (devnet, _, call) => {
    const { chain } = call.context;
    const { header, hash } = await chain.head(call);
    const first = devnet.forkedFrom?.number ?? 0;
    const from = async (holds: (block: Block) => Promise<unknown>) => {
      const oldest = await oldestHeld(chain, first, header.number, holds);
      const window = { type: 'window', retentionBlocks: toQuantity(header.number - oldest + 1) };
      return { disabled: false, oldestBlock: toQuantity(oldest), ...(oldest > first && { deleteStrategy: window }) };
    };
    const blocks = await from(async () => {});
    return {
      head: { number: toQuantity(header.number), hash: bytesToHex(hash) },
      state: await from((block) => chain.stateAt(block)),
      tx: blocks,
      logs: blocks,
      receipts: blocks,
      blocks,
      stateproofs: await from((block) => chain.proof(ZERO_ADDRESS, [], block)),
    };
  }),
];

/** Number of the oldest block that is held, and of which `holds` does not throw; all later ones are alike. */
async function oldestHeld(
  chain: Chain,
  first: number,
  last: number,
  holds: (block: Block) => Promise<unknown>,
): Promise<number> {
  const isHeld = async (number: number) => {
    try {
      // The genesis block is held where later ones are pruned.
      const block = await chain.block({ number });
      if (block !== undefined) await holds(block);
      return block !== undefined;
    } catch (error) {
      if (isPlumblineError(error, 'BLOCK_PRUNED') || isPlumblineError(error, 'STATE_NOT_HELD')) return false;
      throw error;
    }
  };
  if (last <= first || ((await isHeld(first)) && (await isHeld(first + 1)))) return first;
  let [low, high] = [first, last];
  while (low + 1 < high) {
    const middle = Math.floor((low + high) / 2);
    if (await isHeld(middle)) high = middle;
    else low = middle;
  }
  return high;
}

const genesisOf = (call: ChainCall & { readonly context: RpcContext }) =>
  requireBlock(call.context, { number: 0 }, call);

async function metadataOf(
  devnet: DevnetControl,
  call: MethodCallOptions & { readonly context: RpcContext },
): Promise<DevnetMetadataJson> {
  const { chain } = call.context;
  const { header, hash } = await chain.head(call);
  return {
    clientVersion: clientVersion(devnet),
    chainId: chain.network.chainId,
    instanceId: bytesToHex(devnet.instanceId),
    latestBlockNumber: header.number,
    latestBlockHash: bytesToHex(hash),
  };
}

function forkedNetworkOf({ forkedFrom }: DevnetControl, { chain }: RpcContext): ForkedNetworkJson | undefined {
  if (forkedFrom === undefined) return undefined;
  const { number: forkBlockNumber, hash } = forkedFrom;
  return { chainId: chain.network.chainId, forkBlockNumber, forkBlockHash: bytesToHex(hash) };
}
