import { hasSimd } from '../../kernel/instantiate.js';
import type { InlineExtras } from '../options/inline-extras.js';
import type { NodeOptions } from '../options/options.js';
import { requireOptions } from '../options/require-options.js';
import type { NodeTransport } from '../provider/transport.js';

/**
 * Opens a node in this thread. The code of a kind of chain is loaded when one is opened.
 *
 * @throws PlumblineError `INVALID_PARAMETER` for options that are none; of whichever part does not open
 */
export async function openInline(options: NodeOptions = {}, extras: InlineExtras = {}): Promise<NodeTransport> {
  const open = await loadInline(options);
  return open(options, extras);
}

/** Loads the code of a kind of chain, for a node that may have to be opened when it can no longer be loaded. */
export async function loadInline(options: NodeOptions): Promise<typeof openInline> {
  requireOptions(options);
  const { chain = { kind: 'devnet' } } = options;
  if (chain.kind === 'devnet') {
    beginDevnet(options);
    const { openDevnetNode } = await import('./open-devnet.js');
    return (options = {}, extras = {}) => openDevnetNode(chain, options, extras);
  }
  const { openLight } = await import('./open-light.js');
  return (options = {}, extras = {}) => openLight(chain, options, extras);
}

/**
 * Begins to load what a devnet needs a little later. Each would otherwise wait for those before it: a fifth of the time that
 * a page takes to its first estimate. What fails here fails again, and is told, where it is needed.
 */
function beginDevnet({ dictionary, kernelBuild = 'auto' }: NodeOptions): void {
  const loads: Promise<unknown>[] = [];
  if (dictionary === undefined || dictionary.kind === 'general')
    loads.push(import('../../dictionary/general.generated.js'));
  if (kernelBuild !== 'scalar' && hasSimd()) loads.push(import('../../kernel/wasm/trie.simd.generated.js'));
  for (const load of loads) load.catch(() => {});
}
