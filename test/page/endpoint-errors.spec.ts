import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, type Page, test } from '@playwright/test';
import type { NodeStatus } from '../../src/index.js';
import { openSite, type Site, type SiteLibrary } from '../support/proxy-site.js';

let site: Site;
/** Answers without CORS headers, as a node that does not know of pages. */
let silent: Server;

async function listening(server: Server): Promise<string> {
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

test.beforeAll(async () => {
  site = await openSite();
  silent = createServer((_, response) => {
    response.setHeader('content-type', 'application/json');
    response.end('{"jsonrpc":"2.0","id":1,"result":"0xe703"}');
  });
});
test.afterAll(async () => {
  silent.close();
  await site.close();
});

/** What `node.status()` in a page says of one endpoint, and the message of a request. */
async function asked(page: Page, url: string): Promise<[NodeStatus['endpoints'][number], string]> {
  await page.goto(site.origin);
  return page.evaluate(async (endpoint) => {
    const { createNode, devnet } = (globalThis as unknown as { lib: SiteLibrary }).lib.plumbline;
    const worker = new Worker('/dist/hosts/worker/worker.js', { type: 'module' });
    const node = await createNode({ worker, chain: { kind: 'light', network: devnet(), endpoints: [endpoint] } });
    const { endpoints } = await node.status();
    const message = await node.request({ method: 'eth_blockNumber' }).catch((error: Error) => error.message);
    await node.close();
    return [endpoints[0], message];
  }, url) as never;
}

const UNTOLD = 'no connection: down, or no CORS headers for this page, which a browser does not tell apart; check both';

test('an endpoint without CORS headers is told apart from one that is down', async ({ page }) => {
  const url = await listening(silent);
  const key = `${url}/v3/0123456789abcdef0123456789abcdef`;
  const [closed, message] = await asked(page, key);
  expect(closed).toMatchObject({
    role: 'l2',
    endpoint: url,
    answers: false,
    problem: {
      code: 'UPSTREAM_UNAVAILABLE',
      kind: 'unavailable',
      reason:
        'up, but without CORS headers for this page; have it send access-control-allow-origin, or ask it through a server of yours',
    },
  });
  // A request asks no more than it needs to.
  expect(message).toBe(`no endpoint could be reached (${url}: ${UNTOLD})`);

  const other = createServer();
  const gone = await listening(other);
  other.close();
  const [down] = await asked(page, gone);
  expect(down).toMatchObject({
    answers: false,
    problem: { reason: 'no connection: down, or blocked by the browser; check host and port, and that it runs' },
  });
});
