import { type CDPSession, expect, type Page, test } from '@playwright/test';
import type { NodeOptions } from '../../dist/index.js';
import { StoreServer } from '../support/store-browser.js';

let server: StoreServer;
/** A quota lasts as long as the session that sets it. */
let session: CDPSession;

let count = 0;
/** Name of a database that no other test has. */
export const freshName = () => `failures-${Date.now()}-${count++}`;

/** Options of a stored devnet. */
export const devnet = (storeName: string, more: Partial<NodeOptions> = {}): NodeOptions => ({
  storeName,
  chain: { kind: 'devnet', scheme: 'poseidon2' },
  dictionary: { kind: 'general' },
  ...more,
});

/** A page without a node yet. */
export async function openPage(page: Page): Promise<void> {
  await page.goto(server.url);
  await page.waitForFunction(() => 'storePage' in globalThis);
}

/** Starts a node. @returns the error when it does not open */
export const start = (page: Page, options: NodeOptions, script = '/worker-watched.js') =>
  page
    .evaluate(([given, worker]) => storePage.open(given, worker), [options, script] as const)
    .then(({ error }) => error);

/** Sends so many transfers, a block each. */
export const send = async (page: Page, times: number) => {
  for (let i = 1; i <= times; i++) await page.evaluate((amount) => storePage.send(amount), i);
};
/** What the node answers about its chain, from genesis on. */
export const look = (page: Page) => page.evaluate(() => storePage.look(0));
/** What the node last said of its store. */
export const lastStatus = (page: Page) => page.evaluate(() => storePage.statuses().at(-1));
/** Ends the node of the page. */
export const close = (page: Page) => page.evaluate(() => storePage.close());

/** A database with so many blocks, closed. */
export async function stored(
  page: Page,
  blocks: number,
): Promise<{ name: string; hashes: readonly (string | null)[] }> {
  const name = freshName();
  expect(await start(page, devnet(name))).toBeUndefined();
  await send(page, blocks);
  const { hashes } = await look(page);
  await close(page);
  return { name, hashes };
}

/** Sets what the browser lets the site store. @param bytes - undefined for what the browser gives */
export async function quota(bytes: number | undefined): Promise<void> {
  const { origin } = new URL(server.url);
  await session.send('Storage.overrideQuotaForOrigin', { origin, ...(bytes !== undefined && { quotaSize: bytes }) });
}

/** Leaves so many bytes. The browser looks again when what it knew to be left is used up, not at each commit. */
export async function leave(page: Page, bytes: number): Promise<void> {
  const { usage = 0 } = await page.evaluate(() => navigator.storage.estimate());
  await quota(usage + bytes);
}

/** What the browser does when somebody clears the data of the site. */
export async function clearSiteData(): Promise<void> {
  const { origin } = new URL(server.url);
  await session.send('Storage.clearDataForOrigin', { origin, storageTypes: 'indexeddb' });
}

/** Answers JSON-RPC requests of a light node. */
export const rpcUrl = () => `${server.url}rpc`;

/** Has each test of a file begin with a page that has no node yet, and end without an uncaught error. */
export function storeTests(): void {
  const uncaught: Error[] = [];
  test.beforeAll(async () => {
    server = await StoreServer.start();
  });
  test.afterAll(() => server.close());
  test.beforeEach(async ({ page }) => {
    page.on('pageerror', (error) => uncaught.push(error));
    await openPage(page);
    session = await page.context().newCDPSession(page);
  });
  test.afterEach(async ({ page }) => {
    expect(await page.evaluate(() => storePage.unhandled())).toEqual([]);
    expect(uncaught.splice(0)).toEqual([]);
  });
}
