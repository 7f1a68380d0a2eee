import { expect, type Page, test } from '@playwright/test';
import {
  close,
  devnet,
  freshName,
  lastStatus,
  leave,
  look,
  openPage,
  quota,
  send,
  start,
  stored,
  storeTests,
} from './store-scene.js';

storeTests();

test('IndexedDB keeps to the quota that tests set', async ({ page }) => {
  await quota(1000);
  const thrown = await page.evaluate(async () => {
    await storePage.make('quota', 1, ['t'], []);
    return storePage
      .make('quota-2', 1, ['t'], [{ table: 't', key: 1, value: Array.from({ length: 100_000 }, () => 1) }])
      .catch((error: Error) => error.name);
  });
  expect(thrown).toBe('QuotaExceededError');
});

test('a full disk: the chain goes on in memory, reports it, and is stored when there is space', async ({ page }) => {
  const name = freshName();
  await leave(page, 1_000_000);
  expect(await start(page, devnet(name))).toBeUndefined();
  const full = await page.evaluate(() => storePage.fill(200));
  expect(await lastStatus(page)).toMatchObject({ mode: 'memory', reason: 'STORE_QUOTA_EXCEEDED', since: full });
  await send(page, 4);
  const { head, hashes } = await look(page);
  expect(head).toBe(full + 4);
  await quota(undefined);
  await expect.poll(() => lastStatus(page)).toEqual({ mode: 'durable' });
  await page.reload();
  await openPage(page);
  expect(await start(page, devnet(name, { storeCheck: 'full' }))).toBeUndefined();
  const again = await look(page);
  expect(again.hashes).toEqual(hashes);
  expect(again.status).toBeUndefined();
});

test('a full disk at closing: the chain is stored up to the reported block', async ({ page }) => {
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

test('a full disk at the start is an error, or a devnet in memory with fallback memory', async ({ page }) => {
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

test('a stored devnet opened on a full disk reads the store, goes on in memory, and reports it', async ({ page }) => {
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
  await expect.poll(() => lastStatus(page)).toEqual({ mode: 'durable' });
  await page.reload();
  await openPage(page);
  expect(await start(page, devnet(name, { storeCheck: 'full' }))).toBeUndefined();
  expect((await look(page)).hashes).toEqual(all);
});

test('a page that takes over on a full disk goes on from the stored chain in memory, and reports it', async ({
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
  // Those who follow are told, too.
  await expect
    .poll(() => lastStatus(other))
    .toMatchObject({ mode: 'memory', reason: 'STORE_QUOTA_EXCEEDED', since: 4 });
  await close(page);
  expect((await look(other)).hashes).toEqual(hashes);
  expect(await lastStatus(other)).toMatchObject({ mode: 'memory', reason: 'STORE_QUOTA_EXCEEDED' });
  await send(other, 2);
  expect(await lastStatus(other)).toMatchObject({ mode: 'memory', reason: 'STORE_QUOTA_EXCEEDED', since: 4 });
  const { hashes: all } = await look(other);
  await quota(undefined);
  await expect.poll(() => lastStatus(other)).toEqual({ mode: 'durable' });
  await close(other);
  expect(await start(page, devnet(name, { storeCheck: 'full' }))).toBeUndefined();
  expect((await look(page)).hashes).toEqual(all);
  await other.close();
});
