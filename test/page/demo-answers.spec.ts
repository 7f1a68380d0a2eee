import { expect, type Page, test } from '@playwright/test';
import { DEV_ACCOUNTS } from '../../dist/index.js';
import { ask, estimate, fact, LOOKS, look, openDemo, tabTo, visit } from './demo-page.js';

const view = (page: Page) => page.locator('.view:visible');
const answer = (page: Page) => view(page).locator('.answer');
const POOR = `0x${'5'.repeat(40)}`;
const [, { address: second }] = DEV_ACCOUNTS as unknown as [unknown, { address: string }];

test('an answer is dimmed while the form asks something else, and cannot be sent', async ({ page }) => {
  const problems = await openDemo(page, 'Fees');
  await estimate(page);
  await expect(answer(page)).not.toHaveClass(/is-stale/);
  const before = await view(page).locator('.headline-value').textContent();
  await page.getByLabel('Tokens').fill('2');
  await expect(answer(page)).toHaveClass(/is-stale/);
  await expect(answer(page)).toContainText('The form has changed');
  await expect(page.getByRole('button', { name: 'Send with this estimate' })).toBeDisabled();
  await look(page, 'fees-stale');
  await page.getByRole('button', { name: 'Ask that again' }).click();
  await expect(page.getByLabel('Tokens')).toHaveValue('1');
  await expect(answer(page)).not.toHaveClass(/is-stale/);
  await expect(view(page).locator('.headline-value')).toHaveText(before!);
  await expect(page.getByRole('button', { name: 'Send with this estimate' })).toBeEnabled();

  await visit(page, 'Proofs');
  await page.getByRole('button', { name: 'Prove and verify' }).click();
  await expect(answer(page)).not.toHaveClass(/is-stale/);
  await page.getByRole('button', { name: 'An account that is absent' }).click();
  await expect(answer(page)).toHaveClass(/is-stale/);

  await visit(page, 'Preview');
  await view(page).getByRole('button', { name: 'Preview', exact: true }).click();
  await expect(answer(page)).not.toHaveClass(/is-stale/);
  await view(page)
    .getByRole('radio', { name: /^A swap/ })
    .check();
  await expect(answer(page)).toHaveClass(/is-stale/);
  await expect(page.getByRole('button', { name: 'Send it and compare' })).toBeDisabled();

  await visit(page, 'Evidence');
  await page.getByRole('button', { name: 'Read it and show the evidence' }).click();
  await expect(answer(page)).not.toHaveClass(/is-stale/);
  await page.getByLabel('Balance of the account').fill(second);
  await expect(answer(page)).toHaveClass(/is-stale/);
  expect(problems).toEqual([]);
});

test('an answer of a node that was replaced is dimmed', async ({ page }) => {
  await openDemo(page, 'Fees');
  await estimate(page);
  await expect(answer(page)).not.toHaveClass(/is-stale/);
  await visit(page, 'Node');
  await page.getByRole('button', { name: 'Start with these settings' }).click();
  await visit(page, 'Fees');
  await expect(answer(page)).toHaveClass(/is-stale/);
});

test('a sender with nothing is given tokens and ether, and what is sent beside it', async ({ page }) => {
  await openDemo(page, 'Fees');
  await page.getByLabel('From').fill(POOR);
  await page.getByLabel('Tokens').fill('3000000');
  await estimate(page);
  await expect(view(page).getByRole('alert')).toContainText(
    /InsufficientBalance: owner 0x5555…5555, balance 0 PLUMB, needed/,
  );
  await page.getByText('State overrides').click();
  const plenty = page.getByRole('button', { name: 'Give the sender plenty' });
  await plenty.click();
  // Twice gives no more rows.
  await plenty.click();
  await expect(view(page).locator('.override')).toHaveCount(2);
  await estimate(page);
  await expect(view(page).locator('.headline-value')).toBeVisible();
  await page.getByLabel('Ether transfer').check();
  await page.getByLabel('Ether', { exact: true }).fill('5000000');
  await plenty.click();
  await estimate(page);
  await expect(answer(page)).not.toHaveClass(/is-stale/);
  await expect(view(page).locator('.headline-value')).toBeVisible();
  await page.getByLabel('From').fill('');
  await plenty.click();
  await expect(view(page).getByRole('alert')).toContainText('From: not an address');
});

