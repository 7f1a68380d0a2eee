import { expect, type Page, test } from '@playwright/test';
import { createInlineNode } from '../../build/modules/hosts/opening/inline.js';
import type { PlumblineNode } from '../../src/hosts/provider/node-handle.js';
import { startBuilt } from '../support/built-command.js';
import { serveMock } from '../support/mock-chain.js';
import { card, estimate, fact, mine, status, visit } from './demo-page.js';

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

/** The page from a server of its own, which a test can end: then the page can be had only from what the browser keeps. */
async function serveDemo(): Promise<{ readonly url: string; readonly stop: () => Promise<unknown> }> {
  const served = startBuilt(['serve', '--port', '0', '--demo', 'dist/demo', '--quiet']);
  await expect.poll(() => served.out()).toMatch(/\/demo\/\?here\n/);
  const [, url] = /(http:\S+\/demo\/)\?here/.exec(served.out())!;
  return { url: url!, stop: () => served.stop('SIGTERM') };
}

test('after the first visit the page opens and works without a network', async ({ page }) => {
  const served = await serveDemo();
  await page.goto(served.url);
  await expect(status(page)).toContainText('Running');
  await mine(page, 3);
  await expect(fact(page, 'This page')).toContainText('it opens without a network');
  await served.stop();
  await page.reload();
  await expect(status(page)).toContainText('Running');
  await page.context().setOffline(true);
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
  const served = await serveDemo();
  try {
    await page.goto(`${served.url}#node`);
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
    await expect(fact(page, 'This page')).toContainText('it opens without a network');
    // What was verified is written behind.
    await expect.poll(() => recordsOf(page, 'proofs')).toBeGreaterThan(0);
    await expect.poll(() => recordsOf(page, 'headers')).toBeGreaterThan(0);
    await Promise.all([upstream.close(), layerOne.close(), served.stop()]);
    await page.reload();
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
