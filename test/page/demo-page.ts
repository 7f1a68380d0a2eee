import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { expect, type Locator, type Page } from '@playwright/test';

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

interface AxeResults {
  readonly violations: readonly {
    readonly id: string;
    readonly impact: string;
    readonly nodes: readonly { readonly html: string }[];
  }[];
}

/** Parts of the demo by the words of its navigation. */
export type Part = 'Fees' | 'Preview' | 'Proofs' | 'Evidence' | 'Console' | 'Log' | 'Node';

/** Errors that a page threw or wrote on its console; a refused load of a test's own making aside. */
export function watch(page: Page): string[] {
  const problems: string[] = [];
  page.on('pageerror', (error) => problems.push(error.message));
  page.on('console', (message) => {
    if (message.type() === 'error') problems.push(message.text());
  });
  return problems;
}

/** The line under the header that says how the node is. */
export function status(page: Page): Locator {
  return page.locator('.status-text');
}

export async function openDemo(page: Page, part?: Part): Promise<string[]> {
  const problems = watch(page);
  await page.goto(`/demo/${part === undefined ? '' : `#${part.toLowerCase()}`}`);
  await expect(status(page)).toContainText('Running');
  return problems;
}

export async function visit(page: Page, part: Part): Promise<void> {
  await page.getByRole('navigation').getByRole('link', { name: part }).click();
  await expect(page.getByRole('heading', { level: 1, name: part })).toBeVisible();
}

/** Value of a name in the part that is shown. */
export function fact(page: Page, name: string): Locator {
  return page
    .locator('.view:visible dt', { hasText: new RegExp(`^${name}$`) })
    .locator('xpath=following-sibling::dd[1]');
}

/** A card of the chain, in the part Node, by its label. */
export function card(page: Page, label: string): Locator {
  const named = page.locator('.card-label').getByText(label, { exact: true });
  return page.locator('.card').filter({ has: named }).locator('.card-value');
}

export async function mine(page: Page, blocks: number): Promise<void> {
  await visit(page, 'Node');
  for (let i = 0; i < blocks; i++) {
    const before = Number(await card(page, 'Head').textContent());
    await page.getByRole('button', { name: 'Mine a block' }).click();
    await expect(card(page, 'Head')).toHaveText(String(before + 1));
  }
}

export async function estimate(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Estimate', exact: true }).click();
}

/** Fails when the page is wider than its window. */
export async function expectNoSideways(page: Page): Promise<void> {
  const over = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
  expect(over).toBeLessThanOrEqual(0);
}

/** What axe finds that keeps somebody from using the page, or is in the way. */
export async function axe(page: Page): Promise<string[]> {
  // By the debugger and not as a script element, which the policy of the page would refuse.
  await page.evaluate(AXE);
  const { violations } = await page.evaluate(() => {
    return (globalThis as unknown as { axe: { run: () => Promise<AxeResults> } }).axe.run();
  });
  return violations
    .filter(({ impact }) => impact !== 'minor')
    .map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html.slice(0, 120)).join(' | ')}`);
}
