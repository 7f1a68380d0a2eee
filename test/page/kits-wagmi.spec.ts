import { fileURLToPath } from 'node:url';
import { expect, test } from '@playwright/test';
import { getAddress } from 'viem';
import { DEV_ACCOUNTS } from '../../src/chain/devnet/state/dev-accounts.js';
import { bundlePage } from '../support/bundle-page.js';
import { openSite, type Site } from '../support/proxy-site.js';

const PAGE = fileURLToPath(new URL('../clients/wagmi-kit-page.ts', import.meta.url));
const ACCOUNTS = DEV_ACCOUNTS.map(({ address }) => getAddress(address));

let site: Site;
test.beforeAll(async () => {
  site = await openSite();
  site.scripts.set('/app/page.js', await bundlePage(`import '${PAGE}';`));
  for (const name of ['worker', 'worker-devnet']) {
    site.scripts.set(`/app/${name}.js`, `import '/dist/hosts/worker/${name}.js';`);
  }
});
test.afterAll(() => site.close());
test.beforeEach(async ({ page }) => {
  await page.goto(site.origin);
  await page.addScriptTag({ url: '/app/page.js', type: 'module' });
  await page.waitForFunction(() => 'tour' in globalThis);
});

test('the connector connects, sends, follows accounts and chain, reconnects after a reload, and disconnects', async ({
  page,
}) => {
  const found = await page.evaluate(() => (globalThis as unknown as { tour(): Promise<unknown> }).tour());
  expect(found).toEqual({
    opened: [1, 1],
    before: '0',
    accounts: ACCOUNTS,
    chainId: 59_139,
    status: 'success',
    after: '5',
    refused: 'SwitchChainError',
    followed: 1,
    restricted: [ACCOUNTS[1]],
    restored: [10],
    left: [],
    afterwards: [],
    closed: 'disconnected',
    changes: [
      ['connecting', undefined, undefined],
      ['connected', 10, 59_139],
      ['connected', 10, 1],
      ['connected', 10, 59_139],
      ['connected', 1, 59_139],
      ['disconnected', undefined, undefined],
    ],
  });
});

test('wagmi’s hooks connect, send, wait for the receipt and disconnect', async ({ page }) => {
  await page.evaluate(() => (globalThis as unknown as { widget(): void }).widget());
  await expect(page.locator('#balance')).toHaveText('0');
  await page.getByRole('button', { name: 'connect', exact: true }).click();
  await expect(page.locator('#status')).toHaveText(`connected ${ACCOUNTS[0]}`);
  await page.getByRole('button', { name: 'send' }).click();
  await expect(page.locator('#receipt')).toHaveText('success');
  await page.getByRole('button', { name: 'disconnect' }).click();
  await expect(page.locator('#status')).toHaveText('disconnected');
});
