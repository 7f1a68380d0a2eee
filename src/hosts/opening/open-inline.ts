import { hasSimd } from '../../kernel/simd.js';
import { withDefaults } from '../../primitives/option-table.js';
import { type InlineExtras, NODE_OPTIONS, type NodeOptions } from '../options/options.js';
import { requireOptions } from '../options/require-options.js';
import type { NodeTransport } from '../provider/transport.js';

/**
 * Opens a node in this thread, with a store of its own. The code of a chain kind is loaded when a node of it is opened.
 *
 * @throws PlumblineError `INVALID_PARAMETER` for options that cannot be used; as `openDevnetNode` and `openLight`
 */
export async function openInline(options: NodeOptions = {}, extras: InlineExtras = {}): Promise<NodeTransport> {
  const open = await loadInline(options);
  return open(options, extras);
}

/** Loads the code of a chain kind now, for a node that may be opened later, when the page is offline. */
export async function loadInline(options: NodeOptions): Promise<typeof openInline> {
  requireOptions(options);
  const { chains } = options;
  if (chains !== undefined) {
    const { openChains } = await import('./open-chains.js');
    return (options = {}, extras = {}) => openChains(chains, options, extras);
  }
  const { chain } = withDefaults(NODE_OPTIONS, options);
  if (chain.kind === 'devnet' && chain.fork !== undefined) {
    const { openForkNode } = await import('./open-fork.js');
    return (options = {}, extras = {}) => openForkNode(chain, options, extras);
  }
  if (chain.kind === 'devnet') {
    beginDevnet(options);
    const [{ openDevnetNode }] = await Promise.all([import('./open-devnet.js'), loadStored(options)]);
    return (options = {}, extras = {}) => openDevnetNode(chain, options, extras);
  }
  const { openLight } = await import('./open-light.js');
  return (options = {}, extras = {}) => openLight(chain, options, extras);
}

/** Loads what only a devnet with a store needs. */
async function loadStored({ storeName }: NodeOptions): Promise<void> {
  if (storeName === undefined) return;
  await Promise.all([
    import('../../chain/devnet/storage/find-stored.js'),
    import('../../chain/devnet/checkpoint-loader.js'),
  ]);
}

/**
 * Starts to load the dictionary and the kernels of a devnet. Loaded one after the other, they take a fifth of the time to a
 * page's first estimate. A failure is ignored here: the load is repeated where its result is used.
 */
function beginDevnet({ dictionary, kernelBuild }: NodeOptions): void {
  const loads: Promise<unknown>[] = [];
  if (dictionary === undefined || dictionary.kind === 'general') loads.push(import('../../fees/general.generated.js'));
  if (kernelBuild !== 'scalar' && hasSimd()) {
    loads.push(import('../../kernel/wasm/trie.simd.generated.js'), import('../../kernel/wasm/evm.simd.generated.js'));
  }
  for (const load of loads) load.catch(() => {});
}

/**
 * Opens a node in this thread. One with a `storeName` shares its store with the other nodes of that name.
 *
 * @throws PlumblineError as `openInline` and `openShared`
 */
export async function openNode(options: NodeOptions, extras: InlineExtras): Promise<NodeTransport> {
  if (options.storeName === undefined || extras.store !== undefined) return openInline(options, extras);
  const { openShared } = await import('../sharing/open-shared.js');
  return openShared(options, extras, { open: openInline, load: loadInline });
}
