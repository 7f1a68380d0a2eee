import type { InlineExtras } from './inline-extras.js';
import { loadInline, openInline } from './open-inline.js';
import type { NodeOptions } from './options.js';
import type { NodeTransport } from './transport.js';

/**
 * Opens a node in this thread; one that is stored under a name shares the store with the others of that name.
 *
 * @throws PlumblineError as `openInline` and `openShared`
 */
export async function openNode(options: NodeOptions, extras: InlineExtras): Promise<NodeTransport> {
  if (options.storeName === undefined || extras.store !== undefined) return openInline(options, extras);
  const { openShared } = await import('./sharing/open-shared.js');
  return openShared(options, extras, { open: openInline, load: loadInline });
}
