import { expect, type Page, test } from '@playwright/test';
import { createInlineNode } from '../../build/modules/hosts/opening/inline.js';
import { DEV_ACCOUNTS, type Hex, TEST_TOKEN } from '../../dist/index.js';
import { serveMock } from '../support/mock-chain.js';
import { signTransaction } from '../support/sign.js';
import { ask, fact, hold, LOOKS, look, openDemo, status, tabTo, visit } from './demo-page.js';

const view = (page: Page) => page.locator('.view:visible');
const verdict = (page: Page) => view(page).locator('.verdict').first();

/** What the card of an account says. */
async function party(page: Page, name: string): Promise<string[]> {
  const named = page.locator('.party-name').getByText(name);
  return view(page).locator('.party').filter({ has: named }).locator('.sum').allTextContents();
}

const warnings = (page: Page) =>
  view(page)
    .locator('[data-warning]')
    .evaluateAll((all) => all.map((one) => (one as HTMLElement).dataset.warning));

async function preview(page: Page): Promise<void> {
  await view(page).getByRole('button', { name: 'Preview', exact: true }).click();
  await expect(view(page).getByRole('button', { name: 'Preview', exact: true })).toBeEnabled();
}

async function previewExample(page: Page, label: string): Promise<void> {
  await view(page).getByRole('radio', { name: 'Example' }).check();
  await view(page)
    .getByRole('radio', { name: new RegExp(`^${label}`) })
    .check();
  await preview(page);
}

async function previewPasted(page: Page, text: string): Promise<void> {
  await view(page).getByRole('radio', { name: 'Paste' }).check();
  await view(page).getByLabel('Call as JSON, or signed transaction as hex').fill(text);
  await preview(page);
}

const word = (value: bigint) => value.toString(16).padStart(64, '0');
const [from, to] = DEV_ACCOUNTS.map(({ address }) => address) as [Hex, Hex];
const gas = /^− 0\.\d+ ETH for gas$/;

/** What the examples do, by the prices in contracts.sol: an ether buys 3 GOLD, 2 PLUMB buy 1. */
const EXAMPLES: readonly (readonly [label: string, you: readonly (string | RegExp)[], warnings: readonly string[]])[] =
  [
    ['A swap', ['− 0.5 ETH', '+ 1.5 GOLD', gas], []],
    ['Two calls in a row', ['− 100 PLUMB', '+ 50 GOLD', gas], []],
    ['An approval without limit', [gas], ['unlimited-approval']],
    ['A token transfer', ['− 25 PLUMB', gas], []],
    ['A payment', ['− 1 ETH', gas], []],
  ];

test('each example says who gains and loses, and is right', async ({ page }) => {
  const problems = await openDemo(page, 'Preview');
  for (const [label, you, warned] of EXAMPLES) {
    await previewExample(page, label);
    await expect(verdict(page)).toContainText(warned.length > 0 ? 'but read this before you sign' : 'would succeed.');
    const lines = await party(page, 'You');
    expect(lines, label).toHaveLength(you.length);
    for (const [i, line] of you.entries()) expect(lines[i], label).toMatch(line);
    expect(await warnings(page), label).toEqual(warned);
    await page.getByRole('button', { name: 'Send it and compare' }).click();
    await expect(view(page).locator('.send .verdict')).toHaveText(/^Every balance is as previewed; /);
  }
  expect(problems).toEqual([]);
});

/** What is found of the drainer: two assets go for nothing, one of them all there is. */
const DRAINED = ['balance-differs', 'loses-all', 'nothing-back', 'nothing-back', 'unlimited-approval'];

test('a drainer is seen before it is signed: what it takes, and that it gives nothing', async ({ page }) => {
  await openDemo(page, 'Preview');
  await previewExample(page, 'A reward that is a drainer');
  expect([...(await warnings(page))].sort()).toEqual(DRAINED);
  await expect(verdict(page)).toHaveClass(/verdict-bad/);
  await expect(verdict(page)).toContainText(
    /^You lose 1\u202f000\u202f000 PLUMB, all you have, and 0\.5 ETH, and get nothing\./,
  );
  expect((await party(page, 'You')).slice(0, -1)).toEqual([
    '− 0.5 ETH',
    '± 0 USDC and not 5\u202f000 USDC, as the contract says',
    '− 1\u202f000\u202f000 PLUMB',
  ]);
  expect(await party(page, 'An unknown account')).toEqual(['+ 0.5 ETH', '+ 1\u202f000\u202f000 PLUMB']);
  await expect(view(page).locator('.move-false')).toHaveText(/5\u202f000 USDC/);
  await expect(view(page).getByText('The reward contract may take PLUMB from you without limit.')).toBeVisible();
  // Previewing took nothing; sending does.
  const thief = '0x00000000000000000000000000000bad00000bad';
  const held = () => ask<Hex>(page, 'eth_call', { to: TEST_TOKEN, data: `0x70a08231${word(BigInt(thief))}` }, 'latest');
  expect(BigInt(await held())).toBe(0n);
  await visit(page, 'Preview');
  await page.getByRole('button', { name: 'Send it and compare' }).click();
  await expect(view(page).locator('.send .verdict-good')).toBeVisible();
  expect(BigInt(await held())).toBe(10n ** 24n);
  expect(BigInt(await ask<Hex>(page, 'eth_getBalance', thief, 'latest'))).toBe(10n ** 18n / 2n);
});

