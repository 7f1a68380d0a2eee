import { keccak_256 } from '@noble/hashes/sha3.js';
import { expect, type Page, test } from '@playwright/test';
import { createInlineNode } from '../../build/modules/hosts/opening/inline.js';
import type { PlumblineNode } from '../../src/hosts/provider/node-handle.js';
import type { UntypedMethod } from '../../src/hosts/provider/provider.js';
import type { Hex } from '../../src/primitives/hex.js';
import { SERVICE, sendMessage } from '../support/bridge.js';
import { accountAt, stranger } from '../support/dev-node.js';
import { serveMock } from '../support/mock-chain.js';
import { ask, fact, LOOKS, look, openDemo, status, tabTo, visit, watch } from './demo-page.js';

const STEPS = ['sent', 'final', 'tree', 'root', 'slots', 'run', 'paid'] as const;
type State = 'holds' | 'told' | 'refused' | 'unknown' | 'not-reached';

const view = (page: Page) => page.locator('.view:visible');
const step = (page: Page, name: string) => view(page).locator(`[data-step="${name}"]`);
const verdict = (page: Page) => view(page).locator('.verdict').first();
const press = (page: Page, name: string) => view(page).getByRole('button', { name, exact: true }).click();
const field = (page: Page) => page.getByLabel('Hash of the message, or an address');

/** A value of a step: hex is whole. */
async function value(page: Page, name: string, label: string): Promise<string> {
  const row = step(page, name)
    .locator('.chain-values > div')
    .filter({ has: page.locator('dt').getByText(label, { exact: true }) });
  const code = row.locator('code');
  return ((await code.count()) > 0 ? await code.getAttribute('title') : await row.locator('dd').textContent())!;
}

async function expectStates(page: Page, ...states: readonly State[]): Promise<void> {
  for (const [i, name] of STEPS.entries())
    await expect(step(page, name), name).toHaveClass(new RegExp(`is-${states[i]}$`));
}

/** The root of a tree of depth 5 with one leaf. */
function rootOfLone(leaf: string): string {
  let [node, zero] = [Buffer.from(leaf.slice(2), 'hex'), Buffer.alloc(32)];
  for (let level = 0; level < 5; level++) {
    node = Buffer.from(keccak_256(Buffer.concat([node, zero])));
    zero = Buffer.from(keccak_256(Buffer.concat([zero, zero])));
  }
  return `0x${node.toString('hex')}`;
}

test('on the devnet of the page: sent, final, previewed, claimed, and there', async ({ page }) => {
  const problems = await openDemo(page, 'Withdraw');
  // The first example is sent as the view opens.
  await expect(verdict(page)).toContainText('The block is not final yet');
  await expectStates(page, 'holds', ...Array<State>(6).fill('not-reached'));
  expect(await value(page, 'sent', 'Amount')).toBe('1.5 ETH');
  await press(page, 'Finalize');
  await expect(verdict(page)).toContainText('Every step is checked');
  await expectStates(page, ...Array<State>(6).fill('holds'), 'not-reached');
  for (const name of STEPS.slice(0, 6)) await expect(step(page, name)).toContainText('done and checked');
  for (const name of STEPS.slice(1, 6))
    await expect(step(page, name)).toContainText(/at block 1 of layer 1, \d+\ss\sago/);
  const hash = await value(page, 'sent', 'Message');
  expect(await value(page, 'tree', 'Root')).toBe(rootOfLone(hash));
  expect(await value(page, 'root', 'Stored')).toBe('depth 5');
  // The limit of the devnet and what its contract begins with (docs/guides/devnet.md).
  expect(await value(page, 'slots', 'Limit')).toBe('0 ETH of 100\u202f000 ETH used in this period');
  await step(page, 'tree').getByText('The branch: 5 siblings').click();
  await expect(step(page, 'tree').locator('.way-branch li')).toHaveCount(5);

  await press(page, 'Preview the claim');
  const preview = view(page).locator('.panel', { has: page.getByRole('heading', { name: 'What the claim does' }) });
  await expect(preview.locator('.verdict-good')).toContainText('would succeed');
  await expect(preview.locator('.move')).toContainText('1.5 ETH');
  await expect(preview.locator('.party-you')).toContainText('for gas');
  await press(page, 'Claim on layer 1');
  await expect(verdict(page)).toContainText('had 0 ETH and has 1.5 ETH');
  await expectStates(page, ...Array<State>(7).fill('holds'));
  expect([await value(page, 'paid', 'Before'), await value(page, 'paid', 'After')]).toEqual(['0 ETH', '1.5 ETH']);
  const block = await value(page, 'sent', 'Block hash');
  // The address bar asks the same again, and the devnet is kept.
  await page.reload();
  await expect(verdict(page)).toContainText('had 0 ETH and has 1.5 ETH');
  await expectStates(page, ...Array<State>(7).fill('holds'));
  expect(await value(page, 'sent', 'Message')).toBe(hash);

  expect(await ask(page, 'linea_getMessageProof', hash)).toMatchObject({ status: 'claimed', leafIndex: 0 });
  expect(await ask(page, 'eth_getBlockByNumber', '0x1', false)).toMatchObject({ hash: block });
  expect(problems).toEqual([]);
});

