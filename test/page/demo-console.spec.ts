import { expect, test } from '@playwright/test';
import { openDemo, visit } from './demo-page.js';

test('the console answers, keeps its history, and shows errors as answers', async ({ page }) => {
  const problems = await openDemo(page, 'Console');
  const method = page.getByRole('combobox', { name: 'Method' });
  const history = page.locator('.exchange');
  // The first example is answered as the view opens.
  await expect(history.first()).toContainText('"baseFeePerGas": "0x7"');
  await expect(history.first()).toContainText('computed');
  await method.fill('eth_chainId');
  await expect(page.getByLabel('Parameters')).toHaveValue('[]');
  await page.getByLabel('Parameters').press('Control+Enter');
  await expect(history.first()).toContainText('"0xe703"');
  await method.fill('eth_nope');
  await method.press('Enter');
  await expect(history.first()).toContainText('-32601');
  await page.getByLabel('Parameters').fill('{');
  await page.getByRole('button', { name: 'Send', exact: true }).click();
  await expect(page.getByRole('alert').first()).toContainText('not JSON');
  await expect(history).toHaveCount(3);
  await method.press('Alt+ArrowUp');
  await expect(method).toHaveValue('eth_nope');
  await method.press('Alt+ArrowUp');
  await expect(method).toHaveValue('eth_chainId');
  await page.reload();
  await expect(history).toHaveCount(3);
  expect(problems).toEqual([]);
});

test('the log has class, level, block and time of each answer', async ({ page }) => {
  // Each view answers its first example as it opens.
  await openDemo(page, 'Fees');
  await expect(page.getByText('Costs at most', { exact: true })).toBeVisible();
  await visit(page, 'Proofs');
  await expect(page.getByText(/Checked: 15 hashes/).last()).toBeVisible();
  await visit(page, 'Log');
  const rows = page.locator('.table-cards tbody tr');
  await expect(rows).toHaveCount(2);
  await expect(rows.first()).toContainText('linea_getProof');
  await expect(rows.first()).toContainText('checked');
  // Its block is not in the answer: the node's report has it.
  await expect(rows.first().locator('[data-label="Block"]')).toHaveText('0');
  await expect(rows.last()).toContainText('computed');
  await expect(rows.last()).toContainText(/\d (?:ms|s)/);
  await rows.last().locator('summary', { hasText: 'answered' }).click();
  await expect(rows.last()).toContainText('compressedTxSize');
  await page.getByLabel('Show').selectOption('computed');
  await expect(rows).toHaveCount(1);
  await page.getByLabel('Show').selectOption('all');
  await page.getByLabel('Also what this page asks').check();
  expect(await rows.count()).toBeGreaterThan(2);
  await page.getByRole('button', { name: 'Clear' }).click();
  await page.getByLabel('Also what this page asks').uncheck();
  await expect(page.getByText('Nothing has been asked yet').last()).toBeVisible();
});