test('a call that fails says why, and is not offered to be sent', async ({ page }) => {
  await openDemo(page, 'Preview');
  await previewExample(page, 'A call that fails');
  await expect(verdict(page)).toHaveText(
    'It would fail. The contract gives the error TooLittle: bought 1.5 × 10^18, wanted 1\u202f000 × 10^18. Ask for less, or pay more.',
  );
  await expect(page.getByRole('button', { name: 'Send it and compare' })).toHaveCount(0);
  await view(page).getByText('Every call inside').click();
  await expect(view(page).locator('.frame-failed')).toContainText('execution reverted');
});

test('what was pasted is previewed: a call, a list, signed bytes; and what cannot be read is said', async ({
  page,
}) => {
  await openDemo(page, 'Preview');
  await previewPasted(page, JSON.stringify({ from, to, value: '0xde0b6b3a7640000' }));
  expect((await party(page, 'You'))[0]).toBe('− 1 ETH');
  await previewPasted(page, JSON.stringify([1, 2].map((ether) => ({ from, to, value: `0x${ether}` }))));
  await expect(verdict(page)).toHaveText('You send 0.000000000000000003 ETH. Both calls would succeed.');
  const fees = { maxFeePerGas: 10n ** 9n, maxPriorityFeePerGas: 10n ** 8n };
  const data: Hex = `0xa9059cbb${word(BigInt(to))}${word(3n * 10n ** 18n)}`;
  const raw = signTransaction(2, { to: TEST_TOKEN, data, nonce: 0, gasLimit: 90_000n, ...fees });
  await previewPasted(page, raw);
  expect((await party(page, 'You'))[0]).toBe('− 3 PLUMB');
  expect(await party(page, 'Dev account 1')).toEqual(['+ 3 PLUMB']);
  await page.getByRole('button', { name: 'Send it and compare' }).click();
  await expect(view(page).locator('.send .verdict-good')).toBeVisible();
  for (const [text, reason] of [
    ['{ to', 'It is neither JSON nor hex'],
    ['[]', 'The list is empty'],
    ['{"to":"0x12"}', 'Invalid call params (to'],
    [raw, 'Nonce too low'],
    [JSON.stringify({ from: `0x${'5'.repeat(40)}`, to, value: '0x1' }), 'The sender cannot pay for it'],
  ] as const) {
    await previewPasted(page, text);
    await expect(view(page).getByRole('alert')).toContainText(reason);
    // No older preview is left standing.
    await expect(view(page).getByText('Nothing has been previewed yet.')).toBeVisible();
  }
});

test('the first answer, when it comes, does not replace the text that stands under Paste', async ({ page }) => {
  const answers = await hold(page, /previewTransaction-.*\.js$/);
  await openDemo(page, 'Preview');
  await expect(view(page).getByRole('button', { name: 'Previewing…' })).toBeVisible();
  await view(page)
    .getByRole('radio', { name: /^A token transfer/ })
    .check();
  await view(page).getByRole('radio', { name: 'Paste' }).check();
  const field = view(page).getByLabel('Call as JSON, or signed transaction as hex');
  const before = await field.inputValue();
  answers();
  await expect(verdict(page)).toBeVisible();
  await expect(field).toHaveValue(before);
});

test('a signature is previewed: what it allows, in red, and that nothing of it is signed', async ({ page }) => {
  await openDemo(page, 'Preview');
  await view(page).getByRole('radio', { name: 'Signature' }).check();
  await preview(page);
  await expect(verdict(page)).toHaveClass(/verdict-bad/);
  expect([...(await warnings(page))].sort()).toEqual(['spender-without-code', 'unlimited-approval']);
  await expect(view(page).getByText('An unknown account may take GOLD from you without limit.')).toBeVisible();
  // A text that asks for nothing.
  await view(page).getByLabel('To sign').fill('Hello');
  await preview(page);
  await expect(verdict(page)).toHaveText('Nothing dangerous was found.');
  expect(await warnings(page)).toEqual([]);
});

