import { mkdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Browser, Page } from 'playwright';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { PACKAGE } from '../../scripts/lib/published.mjs';
import { executablePath, launch, type StaticServer, serveFiles } from '../packaging/page.js';
import { root, run } from '../packaging/project.js';

/* The site, built and read in Chromium. Slow because the generator takes minutes on a busy machine. */

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const PICTURES = `${root}/build/results`;

let server: StaticServer;
let browser: Browser;

beforeAll(async () => {
  console.log((await run(process.execPath, ['scripts/site.mjs'], root)).trim().split('\n').at(-1));
  mkdirSync(PICTURES, { recursive: true });
  // Below the root of its host: all addresses have to be relative.
  server = await serveFiles(`${root}/build`);
  if (executablePath !== undefined) browser = await launch();
});
afterAll(async () => {
  await browser?.close();
  await server?.close();
});

interface Visit {
  readonly page: Page;
  /** Messages on the console, errors, and requests to other hosts. */
  readonly troubles: string[];
}

interface Options {
  readonly width?: number;
  readonly colorScheme?: 'light' | 'dark';
  readonly from?: StaticServer;
}

async function visit(path: string, options: Options = {}): Promise<Visit> {
  const { width = 1280, colorScheme = 'light', from = server } = options;
  const context = await browser.newContext({ colorScheme, viewport: { width, height: 900 } });
  const troubles: string[] = [];
  context.on('request', (request) => {
    const { protocol, host } = new URL(request.url());
    if (protocol.startsWith('http') && host !== new URL(from.url).host) troubles.push(`asked ${request.url()}`);
  });
  context.on('response', (response) => {
    if (response.status() >= 400) troubles.push(`${response.status()} ${response.url()}`);
  });
  const page = await context.newPage();
  page.on('console', (message) => troubles.push(`${message.type()}: ${message.text()}`));
  page.on('pageerror', (error) => troubles.push(error.message));
  await page.route('**/favicon.ico', (route) => route.fulfill({ status: 204 }));
  await page.goto(`${from.url}site/${path}`);
  return { page, troubles };
}

const isTooWide = (page: Page) =>
  page.evaluate(() => document.documentElement.scrollWidth > document.documentElement.clientWidth);

