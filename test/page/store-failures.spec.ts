import { readFileSync } from 'node:fs';
import { expect, test } from '@playwright/test';
import { TEST_TOKEN } from '../../src/chain/devnet/state/dev-accounts.js';
import { hexToBytes } from '../../src/primitives/hex.js';
import {
  clearSiteData,
  close,
  devnet,
  freshName,
  lastStatus,
  look,
  openPage,
  rpcUrl,
  send,
  start,
  stored,
  storeTests,
} from './store-scene.js';

storeTests();

test('a node waits for a page that keeps an older version open, up to a timeout', async ({ page }) => {
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

test('a database of a newer version is refused and not changed', async ({ page }) => {
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
  test(`the old database of ${file} is upgraded and keeps its blocks`, async ({ page }) => {
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

test('site data cleared while a node is open: it goes on in memory, reports it, and creates no new database', async ({
  page,
}) => {
  const name = freshName();
  expect(await start(page, devnet(name))).toBeUndefined();
  await send(page, 2);
  await clearSiteData();
  await send(page, 3);
  const gone = { mode: 'memory', reason: 'STORE_UNAVAILABLE', message: expect.stringMatching(/deleted/), since: 3 };
  expect(await lastStatus(page)).toMatchObject(gone);
  const report = await page.evaluate(() => storePage.storage());
  expect([report.status, report.bytes]).toEqual([gone, 0]);
  expect((await look(page)).head).toBe(5);
  expect(await page.evaluate((database) => storePage.shape(database), name)).toBeUndefined();
  await close(page);
  expect(await page.evaluate((database) => storePage.shape(database), name)).toBeUndefined();
  expect(await start(page, devnet(name))).toBeUndefined();
  expect((await look(page)).head).toBe(0);
});

test('connections that die without an event are opened again: every block is stored, and the store stays durable', async ({
  page,
}) => {
  const name = freshName();
  expect(await start(page, devnet(name), '/worker-mortal.js')).toBeUndefined();
  await send(page, 2);
  for (let n = 0; n < 3; n++) {
    await page.evaluate(() => storePage.kill());
    await send(page, 2);
  }
  await page.evaluate(() => storePage.kill());
  const report = await page.evaluate(() => storePage.storage());
  // Genesis and eight blocks.
  expect([report.status, report.tables.blocks.records]).toEqual([{ mode: 'durable' }, 9]);
  const { hashes } = await look(page);
  await close(page);
  expect(await start(page, devnet(name))).toBeUndefined();
  expect((await look(page)).hashes).toEqual(hashes);
  expect(hashes).toHaveLength(9);
});

test('another page upgrades or deletes the database: the node closes it at once, and goes on in memory', async ({
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

test('without IndexedDB, or where it is denied, a devnet opens only with fallback memory', async ({ page }) => {
  for (const script of ['/worker-without.js', '/worker-denied.js', '/worker-insecure.js']) {
    expect(await start(page, devnet(freshName()), script)).toMatchObject({ code: 'STORE_UNAVAILABLE' });
    expect(await start(page, devnet(freshName(), { storage: { fallback: 'memory' } }), script)).toBeUndefined();
    await send(page, 2);
    expect(await lastStatus(page)).toMatchObject({ mode: 'memory', reason: 'STORE_UNAVAILABLE' });
    await close(page);
    // A light node keeps only what it can have again.
    const endpoints = [{ url: rpcUrl() }];
    const { network } = await page.evaluate(() => ({ network: storePage.lightNetwork() }));
    const light = { storeName: freshName(), dictionary: { kind: 'general' } as const };
    expect(await start(page, { ...light, chain: { kind: 'light', network, endpoints } }, script)).toBeUndefined();
    expect(await lastStatus(page)).toMatchObject({ mode: 'memory', reason: 'STORE_UNAVAILABLE' });
    await close(page);
  }
});
