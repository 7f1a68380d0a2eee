import { readFileSync } from 'node:fs';
import { type CDPSession, expect, type Page, test } from '@playwright/test';
import type { NodeOptions } from '../../dist/index.js';
import { TEST_TOKEN } from '../../src/chain/devnet/test-token.js';
import { hexToBytes } from '../../src/primitives/hex.js';
import { StoreServer } from '../support/store-browser.js';

let server: StoreServer;
test.beforeAll(async () => {
  server = await StoreServer.start();
});
test.afterAll(() => server.close());

let count = 0;
const freshName = () => `failures-${Date.now()}-${count++}`;

const devnet = (storeName: string, more: Partial<NodeOptions> = {}): NodeOptions => ({
  storeName,
  chain: { kind: 'devnet', scheme: 'poseidon2' },
  dictionary: { kind: 'general' },
  ...more,
});

/** A page without a node yet. */
async function openPage(page: Page): Promise<void> {
  await page.goto(server.url);
  await page.waitForFunction(() => 'storePage' in globalThis);
}

/** Starts a node. @returns the error when it does not open */
const start = (page: Page, options: NodeOptions, script = '/worker-watched.js') =>
  page
    .evaluate(([given, worker]) => storePage.open(given, worker), [options, script] as const)
    .then(({ error }) => error);

const send = async (page: Page, times: number) => {
  for (let i = 1; i <= times; i++) await page.evaluate((amount) => storePage.send(amount), i);
};
const look = (page: Page) => page.evaluate(() => storePage.look(0));
const lastStatus = (page: Page) => page.evaluate(() => storePage.statuses().at(-1));
const close = (page: Page) => page.evaluate(() => storePage.close());

/** A database with so many blocks, closed. */
async function stored(page: Page, blocks: number): Promise<{ name: string; hashes: readonly string[] }> {
  const name = freshName();
  expect(await start(page, devnet(name))).toBeUndefined();
  await send(page, blocks);
  const { hashes } = await look(page);
  await close(page);
  return { name, hashes };
}

/** A quota lasts as long as the session that sets it. */
let session: CDPSession;

/** @param bytes - undefined for what the browser gives */
async function quota(bytes: number | undefined): Promise<void> {
  const { origin } = new URL(server.url);
  await session.send('Storage.overrideQuotaForOrigin', { origin, ...(bytes !== undefined && { quotaSize: bytes }) });
}

test.describe.configure({ timeout: 180_000 });
const uncaught: Error[] = [];
test.beforeEach(async ({ page }) => {
  page.on('pageerror', (error) => uncaught.push(error));
  await openPage(page);
  session = await page.context().newCDPSession(page);
});
test.afterEach(async ({ page }) => {
  expect(await page.evaluate(() => storePage.unhandled())).toEqual([]);
  expect(uncaught.splice(0)).toEqual([]);
});

test('the quota that tests set is one that IndexedDB knows', async ({ page }) => {
  await quota(1000);
  const thrown = await page.evaluate(async () => {
    await storePage.make('quota', 1, ['t'], []);
    return storePage
      .make('quota-2', 1, ['t'], [{ table: 't', key: 1, value: Array.from({ length: 100_000 }, () => 1) }])
      .catch((error: Error) => error.name);
  });
  expect(thrown).toBe('QuotaExceededError');
});

/** Leaves so many bytes. The browser looks again when what it knew to be left is used up, not at each commit. */
async function leave(page: Page, bytes: number): Promise<void> {
  const { usage = 0 } = await page.evaluate(() => navigator.storage.estimate());
  await quota(usage + bytes);
}

