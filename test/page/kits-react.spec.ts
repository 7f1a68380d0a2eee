import { fileURLToPath } from 'node:url';
import { expect, type Page, test } from '@playwright/test';
import { createElement } from 'react';
import { renderToString } from 'react-dom/server';
import { bundlePage } from '../support/bundle-page.js';
import { openSite, type Site } from '../support/proxy-site.js';

const PAGE = fileURLToPath(new URL('../clients/react-page.ts', import.meta.url));
const APP = fileURLToPath(new URL('../clients/react-app.ts', import.meta.url));

/** The first account of the mnemonic `test … junk`, which holds 10 000 ETH, and one that holds nothing. */
const RICH = '0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266';
const POOR = '0x2400000000000000000000000000000000000000';
const TO = '0x2500000000000000000000000000000000000000';

interface Seen {
  readonly opened: number;
  readonly closed: number;
  readonly aborted: readonly string[];
  readonly asked: readonly string[];
  readonly errors: readonly string[];
}

let site: Site;
test.beforeAll(async () => {
  site = await openSite();
  site.scripts.set('/app/page.js', await bundlePage(`import '${PAGE}';`));
  for (const name of ['worker', 'worker-devnet']) {
    site.scripts.set(`/app/${name}.js`, `import '/dist/hosts/worker/${name}.js';`);
  }
});
test.afterAll(() => site.close());

/** Errors that React prints, such as that of a mismatch. */
let printed: string[];
test.beforeEach(async ({ page }) => {
  printed = [];
  page.on('console', (message) => message.type() === 'error' && printed.push(message.text()));
  page.on('pageerror', (error) => printed.push(error.message));
  await page.goto(site.origin);
  await page.addScriptTag({ url: '/app/page.js', type: 'module' });
  await page.waitForFunction(() => 'render' in globalThis);
  printed = [];
});
test.afterEach(() => expect(printed).toEqual([]));

const call = (page: Page, name: string, ...args: unknown[]) =>
  page.evaluate(
    ([what, given]) => (globalThis as unknown as Record<string, (...all: unknown[]) => void>)[what]!(...given),
    [name, args] as const,
  );
const seen = (page: Page) => page.evaluate(() => (globalThis as unknown as { seen: Seen }).seen);

test('StrictMode opens one node; hooks go from loading to answers with their trust; unmounting closes it', async ({
  page,
}) => {
  await call(page, 'render', { from: RICH, to: TO });
  await expect(page.locator('#node')).toHaveText('59139');
  await expect(page.locator('#balance')).toHaveText('10000000000000000000000 held held');
  await expect(page.locator('#fee')).toHaveText('21000 computed held');
  await expect(page.locator('#preview')).toHaveText('success');
  await call(page, 'render', { from: POOR, to: TO });
  await expect(page.locator('#balance')).toHaveText('0 held held');
  await expect(page.locator('#fee')).toHaveText(/exceeds transaction sender account balance/);
  // No account yet: nothing is asked.
  await call(page, 'render', { to: TO });
  await expect(page.locator('#balance')).toHaveText('idle');
  expect(await seen(page)).toMatchObject({ opened: 1, closed: 0 });
  await call(page, 'unmount');
  await expect.poll(() => seen(page)).toMatchObject({ opened: 1, closed: 1 });
});

test('a request ends with the arguments that it was for, and with the component', async ({ page }) => {
  await call(page, 'render', { from: POOR, to: TO }, { hold: POOR });
  await expect(page.locator('#fee')).not.toHaveText('loading');
  await expect(page.locator('#balance')).toHaveText('loading');
  const before = (await seen(page)).aborted.filter((method) => method === 'eth_getBalance').length;
  await call(page, 'render', { from: RICH, to: TO });
  await expect(page.locator('#balance')).toHaveText('10000000000000000000000 held held');
  expect((await seen(page)).aborted.filter((method) => method === 'eth_getBalance')).toHaveLength(before + 1);
  await call(page, 'render', { from: POOR, to: TO });
  await expect(page.locator('#balance')).toHaveText('loading');
  await call(page, 'unmount');
  expect((await seen(page)).aborted.filter((method) => method === 'eth_getBalance')).toHaveLength(before + 3);
});

test('`refresh` asks again and keeps the answer of before', async ({ page }) => {
  await call(page, 'render', { from: RICH, to: TO });
  await expect(page.locator('#balance')).toHaveText('10000000000000000000000 held held');
  const asked = async () => (await seen(page)).asked.filter((method) => method === 'eth_getBalance').length;
  const before = await asked();
  await page.getByRole('button', { name: 'refresh' }).click();
  await expect.poll(asked).toBe(before + 1);
  await expect(page.locator('#balance')).toHaveText('10000000000000000000000 held held');
});

test('below Suspense that waits, one node is opened', async ({ page }) => {
  await call(page, 'render', { from: RICH, to: TO }, { isLate: true });
  await expect(page.getByText('waits')).toBeVisible();
  await call(page, 'arrive');
  await expect(page.locator('#balance')).toHaveText('10000000000000000000000 held held');
  expect(await seen(page)).toMatchObject({ opened: 1, closed: 0 });
});

test('a node that does not open is the error of each hook', async ({ page }) => {
  await call(page, 'fails', { from: RICH, to: TO });
  await expect(page.locator('#node')).toHaveText('no node today');
  await expect(page.locator('#fee')).toHaveText('no node today');
  await expect(page.locator('#balance')).toHaveText('error');
});

test('the server opens no node, and the page takes over what it rendered without a mismatch', async ({ page }) => {
  const { App } = (await import(APP)) as typeof import('../clients/react-app.js');
  const open = () => {
    throw new Error('the server must not open a node');
  };
  const props = { from: RICH, to: TO } as const;
  const html = renderToString(createElement(App, { ...props, open }));
  expect(html).toContain('<li id="balance">loading</li>');
  await call(page, 'hydrate', html, props);
  await expect(page.locator('#balance')).toHaveText('10000000000000000000000 held held');
  expect(await seen(page)).toMatchObject({ opened: 1, errors: [] });
});
