import type { InlineExtras } from '../options/inline-extras.js';
import type { NodeOptions } from '../options/options.js';
import type { NodeTransport } from '../provider/transport.js';
import { loadInline, openInline } from './open-inline.js';

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
