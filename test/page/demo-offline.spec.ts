import { expect, type Page, test } from '@playwright/test';
import { createInlineNode } from '../../build/modules/hosts/opening/inline.js';
import type { PlumblineNode } from '../../src/hosts/provider/node-handle.js';
import { serveMock } from '../support/mock-chain.js';
import { card, estimate, fact, mine, openDemo, status, visit } from './demo-page.js';

/** How many records the stores of the page have in a table. */
function recordsOf(page: Page, table: string): Promise<number> {
  return page.evaluate(async (name) => {
    const settled = <T>(request: IDBRequest<T>) =>
      new Promise<T>((resolve, reject) => {
        request.onsuccess = () => resolve(request.result);
        request.onerror = () => reject(request.error);
      });
    let records = 0;
    for (const { name: database } of await indexedDB.databases()) {
      const opened = await settled(indexedDB.open(database!));
      if (opened.objectStoreNames.contains(name))
        records += await settled(opened.transaction(name).objectStore(name).count());
      opened.close();
    }
    return records;
  }, table);
}

/**
 * With Chromium 150 and Playwright 1.65, a page that its service worker took over goes offline only after it was loaded through
 * it once, a load while the service worker is not running may ask the network alone, and a page forgets that it is offline when
 * it is loaded again: it is loaded online and offline until it comes, and told again.
 */
async function reloadOffline(page: Page): Promise<void> {
  const context = page.context();
  await expect(async () => {
    await context.setOffline(false);
    await page.reload();
    await context.setOffline(true);
    await page.reload();
  }).toPass();
  await context.setOffline(false);
  await context.setOffline(true);
}

test('after the first visit the page opens and works without a network', async ({ page }) => {
  await openDemo(page);
  await mine(page, 3);
  await expect(fact(page, 'This page')).toContainText('kept');
  await reloadOffline(page);
  await expect(status(page)).toContainText('Running');
  await expect(page.getByText('offline', { exact: true })).toBeVisible();
  await expect(card(page, 'Head')).toHaveText('3');
  await visit(page, 'Fees');
  await estimate(page);
  await expect(page.getByText('Costs at most', { exact: true })).toBeVisible();
  await page.getByRole('button', { name: 'Send with this estimate' }).click();
  await expect(page.getByText('The transaction succeeded.')).toBeVisible();
  // The verifier was not loaded before.
  await visit(page, 'Proofs');
  await page.getByRole('button', { name: 'Prove and verify' }).click();
  await expect(page.locator('.view:visible .verdict-good')).toBeVisible();
  await visit(page, 'Evidence');
  await page.getByRole('button', { name: 'Read it and show the evidence' }).click();
  await expect(page.locator('.view:visible .verdict-good')).toBeVisible();
  await visit(page, 'Node');
  await page.getByLabel('Hash of the zk state').selectOption('mimc');
  await page.getByRole('button', { name: 'Start with these settings' }).click();
  await visit(page, 'Node');
  await expect(page.locator('.card', { hasText: 'Network' })).toContainText('mimc');
});

test('a light node gives the proofs it has kept, and says what it cannot know', async ({ page }) => {
  const dev = (await createInlineNode()) as unknown as PlumblineNode;
  for (let i = 0; i < 3; i++) await dev.request({ method: 'evm_mine' });
  const [upstream, layerOne] = await Promise.all([serveMock(dev), serveMock(dev.l1)]);
  try {
    await page.goto('/demo/#node');
    await page.getByLabel('Light node').check();
    await page.getByLabel('Network', { exact: true }).selectOption('devnet');
    await page.getByLabel('Endpoint 1, address').fill(new URL(upstream.url).origin);
    await page.getByLabel('Layer-1 endpoint, address').fill(new URL(layerOne.url).origin);
    await page.getByRole('button', { name: /^Start( with these settings)?$/ }).click();
    await expect(status(page)).toContainText('Running: a light node');
    await visit(page, 'Proofs');
    await page.getByRole('button', { name: 'Prove and verify' }).click();
    await expect(page.locator('.view:visible .verdict-warn')).toBeVisible();
    await visit(page, 'Node');
    await expect(fact(page, 'This page')).toContainText('kept');
    // What was verified is written behind.
    await expect.poll(() => recordsOf(page, 'proofs')).toBeGreaterThan(0);
    await expect.poll(() => recordsOf(page, 'headers')).toBeGreaterThan(0);
    await Promise.all([upstream.close(), layerOne.close()]);
    await reloadOffline(page);
    await expect(status(page)).toContainText('No endpoint answers: a light node');
    await visit(page, 'Proofs');
    await page.getByRole('button', { name: 'Prove and verify' }).click();
    await expect(page.locator('.view:visible .verdict-warn')).toBeVisible();
    await expect(fact(page, 'Root from')).toContainText('the answer itself');
    await visit(page, 'Fees');
    await estimate(page);
    await expect(page.getByRole('alert').last()).toContainText(/reached/);
  } finally {
    await dev.close();
  }
});
