import { expect, type Page, test } from '@playwright/test';
import { TEST_TOKEN } from '../../src/chain/devnet/state/dev-accounts.js';
import { createInlineNode } from '../../src/hosts/opening/inline.js';
import type { UntypedMethod } from '../../src/hosts/provider/provider.js';
import { devnet } from '../../src/networks/devnet.js';
import { type MockEndpoint, serveMock } from '../support/mock-chain.js';
import { openSite, type SiteLibrary } from '../support/proxy-site.js';
import { transferCalldata } from '../support/sign.js';

const HOLDER = '0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266';
const RECEIVER = `0x${'b2'.repeat(20)}` as const;
const BALANCE = { to: TEST_TOKEN, data: `0x70a08231${RECEIVER.slice(2).padStart(64, '0')}` };

let endpoint: MockEndpoint;
let close: () => Promise<void>;
test.beforeEach(async () => {
  const node = await createInlineNode();
  endpoint = await serveMock(node);
  close = () => node.close();
});
test.afterEach(() => close());

/** Asks a fork in a worker of the page. It is opened first, and closed at the end. */
function ask(
  page: Page,
  calls: readonly (readonly [method: string, params: readonly unknown[]])[],
): Promise<unknown[]> {
  const options = {
    storeName: 'plumbline-fork',
    chain: { kind: 'devnet', fork: { network: devnet(), endpoints: [endpoint.url], block: 0 } },
  };
  return page.evaluate(
    async ([given, asked]) => {
      const { plumbline } = (globalThis as unknown as { lib: SiteLibrary }).lib;
      const worker = new Worker('/dist/hosts/worker/worker.js', { type: 'module' });
      const node = await plumbline.createNode({ ...(given as object), worker });
      const answers: unknown[] = [];
      for (const [method, params] of asked) answers.push(await node.request<UntypedMethod>({ method, params }));
      await node.close();
      return answers;
    },
    [options, calls] as const,
  );
}

test('a fork in a worker makes a transfer, and is there after a reload without a request', async ({ context }) => {
  const site = await openSite();
  try {
    const page = await context.newPage();
    await page.goto(site.origin);
    const data = transferCalldata(RECEIVER, 100n);
    const [, , balance] = await ask(page, [
      ['anvil_impersonateAccount', [HOLDER]],
      ['eth_sendTransaction', [{ from: HOLDER, to: TEST_TOKEN, data }]],
      ['eth_call', [BALANCE, 'latest']],
    ]);
    expect(BigInt(balance as string)).toBe(100n);
    await endpoint.close();
    await page.reload();
    const before = endpoint.seen.length;
    const [number, again] = await ask(page, [
      ['eth_blockNumber', []],
      ['eth_call', [BALANCE, 'latest']],
    ]);
    expect(number).toBe('0x1');
    expect(again).toBe(balance);
    expect(endpoint.seen.length).toBe(before);
  } finally {
    await site.close();
  }
});

test('a service worker refuses a fork, and says where it opens', async ({ context }) => {
  const site = await openSite();
  try {
    const page = await context.newPage();
    await page.goto(site.origin);
    const message = await page.evaluate(
      async ([network, url]) => {
        const { plumbline } = (globalThis as unknown as { lib: SiteLibrary }).lib;
        const chain = { kind: 'devnet', fork: { network, endpoints: [url] } } as const;
        return plumbline.registerRpcProxy({ scriptUrl: '/service-worker.js', chain }).then(
          () => 'registered',
          (error: Error) => error.message,
        );
      },
      [devnet(), endpoint.url] as const,
    );
    expect(message).toBe('chain.fork: cannot be opened in a service worker; open it with createNode');
  } finally {
    await site.close();
    await endpoint.close();
  }
});