async function findings(page: Page): Promise<string[]> {
  await page.evaluate(AXE);
  return page.evaluate(async () => {
    const { axe } = window as unknown as {
      axe: { run(): Promise<{ violations: { id: string; nodes: { html: string }[] }[] }> };
    };
    return (await axe.run()).violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join('; ')}`);
  });
}

/** Waits for a run to end. @returns how it ended, and what it printed */
async function outcome(page: Page): Promise<{ state: string | null; printed: string }> {
  const state = page.locator('.run-state:not([data-state="running"])');
  await state.waitFor();
  const printed = await page.locator('.run-output pre').allTextContents();
  return { state: await state.getAttribute('data-state'), printed: printed.join('') };
}

/** Those of some addresses that the service worker of the site has not kept. */
function notKept(page: Page, urls: readonly string[]): Promise<string[]> {
  return page.evaluate(async (all) => {
    const kept = await Promise.all(all.map((url) => caches.match(url, { ignoreSearch: true })));
    return all.filter((_, i) => kept[i] === undefined);
  }, urls);
}

describe.skipIf(executablePath === undefined)('the site', () => {
  for (const colorScheme of ['light', 'dark'] as const) {
    test.each([1280, 390])(`first page, %d px, ${colorScheme}: its ten lines run`, async (width) => {
      const { page, troubles } = await visit('', { width, colorScheme });
      expect(await page.locator('h1').textContent()).toContain('plumbline');
      await page.getByLabel('pnpm').check();
      expect(await page.locator('.install pre').textContent()).toBe(`pnpm add ${PACKAGE}`);
      await page.getByRole('button', { name: 'Run it here' }).click();
      const { state, printed } = await outcome(page);
      // As the comment in README.md says.
      expect(printed).toMatch(/^\{ gasLimit: '0x5208', baseFeePerGas: '0x7', priorityFeePerGas: '0x[0-9a-f]+' \}/);
      expect(state).toBe('done');
      expect(await isTooWide(page)).toBe(false);
      expect(await findings(page)).toEqual([]);
      expect(troubles).toEqual([]);
      await page.screenshot({ path: `${PICTURES}/site-${width}-${colorScheme}.png`, fullPage: true });
      await page.context().close();
    });
  }

  test.each([
    'overview.html',
    'methods.html',
    'methods/linea_getProof.html',
    'guides/kits.html',
    'playground.html',
    'guides/wallet.html',
    'spec/fees.html',
    'api/plumbline-l2/fees.html',
  ])('%s is as wide as the window, without a finding', async (path) => {
    for (const width of [1280, 390]) {
      const { page, troubles } = await visit(path, { width });
      await page.locator('h1').waitFor();
      expect(await isTooWide(page)).toBe(false);
      expect(await findings(page)).toEqual([]);
      expect(troubles).toEqual([]);
      await page.context().close();
    }
  });

  test('search finds a section of a guide', async () => {
    const { page, troubles } = await visit('');
    await page.getByRole('button', { name: 'Search' }).first().click();
    await page.locator('.VPLocalSearchBox input').fill('beacon chain slots');
    await page.locator('.VPLocalSearchBox .result').first().waitFor();
    const results = await page.locator('.VPLocalSearchBox .result').allTextContents();
    expect(results.some((text) => text.includes('Its beacon chain'))).toBe(true);
    await page.locator('.VPLocalSearchBox .result', { hasText: 'Its beacon chain' }).first().click();
    await page.getByRole('heading', { level: 1, name: 'A devnet in tests' }).waitFor();
    expect(troubles).toEqual([]);
    await page.context().close();
  });

  test.each([
    ['CORS', /CORS/],
    ['infura', /infura_simulateTransactions/],
    ['react', /React/],
    ['eth_getBalance', /eth_getBalance/],
  ])('search finds %s', async (word, wanted) => {
    const { page, troubles } = await visit('');
    await page.getByRole('button', { name: 'Search' }).first().click();
    await page.locator('.VPLocalSearchBox input').fill(word);
    const results = page.locator('.VPLocalSearchBox .result');
    await results.filter({ hasText: wanted }).first().waitFor();
    expect(troubles).toEqual([]);
    await page.context().close();
  });

  test('a name of a snippet shows its type and what it is, also where an earlier snippet made it', async () => {
    const { page, troubles } = await visit('guides/devnet.html');
    const shown = page.locator('.type-shown');
    expect(await shown.isVisible()).toBe(false);
    await page
      .locator('.typed', { hasText: /^createInlineNode$/ })
      .last()
      .hover();
    expect(await shown.locator('code').textContent()).toContain('options?: InlineOptions): Promise<PlumblineNode>');
    expect(await shown.locator('p').textContent()).toMatch(/^Opens a node in this thread\./);
    await page.screenshot({ path: `${PICTURES}/site-type.png` });
    const continued = page
      .locator('div.language-ts')
      .nth(1)
      .locator('.typed', { hasText: /^node$/ })
      .first();
    await continued.hover();
    expect(await shown.locator('code').textContent()).toBe('const node: PlumblineNode');
    await page.keyboard.press('Escape');
    expect(await shown.isVisible()).toBe(false);
    expect(troubles).toEqual([]);
    await page.context().close();
  });

  test('the page of a method has its parameters, its result and an example, and the playground runs it', async () => {
    const { page, troubles } = await visit('methods/eth_getBalance.html');
    await page.getByRole('heading', { level: 1, name: 'eth_getBalance' }).waitFor();
    const cells = await page.locator('.vp-doc tr').allInnerTexts();
    expect(cells.map((text) => text.replace(/\s+/g, ' ').trim())).toEqual(
      expect.arrayContaining(['devnet held', 'light node proved', 'replica proved']),
    );
    await page.getByRole('link', { name: 'Try it here' }).click();
    await page.getByRole('button', { name: 'Run', exact: true }).click();
    // 10 000 ETH in wei: docs/hosts.md.
    expect(await outcome(page)).toEqual({ state: 'done', printed: '0x21e19e0c9bab2400000\n' });
    expect(troubles).toEqual([]);
    await page.context().close();
  });

  test('the demo page opens beside the documents', async () => {
    const { page, troubles } = await visit('');
    await page.getByRole('link', { name: 'Demo', exact: true }).first().click();
    await page.getByText('Running: a devnet in this page').waitFor();
    expect(new URL(page.url()).pathname).toMatch(/^\/site\/demo\/(index\.html)?$/);
    expect(troubles).toEqual([]);
    await page.context().close();
  });

  test('a page that was read opens again without a network', async () => {
    const own = await serveFiles(`${root}/build`);
    const { page } = await visit('guides/hash.html', { from: own });
    await expect.poll(() => page.evaluate(() => navigator.serviceWorker.controller?.state)).toBe('activated');
    // Now through the service worker, which keeps what is read.
    const read = new Set<string>();
    page.context().on('response', (response) => {
      if (response.url().startsWith(own.url)) read.add(response.url());
    });
    await page.reload();
    await page.getByRole('button', { name: 'Run it here' }).first().click();
    expect(await outcome(page)).toMatchObject({ state: 'done' });
    expect(read.size).toBeGreaterThan(1);
    await expect.poll(() => notKept(page, [...read])).toEqual([]);
    await own.close();
    await page.reload();
    await page.getByRole('heading', { level: 1, name: 'The hashes' }).waitFor();
    await page.getByRole('button', { name: 'Run it here' }).first().click();
    expect(await outcome(page)).toMatchObject({ state: 'done' });
    await page.context().close();
  });

  test('a program that fails says why, and a change to a program is run', async () => {
    const { page } = await visit('playground.html?snippet=guides/hash-1');
    const program = page.getByLabel('Program, in TypeScript');
    await expect.poll(() => program.inputValue()).toContain("loadHasher('poseidon2')");
    await program.fill(
      `const answer: number = 6 * 7;\nconsole.log(answer, [1n], new Uint8Array(2));\nthrow new TypeError('no');`,
    );
    await page.getByRole('button', { name: 'Run', exact: true }).click();
    expect(await outcome(page)).toEqual({
      state: 'failed',
      printed: '42 [ 1n ] Uint8Array(2) 0x0000\nTypeError: no\n',
    });
    await page.context().close();
  });

  test('every snippet of the documents runs to its end in the playground, and asks no other host', async () => {
    const { page, troubles } = await visit('playground.html');
    await page.locator('#snippet option').first().waitFor({ state: 'attached' });
    const ids = await page
      .locator('#snippet option')
      .evaluateAll((all) => all.map((one) => (one as HTMLOptionElement).value));
    expect(ids.length).toBeGreaterThan(40);
    const refused: string[] = [];
    for (const id of ids) {
      await page.getByLabel('Snippet').selectOption(id);
      if ((await page.locator('.playground .run-refused').count()) > 0) {
        refused.push(id);
        continue;
      }
      await page.getByRole('button', { name: 'Run', exact: true }).click();
      expect({ id, ...(await outcome(page)), troubles }).toMatchObject({ state: 'done', troubles: [] });
    }
    expect(refused).toEqual(['guides/service-worker-2']);
    await page.context().close();
  });
});