test('a full disk: the chain goes on in memory, says so, and is stored when there is room', async ({ page }) => {
  const name = freshName();
  await leave(page, 1_000_000);
  expect(await start(page, devnet(name))).toBeUndefined();
  const full = await page.evaluate(() => storePage.fill(200));
  expect(await lastStatus(page)).toMatchObject({ mode: 'memory', reason: 'STORE_QUOTA_EXCEEDED', since: full });
  await send(page, 4);
  const { head, hashes } = await look(page);
  expect(head).toBe(full + 4);
  await quota(undefined);
  await expect.poll(() => lastStatus(page), { timeout: 20_000 }).toEqual({ mode: 'durable' });
  await page.reload();
  await openPage(page);
  expect(await start(page, devnet(name, { storeCheck: 'full' }))).toBeUndefined();
  const again = await look(page);
  expect(again.hashes).toEqual(hashes);
  expect(again.status).toBeUndefined();
});

test('a full disk at the end: what is stored is the chain up to the block that it says', async ({ page }) => {
  const name = freshName();
  await leave(page, 500_000);
  expect(await start(page, devnet(name))).toBeUndefined();
  const full = await page.evaluate(() => storePage.fill(200));
  await send(page, 3);
  const { hashes } = await look(page);
  const { since } = (await lastStatus(page))!;
  expect(since).toBeLessThanOrEqual(full);
  await page.reload();
  await quota(undefined);
  await openPage(page);
  expect(await start(page, devnet(name, { storeCheck: 'full' }))).toBeUndefined();
  const again = await look(page);
  expect(again.hashes).toEqual(hashes.slice(0, since));
  await send(page, 1);
});

test('a full disk at the beginning is an error, or a devnet in memory where that was asked for', async ({ page }) => {
  await quota(1);
  expect(await start(page, devnet(freshName()))).toMatchObject({ code: 'STORE_QUOTA_EXCEEDED' });
  expect(await start(page, devnet(freshName(), { storage: { fallback: 'memory' } }))).toBeUndefined();
  await send(page, 2);
  expect(await lastStatus(page)).toMatchObject({ mode: 'memory', reason: 'STORE_QUOTA_EXCEEDED' });
});

/** What a test leaves at first that fills the disk later: with more, the browser would not look again so soon. */
const SOME = 4_000_000;

/** Leaves nothing of `SOME`, and sees to it that the browser knows. */
async function fillUp(page: Page): Promise<void> {
  await quota(1);
  const probe = ([name, length]: readonly [string, number]) =>
    storePage
      .make(name, 1, ['t'], [{ table: 't', key: 1, value: Array.from({ length }, () => 1) }])
      .catch((error: Error) => error.name);
  await expect.poll(() => page.evaluate(probe, [freshName(), SOME / 4] as const)).toBe('QuotaExceededError');
}

test('a full disk as a stored devnet is opened: it reads, goes on in memory, and says so', async ({ page }) => {
  await leave(page, SOME);
  const { name, hashes } = await stored(page, 3);
  await fillUp(page);
  expect(await start(page, devnet(name))).toBeUndefined();
  expect((await look(page)).hashes).toEqual(hashes);
  await page.evaluate(() => storePage.prove());
  await expect.poll(() => lastStatus(page)).toMatchObject({ mode: 'memory', reason: 'STORE_QUOTA_EXCEEDED' });
  await send(page, 2);
  expect(await lastStatus(page)).toMatchObject({ mode: 'memory', reason: 'STORE_QUOTA_EXCEEDED', since: 4 });
  const { hashes: all } = await look(page);
  expect(all.slice(0, 4)).toEqual(hashes);
  await quota(undefined);
  await expect.poll(() => lastStatus(page), { timeout: 20_000 }).toEqual({ mode: 'durable' });
  await page.reload();
  await openPage(page);
  expect(await start(page, devnet(name, { storeCheck: 'full' }))).toBeUndefined();
  expect((await look(page)).hashes).toEqual(all);
});