/** Code that reverts with 4 bytes, or 4 bytes and a word (PUSH4, SHL by 224, MSTORE, REVERT). */
function reverting(selector: string, word?: number): string {
  const store = `63${selector}60e01b600052`;
  return word === undefined
    ? `0x${store}60046000fd`
    : `0x${store}60${word.toString(16).padStart(2, '0')}60235360246000fd`;
}

/** Selectors and panic codes of the Solidity documentation, and of ERC-6093. */
const REVERTS = [
  [reverting('4e487b71', 0x11), 'Panic(17): a sum or difference does not fit', 'Lower the amount'],
  [reverting('4e487b71', 0x32), 'Panic(50): an index behind the end of a list', 'Check ids and positions'],
  [reverting('d93c0665'), 'the error EnforcedPause.', 'The contract is paused'],
  [reverting('12345678'), 'does not know, 0x12345678', 'Its source or its documentation'],
] as const;

test('what a contract reverts with is decoded, and each advice says something', async ({ page }) => {
  await openDemo(page);
  for (const [code, text, advice] of REVERTS) {
    await ask(page, 'anvil_setCode', POOR, code);
    await visit(page, 'Fees');
    await page.getByLabel('Any call').check();
    await page.getByLabel('To (empty creates').fill(POOR);
    await page.getByLabel('Ether', { exact: true }).fill('0');
    await estimate(page);
    await expect(view(page).getByRole('alert')).toContainText(text);
    await expect(view(page).getByRole('alert')).toContainText(advice);
  }
  await page.getByLabel('Ether transfer').check();
  await page.getByLabel('To', { exact: true }).fill(second);
  await page.getByLabel('Ether', { exact: true }).fill('20000');
  await expect(view(page).getByRole('alert')).toHaveClass(/is-stale/);
  await estimate(page);
  await expect(view(page).getByRole('alert')).toContainText('dev account 0 has 10\u202f000 ETH.');
});

test('what was paid stands beside the estimate', async ({ page }) => {
  await openDemo(page, 'Fees');
  await estimate(page);
  await page.getByRole('button', { name: 'Send with this estimate' }).click();
  await expect(page.getByText(/^The transaction succeeded\./)).toBeVisible();
  const wei = async (name: string) => {
    const rounded = fact(page, name).locator('.amount-rounded');
    if ((await rounded.count()) > 0) await rounded.click();
    const [text = ''] = (await fact(page, name).textContent())!.split(' gwei');
    const [whole = '', fraction = ''] = text.replaceAll('\u202f', '').split('.');
    return BigInt(whole + fraction.padEnd(9, '0'));
  };
  const [paid, most] = [await wei('Paid'), await wei('Estimated at most')];
  const hash = await page.locator('.send code').first().getAttribute('title');
  const receipt = await ask<{ gasUsed: string; effectiveGasPrice: string }>(page, 'eth_getTransactionReceipt', hash);
  expect(paid).toBe(BigInt(receipt.gasUsed) * BigInt(receipt.effectiveGasPrice));
  expect(paid).toBeLessThanOrEqual(most);
});

test('40 kB of calldata stand behind folds, everywhere', async ({ page }) => {
  const problems = await openDemo(page);
  const data = `0x${'ab'.repeat(40_000)}`;
  const call = { from: second, to: POOR, data };
  const height = () => page.evaluate(() => document.documentElement.scrollHeight);
  await page.setViewportSize({ width: 390, height: 844 });
  await ask(page, 'eth_estimateGas', call);
  await expect(page.locator('.exchange .long').first()).toContainText('characters');
  expect(await height()).toBeLessThan(3_000);
  await look(page, 'long-console');
  await visit(page, 'Preview');
  await view(page).getByRole('radio', { name: 'Paste' }).check();
  await view(page).getByLabel('Call as JSON').fill(JSON.stringify(call));
  await view(page).getByRole('button', { name: 'Preview', exact: true }).click();
  await page.getByText('Every call inside').click();
  await expect(view(page).locator('.frames .long')).toContainText('40\u202f000 bytes');
  expect(await height()).toBeLessThan(5_000);
  await look(page, 'long-preview');
  await visit(page, 'Fees');
  await page.getByLabel('Any call').check();
  await page.getByRole('textbox', { name: 'Data' }).fill(data);
  await estimate(page);
  await expect(view(page).locator('.headline-value')).toBeVisible();
  expect(await height()).toBeLessThan(5_000);
  await visit(page, 'Log');
  await expect(view(page).locator('.log-params .long').nth(2)).toBeVisible();
  expect(await height()).toBeLessThan(3_000);
  await look(page, 'long-log');
  // The whole value is behind the fold.
  await view(page).locator('.log-params summary').first().click();
  await expect(view(page).locator('.log-params pre').first()).toContainText('ab'.repeat(40_000));
  expect(problems).toEqual([]);
});