test('a call that was built is previewed', async ({ page }) => {
  await openDemo(page, 'Preview');
  await view(page).getByRole('radio', { name: 'Build' }).check();
  await view(page).getByLabel('Tokens').fill('2.5');
  await preview(page);
  expect((await party(page, 'You'))[0]).toBe('− 2.5 PLUMB');
  expect(await party(page, 'Dev account 1')).toEqual(['+ 2.5 PLUMB']);
});

test('on a light node it says what each endpoint was asked, and that is all that it was asked', async ({ page }) => {
  const dev = await createInlineNode();
  const mock = await serveMock(dev as never);
  await page.goto('/demo/#node');
  await page.getByLabel('Light node').check();
  await page.getByLabel('Network', { exact: true }).selectOption('devnet');
  await page.getByLabel('Endpoint 1, address').fill(mock.url);
  await page.getByLabel('Endpoint 1, address').blur();
  await page.getByRole('button', { name: /^Start( with these settings)?$/ }).click();
  await expect(status(page)).toContainText('Running: a light node');
  await visit(page, 'Preview');
  await previewExample(page, 'A reward that is a drainer');
  expect([...(await warnings(page))].sort()).toEqual(DRAINED);
  await expect(view(page).locator('.result .panel-aside .known-word')).toHaveText(
    'computed here · one server names the block',
  );
  // One server names the block, so nothing here is green.
  await expect(view(page).locator('.known-good, .verdict-good')).toHaveCount(0);
  // The contracts of the example are not on that chain.
  await expect(fact(page, 'Overridden')).toContainText('the state');
  await expect(page.getByRole('button', { name: 'Send it and compare' })).toHaveCount(0);

  const asked = mock.seen.flat().filter(({ method }) => method === 'eth_getProof');
  const accounts = new Set(asked.map(({ params }) => (params as [Hex])[0]));
  await expect(fact(page, 'Seen by')).toHaveText('1 endpoint, listed below');
  const seen = view(page).locator('details', { hasText: 'was asked for' });
  await seen.locator('summary').first().click();
  const listed = await seen.locator('> ul > li').evaluateAll((all) => all.map((one) => (one as HTMLElement).title));
  expect(new Set(listed)).toEqual(accounts);
  await expect(seen).toContainText('It was not sent the call.');
  // claim() and approve(…).
  for (const selector of ['4e71d92d', '095ea7b3']) expect(JSON.stringify(mock.seen)).not.toContain(selector);
  await page.setViewportSize({ width: 390, height: 844 });
  await look(page, 'preview-light-node');
  await mock.close();
  await dev.close();
});

test('the keyboard alone previews, opens the call tree and sends', async ({ page }) => {
  await openDemo(page, 'Preview');
  await page.locator('main').focus();
  await tabTo(page, /^Preview$/);
  await page.keyboard.press('Enter');
  await expect(verdict(page)).toBeVisible();
  await tabTo(page, /^Every call inside$/);
  await page.keyboard.press('Enter');
  await expect(view(page).locator('.frame').first()).toBeVisible();
  await tabTo(page, /^Send it and compare$/);
  await page.keyboard.press('Enter');
  await expect(view(page).locator('.send .verdict-good')).toBeVisible();
});

for (const [width, colorScheme] of LOOKS) {
  test(`a drainer, a failure and an empty view, ${width} px, ${colorScheme}`, async ({ page }) => {
    await page.emulateMedia({ colorScheme });
    await page.setViewportSize({ width, height: 844 });
    const problems = await openDemo(page, 'Preview');
    await look(page, 'preview-empty');
    await preview(page);
    for (const fold of ['Balances before and after', 'Every call inside']) await page.getByText(fold).click();
    await page.getByRole('button', { name: 'Send it and compare' }).click();
    await expect(view(page).locator('.send .verdict')).toBeVisible();
    await look(page, 'preview-drainer');
    await previewExample(page, 'Two calls in a row');
    await look(page, 'preview-batch');
    await previewExample(page, 'A call that fails');
    await look(page, 'preview-fails');
    await view(page).getByRole('radio', { name: 'Paste' }).check();
    await look(page, 'preview-paste');
    await view(page).getByRole('radio', { name: 'Build' }).check();
    await look(page, 'preview-form');
    expect(problems).toEqual([]);
  });
}