test('a full disk as another page takes over: it goes on from what is stored, in memory, and says so', async ({
  page,
}) => {
  const name = freshName();
  const other = await page.context().newPage();
  await openPage(other);
  await leave(page, SOME);
  expect(await start(page, devnet(name))).toBeUndefined();
  expect(await start(other, devnet(name))).toBeUndefined();
  await send(page, 3);
  const { hashes } = await look(other);
  await fillUp(page);
  await send(page, 2);
  expect(await lastStatus(page)).toMatchObject({ mode: 'memory', reason: 'STORE_QUOTA_EXCEEDED', since: 4 });
  expect((await look(other)).head).toBe(5);
  await close(page);
  expect((await look(other)).hashes).toEqual(hashes);
  expect(await lastStatus(other)).toMatchObject({ mode: 'memory', reason: 'STORE_QUOTA_EXCEEDED' });
  await send(other, 2);
  expect(await lastStatus(other)).toMatchObject({ mode: 'memory', reason: 'STORE_QUOTA_EXCEEDED', since: 4 });
  const { hashes: all } = await look(other);
  await quota(undefined);
  await expect.poll(() => lastStatus(other), { timeout: 20_000 }).toEqual({ mode: 'durable' });
  await close(other);
  expect(await start(page, devnet(name, { storeCheck: 'full' }))).toBeUndefined();
  expect((await look(page)).hashes).toEqual(all);
  await other.close();
});

test('a page that keeps an older version open holds a node up for so long', async ({ page }) => {
  const name = freshName();
  const other = await page.context().newPage();
  await openPage(other);
  await other.evaluate((database) => storePage.hold(database, 1), name);
  const error = await start(page, devnet(name));
  expect(error).toMatchObject({ code: 'STORE_UNAVAILABLE' });
  expect(error!.message).toContain('keeps an older version of the store open');
  const databases = await other.evaluate(() => indexedDB.databases());
  expect(databases).toContainEqual({ name, version: 1 });
  // The attempt that came too late makes nothing of the database any more.
  await other.evaluate(() => storePage.letGo());
  expect(await other.evaluate((database) => storePage.shape(database), name)).toEqual({ version: 1, tables: ['old'] });
  await other.close();
});

test('a newer version is refused, and left as it is to the last byte', async ({ page }) => {
  const { name } = await stored(page, 2);
  const before = await page.evaluate(async (database) => {
    await storePage.hold(database, 500);
    storePage.letGo();
    return [await storePage.shape(database), await storePage.contents(database)];
  }, name);
  expect(await start(page, devnet(name))).toMatchObject({
    code: 'STORE_TOO_NEW',
    details: { version: 500, supported: expect.any(Number) },
  });
  expect(await start(page, devnet(name, { storage: { fallback: 'memory' } }))).toBeUndefined();
  await send(page, 1);
  expect(await lastStatus(page)).toMatchObject({ mode: 'memory', reason: 'STORE_TOO_NEW' });
  await close(page);
  const after = await page.evaluate(
    async (database) => [await storePage.shape(database), await storePage.contents(database)],
    name,
  );
  expect(after).toEqual(before);
});

/** Databases as earlier versions left them. */
const RECORDED = [
  { file: 'devnet-1.json', tables: ['meta', 'blocks', 'dictionaries'] },
  { file: 'devnet-2.json', tables: ['meta', 'blocks', 'dictionaries', 'state', 'trie'] },
];
for (const { file, tables } of RECORDED) {
  test(`a database as ${file} has it is brought up, with the blocks it had`, async ({ page }) => {
    const path = new URL(`../vectors/store/${file}`, import.meta.url);
    const recorded = JSON.parse(readFileSync(path, 'utf8')) as {
      version: number;
      head: string;
      proof: unknown;
      entries: { table: string; key: string | number; value: `0x${string}` }[];
    };
    const name = freshName();
    const entries = recorded.entries.map(({ table, key, value }) => ({ table, key, value: [...hexToBytes(value)] }));
    await page.evaluate(([database, version, places, rows]) => storePage.make(database, version, places, rows), [
      name,
      recorded.version,
      tables,
      entries,
    ] as const);
    expect(await start(page, devnet(name, { storeCheck: 'full' }))).toBeUndefined();
    const { hashes, head, status } = await look(page);
    expect(hashes.at(-1)).toBe(recorded.head);
    expect(status).toBeUndefined();
    const proof = await page.evaluate((address) => storePage.ask('linea_getProof', address, [], 'latest'), TEST_TOKEN);
    expect(proof).toEqual({ result: recorded.proof });
    await send(page, 1);
    await close(page);
    const { version } = (await page.evaluate((database) => storePage.shape(database), name))!;
    expect(version).toBeGreaterThan(recorded.version);
    expect(await start(page, devnet(name))).toBeUndefined();
    expect((await look(page)).head).toBe(head + 1);
  });
}

