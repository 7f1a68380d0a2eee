import { expect, test } from '@playwright/test';
import { createInlineNode } from '../../build/modules/hosts/opening/inline.js';
import { devnet } from '../../build/modules/networks/devnet.js';
import { MemoryStore } from '../../build/modules/store/memory-store.js';
import type { PlumblineNode } from '../../src/hosts/provider/node-handle.js';
import type { RequestArguments, UntypedMethod } from '../../src/hosts/provider/provider.js';
import { serveMock } from '../support/mock-chain.js';
import { devnetLogs } from '../support/mock-shomei-devnet.js';
import { call, type Options, post, register, TOKEN } from '../support/proxy-scene.js';
import { openSite } from '../support/proxy-site.js';
import { stopWorkers } from '../support/stop-workers.js';

test('a replica in the service worker builds proofs itself, before and after stops', async ({ context }) => {
  const store = new MemoryStore();
  const dev = (await createInlineNode({ store })) as unknown as PlumblineNode;
  const logs = devnetLogs(store, dev.info.chainId);
  const request = (args: RequestArguments) =>
    args.method.startsWith('shomei_') ? logs(args.method, args.params ?? []) : dev.request<UntypedMethod>(args);
  const endpoint = await serveMock({ ...dev, request } as PlumblineNode);
  const layerOne = await serveMock(dev.l1);
  const site = await openSite();
  try {
    const ask = (method: string, ...params: unknown[]) => dev.request<UntypedMethod>({ method, params });
    for (let block = 0; block < 4; block++) await ask('evm_mine');
    const page = await context.newPage();
    await page.goto(site.origin);
    await register(page, {
      urls: [endpoint.url],
      chain: {
        kind: 'replica',
        network: devnet(),
        endpoints: [endpoint.url],
        trieLogs: [endpoint.url],
        layerOne: [layerOne.url],
        finalityMaxAgeMs: 0,
        followIntervalMs: 50,
      },
    } as unknown as Options);
    const prove = async () =>
      (await post(page, endpoint.url, call('linea_getProof', [TOKEN, ['0x2'], '0x2']))).json.result;
    const want = await ask('linea_getProof', TOKEN, ['0x2'], '0x2');
    await expect.poll(prove).toEqual(want);
    await stopWorkers(context, page);
    await expect.poll(prove).toEqual(want);
    const asked = endpoint.seen.flat().map(({ method }) => method);
    expect(asked).toContain('shomei_getTrieLogsByRange');
    expect(asked).not.toContain('linea_getProof');
  } finally {
    await Promise.all([site.close(), endpoint.close(), layerOne.close()]);
    await dev.close();
  }
});