test('a recipient that refuses is told before the claim, and a fee is told to be anybody’s', async ({ page }) => {
  const problems = await openDemo(page, 'Withdraw');
  await page.getByRole('radio', { name: /^To a contract that refuses it/ }).check();
  await press(page, 'Withdraw on layer 2');
  await press(page, 'Finalize');
  await expect(verdict(page)).toHaveClass(/verdict-bad/);
  await expect(verdict(page)).toContainText('the recipient refuses it');
  await expectStates(page, ...Array<State>(5).fill('holds'), 'refused', 'not-reached');
  await expect(step(page, 'run')).toContainText('MessageSendingFailed');
  await expect(view(page).getByRole('button', { name: 'Claim on layer 1' })).toBeDisabled();
  await press(page, 'Preview the claim');
  await expect(view(page).locator('.verdict').nth(1)).toContainText('It would fail.');

  await page.getByRole('radio', { name: /^With a fee/ }).check();
  await press(page, 'Withdraw on layer 2');
  await expect(view(page).locator('.way-fee')).toContainText('Anybody may claim it first');
  await expect(view(page).locator('.way-fee')).toContainText('0.01 ETH');
  await press(page, 'Finalize');
  await expect(verdict(page)).toContainText('Every step is checked');
  await press(page, 'Preview the claim');
  await expect(view(page).locator('.verdict').nth(1)).toContainText('would succeed');
  await press(page, 'Claim on layer 1');
  // A claim of a plain payment costs less than the fee: the recipient gets the rest (docs/spec/messages.md 6).
  await expect(verdict(page)).toContainText(/had 0 ETH and has (?:≈ )?1\.50\d+ ETH/);
  await expect(view(page).locator('.way-fee')).toHaveCount(0);
  expect(problems).toEqual([]);
});

test('what is no hash is marked at its field, and what is not there is said with its blocks', async ({ page }) => {
  const problems = await openDemo(page, 'Withdraw');
  await page.getByLabel('Recipient on layer 1').fill('0x12');
  await press(page, 'Withdraw on layer 2');
  await expect(page.getByLabel('Recipient on layer 1')).toHaveAttribute('aria-invalid', 'true');
  await page.getByRole('radio', { name: 'Follow one' }).check();
  await field(page).fill(`0x${'ab'.repeat(31)}`);
  await press(page, 'Follow it');
  await expect(field(page)).toHaveAttribute('aria-invalid', 'true');
  await expect(field(page)).toHaveAccessibleDescription(/Neither a hash of 0x and 64 hex digits nor an address/);
  await expect(view(page).getByRole('alert')).toHaveCount(1);
  await field(page).fill(`0x${'ab'.repeat(32)}`);
  await expect(field(page)).not.toHaveAttribute('aria-invalid');
  await page.getByLabel('First block').fill('0');
  await page.getByLabel('Last block').fill('x');
  await press(page, 'Follow it');
  await expect(page.getByLabel('Last block')).toHaveAccessibleDescription(/Not the number of a block/);
  await page.getByLabel('Last block').fill('0');
  await press(page, 'Follow it');
  await expect(verdict(page)).toHaveText(
    'There is no such message in blocks 0 to 0. Nothing is known of other blocks.',
  );
  await field(page).fill(accountAt(3));
  await press(page, 'Follow it');
  await expect(view(page).locator('.panel-intro').last()).toHaveText(
    'None in blocks 0 to 0: their logs were checked to be complete. Nothing is known of other blocks.',
  );
  await page.goto('/demo/#withdraw?message=0x12');
  await expect(field(page)).toHaveValue('0x12');
  await expect(field(page)).toHaveAttribute('aria-invalid', 'true');
  expect(problems).toEqual([]);
});

/** A page with a light node of a devnet that has a withdrawal, and its endpoints. */
async function openLight(page: Page) {
  const dev = (await createInlineNode()) as unknown as PlumblineNode;
  const to = stranger('c0');
  const call = { from: accountAt(0), to: SERVICE, value: '0xde0b6b3a7640000', data: sendMessage(to) };
  await dev.request<UntypedMethod>({ method: 'eth_sendTransaction', params: [call] });
  await dev.request({ method: 'anvil_mine', params: ['0x4'] });
  const [upstream, layerOne] = await Promise.all([serveMock(dev), serveMock(dev.l1)]);
  await page.goto('/demo/#node');
  await page.getByLabel('Light node').check();
  await page.getByLabel('Network', { exact: true }).selectOption('devnet');
  for (const [label, { url }] of [
    ['Endpoint 1, address', upstream],
    ['Layer-1 endpoint, address', layerOne],
  ] as const) {
    await page.getByLabel(label).fill(url);
    await page.getByLabel(label).blur();
  }
  await page.getByRole('button', { name: /^Start( with these settings)?$/ }).click();
  await expect(status(page)).toContainText('Running: a light node');
  await visit(page, 'Withdraw');
  const close = async () => {
    await Promise.all([upstream, layerOne].map((mock) => mock.close()));
    await dev.close();
  };
  return { dev, to, close };
}

