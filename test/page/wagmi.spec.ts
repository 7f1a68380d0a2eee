import { fileURLToPath } from 'node:url';
import { expect, test } from '@playwright/test';
import { getAddress, verifyMessage } from 'viem';
import { DEV_ACCOUNTS } from '../../src/chain/devnet/state/dev-accounts.js';
import { bundlePage } from '../support/bundle-page.js';
import { openSite, type Site } from '../support/proxy-site.js';

const PAGE = fileURLToPath(new URL('../clients/wagmi-page.ts', import.meta.url));
const ACCOUNTS = DEV_ACCOUNTS.map(({ address }) => getAddress(address));

interface Tour {
  readonly name: string;
  readonly accounts: readonly `0x${string}`[];
  readonly signature: `0x${string}`;
}

let site: Site;
test.beforeAll(async () => {
  site = await openSite();
  site.scripts.set('/app/page.js', await bundlePage(`import '${PAGE}';`));
  for (const name of ['worker', 'worker-devnet']) {
    site.scripts.set(`/app/${name}.js`, `import '/dist/hosts/worker/${name}.js';`);
  }
});
test.afterAll(() => site.close());

/** What both ways to the provider have in common. */
async function expectTour({ accounts, signature, ...rest }: Tour): Promise<void> {
  expect(accounts).toEqual(ACCOUNTS);
  expect(await verifyMessage({ address: ACCOUNTS[0]!, message: 'hello', signature })).toBe(true);
  expect(rest).toMatchObject({
    chainId: 59_139,
    switched: 59_139,
    // For 4902, wagmi asks to add the chain, and takes every refusal of that for the user's.
    refused: 'UserRejectedRequestError',
    // The chain id that anvil_setChainId gave, of chainChanged.
    followed: 1,
    after: [ACCOUNTS[1]],
    left: [],
  });
}

test('wagmi waits for its user, connects, disconnects, connects again, and is restored', async ({ page }) => {
  await page.goto(site.origin);
  await page.addScriptTag({ url: '/app/page.js', type: 'module' });
  await page.waitForFunction(() => 'waiting' in globalThis);
  const found = await page.evaluate(() => (globalThis as unknown as { waiting(): Promise<unknown> }).waiting());
  expect(found).toEqual({
    accountsBefore: [],
    // EIP-1193, "Unauthorized".
    refused: 4100,
    states: ['disconnected', ['connected', 10], ['disconnected', 0], ['connected', 10]],
    events: [
      ['connect', '0xe703'],
      ['accountsChanged', 10],
      ['accountsChanged', 0],
      ['connect', '0xe703'],
      ['accountsChanged', 10],
      ['accountsChanged', 0],
    ],
    restored: [10],
    afterwards: [],
  });
});

for (const way of ['injected', 'announced'] as const) {
  test(`wagmi connects, signs, follows the accounts and disconnects: ${way}`, async ({ page }) => {
    await page.goto(site.origin);
    await page.addScriptTag({ url: '/app/page.js', type: 'module' });
    await page.waitForFunction((name) => name in globalThis, way);
    const tour = (await page.evaluate((name) => {
      return (globalThis as unknown as Record<string, () => Promise<unknown>>)[name]!();
    }, way)) as Tour & { changes: unknown[] };
    await expectTour(tour);
    expect(tour.changes).toEqual([
      ['connecting', undefined, undefined],
      ['connected', 10, 59_139],
      ['connected', 10, 1],
      ['connected', 10, 59_139],
      ['connected', 1, 59_139],
      ['disconnected', undefined, undefined],
    ]);
    if (way === 'injected') return;
    // After the end of the announcement a new config finds none.
    expect(tour).toMatchObject({ name: 'my wallet', before: 0, id: 'example.wallet', later: 0 });
    expect(tour).toMatchObject({ icon: expect.stringMatching(/^data:image\/svg\+xml,/) });
  });
}
