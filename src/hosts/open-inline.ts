import type { InlineExtras } from './inline-extras.js';
import type { NodeOptions } from './options.js';
import type { NodeTransport } from './transport.js';

/**
 * Opens a node in this thread. The code of a kind of chain is loaded when one is opened.
 *
 * @throws PlumblineError of whichever part does not open
 */
export async function openInline(options: NodeOptions = {}, extras: InlineExtras = {}): Promise<NodeTransport> {
  const open = await loadInline(options);
  return open(options, extras);
}

/** Loads the code of a kind of chain, for a node that may have to be opened when it can no longer be loaded. */
export async function loadInline({ chain = { kind: 'devnet' } }: NodeOptions): Promise<typeof openInline> {
  if (chain.kind === 'devnet') {
    const { openDevnetNode } = await import('./open-devnet.js');
    return (options = {}, extras = {}) => openDevnetNode(chain, options, extras);
  }
  const { openLight } = await import('./open-light.js');
  return (options = {}, extras = {}) => openLight(chain, options, extras);
}
