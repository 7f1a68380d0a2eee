import { type BrowserContext, expect, type Page, test } from '@playwright/test';
import type { NodeOptions } from '../../src/hosts/options/options.js';
import type { PlumblineNode } from '../../src/hosts/provider/node-handle.js';
import type { UntypedMethod } from '../../src/hosts/provider/provider.js';
import { ethereum } from '../../src/networks/ethereum.js';
import { linea } from '../../src/networks/linea.js';
import { openSite, type Site, type SiteLibrary } from '../support/proxy-site.js';

const TOKEN = '0x7e57c0de00000000000000000000000000007e57';

let site: Site;
test.beforeAll(async () => {
  site = await openSite();
});
test.afterAll(() => site.close());

interface Lib {
  readonly lib: SiteLibrary;
  readonly node: PlumblineNode;
  readonly heard: string[];
}

/** A page that is connected to the node of the shared worker. @returns the code of what went wrong in place of it */
async function connect(context: BrowserContext, options: NodeOptions = {}, script = '/dist/hosts/worker/worker.js') {
  const page = await context.newPage();
  await page.goto(site.origin);
  const failure = await page.evaluate(
    async ([url, given]) => {
      const worker = new SharedWorker(url, { type: 'module' });
      const { createNode } = (globalThis as unknown as Lib).lib.plumbline;
      try {
        const node = await createNode({ ...given, worker });
        const heard: string[] = [];
        node.on('message', ({ data }) => void heard.push((data.result as { number: string }).number));
        Object.assign(globalThis, { node, heard });
        return undefined;
      } catch (error) {
        return (error as { code: unknown }).code;
      }
    },
    [script, options] as const,
  );
  return { page, failure };
}

function ask(page: Page, method: string, ...params: unknown[]): Promise<unknown> {
  return page.evaluate(
    ([name, list]) => (globalThis as unknown as Lib).node.request<UntypedMethod>({ method: name, params: list }),
    [method, params] as const,
  );
}

const close = (page: Page) => page.evaluate(() => (globalThis as unknown as Lib).node.close());
const heard = (page: Page) => page.evaluate(() => (globalThis as unknown as Lib).heard);

test('all pages of a shared worker use one node, each with its own subscriptions', async ({ context }) => {
  const [{ page: first }, { page: second }] = [await connect(context), await connect(context)];
  const [from, to] = (await ask(first, 'eth_accounts')) as string[];
  const data = `0xa9059cbb${to!.slice(2).padStart(64, '0')}${'1'.padStart(64, '0')}`;
  expect(await ask(first, 'linea_estimateGas', { from, to: TOKEN, data })).toMatchObject({ baseFeePerGas: '0x7' });
  expect(await ask(second, 'linea_getProof', TOKEN, ['0x2'], 'latest')).toMatchObject({ accountProof: { key: TOKEN } });

  const diagnosed = await second.evaluate(
    async (call) => {
      const { verdict, filled } = await (globalThis as unknown as Lib).node.diagnoseTransaction(call);
      return [verdict, Object.keys(filled)];
    },
    { from, to: TOKEN, data },
  );
  expect(diagnosed).toEqual(['will-be-included', ['nonce', 'gas', 'maxFeePerGas', 'maxPriorityFeePerGas']]);

  await ask(second, 'eth_subscribe', 'newHeads');
  await ask(first, 'evm_mine');
  await expect.poll(() => heard(second)).toEqual(['0x1']);
  // A page that ends without a word, and one that says so.
  await first.close();
  const { page: third } = await connect(context);
  await ask(third, 'evm_mine');
  expect(await ask(second, 'eth_blockNumber')).toBe('0x2');
  await expect.poll(() => heard(second)).toEqual(['0x1', '0x2']);
  expect(await heard(third)).toEqual([]);
  await close(third);
  expect(await ask(second, 'eth_blockNumber')).toBe('0x2');
});

test('one page does not switch the chain of another', async ({ context }) => {
  const endpoints = ['https://unreachable.invalid/'];
  const chains = [linea, ethereum].map((network) => ({ kind: 'light' as const, network, endpoints }));
  const [{ page: first }, { page: second }] = [await connect(context, { chains }), await connect(context, { chains })];
  expect(await ask(first, 'wallet_switchEthereumChain', { chainId: '0x1' })).toBeNull();
  expect([await ask(first, 'eth_chainId'), await ask(second, 'eth_chainId')]).toEqual(['0x1', '0xe708']);
});

test('it has the options of the first page until the last page closes it, and opens again from the store', async ({
  context,
}) => {
  const { page: first } = await connect(context, { storeName: 'shared' });
  await ask(first, 'evm_mine');
  const { page: other, failure } = await connect(context);
  expect(failure).toBe('WORKER_FAILED');
  await close(first);
  // The pages are still there, so is the worker, with no node.
  const { page: second } = await connect(context, { storeName: 'shared' });
  expect(await ask(second, 'eth_blockNumber')).toBe('0x1');
  for (const page of [first, other, second]) await page.close();
  const { page: last } = await connect(context, { storeName: 'shared' });
  expect(await ask(last, 'eth_blockNumber')).toBe('0x1');
});

test('a script that does not load is an error', async ({ context }) => {
  expect((await connect(context, {}, '/dist/no-such-worker.js')).failure).toBe('WORKER_FAILED');
});