test('the log shows with which parameters was asked, and the console what an answer is in units', async ({ page }) => {
  await openDemo(page);
  await ask(page, 'eth_getBalance', second, 'latest');
  await expect(page.locator('.exchange-decoded').first()).toHaveText('10\u202f000 ETH');
  await visit(page, 'Log');
  await expect(view(page).locator('tbody tr').first().locator('.log-params')).toHaveText(
    JSON.stringify([second, 'latest']),
  );
});

test('how a value is known is explained where it stands, and the focus stays where work goes on', async ({ page }) => {
  await openDemo(page, 'Fees');
  const button = page.getByRole('button', { name: 'Estimate', exact: true });
  await button.focus();
  await page.keyboard.press('Enter');
  await expect(view(page).locator('.headline-value')).toBeVisible();
  await expect(button).toBeFocused();
  await tabTo(page, /^computed here/);
  await page.keyboard.press('Enter');
  await expect(view(page).getByRole('note')).toHaveText(
    'Executed or calculated here from data that was checked (class “computed”); the block was executed here (level “held”).',
  );
  await look(page, 'trust-explained');
  await page.keyboard.press('Enter');
  await expect(view(page).getByRole('note')).toHaveCount(0);
  await page.getByText('State overrides').click();
  for (let i = 0; i < 2; i++) await page.getByRole('button', { name: 'Add an override' }).click();
  for (const next of ['Remove override 1', 'Add an override']) {
    await page.getByRole('button', { name: 'Remove override 1' }).focus();
    await page.keyboard.press('Enter');
    await expect(page.getByRole('button', { name: next })).toBeFocused();
  }
  await ask(page, 'eth_chainId');
  await page.getByRole('button', { name: 'Edit and send again' }).click();
  await expect(page.getByLabel('Parameters')).toBeFocused();
});

test('the keyboard alone proves, forges and copies a link', async ({ page, context }) => {
  await context.grantPermissions(['clipboard-read', 'clipboard-write']);
  await openDemo(page, 'Proofs');
  await page.locator('main').focus();
  await tabTo(page, /^Prove and verify$/);
  await page.keyboard.press('Enter');
  await expect(view(page).locator('.verdict-good')).toBeVisible();
  await expect(page.getByRole('button', { name: 'Prove and verify' })).toBeFocused();
  await tabTo(page, /^Verify a forged copy$/);
  await page.keyboard.press('Enter');
  await expect(view(page).locator('.verdict-bad')).toContainText(
    /Refused: this answer does not show that dev account 1 holds 1.000.000\.000000000000000001 PLUMB/,
  );
  await tabTo(page, /^Copy link/);
  await page.keyboard.press('Enter');
  await expect(page.getByRole('button', { name: /^Copied/ })).toBeFocused();
  expect(await page.evaluate(() => navigator.clipboard.readText())).toContain('#proofs?');
});

test('without the right to copy, the text is selected', async ({ page }) => {
  await page.addInitScript(() => {
    navigator.clipboard.writeText = async () => {
      throw new DOMException('no', 'NotAllowedError');
    };
  });
  await openDemo(page, 'Fees');
  await estimate(page);
  await page.getByRole('button', { name: /^Copy link to/ }).click();
  const field = page.getByLabel('to this estimate, to be copied');
  await expect(field).toHaveValue(page.url());
  expect(await field.evaluate((input: HTMLInputElement) => input.selectionEnd! - input.selectionStart!)).toBe(
    page.url().length,
  );
});

for (const [width, colorScheme] of LOOKS) {
  test(`answers that are refused, stale and long, ${width} px, ${colorScheme}`, async ({ page }) => {
    await page.emulateMedia({ colorScheme });
    await page.setViewportSize({ width, height: 844 });
    const problems = await openDemo(page, 'Proofs');
    await page.getByRole('button', { name: 'Prove and verify' }).click();
    await expect(view(page).locator('.verdict-good')).toBeVisible();
    await view(page).locator('.known-word').first().click();
    await look(page, 'answers-proof');
    await page.getByRole('button', { name: 'A dev account' }).click();
    await look(page, 'answers-stale');
    await page.goto('/demo/#nonsense');
    await look(page, 'answers-unknown');
    expect(problems).toEqual([]);
  });
}
