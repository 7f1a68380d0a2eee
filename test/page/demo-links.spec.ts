import { type BrowserContext, expect, type Page, test } from '@playwright/test';
import { DEV_ACCOUNTS } from '../../dist/index.js';
import { estimate, openDemo, status, visit, watch } from './demo-page.js';

const view = (page: Page) => page.locator('.view:visible');
const verdict = (page: Page) => view(page).locator('.verdict').first();

/** What the button copies. */
async function linkOf(page: Page): Promise<string> {
  await view(page)
    .getByRole('button', { name: /^Copy link to/ })
    .first()
    .click();
  await expect(view(page).getByRole('button', { name: /^Copied/ })).toBeVisible();
  return page.evaluate(() => navigator.clipboard.readText());
}

/** The page of another visitor, who follows a link. */
async function follow(context: BrowserContext, link: string): Promise<{ page: Page; problems: string[] }> {
  const page = await context.newPage();
  const problems = watch(page);
  await page.goto(link);
  await expect(status(page)).toContainText('Running');
  return { page, problems };
}

const [, { address: second }] = DEV_ACCOUNTS as unknown as [unknown, { address: string }];

/** Each makes a result, and names where it is seen. */
const RESULTS: Readonly<Record<string, (page: Page) => Promise<(page: Page) => ReturnType<Page['locator']>>>> = {
  async estimate(page) {
    await visit(page, 'Fees');
    await page.getByLabel('Any call').check();
    await page.getByLabel('Ether', { exact: true }).fill('1.25');
    await page.getByRole('textbox', { name: 'Data' }).fill('0xabcdef');
    await page.getByLabel('Gas search').selectOption('exact');
    await page.getByText('State overrides').click();
    await page.getByRole('button', { name: 'Give the sender plenty' }).click();
    await estimate(page);
    return (shown) => view(shown).locator('.headline-value');
  },
  async proof(page) {
    await visit(page, 'Proofs');
    await page.getByRole('button', { name: 'A slot that is empty' }).click();
    await page.getByRole('button', { name: 'Prove and verify' }).click();
    return verdict;
  },
  async 'forged proof'(page) {
    await visit(page, 'Proofs');
    await page.getByLabel('Or forge a copy first').selectOption('sibling');
    await page.getByRole('button', { name: 'Verify a forged copy' }).click();
    // The verdict on the first example stands until then: its question is the same.
    await expect(verdict(page)).toContainText('Refused');
    return verdict;
  },
  async 'pasted proof'(page) {
    await visit(page, 'Proofs');
    await page.getByRole('button', { name: 'Prove and verify' }).click();
    await expect(verdict(page)).toContainText('up to the root on layer 1');
    await page.locator('summary', { hasText: /^The answer$/ }).click();
    const answer = await view(page).locator('.fold pre').first().textContent();
    await page.getByLabel('Paste an answer').check();
    await page.getByLabel('Answer of linea_getProof').fill(JSON.stringify(JSON.parse(answer!)));
    await page.getByRole('button', { name: 'Take the newest root' }).click();
    await expect(page.getByLabel('State root')).toHaveValue(/^0x/);
    await page.getByRole('button', { name: 'Verify what was pasted' }).click();
    await expect(verdict(page)).toContainText('the root that you named');
    return verdict;
  },
  async preview(page) {
    await visit(page, 'Preview');
    await view(page)
      .getByRole('radio', { name: /^A call that fails/ })
      .check();
    await view(page).getByRole('button', { name: 'Preview', exact: true }).click();
    return verdict;
  },
  async 'pasted preview'(page) {
    await visit(page, 'Preview');
    await view(page).getByRole('radio', { name: 'Paste' }).check();
    const text = JSON.stringify({ from: second, to: `0x${'7'.repeat(40)}`, value: '0xde0b6b3a7640000' });
    await view(page).getByLabel('Call as JSON').fill(text);
    await view(page).getByRole('button', { name: 'Preview', exact: true }).click();
    return (shown) => view(shown).locator('.party').first();
  },
  async 'console call'(page) {
    await visit(page, 'Console');
    await page.getByRole('combobox', { name: 'Method' }).fill('eth_getBalance');
    await page.getByLabel('Parameters').fill(JSON.stringify([second, 'earliest']));
    await page.getByRole('button', { name: 'Send', exact: true }).click();
    await expect(page.locator('.exchange').first()).toContainText('eth_getBalance');
    return (shown) => shown.locator('.exchange-decoded').first();
  },
  async evidence(page) {
    await visit(page, 'Evidence');
    await page.getByLabel('Or let one of the servers lie').selectOption('header');
    await page.getByRole('button', { name: 'Read it with this lie' }).click();
    return (shown) => view(shown).locator('.chain-link.is-refused .chain-by');
  },
};

