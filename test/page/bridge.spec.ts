import { expect, test } from '@playwright/test';
import type { UntypedMethod } from '../../src/hosts/provider/provider.js';
import type { PreparedClaim } from '../../src/messages/withdrawal.js';
import type { Hex } from '../../src/primitives/hex.js';
import { ROLLUP, SERVICE, sendMessage } from '../support/bridge.js';
import { accountAt, stranger } from '../support/dev-node.js';
import { openSite, type Site, type SiteLibrary } from '../support/proxy-site.js';
import { openSettledEndpoints } from '../support/settled-endpoints.js';

let site: Site;
test.beforeAll(async () => {
  site = await openSite();
});
test.afterAll(() => site.close());

const TO = stranger('c0');
const WITHDRAWAL = { from: accountAt(0), to: SERVICE, value: '0x29a2241af62c0000', data: sendMessage(TO) } as const;
/** Creates a contract that reverts whatever it is called with: its code is 5f5ffd. */
const REFUSES: Hex = '0x625f5ffd5f526003601df3';

test('on a devnet in a page: a withdrawal is sent, final, claimed on layer 1, and there', async ({ page }) => {
  await page.goto(site.origin);
  const seen = await page.evaluate(
    async ([withdrawal, to, claimer]) => {
      const { plumbline } = (globalThis as unknown as { lib: SiteLibrary }).lib;
      const worker = new Worker('/dist/hosts/worker/worker-devnet.js', { type: 'module' });
      const node = await plumbline.createNode({ worker });
      const l2 = <T = Hex>(method: string, ...params: unknown[]) =>
        node.request<UntypedMethod>({ method, params }) as Promise<T>;
      const l1 = (method: string, ...params: unknown[]) => node.l1.request<UntypedMethod>({ method, params });
      const sent = await l2('eth_sendTransaction', withdrawal);
      const receipt = await l2<{ logs: { topics: Hex[] }[] }>('eth_getTransactionReceipt', sent);
      const hash = receipt.logs[0]!.topics[3]!;
      const before = await node.prepareClaim(hash);
      await l2('anvil_mine', '0x2');
      const claim = (await node.prepareClaim(hash)) as PreparedClaim;
      await l1('eth_sendTransaction', { from: claimer, ...claim.transaction });
      const balance = await l1('eth_getBalance', to, 'latest');
      const after = await node.prepareClaim(hash);
      await node.close();
      return { statuses: [before, claim, after].map(({ status }) => status), wouldPass: claim.wouldPass, balance };
    },
    [WITHDRAWAL, TO, accountAt(1)] as const,
  );
  expect(seen).toEqual({
    statuses: ['notFinal', 'anchored', 'claimed'],
    wouldPass: true,
    balance: WITHDRAWAL.value,
  });
});

test('over a light node that follows consensus: the same, and a claim that would revert is told before', async ({
  page,
}) => {
  const endpoints = await openSettledEndpoints();
  try {
    const { dev } = endpoints;
    const l1 = <T = Hex>(method: string, ...params: unknown[]) =>
      dev.l1.request<UntypedMethod>({ method, params }) as Promise<T>;
    const created = await l1('eth_sendTransaction', { from: accountAt(2), data: REFUSES });
    const { contractAddress } = await l1<{ contractAddress: Hex }>('eth_getTransactionReceipt', created);
    const send = async (to: Hex) => {
      const hash = await dev.request<UntypedMethod>({
        method: 'eth_sendTransaction',
        params: [{ ...WITHDRAWAL, data: sendMessage(to) }],
      });
      const receipt = (await dev.request<UntypedMethod>({ method: 'eth_getTransactionReceipt', params: [hash] })) as {
        logs: { topics: Hex[] }[];
        blockNumber: Hex;
      };
      return { hash: receipt.logs[0]!.topics[3]!, block: Number(receipt.blockNumber) };
    };
    const [good, bad] = [await send(TO), await send(contractAddress)];
    await dev.request({ method: 'anvil_mine', params: ['0x3'] });
    await page.goto(site.origin);
    const prepare = (of: typeof good, status: string) =>
      page.evaluate(
        async ([chain, { hash, block }, wanted]) => {
          const { plumbline } = (globalThis as unknown as { lib: SiteLibrary }).lib;
          const held = globalThis as unknown as { node?: ReturnType<typeof plumbline.createNode> };
          const worker = () => new Worker('/dist/hosts/worker/worker.js', { type: 'module' });
          held.node ??= plumbline.createNode({ worker: worker(), chain: chain as never });
          const node = await held.node;
          // Until the consensus has the block of layer 1 as final, which takes slots of a second.
          for (;;) {
            const claim = await node.prepareClaim(hash, { fromBlock: block });
            if (claim.status === wanted) return claim as PreparedClaim;
            await new Promise((resolve) => setTimeout(resolve, 200));
          }
        },
        [{ ...endpoints.chain, finalityMaxAgeMs: 1 }, of, status] as const,
      );
    const claim = await prepare(good, 'anchored');
    expect(claim).toMatchObject({ slotsAllow: true, wouldPass: true, layerOne: { level: 'settled' } });
    expect(claim.transaction.to.toLowerCase()).toBe(ROLLUP);
    const refused = await prepare(bad, 'anchored');
    expect(refused).toMatchObject({ slotsAllow: true, wouldPass: false, layerOne: { level: 'settled' } });
    // Layer 1 says the same.
    await expect(l1('eth_call', { from: accountAt(1), ...refused.transaction }, 'latest')).rejects.toThrow();
    await l1('eth_sendTransaction', { from: accountAt(1), ...claim.transaction });
    expect(await l1('eth_getBalance', TO, 'latest')).toBe(WITHDRAWAL.value);
    expect(await prepare(good, 'claimed')).toMatchObject({ slotsAllow: false, refusal: 'MessageAlreadyClaimed' });
  } finally {
    await endpoints.close();
  }
});
