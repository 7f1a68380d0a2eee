import { expect, test } from '@playwright/test';
import { DEV_ACCOUNTS } from '../../src/chain/devnet/state/dev-accounts.js';
import { type Ending, TabsScene } from '../support/tabs-scene.js';
import { openTabsSite, SitePage, type TabsSite } from '../support/tabs-site.js';

let site: TabsSite;
test.beforeAll(async () => {
  site = await openTabsSite();
});
test.afterAll(() => site.close());

for (const count of [2, 4]) {
  test(`${count} tabs: one is the writer, all are answered, another takes over, no block is lost`, async ({
    context,
  }) => {
    const scene = new TabsScene(context, site);
    for (let account = 0; account < count; account++) await scene.add(account);
    expect((await scene.roles()).map(({ role }) => role).sort()).toEqual([
      ...Array(count - 1).fill('follower'),
      'writer',
    ]);

    // All tabs at once, without a change of writer.
    expect(await scene.storm(5)).toBe(count * 9);
    expect(await scene.check()).toBe(1 + count * 5);

    // The writer ends while all tabs have requests under way.
    const withoutMs: Partial<Record<Ending, number>> = {};
    for (const how of ['close', 'page', 'worker'] as const) {
      let ended: Awaited<ReturnType<TabsScene['endWriter']>> | undefined;
      const answered = await scene.storm(5, async () => {
        ended = await scene.endWriter(how);
        return [ended.tab];
      });
      expect(answered).toBe((count - 1) * 9);
      withoutMs[how] = Math.round(ended!.withoutMs);
      await scene.replace(ended!.tab);
      await scene.roles();
    }
    const blocks = await scene.check();
    const times = Object.entries(withoutMs).map(([how, ms]) => `${how} ${ms} ms`);
    console.log(`${count} tabs: ${blocks} blocks; answered by another writer after ${times.join(', ')}`);
    expect(scene.epochs).toHaveLength(4);
    expect(scene.acknowledged.length).toBeGreaterThanOrEqual(count * 5 + 3 * (count - 1) * 5);
  });
}

test('subscriptions continue with the next writer and keep their ids', async ({ context }) => {
  const storeName = `tabs-${crypto.randomUUID()}`;
  const [first, second] = [await SitePage.open(context, site), await SitePage.open(context, site)];
  expect(await first.call('open', { storeName })).toBe('open');
  expect(await second.call('open', { storeName })).toBe('open');
  const id = await second.ask('eth_subscribe', 'newHeads');
  await first.ask('evm_mine');
  await expect.poll(() => second.call('heads')).toEqual(['0x1']);
  await first.page.close();
  await second.ask('evm_mine');
  await expect.poll(() => second.call('heads')).toEqual(['0x1', '0x2']);
  expect(await second.ask('eth_unsubscribe', id)).toBe(true);
  await second.ask('evm_mine');
  expect(await second.call('heads')).toHaveLength(2);
});

test('a node with other options on the same store is refused', async ({ context }) => {
  const storeName = `tabs-${crypto.randomUUID()}`;
  const [first, second] = [await SitePage.open(context, site), await SitePage.open(context, site)];
  expect(await first.call('open', { storeName })).toBe('open');
  expect(await second.call('open', { storeName, chain: { kind: 'devnet', mining: 'manual' } })).toBe('STORE_IN_USE');
  expect(await second.call('open', { storeName })).toBe('open');
  const { epoch } = await first.call('sharing');
  expect((await second.call('sharing')).epoch).toBe(epoch);
  expect((await first.call('writer', storeName)).epoch).toBe(epoch);
});

test('what comes through another page is marked so, also if a page imitates the writer 1 000 times', async ({
  context,
}) => {
  const storeName = `tabs-${crypto.randomUUID()}`;
  const imitator = await SitePage.open(context, site);
  await imitator.call('imitate', storeName, '0x1234');
  const [first, second] = [await SitePage.open(context, site), await SitePage.open(context, site)];
  for (const page of [first, second]) expect(await page.call('open', { storeName })).toBe('open');
  expect((await second.call('sharing')).role).toBe('follower');
  await first.call('ask', 'eth_chainId');
  const own = await first.call('reports');
  expect(own).toMatchObject([{ method: 'eth_chainId', class: 'held' }]);
  expect(own[0]).not.toHaveProperty('relayed');
  // The writer needs a while for these.
  const transfer = { from: DEV_ACCOUNTS[0]!.address, to: DEV_ACCOUNTS[1]!.address, value: '0x1' };
  const answers = await second.call(
    'askAll',
    Array.from({ length: 1000 }, () => ({ method: 'linea_estimateGas', params: [transfer] })),
  );
  const reports = await second.call('reports');
  const lies = answers.filter((answer) => answer === '0x1234').length;
  console.log(`${await imitator.call('imitated')} imitated answers, ${lies} of them before the writer's`);
  expect(lies).toBeGreaterThan(0);
  expect(reports.filter(({ method }) => method === 'linea_estimateGas')).toHaveLength(1000);
  for (const report of reports) expect(report).toMatchObject({ relayed: true });
  // The writer's own page and its chain are not touched.
  expect(await first.call('ask', 'eth_chainId')).toBe('0xe703');
});

for (const lack of ['without', 'insecure', 'refused'] as const)
  test(`a lease in the store elects the writer: ${lack} Web Locks`, async ({ context }) => {
    const options = { storeName: `tabs-${crypto.randomUUID()}` };
    const [first, second] = [await SitePage.open(context, site), await SitePage.open(context, site)];
    expect(await first.call('open', options, `worker-${lack}-locks`)).toBe('open');
    expect(await second.call('open', options, `worker-${lack}-locks`)).toBe('open');
    expect((await second.call('sharing')).role).toBe('follower');
    await second.ask('evm_mine');
    await first.call('close');
    expect(await second.ask('eth_blockNumber')).toBe('0x1');
    expect((await second.call('sharing')).role).toBe('writer');
  });

test('a store that one tab clears is empty for all tabs, and still has one writer', async ({ context }) => {
  const options = { storeName: `tabs-${crypto.randomUUID()}` };
  const [first, second] = [await SitePage.open(context, site), await SitePage.open(context, site)];
  expect(await first.call('open', options)).toBe('open');
  expect(await second.call('open', options)).toBe('open');
  await second.ask('evm_mine');
  await second.call('clear');
  expect(await first.ask('eth_blockNumber')).toBe('0x0');
  await first.ask('evm_mine');
  const { epoch } = await second.call('sharing');
  expect(await first.call('sharing')).toMatchObject({ role: 'writer', epoch });
  expect((await first.call('writer', options.storeName)).epoch).toBe(epoch);
  await first.page.close();
  expect(await second.ask('eth_blockNumber')).toBe('0x1');
});