test('a damaged page of the state, node of the trie, checkpoint or head pointer is rebuilt, and told of', async ({
  page,
}) => {
  const { name, hashes } = await stored(page, 3);
  const places = await page.evaluate(async (database) => {
    const [state, trie] = [await storePage.keys(database, 'state'), await storePage.keys(database, 'trie')];
    return [
      ['state', state[0]!],
      ['state', state.at(-1)!],
      ['trie', trie[0]!],
      ['meta', 'devnet-checkpoint'],
      ['meta', 'devnet-head'],
    ] as const;
  }, name);
  for (const [table, key] of places) {
    for (const how of ['flip', 'delete'] as const) {
      await page.evaluate(([database, ...rest]) => storePage.damage(database, ...rest), [
        name,
        table,
        key,
        how,
      ] as const);
      expect(await start(page, devnet(name, { storeCheck: 'full' })), `${how} ${table} ${key}`).toBeUndefined();
      const found = await look(page);
      expect(found.hashes, `${how} ${table} ${key}`).toEqual(hashes);
      // A checkpoint that is not there is one that had not been written yet.
      if (key !== 'devnet-checkpoint' || how === 'flip') {
        await expect.poll(() => lastStatus(page)).toMatchObject({ mode: 'durable', repaired: [{ table }] });
      }
      await page.evaluate(() => storePage.prove());
      await close(page);
      expect(await start(page, devnet(name, { storeCheck: 'full' }))).toBeUndefined();
      expect((await look(page)).status, `after ${how} ${table} ${key}`).toBeUndefined();
      await close(page);
    }
  }
});

test('a damaged or missing block is reported with its table and number, and nothing is changed', async ({ page }) => {
  for (const how of ['flip', 'delete'] as const) {
    const { name } = await stored(page, 3);
    await page.evaluate(([database, given]) => storePage.damage(database, 'blocks', 2, given), [name, how] as const);
    const before = await page.evaluate((database) => storePage.contents(database), name);
    const blocks = (rows: typeof before) => rows.filter(([table]) => table === 'blocks');
    expect(await start(page, devnet(name))).toMatchObject({
      code: 'STORE_CORRUPT',
      details: { table: 'blocks', reason: expect.stringContaining('block 2') },
    });
    const after = await page.evaluate((database) => storePage.contents(database), name);
    expect(blocks(after)).toEqual(blocks(before));
    // In memory where that was asked for; what is damaged stays for whoever wants to look at it.
    expect(await start(page, devnet(name, { storage: { fallback: 'memory' } }))).toBeUndefined();
    expect(await lastStatus(page)).toMatchObject({ mode: 'memory', reason: 'STORE_CORRUPT' });
    await close(page);
  }
});