for (const [name, act] of Object.entries(RESULTS))
  test(`a link shows another visitor the same ${name}`, async ({ browser }) => {
    const context = await browser.newContext();
    await context.grantPermissions(['clipboard-read', 'clipboard-write']);
    const page = await context.newPage();
    const problems = await openDemo(page);
    const seen = await act(page);
    // The first example was answered before: until this answer is there, that one is shown.
    await expect(view(page).locator('.is-stale')).toHaveCount(0);
    const text = (await seen(page).textContent())!;
    expect(text.length).toBeGreaterThan(0);
    const link = await linkOf(page);
    // The address bar has it, too.
    expect(page.url()).toBe(link);
    const other = await browser.newContext();
    const { page: there, problems: theirs } = await follow(other, link);
    await expect(seen(there)).toHaveText(text);
    await expect(view(there).locator('.is-stale')).toHaveCount(0);
    expect([...problems, ...theirs]).toEqual([]);
    await other.close();
    await context.close();
  });

test('a link that would change a chain fills the console in, and waits', async ({ page, context }) => {
  const params = JSON.stringify([{ from: second, to: second, value: '0x1' }]);
  const { page: there } = await follow(
    context,
    `${(await page.goto('/demo/'))!.url()}#console?${new URLSearchParams({ method: 'eth_sendTransaction', params })}`,
  );
  await expect(view(there).getByText('the link has only filled it in')).toBeVisible();
  await expect(there.getByLabel('Parameters')).toHaveValue(params);
  await expect(there.locator('.exchange')).toHaveCount(0);
  await there.getByRole('button', { name: 'Send', exact: true }).click();
  await expect(there.locator('.exchange')).toHaveCount(1);
});

test('a link of another chain is filled in, and says so', async ({ page }) => {
  await page.goto('/demo/#fees?kind=ether&from=&to=0x70997970c51812dc3a010c7d01b50e0d17dc79c8&amount=3&chain=59144');
  await expect(status(page)).toContainText('Running');
  await expect(view(page).getByText('This link is of chain 59144')).toBeVisible();
  await expect(page.getByLabel('Ether', { exact: true })).toHaveValue('3');
  await expect(view(page).getByText('Nothing has been estimated yet.')).toBeVisible();
});

test('links that were damaged say what is wrong, and break nothing', async ({ page }) => {
  const problems = await openDemo(page);
  for (const [hash, reason] of [
    ['#fees?kind=nonsense&amount=x&overrides={"a":1', 'Not an address'],
    ['#fees?overrides=[1,null,{"address":{}}]', 'Not an address'],
    ['#proofs?address=0x12&block=finalized', 'Not an address'],
    ['#preview?text={', 'It is neither JSON nor hex'],
    ['#evidence?account=7&lie=toString', 'Not an address'],
  ] as const) {
    await page.goto(`/demo/${hash}`);
    await expect(view(page).getByRole('alert').first(), hash).toContainText(reason);
    await expect(view(page).locator('[aria-invalid]').first(), hash).toBeVisible();
  }
  expect(problems).toEqual([]);
});

test('a name that no part of the page has is said', async ({ page }) => {
  const problems = await openDemo(page);
  const notice = page.getByText('This page has no part “nonsense”.');
  await page.goto('/demo/#nonsense?a=1');
  await expect(notice).toBeVisible();
  await visit(page, 'Fees');
  await expect(notice).toBeHidden();
  expect(problems).toEqual([]);
});
