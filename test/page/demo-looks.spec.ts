import { expect, type Page, test } from '@playwright/test';
import { estimate, LOOKS, look, mine, openDemo, type Part, visit } from './demo-page.js';

/** Brings each part into a state with something in it. */
const SCENES: Readonly<Record<string, { readonly part: Part; readonly act: (page: Page) => Promise<void> }>> = {
  fees: {
    part: 'Fees',
    async act(page) {
      await page.getByText('State overrides').click();
      await page.getByRole('button', { name: 'Give the sender plenty' }).click();
      await estimate(page);
      await expect(page.getByText('Costs at most', { exact: true })).toBeVisible();
      await page.getByRole('button', { name: 'Send with this estimate' }).click();
      await expect(page.getByText(/^The transaction succeeded\./)).toBeVisible();
    },
  },
  'fees-refused': {
    part: 'Fees',
    async act(page) {
      await page.getByRole('button', { name: 'Remove override 1' }).click();
      await page.getByRole('button', { name: 'Remove override 1' }).click();
      await page.getByLabel('Tokens').fill('3000000000');
      await estimate(page);
      await expect(page.getByRole('alert')).toBeVisible();
    },
  },
  chain: { part: 'Node', act: (page) => mine(page, 2) },
  'proof-absent': {
    part: 'Proofs',
    async act(page) {
      await page.getByRole('button', { name: 'A slot that is empty' }).click();
      await page.getByRole('button', { name: 'Prove and verify' }).click();
      await expect(page.locator('.view:visible .verdict-good')).toBeVisible();
    },
  },
  'proof-forged': {
    part: 'Proofs',
    async act(page) {
      await page.getByRole('button', { name: 'Token balance of account 1' }).click();
      await page.getByLabel('Or forge a copy first').selectOption('sibling');
      await page.getByRole('button', { name: 'Verify a forged copy' }).click();
      await expect(page.locator('.view:visible .verdict-bad')).toBeVisible();
    },
  },
  console: {
    part: 'Console',
    async act(page) {
      await page.getByRole('button', { name: 'Send', exact: true }).click();
      // Longer than a narrow window is wide.
      await page.getByRole('combobox', { name: 'Method' }).fill(`eth_${'nope'.repeat(20)}`);
      await page.getByRole('button', { name: 'Send', exact: true }).click();
      // One is the first example.
      await expect(page.locator('.exchange')).toHaveCount(3);
    },
  },
  log: { part: 'Log', act: async () => {} },
  node: {
    part: 'Node',
    async act(page) {
      await page.getByLabel('Light node').check();
      await page.getByRole('button', { name: 'Add an endpoint' }).click();
    },
  },
};

for (const [width, colorScheme] of LOOKS) {
  test(`every part, ${width} px, ${colorScheme}`, async ({ browser }) => {
    // axe goes through every part.
    const context = await browser.newContext({ colorScheme, viewport: { width, height: 844 } });
    const page = await context.newPage();
    const problems = await openDemo(page);
    for (const [name, { part, act }] of Object.entries(SCENES)) {
      await visit(page, part);
      await act(page);
      await look(page, name);
    }
    expect(problems).toEqual([]);
    await context.close();
  });
}

test('the switch changes the colours and is remembered', async ({ page }) => {
  await page.emulateMedia({ colorScheme: 'light' });
  await openDemo(page);
  const paper = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  const light = await paper();
  await page.getByRole('radio', { name: 'Dark' }).check();
  const dark = await paper();
  expect(dark).not.toBe(light);
  await page.reload();
  expect(await paper()).toBe(dark);
  await page.emulateMedia({ colorScheme: 'dark' });
  await page.getByRole('radio', { name: 'Light' }).check();
  expect(await paper()).toBe(light);
  await page.getByRole('radio', { name: 'Auto' }).check();
  expect(await paper()).toBe(dark);
});

test('the keyboard alone estimates a fee', async ({ page }) => {
  await openDemo(page);
  await page.keyboard.press('Tab');
  await expect(page.getByRole('button', { name: 'Skip to the content' })).toBeFocused();
  await page.keyboard.press('Enter');
  await expect(page.locator('main')).toBeFocused();
  await page.getByRole('link', { name: 'Fees' }).focus();
  await page.keyboard.press('Enter');
  await expect(page.locator('main')).toBeFocused();
  const estimateButton = page.getByRole('button', { name: 'Estimate', exact: true });
  // The part may still be loading.
  await expect(estimateButton).toBeVisible();
  for (let i = 0; i < 20; i++) {
    await page.keyboard.press('Tab');
    if (await estimateButton.evaluate((button) => button === document.activeElement)) break;
    const outlined = await page.evaluate(() => {
      const focused = document.activeElement!;
      const ringed = focused.matches('input[type=radio]') ? focused.closest('label')! : focused;
      return getComputedStyle(ringed).outlineStyle;
    });
    expect(outlined).toBe('solid');
  }
  await expect(estimateButton).toBeFocused();
  await page.keyboard.press('Enter');
  await expect(page.getByText('Costs at most', { exact: true })).toBeVisible();
});

test('nothing moves for those who do not want it', async ({ page }) => {
  await page.emulateMedia({ reducedMotion: 'reduce' });
  await openDemo(page);
  const moving = await page.evaluate(() => document.getAnimations().length);
  expect(moving).toBe(0);
});
