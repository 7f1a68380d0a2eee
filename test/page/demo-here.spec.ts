import { expect, test } from '@playwright/test';
import { startBuilt } from '../support/built-command.js';
import { card, status, visit, watch } from './demo-page.js';

/** A server of its own, which this test changes. */
test('the demo page that a start names shows the chain of its server, and a devnet of its own one click away', async ({
  page,
}) => {
  const served = startBuilt(['serve', '--port', '0', '--demo', 'dist/demo', '--quiet']);
  try {
    await expect.poll(() => served.out()).toMatch(/demo\/\?here\n/);
    const url = /http:\S+\/demo\/\?here/.exec(served.out())![0];
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'evm_mine', params: [{ blocks: 7 }] });
    await fetch(new URL('/', url), { method: 'POST', body });
    const problems = watch(page);
    await page.goto(url);
    await expect(status(page)).toHaveText('Running: a light node of the devnet of this server');
    await visit(page, 'Node');
    await expect(card(page, 'Head')).toHaveText('7');
    await expect(card(page, 'Finalized on layer 1')).toHaveText('5');
    // The example is read from the server, which is mined for nothing: it has blocks that are final.
    await visit(page, 'Evidence');
    await expect(page.locator('.view:visible .verdict-good')).toContainText('holds 10\u202f000 ETH at block');
    await page.getByRole('button', { name: 'Read it with this lie' }).click();
    await expect(page.locator('.view:visible .chain-link.is-refused')).toBeVisible();
    await visit(page, 'Node');
    await expect(card(page, 'Head')).toHaveText('7');
    await page.getByRole('link', { name: 'Use a devnet in this page' }).click();
    await expect(status(page)).toHaveText('Running: a devnet in this page');
    await visit(page, 'Node');
    await expect(card(page, 'Head')).toHaveText('0');
    expect(problems).toEqual([]);
  } finally {
    await served.stop('SIGTERM');
  }
});

test('a browser that opens the server sees what it is, and loads nothing else', async ({ page, baseURL }) => {
  const problems = watch(page);
  const loaded: string[] = [];
  page.on('request', (request) => loaded.push(request.url()));
  await page.goto('/');
  await expect(page.getByRole('heading', { level: 1 })).toHaveText('plumbline');
  expect(loaded).toEqual([`${baseURL}/`]);
  await page.getByRole('link', { name: 'Open the demo page' }).click();
  await expect(status(page)).toContainText('Running');
  expect(problems).toEqual([]);
});
