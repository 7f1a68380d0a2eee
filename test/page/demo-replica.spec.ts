import { expect, type Page, test } from '@playwright/test';
import { createInlineNode } from '../../build/modules/hosts/opening/inline.js';
import { MemoryStore } from '../../build/modules/store/memory-store.js';
import type { PlumblineNode } from '../../src/hosts/provider/node-handle.js';
import type { RequestArguments } from '../../src/hosts/provider/provider.js';
import { type MockEndpoint, serveMock } from '../support/mock-chain.js';
import { devnetLogs } from '../support/mock-shomei-devnet.js';
import { axe, expectNoSideways, status, visit, watch } from './demo-page.js';

/** Blocks that a replica asks for at once, when nothing else is said. */
const RANGE = 64;

let dev: PlumblineNode;
let mocks: MockEndpoint[];
/** Lets the second range of trie logs be answered. */
let release: () => void;

test.beforeEach(async () => {
  const store = new MemoryStore();
  dev = (await createInlineNode({ store })) as unknown as PlumblineNode;
  for (let block = 0; block < RANGE + 16; block++) await dev.request({ method: 'evm_mine' });
  const answer = devnetLogs(store, dev.info.chainId);
  const gate = new Promise<void>((resolve) => {
    release = resolve;
  });
  const logs = async ({ method, params }: RequestArguments) => {
    if (Number(params?.[0]) >= RANGE) await gate;
    return answer(method, params ?? []);
  };
  mocks = await Promise.all([dev, dev.l1, { ...dev, request: logs } as PlumblineNode].map((node) => serveMock(node)));
});
test.afterEach(async () => {
  release();
  await Promise.all(mocks.map((mock) => mock.close()));
  await dev.close();
});

async function start(page: Page): Promise<void> {
  await page.goto('/demo/#node');
  await page.getByLabel('Light node').check();
  await page.getByLabel('Network', { exact: true }).selectOption('devnet');
  for (const [i, name] of ['Endpoint 1', 'Layer-1 endpoint', 'Trie-log endpoint'].entries()) {
    const field = page.getByLabel(`${name}, address`);
    await field.fill(mocks[i]!.url);
    await field.blur();
  }
  await page.getByRole('button', { name: /^Start( with these settings)?$/ }).click();
  await expect(status(page)).toHaveText('Running: a replica of a devnet elsewhere');
}

for (const [width, colorScheme] of [
  [1280, 'light'],
  [390, 'dark'],
] as const) {
  test(`a replica shows how far it is, and proves when it is there, ${width} px, ${colorScheme}`, async ({ page }) => {
    const problems = watch(page);
    await page.emulateMedia({ colorScheme });
    await page.setViewportSize({ width, height: 844 });
    await start(page);
    const bar = page.getByRole('progressbar', { name: /^Building the zk state: block 63 of \d+$/ });
    await expect(bar).toBeVisible();
    expect(Number(await bar.getAttribute('value'))).toBeGreaterThan(50);
    expect(Number(await bar.getAttribute('value'))).toBeLessThan(100);
    await visit(page, 'Node');
    await expectNoSideways(page);
    expect(await axe(page)).toEqual([]);
    await page.screenshot({ path: `build/results/demo-replica-${width}-${colorScheme}.png`, fullPage: true });
    release();
    await expect(page.getByRole('progressbar')).toHaveCount(0);
    await visit(page, 'Proofs');
    await page.getByRole('button', { name: 'Prove and verify' }).click();
    await expect(page.locator('.view:visible .verdict-warn')).toBeVisible();
    const asked = mocks.flatMap(({ seen }) => seen.flat().map(({ method }) => method));
    expect(asked).not.toContain('linea_getProof');
    expect(problems).toEqual([]);
  });
}
