import { existsSync } from 'node:fs';
import { expect, type Page, test } from '@playwright/test';
import { axe, expectNoSideways, watch } from './demo-page.js';

async function settled(page: Page): Promise<void> {
  await page.evaluate(() => Promise.all(document.getAnimations().map(({ finished }) => finished.catch(() => {}))));
}

async function lied(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Let the server lie' }).click();
  await expect(page.locator('.act-verdict')).toHaveClass(/is-bad/);
  await page.locator('.compare').scrollIntoViewIfNeeded();
  await expect(page.locator('.compare')).toContainText('is false');
}

/** At 200 % a window has half as many units each way. */
const SCREENS = [
  { name: '1280', viewport: { width: 1280, height: 844 } },
  { name: '390', viewport: { width: 390, height: 844 } },
  { name: 'zoomed', viewport: { width: 640, height: 422 }, deviceScaleFactor: 2 },
] as const;

for (const colorScheme of ['light', 'dark'] as const) {
  for (const { name, ...screen } of SCREENS) {
    test(`the first view and Node, ${name}, ${colorScheme}`, async ({ browser }) => {
      const context = await browser.newContext({ colorScheme, ...screen });
      const page = await context.newPage();
      const problems = watch(page);
      const look = async (what: string) => {
        await settled(page);
        await expectNoSideways(page);
        expect(await axe(page), what).toEqual([]);
        const path = `build/results/landing-${what}-${name}-${colorScheme}.png`;
        await page.screenshot({ path, fullPage: true });
      };
      await page.goto('/demo/');
      await expect(page.locator('.act-verdict')).toHaveClass(/is-good/);
      await look('checked');
      await lied(page);
      await look('refused');
      await page.goto('/demo/#node');
      await expect(page.getByRole('heading', { name: 'Timings' })).toBeVisible();
      await look('node');
      expect(problems).toEqual([]);
      await context.close();
    });
  }
}

test('the keyboard alone has the server lie, and stays where it was', async ({ page }) => {
  await page.goto('/demo/');
  await expect(page.locator('.act-verdict')).toHaveClass(/is-good/);
  await page.keyboard.press('Tab');
  await page.keyboard.press('Enter');
  await page.keyboard.press('Tab');
  await expect(page.getByRole('button', { name: 'Let the server lie' })).toBeFocused();
  await page.keyboard.press('Enter');
  await expect(page.locator('.act-verdict')).toHaveClass(/is-bad/);
  await expect(page.getByRole('button', { name: 'Let it tell the truth' })).toBeFocused();
  await page.keyboard.press('Tab');
  await page.keyboard.press('ArrowDown');
  await expect(page.getByLabel('a hash on the path')).toBeChecked();
  await expect(page.locator('.path-step[data-step="to-account"]')).toHaveClass(/is-failed/);
});

test('nothing moves for those who do not want it', async ({ page }) => {
  await page.emulateMedia({ reducedMotion: 'reduce' });
  await page.goto('/demo/');
  await expect(page.locator('.act-verdict')).toHaveClass(/is-good/);
  expect(await page.evaluate(() => document.getAnimations().length)).toBe(0);
  await lied(page);
  expect(await page.evaluate(() => document.getAnimations().length)).toBe(0);
});

test('what links to the page is told of a title, a text and a picture', async ({ request }) => {
  const html = await (await request.get('/demo/')).text();
  for (const name of ['og:title', 'og:description', 'og:image:alt']) {
    expect(html).toMatch(new RegExp(`<meta property="${name}" content="[^"]+"`));
  }
  // The picture that `npm run screenshots` makes.
  expect(html).toMatch(/<meta property="og:image" content="https:\/\/[^"]+\/docs\/images\/og\.png"/);
  expect(existsSync('docs/images/og.png')).toBe(true);
});
