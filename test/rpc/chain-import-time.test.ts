import { expect, test, vi } from 'vitest';
import { openInline } from '../../src/hosts/opening/open-inline.js';
import { devNode, KeptStore } from '../support/dev-node.js';
import { eventually } from '../support/eventually.js';
import { TestBrowser } from '../support/tabs.js';

const OPTIONS = { chain: { kind: 'devnet', scheme: 'poseidon2' } } as const;

async function fileOf(blocks: number): Promise<Uint8Array> {
  const { node, ask } = await devNode({ ...OPTIONS, store: new KeptStore() });
  for (let i = 0; i < blocks; i++) await ask('evm_mine');
  return node.exportChain();
}

test('an import, an export and a clear may take longer than a request', async () => {
  const file = await fileOf(60);
  const { node, ask } = await devNode({ ...OPTIONS, store: new KeptStore(), requestTimeoutMs: 15 });
  expect(await node.importChain(file)).toEqual({ head: 60 });
  expect(await node.exportChain()).toEqual(file);
  await node.clear();
  // Time that is so short may be over for this one, too, on a busy machine.
  await eventually(async () => expect(await ask('eth_blockNumber')).toBe('0x0'));
});

test('an aborted import changes nothing, then or later', async () => {
  const file = await fileOf(60);
  const store = new KeptStore();
  const { node, ask } = await devNode({ ...OPTIONS, store });
  await ask('evm_mine');
  const controller = new AbortController();
  const importing = node.importChain(file, { signal: controller.signal });
  // At the first moment that it lends the thread.
  await new Promise((resolve) => setTimeout(resolve));
  controller.abort();
  await expect(importing).rejects.toThrow();
  // As long as it would have taken.
  const other = await devNode({ ...OPTIONS, store: new KeptStore() });
  expect(await other.node.importChain(file)).toEqual({ head: 60 });
  expect(await ask('eth_blockNumber')).toBe('0x1');
  expect((await store.keys('blocks')).length).toBe(2);
});

test('an import by a node that shares its store may take longer too, as writer or follower', async () => {
  const file = await fileOf(60);
  const browser = new TestBrowser();
  const options = { ...OPTIONS, requestTimeoutMs: 15 };
  const writer = await browser.open(browser.tab(), openInline, { options });
  const follower = await browser.open(browser.tab(), openInline, { options });
  for (const node of [writer, follower]) {
    const reply = await node.dispatch('inspect', { jsonrpc: '2.0', id: 1, method: 'importChain', params: [file] });
    expect(reply.body).toMatchObject({ result: { head: 60 } });
  }
});

test('a node that is closed while it is cleared leaves no devnet behind', async () => {
  for (let turns = 0; turns < 10; turns++) {
    const { node, ask } = await devNode({ chain: { kind: 'devnet', mining: { intervalSeconds: 0.02 } } });
    await ask('evm_mine');
    const cleared = node.clear().catch(() => {});
    for (let turn = 0; turn < turns; turn++) await new Promise((resolve) => setImmediate(resolve));
    await node.close();
    await cleared;
    const started = vi.spyOn(globalThis, 'setTimeout');
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect(started, `after ${turns} turns`).toHaveBeenCalledTimes(1);
    started.mockRestore();
  }
});
