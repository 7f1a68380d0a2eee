import type { InlineExtras } from './inline-extras.js';
import type { NodeOptions } from './options.js';
import type { NodeTransport } from './transport.js';

/**
 * Opens a node in this thread. The code of a kind of chain is loaded when one is opened.
 *
 * @throws PlumblineError of whichever part does not open
 */
export async function openInline(options: NodeOptions = {}, extras: InlineExtras = {}): Promise<NodeTransport> {
  const chain: NonNullable<NodeOptions['chain']> = options.chain ?? { kind: 'devnet' };
  if (chain.kind === 'devnet') {
    const { openDevnetNode } = await import('./open-devnet.js');
    return openDevnetNode(chain, options, extras);
  }
  const { openLight } = await import('./open-light.js');
  return openLight(chain, options, extras);
}
