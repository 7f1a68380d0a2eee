import { type Browser, type BrowserContextOptions, expect, type Page, test } from '@playwright/test';
import { hold } from './demo-page.js';

/** What the page itself has, before any script of it runs. */
const EARLY = ['.brand', '.top-link', '.theme label', '.nav a', 'h1', '.landing-head p', '.act-verdict p'];

/** Texts with their places in the window. */
function texts(page: Page, selectors: readonly string[] = EARLY): Promise<unknown[]> {
  return page.evaluate(
    (all) =>
      all.flatMap((selector) =>
        [...document.querySelectorAll(selector)].map((element) => {
          const { x, y, width, height } = element.getBoundingClientRect();
          return { selector, text: element.textContent, place: [x, y, width, height].map(Math.round) };
        }),
      ),
    selectors,
  );
}

/** A page whose own script does not come. */
async function withoutScript(browser: Browser, address: string, options: BrowserContextOptions): Promise<Page> {
  const page = await (await browser.newContext(options)).newPage();
  await page.route(/assets\/.*\.js$/, (route) => route.abort());
  await page.goto(address);
  return page;
}

for (const width of [1280, 390]) {
  test(`the first view stays as it is when its script runs, ${width} px`, async ({ browser }) => {
    const options = { viewport: { width, height: 844 } };
    const early = await withoutScript(browser, '/demo/', options);
    const context = await browser.newContext(options);
    const page = await context.newPage();
    await hold(page);
    await page.goto('/demo/');
    await expect(page.getByRole('button', { name: 'Let the server lie' })).toBeVisible();
    const before = await texts(early);
    expect(before.length).toBeGreaterThan(EARLY.length);
    expect(await texts(page)).toEqual(before);
    await early.screenshot({ path: `build/results/first-paint-${width}.png` });
    await Promise.all([context.close(), early.context().close()]);
  });
}

test('before its script runs, the page has the chosen colours and the part that its address names', async ({
  browser,
}) => {
  const page = await withoutScript(browser, '/demo/', {});
  await page.evaluate(() => localStorage.setItem('plumbline-demo-theme', 'dark'));
  await page.goto('/demo/#fees?tokens=2');
  await page.reload();
  await expect(page.locator('html')).toHaveAttribute('data-theme', 'dark');
  await expect(page.getByRole('radio', { name: 'Dark' })).toBeChecked();
  await expect(page.locator('.nav [aria-current="page"]')).toHaveText('Fees');
  await expect(page.locator('main')).toHaveText('Loading…');
  await page.context().close();
});