test('with a light node: what was sent, with the blocks that were read, and steps on one server’s word', async ({
  page,
}) => {
  const problems = watch(page);
  const { dev, to, close } = await openLight(page);
  try {
    await field(page).fill(to);
    await press(page, 'Follow it');
    await expect(view(page).locator('.panel-intro').last()).toContainText('One, and no other, in blocks 0 to 5:');
    await expect(view(page).locator('tbody tr')).toHaveCount(1);
    await expect(view(page).locator('tbody tr')).toContainText('final, not claimed');
    await view(page)
      .getByRole('button', { name: /^Follow 1 ETH/ })
      .click();
    await expectStates(page, ...Array<State>(5).fill('told'), 'unknown', 'not-reached');
    for (const name of STEPS.slice(0, 5)) await expect(step(page, name)).toContainText('as one server says');
    await expect(step(page, 'root').locator('.known-word')).toHaveText('checked · one layer-1 server names the root');
    await expect(verdict(page)).toHaveClass(/verdict-warn/);
    await press(page, 'Preview the claim');
    await expect(page.getByRole('alert')).toContainText('cannot pay');
    await page.getByLabel('Who claims').fill(accountAt(1));
    await press(page, 'Preview the claim');
    await expect(page.getByRole('heading', { name: 'What the claim does' })).toBeVisible();
    await expect(view(page).locator('.verdict').nth(1)).toContainText('would succeed');
    await expect(fact(page, 'Seen by')).toContainText('1 endpoint');
    await expect(verdict(page)).toContainText('if layer 1 is as one server says');
    await expectStates(page, ...Array<State>(6).fill('told'), 'not-reached');
    await expect(view(page).locator('.verdict-good, .known-good')).toHaveCount(0);
    await look(page, 'withdraw-light');

    await view(page).locator('summary', { hasText: 'The claim, to be sent by a wallet on layer 1' }).click();
    const transaction = JSON.parse((await view(page).locator('.fold > pre').first().textContent())!) as { to: Hex };
    const claim = { from: accountAt(1), ...transaction };
    await dev.l1.request<UntypedMethod>({ method: 'eth_sendTransaction', params: [claim] });
    // What an endpoint calls final is some blocks behind.
    for (let i = 0; i < 4; i++) await dev.request({ method: 'anvil_mine', params: ['0x1'] });
    await expect(async () => {
      await press(page, 'Look again');
      await expect(verdict(page)).toContainText('had 0 ETH and has 1 ETH', { timeout: 2_000 });
    }).toPass();
    await expectStates(page, ...Array<State>(7).fill('told'));
    expect(problems).toEqual([]);
  } finally {
    await close();
  }
});

test('the keyboard alone withdraws, finalizes and claims', async ({ page }) => {
  await openDemo(page, 'Withdraw');
  await expect(view(page).getByRole('button', { name: 'Withdraw on layer 2' })).toBeVisible();
  await page.locator('main').focus();
  for (const [name, text] of [
    [/^Withdraw on layer 2/, 'The block is not final yet'],
    [/^Finalize/, 'Every step is checked'],
    [/^Claim on layer 1/, 'has 1.5 ETH'],
  ] as const) {
    await tabTo(page, name);
    await page.keyboard.press('Enter');
    await expect(verdict(page)).toContainText(text);
    // The focus stays where it was: what was pressed does not go away.
    expect(await page.evaluate(() => document.activeElement?.textContent ?? '')).toMatch(name);
  }
});

for (const [width, colorScheme] of LOOKS) {
  test(`the way and the preview of a claim, ${width} px, ${colorScheme}`, async ({ page }) => {
    await page.emulateMedia({ colorScheme });
    await page.setViewportSize({ width, height: 844 });
    const problems = await openDemo(page, 'Withdraw');
    await expect(verdict(page)).toContainText('The block is not final yet');
    await look(page, 'withdraw-sent');
    await press(page, 'Finalize');
    await expect(verdict(page)).toContainText('Every step is checked');
    await press(page, 'Preview the claim');
    await expect(page.getByRole('heading', { name: 'What the claim does' })).toBeVisible();
    await step(page, 'tree').getByText('The branch: 5 siblings').click();
    await look(page, 'withdraw-preview');
    await press(page, 'Claim on layer 1');
    await expect(verdict(page)).toContainText('Claimed');
    await look(page, 'withdraw-claimed');
    await page.getByRole('radio', { name: /^To a contract that refuses it/ }).check();
    await press(page, 'Withdraw on layer 2');
    await press(page, 'Finalize');
    await expect(verdict(page)).toHaveClass(/verdict-bad/);
    await look(page, 'withdraw-refused');
    await page.getByRole('radio', { name: 'Follow one' }).check();
    await field(page).fill('0x12');
    await press(page, 'Follow it');
    await expect(field(page)).toHaveAttribute('aria-invalid', 'true');
    await look(page, 'withdraw-wrong');
    await press(page, 'Take dev account 0');
    await press(page, 'Follow it');
    await expect(view(page).locator('tbody tr')).toHaveCount(2);
    await look(page, 'withdraw-list');
    expect(problems).toEqual([]);
  });
}
