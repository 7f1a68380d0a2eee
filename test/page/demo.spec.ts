import { expect, type Page, test } from '@playwright/test';

async function open(page: Page): Promise<string[]> {
  const problems: string[] = [];
  page.on('pageerror', (error) => problems.push(error.message));
  page.on('console', (message) => {
    if (message.type() === 'error') problems.push(message.text());
  });
  await page.goto('/demo/');
  await expect(page.getByRole('status')).toContainText('Running', { timeout: 30_000 });
  return problems;
}

const fact = (page: Page, scope: string, name: string) =>
  page.locator(`${scope} dt`, { hasText: new RegExp(`^${name}$`) }).locator('xpath=following-sibling::dd[1]');

test('estimates, sends, proves and refuses a forgery', async ({ page }) => {
  const problems = await open(page);
  await page.getByRole('button', { name: 'Estimate', exact: true }).click();
  await expect(fact(page, '#estimate-result', 'Base fee')).toHaveText('7 wei per gas');
  await expect(page.locator('#estimate-result .bar')).toBeVisible();
  await page.getByRole('button', { name: 'Sign and send' }).click();
  await expect(page.getByText('The transfer succeeded.')).toBeVisible();
  await page.getByRole('button', { name: 'Mine a block' }).click();
  await expect(fact(page, '#chain', 'Head')).toHaveText('block 2');
  await page.getByRole('button', { name: 'Mine a block' }).click();
  await expect(fact(page, '#chain', 'Finalized')).toHaveText('block 1');
  await page.getByRole('button', { name: 'Prove and verify' }).click();
  await expect(page.getByText('Verified: the proof leads to the root on layer 1.')).toBeVisible();
  await expect(fact(page, '#proof-result', 'Balance')).toHaveText('1000001 tokens');
  await page.screenshot({ path: 'build/results/demo-wide.png', fullPage: true });
  await page.getByRole('button', { name: 'Verify a forged copy' }).click();
  await expect(page.locator('#proof-result .bad')).toContainText('Refused');
  await page.setViewportSize({ width: 390, height: 844 });
  await page.screenshot({ path: 'build/results/demo-narrow.png', fullPage: true });
  expect(problems).toEqual([]);
});

test('the devnet is there again after a reload', async ({ page }) => {
  await open(page);
  await page.getByRole('button', { name: 'Sign and send' }).click();
  await expect(page.getByText('The transfer succeeded.')).toBeVisible();
  await page.getByRole('button', { name: 'Mine a block' }).click();
  await expect(fact(page, '#chain', 'Head')).toHaveText('block 2');
  await page.getByRole('button', { name: 'Mine a block' }).click();
  await expect(fact(page, '#chain', 'Head')).toHaveText('block 3');
  await page.reload();
  await expect(page.getByRole('status')).toContainText('Running', { timeout: 30_000 });
  await expect(fact(page, '#chain', 'Head')).toHaveText('block 3');
  await page.getByRole('button', { name: 'Prove and verify' }).click();
  await expect(fact(page, '#proof-result', 'Balance')).toHaveText('1000001 tokens');
});

test('says so when something fails', async ({ page }) => {
  await open(page);
  await page.getByLabel('Tokens').fill('2000000');
  await page.getByRole('button', { name: 'Estimate', exact: true }).click();
  await expect(page.getByRole('alert')).toContainText('Execution reverted');
  await expect(page.getByRole('alert')).toContainText('(3)');
  await page.getByLabel('Tokens').fill('a few');
  await page.getByRole('button', { name: 'Estimate', exact: true }).click();
  await expect(page.getByRole('alert')).toContainText('not an amount');
  await page.getByLabel('Tokens').fill('1');
  await page.getByRole('button', { name: 'Estimate', exact: true }).click();
  await expect(page.getByRole('alert')).toBeHidden();
});

test('says so when the worker does not load', async ({ page }) => {
  await page.route(/worker.*\.js$/, (route) => route.fulfill({ status: 404, body: 'gone' }));
  await page.goto('/demo/');
  await expect(page.getByRole('status')).toHaveText('The node did not start.');
  await expect(page.getByRole('alert')).toContainText('WORKER_FAILED');
});
