import type { PlumblineNode } from 'plumbline-l2/inline';
import type { serve as serveInNode } from 'plumbline-l2-cli';
import { serveInPage } from './stand-ins.js';

/** `plumbline-l2-cli` for snippets: a page cannot listen on a port, so the address is one that only this page has. */
export { createInlineNode } from 'plumbline-l2/inline';

export async function serve(
  node: PlumblineNode,
): Promise<Pick<Awaited<ReturnType<typeof serveInNode>>, 'host' | 'port' | 'close'>> {
  const port = serveInPage((request) =>
    new URL(request.url).pathname.startsWith('/l1') ? node.handleL1(request) : node.handle(request),
  );
  return { host: '127.0.0.1', port, close: async () => {} };
}
