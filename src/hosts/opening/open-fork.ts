import type { BlockReference } from '../../chain/block.js';
import { DEVNET_OPTIONS } from '../../chain/devnet/options.js';
import { type ForkSettings, openFork, openingEdits } from '../../chain/fork/fork-chain.js';
import type { ForkChainOptions, ForkOptions, NotOfForks } from '../../chain/fork/fork-options.js';
import { invalidParameter } from '../../errors.js';
import { loadEvmModule } from '../../kernel/evm-module.js';
import { isLayerOne, type Network, schemeAt } from '../../networks/network.js';
import { type Hex, hexToBytes } from '../../primitives/hex.js';
import { withDefaults } from '../../primitives/option-table.js';
import { FilterRegistry } from '../../rpc/filter-registry.js';
import { DEVNET_METHODS } from '../../rpc/methods/devnet-methods.generated.js';
import { systemClock } from '../../scheduling/clock.js';
import type { InlineExtras, NodeOptions } from '../options/options.js';
import { requireEndpoints } from '../options/require-endpoints.js';
import { requireNetwork } from '../options/require-options.js';
import type { NodeTransport } from '../provider/transport.js';
import { NodeStorage } from './node-storage.js';
import { type NodeBase, openBase, wireNode } from './node-wiring.js';
import { COINBASE } from './open-devnet.js';
import { openCache, openLightChain } from './open-light.js';
import { ReplaceableDevnet } from './replaceable-devnet.js';
import { openOnStore } from './store-source.js';

const NOT_OF_FORKS = ['network', 'scheme', 'genesis', 'importBlocks', 'prices'] satisfies NotOfForks[];
const TAGS: readonly unknown[] = ['latest', 'finalized', 'safe'];

/**
 * Opens a node with a devnet on the proved state of a network in this thread.
 *
 * @throws PlumblineError `INVALID_PARAMETER` for options that cannot be used; `UPSTREAM_*`, `ANSWER_REFUSED` where the block or its
 *   state cannot be had; as `openFork`
 */
export async function openForkNode(
  chainOptions: ForkChainOptions,
  options: NodeOptions,
  extras: InlineExtras,
): Promise<NodeTransport> {
  const at = requireFork(chainOptions, options);
  // A copy: `anvil_setChainId` changes it.
  const network = { ...chainOptions.fork.network };
  extras.onProgress?.({ stage: 'store', fraction: 0 });
  return openOnStore(options, extras, 'error', async (kept) => {
    return openOn(await openBase(kept, network, options, extras), chainOptions, at);
  });
}

async function openOn(
  base: NodeBase,
  chainOptions: ForkChainOptions,
  at: BlockReference | undefined,
): Promise<NodeTransport> {
  const { fork, alloc, accounts, mining, finality, tool } = withDefaults(DEVNET_OPTIONS, chainOptions);
  const { store, health, network, budgets, report } = base;
  const { openCheck, storage } = base.settings;
  const { clock = systemClock } = base.extras;
  // Compiled while the block is fetched. A failure is reported where the module is used.
  loadEvmModule().catch(() => {});
  const cache = await openCache(base);
  const { light, sizer, check, ready } = await openLightChain(base, fork, { cache });
  try {
    if (openCheck === 'wait') await ready();
    const settings: ForkSettings = {
      light,
      at,
      network,
      store,
      cache,
      health,
      mining,
      finality,
      tool,
      accounts,
      edits: openingEdits(alloc, accounts),
      coinbase: COINBASE,
      sizer,
      now: () => Math.floor(clock.now() / 1000),
      onProgress: (fraction) => report('blocks', fraction),
    };
    const first = await openFork(settings);
    const replaceable = new ReplaceableDevnet(first);
    const control = new NodeStorage({
      store,
      health,
      options: storage,
      budgets,
      devnetTables: [],
      clear: () =>
        replaceable.replace(
          async () => cache?.clear(() => store!.clear()),
          () => openFork({ ...settings, before: replaceable.current }),
        ),
    });
    return wireNode(base, {
      chain: replaceable.chain,
      scheme: isLayerOne(network) ? undefined : schemeAt(network, Number.MAX_SAFE_INTEGER),
      sizer,
      control,
      check,
      // At hand: a filter that is asked for before a block is mined must find that block.
      filters: async () => FilterRegistry,
      devnet: { replaceable, methods: DEVNET_METHODS },
    });
  } catch (error) {
    await light.close();
    throw error;
  }
}

/** @returns the block that is asked for. @throws PlumblineError `INVALID_PARAMETER` */
function requireFork(chain: ForkChainOptions, { storage }: NodeOptions): BlockReference | undefined {
  const { fork } = chain;
  if (typeof fork !== 'object' || fork === null) throw invalidParameter('chain.fork', 'must be an object');
  for (const name of NOT_OF_FORKS) {
    if (chain[name] === undefined) continue;
    throw invalidParameter(`chain.${name}`, 'and chain.fork cannot both be given: a fork takes it from its network');
  }
  if (storage?.budgets?.devnet !== undefined)
    throw invalidParameter(
      'storage.budgets.devnet',
      'and chain.fork cannot both be given: blocks of a fork are not pruned',
    );
  requireNetwork('chain.fork.network', fork.network as Network | undefined);
  requireEndpoints('chain.fork', fork);
  return referenceOf(fork);
}

function referenceOf({ block }: ForkOptions): BlockReference | undefined {
  if (block === undefined) return undefined;
  if (typeof block === 'number' && Number.isSafeInteger(block) && block >= 0) return { number: block };
  if (TAGS.includes(block)) return { tag: block as 'latest' | 'finalized' | 'safe' };
  if (typeof block === 'string' && /^0x[0-9a-f]{64}$/i.test(block)) return { hash: hexToBytes(block as Hex, 32) };
  const reason = 'must be a number of a block, a hash of 32 bytes in hex, or latest, finalized or safe';
  throw invalidParameter('chain.fork.block', reason);
}