test('deleted tables: the state is rebuilt from the blocks, caches begin anew, and blocks are reported', async ({
  page,
}) => {
  const { name, hashes } = await stored(page, 3);
  const without = (tables: string[]) =>
    page.evaluate(([database, gone]) => storePage.withoutTables(database, gone), [name, tables] as const);
  for (const tables of [['state', 'trie'], ['dictionaries', 'proofs'], ['meta']]) {
    await without(tables);
    expect(await start(page, devnet(name, { storeCheck: 'full' }))).toBeUndefined();
    expect((await look(page)).hashes).toEqual(hashes);
    const { repaired = [] } = (await lastStatus(page))!;
    expect(repaired.map(({ table }) => table)).toEqual(expect.arrayContaining(tables));
    await page.evaluate(() => storePage.prove());
    await close(page);
    expect(await start(page, devnet(name, { storeCheck: 'full' }))).toBeUndefined();
    expect((await look(page)).status).toBeUndefined();
    await close(page);
  }
  await without(['blocks']);
  expect(await start(page, devnet(name))).toMatchObject({
    code: 'STORE_CORRUPT',
    details: { table: 'blocks', reason: 'all 4 blocks are missing' },
  });
});

test('site data cleared while a node is open: it goes on in memory, says so, and makes no new database', async ({
  page,
}) => {
  const name = freshName();
  expect(await start(page, devnet(name))).toBeUndefined();
  await send(page, 2);
  const { origin } = new URL(server.url);
  await session.send('Storage.clearDataForOrigin', { origin, storageTypes: 'indexeddb' });
  await send(page, 3);
  expect(await lastStatus(page)).toMatchObject({ mode: 'memory', reason: 'STORE_UNAVAILABLE' });
  expect((await look(page)).head).toBe(5);
  expect(await page.evaluate((database) => storePage.shape(database), name)).toBeUndefined();
  await close(page);
  expect(await page.evaluate((database) => storePage.shape(database), name)).toBeUndefined();
  expect(await start(page, devnet(name))).toBeUndefined();
  expect((await look(page)).head).toBe(0);
});

test('another page upgrades or deletes the database: the node gives way at once, and goes on in memory', async ({
  page,
}) => {
  for (const what of ['upgrade', 'delete'] as const) {
    const name = freshName();
    expect(await start(page, devnet(name))).toBeUndefined();
    await send(page, 2);
    const other = await page.context().newPage();
    await openPage(other);
    await other.evaluate(
      async ([database, how]) => {
        if (how === 'upgrade') return storePage.hold(database, 600);
        await new Promise((resolve, reject) => {
          const request = indexedDB.deleteDatabase(database);
          request.onsuccess = resolve;
          request.onerror = reject;
        });
      },
      [name, what] as const,
    );
    // Nothing was asked of it: it says so by itself.
    await expect.poll(() => lastStatus(page)).toMatchObject({ mode: 'memory', reason: 'STORE_UNAVAILABLE' });
    await send(page, 2);
    expect((await look(page)).head).toBe(4);
    await close(page);
    await other.close();
  }
});

test('without IndexedDB, or where it is denied, a devnet does not open unless it may be in memory', async ({
  page,
}) => {
  for (const script of ['/worker-without.js', '/worker-denied.js']) {
    expect(await start(page, devnet(freshName()), script)).toMatchObject({ code: 'STORE_UNAVAILABLE' });
    expect(await start(page, devnet(freshName(), { storage: { fallback: 'memory' } }), script)).toBeUndefined();
    await send(page, 2);
    expect(await lastStatus(page)).toMatchObject({ mode: 'memory', reason: 'STORE_UNAVAILABLE' });
    await close(page);
    // A light node keeps only what it can have again.
    const endpoints = [{ url: `${server.url}rpc` }];
    const { network } = await page.evaluate(() => ({ network: storePage.lightNetwork() }));
    const light = { storeName: freshName(), dictionary: { kind: 'general' } as const };
    expect(await start(page, { ...light, chain: { kind: 'light', network, endpoints } }, script)).toBeUndefined();
    expect(await lastStatus(page)).toMatchObject({ mode: 'memory', reason: 'STORE_UNAVAILABLE' });
    await close(page);
  }
});
