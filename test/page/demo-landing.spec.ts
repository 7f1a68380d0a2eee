import { expect, type Page, test } from '@playwright/test';
import { zkFormat } from '../reference/zk-hash.js';
import { hold, visit, watch } from './demo-page.js';

const STEPS = ['layer-1', 'state', 'to-token', 'token', 'to-account', 'balance'] as const;
const STATES = { holds: /is-passed$/, refused: /is-failed$/, 'not-reached': /is-not-reached$/ };

const step = (page: Page, name: string) => page.locator(`.path-step[data-step="${name}"]`);
const verdict = (page: Page) => page.locator('.act-verdict');
const lieButton = (page: Page) => page.getByRole('button', { name: 'Let the server lie' });

async function open(page: Page, address = '/demo/'): Promise<string[]> {
  const said = watch(page);
  await page.goto(address);
  await expect(verdict(page)).toHaveClass(/is-good/);
  return said;
}

/** As the page groups digits. */
const grouped = (text: string) => text.replaceAll(' ', '\u202f');

/** Hash of an amount of tokens with 18 decimals, by another implementation. */
const hashOf = (tokens: bigint) =>
  `0x${zkFormat('poseidon2').slotHash((tokens * 10n ** 18n).toString(16).padStart(64, '0'))}`;

test('a balance is checked by itself, and one click has the server lie', async ({ page }) => {
  const said = await open(page);
  await expect(page.locator('.act > h2')).toHaveText('This balance was not believed. It was checked here.');
  await expect(verdict(page)).toContainText(grouped('Account 1 holds 1 000 000 PLUMB at block 0.'));
  // Two paths of 40 levels, and more at their ends (docs/spec/state-trie.md 1).
  const hashes = /Checked: (\d+) hashes/.exec((await verdict(page).textContent())!)![1];
  expect(Number(hashes)).toBeGreaterThan(2 * 40);
  await expect(step(page, 'layer-1')).toHaveClass(/is-trusted$/);
  for (const name of STEPS.slice(1)) await expect(step(page, name)).toHaveClass(STATES.holds);
  await expect(step(page, 'balance').locator('code')).toHaveAttribute('title', hashOf(1_000_000n));

  await lieButton(page).click();
  await expect(verdict(page)).toContainText('Refused. No balance shown.');
  await expect(verdict(page)).toContainText(grouped('The server said 9 000 000 PLUMB.'));
  await expect(page.locator('.act > h2')).toHaveText('This balance was not believed. It was refused here.');
  for (const name of STEPS.slice(1, -1)) await expect(step(page, name)).toHaveClass(STATES.holds);
  await expect(step(page, 'balance')).toHaveClass(STATES.refused);
  const [made, needed] = await step(page, 'balance').locator('code').all();
  await expect(made!).toHaveAttribute('title', hashOf(9_000_000n));
  await expect(needed!).toHaveAttribute('title', hashOf(1_000_000n));

  await page.getByRole('button', { name: 'Let it tell the truth' }).click();
  await expect(verdict(page)).toHaveClass(/is-good/);
  await expect(step(page, 'balance')).toHaveClass(STATES.holds);
  expect(said).toEqual([]);
});

/** Where each lie is refused: the checks go from the root down (docs/spec/state-trie.md 8). */
const REFUSED_AT = {
  'the balance': 'balance',
  'a hash on the path': 'to-account',
  'the top of the tree': 'token',
} as const;

test('each lie ends the path at the hash that it changes', async ({ page }) => {
  await open(page);
  await lieButton(page).click();
  for (const [name, at] of Object.entries(REFUSED_AT)) {
    await page.getByRole('radio', { name }).check();
    await expect(step(page, at)).toHaveClass(STATES.refused);
    for (const [i, other] of STEPS.entries()) {
      if (i > STEPS.indexOf(at)) await expect(step(page, other)).toHaveClass(STATES['not-reached']);
      else if (i > 0 && other !== at) await expect(step(page, other)).toHaveClass(STATES.holds);
    }
    await expect(verdict(page)).toContainText('Refused. No balance shown.');
  }
});

test('a click before the node runs is not lost', async ({ page }) => {
  const go = await hold(page);
  await page.goto('/demo/');
  await expect(page.locator('.act > h2')).toContainText('It is being checked here.');
  await lieButton(page).click();
  go();
  await expect(verdict(page)).toHaveClass(/is-bad/);
});

test('one client believes the lies, the other says what is false', async ({ page }) => {
  const said = await open(page);
  const client = (name: string) => page.locator('.compare-client').filter({ has: page.getByRole('heading', { name }) });
  const [believing, plumbline] = [client('A client that believes the server'), client('plumbline')];
  await plumbline.scrollIntoViewIfNeeded();
  // The genesis gives each account 10 000 ETH; the server adds a million.
  await expect(plumbline).toContainText(grouped('Refused: 1 010 000 ETH is false.'));
  await expect(plumbline).toContainText('VALUE_MISMATCH');
  await expect(believing).toContainText(grouped('1 010 000 ETHFalse. In truth it is 10 000 ETH.'));
  const fees = /(?:≈ )?([\d.]+) ETHFalse\. In truth it is (?:≈ )?([\d.]+) ETH/;
  await expect(believing.locator('dd').last()).toHaveText(fees);
  const [, lie, truth] = fees.exec((await believing.locator('dd').last().textContent())!)!;
  expect(Number(lie) / Number(truth)).toBeGreaterThan(900);
  await expect(plumbline.locator('dd').last()).toContainText(`${truth} ETH`);
  await expect(plumbline.locator('dd').last()).toContainText(new RegExp(`The server’s (?:≈ )?${lie} ETH is false`));

  await page.getByRole('button', { name: 'Let this server tell the truth' }).click();
  await expect(plumbline.locator('dd').first()).toContainText(grouped('10 000 ETH'));
  await expect(plumbline.locator('.known')).toHaveCount(2);
  await expect(believing).not.toContainText('False');
  expect(said).toEqual([]);
});

test('beside a light node it has a chain of its own, and it follows another devnet', async ({ page }) => {
  await open(page, '/demo/?here');
  await expect(verdict(page)).toContainText(grouped('1 000 000 PLUMB at block 0'));
  await open(page);
  await visit(page, 'Node');
  await page.getByLabel('Hash of the zk state').selectOption('mimc');
  await page.getByRole('button', { name: 'Start with these settings' }).click();
  await expect(page.locator('.card', { hasText: 'Network' })).toContainText('mimc');
  await page.getByRole('link', { name: 'plumbline' }).click();
  const value = (10n ** 24n).toString(16).padStart(64, '0');
  const hash = `0x${zkFormat('mimc').slotHash(value)}`;
  await expect(step(page, 'balance').locator('code')).toHaveAttribute('title', hash);
  await expect(verdict(page)).toHaveClass(/is-good/);
});
