import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { expect, type Locator, type Page } from '@playwright/test';

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

interface AxeResults {
  readonly violations: readonly {
    readonly id: string;
    readonly nodes: readonly { readonly html: string }[];
  }[];
}

/** Parts of the demo by the words of its navigation. */
export type Part = 'Fees' | 'Preview' | 'Withdraw' | 'Proofs' | 'Evidence' | 'Console' | 'Log' | 'Node';

/** Errors that a page threw, and what it wrote on its console. */
export function watch(page: Page): string[] {
  const problems: string[] = [];
  page.on('pageerror', (error) => problems.push(error.message));
  page.on('console', (message) => {
    problems.push(message.text());
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

/** Keeps a script back, that of the worker if none is named. @returns what lets it come */
export async function hold(page: Page, script = /worker-devnet.*\.js$/): Promise<() => void> {
  let go = () => {};
  const held = new Promise<void>((resolve) => {
    go = resolve;
  });
  await page.route(script, async (route) => {
    await held;
    await route.continue();
  });
  return go;
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

/** Texts that are cut off, and fields that are narrower than the address in them. */
async function clipped(page: Page): Promise<string[]> {
  return page.evaluate(() => {
    const cut = (element: HTMLElement) => {
      const { overflowX } = getComputedStyle(element);
      const isField = element instanceof HTMLInputElement;
      // Of a key there are only dots to see.
      const isKey = element.matches('.secret');
      const hides = isField ? !isKey && element.value.length <= 42 : overflowX === 'hidden' || overflowX === 'clip';
      return hides && element.clientWidth > 1 && element.scrollWidth > element.clientWidth + 1;
    };
    const all = [...document.querySelectorAll<HTMLElement>('body *')].filter((element) => element.checkVisibility());
    return all.filter(cut).map((element) => element.outerHTML.slice(0, 160));
  });
}

/** Windows and colours in which the page is looked at. */
export const LOOKS = [
  [1280, 'light'],
  [1280, 'dark'],
  [390, 'light'],
  [390, 'dark'],
] as const;

/** Nothing is cut off or out of reach, axe finds nothing, and there is a picture for people. */
export async function look(page: Page, name: string): Promise<void> {
  await expectNoSideways(page);
  expect(await clipped(page), name).toEqual([]);
  expect(await axe(page), name).toEqual([]);
  const scheme = await page.evaluate(() => (matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light'));
  const path = `build/results/demo-${name}-${page.viewportSize()!.width}-${scheme}.png`;
  await page.screenshot({ path, fullPage: true });
}

/** Presses Tab until the focus is on what has this text. */
export async function tabTo(page: Page, name: RegExp): Promise<void> {
  for (let i = 0; i < 60; i++) {
    await page.keyboard.press('Tab');
    const text = await page.evaluate(() => document.activeElement?.textContent ?? '');
    if (name.test(text)) return;
  }
  throw new Error(`${name} was not reached`);
}

/** Asks the node of the page in the console. */
export async function ask<Result>(page: Page, method: string, ...params: unknown[]): Promise<Result> {
  await visit(page, 'Console');
  await page.getByRole('combobox', { name: 'Method' }).fill(method);
  await page.getByLabel('Parameters').fill(JSON.stringify(params));
  const send = page.getByRole('button', { name: 'Send', exact: true });
  // The first example, which the view asks as it opens, is answered.
  await expect(send).toBeEnabled();
  const before = await page.locator('.exchange').count();
  await send.click();
  await expect(page.locator('.exchange')).toHaveCount(before + 1);
  return JSON.parse((await page.locator('.exchange').first().locator('pre').last().textContent())!) as Result;
}

/** What axe finds. */
export async function axe(page: Page): Promise<string[]> {
  // By the debugger and not as a script element, which the policy of the page would refuse.
  await page.evaluate(AXE);
  const { violations } = await page.evaluate(() => {
    return (globalThis as unknown as { axe: { run: () => Promise<AxeResults> } }).axe.run();
  });
  return violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html.slice(0, 120)).join(' | ')}`);
}
