import { describe, expect, test } from 'vitest';
import { ask, askIn, sharingOf, stubLog, stubNode } from '../support/stub-node.js';
import { hashOf, rolesOf, TestBrowser, tabs } from '../support/tabs.js';

describe('nodes that share a store', () => {
  test('one node writes and answers for the others', async () => {
    const { nodes, logs, browser } = await tabs(3);
    expect(await rolesOf(nodes)).toEqual(['writer', 'follower', 'follower']);
    expect(nodes.map(({ info }) => info.networkName)).toEqual(['stub', 'stub', 'stub']);
    const hashes = await Promise.all(nodes.map((node, i) => ask(node, 'eth_sendRawTransaction', [`0x0${i}`])));
    expect(hashes).toEqual(['0x00', '0x01', '0x02'].map(hashOf));
    expect(await browser.store.keys('blocks')).toHaveLength(3);
    expect(logs.map(({ opened }) => opened.length)).toEqual([1, 0, 0]);
    expect(logs[0]!.calls).toHaveLength(3);
  });

  test('have one writer when they open at the same time', async () => {
    const browser = new TestBrowser();
    const logs = Array.from({ length: 4 }, stubLog);
    const nodes = await Promise.all(logs.map((log) => browser.open(browser.tab(), stubNode(log))));
    expect((await rolesOf(nodes)).sort()).toEqual(['follower', 'follower', 'follower', 'writer']);
    expect(logs.flatMap(({ opened }) => opened)).toHaveLength(1);
    expect(await Promise.all(nodes.map((node) => ask(node, 'eth_chainId')))).toEqual(['0x1', '0x1', '0x1', '0x1']);
  });

  test('batches, notifications and errors are answered as by the writer itself', async () => {
    const { nodes } = await tabs(2);
    const batch = [
      { jsonrpc: '2.0', id: 1, method: 'eth_chainId' },
      { jsonrpc: '2.0', method: 'eth_chainId' },
      { jsonrpc: '2.0', id: 'x', method: 'nope' },
      'nonsense',
    ];
    const own = await nodes[0]!.dispatch('l2', batch);
    expect(own.body).toHaveLength(3);
    const relayed = { method: 'eth_chainId', class: 'forwarded', blocks: [], relayed: true };
    // This writer reports nothing. The result of another page has a report in any case.
    expect(await nodes[1]!.dispatch('l2', batch)).toEqual({ ...own, reports: [relayed] });
    expect(await nodes[1]!.dispatch('l2', 5)).toMatchObject({ fault: 'envelope' });
  });

  test('another node takes over when the writer closes, and when its page is killed', async () => {
    const { nodes, tabs: pages, logs, browser } = await tabs(3);
    await ask(nodes[2]!, 'eth_sendRawTransaction', ['0x01']);
    await nodes[0]!.close();
    expect(logs[0]!.closed).toEqual([1]);
    expect(await ask(nodes[2]!, 'eth_blockNumber')).toBe('0x1');
    expect(await rolesOf(nodes.slice(1))).toEqual(['writer', 'follower']);
    pages[1]!.kill();
    expect(await ask(nodes[2]!, 'eth_blockNumber')).toBe('0x1');
    expect((await sharingOf(nodes[2]!)).role).toBe('writer');
    expect(await ask(nodes[2]!, 'eth_sendRawTransaction', ['0x02'])).toBe(hashOf('0x02'));
    expect(await browser.store.keys('blocks')).toHaveLength(2);
  });

  test('the epoch increases with each writer', async () => {
    const { nodes, tabs: pages } = await tabs(3);
    const first = (await sharingOf(nodes[2]!)).epoch!;
    pages[0]!.kill();
    await ask(nodes[2]!, 'eth_chainId');
    const second = (await sharingOf(nodes[2]!)).epoch!;
    expect(second).toBeGreaterThan(first);
    expect((await sharingOf(nodes[1]!)).epoch).toBe(second);
  });

  test.each([0, 1, 2, 3, 5, 8, 13])(
    'a node that is closed while it takes over (after %s turns) ends',
    async (turns) => {
      const { nodes, tabs: pages, browser } = await tabs(2);
      pages[0]!.kill();
      for (let turn = 0; turn < turns; turn++) await new Promise((resolve) => setImmediate(resolve));
      await nodes[1]!.close();
      const next = await browser.open(browser.tab(), stubNode(stubLog()));
      expect(await ask(next, 'eth_chainId')).toBe('0x1');
    },
  );

  test('closing a follower does not affect the writer', async () => {
    const { nodes, logs } = await tabs(2);
    await nodes[1]!.close();
    await expect(ask(nodes[1]!, 'eth_chainId')).rejects.toMatchObject({ code: 'NODE_CLOSED' });
    expect(logs[0]!.closed).toEqual([]);
    expect(await ask(nodes[0]!, 'eth_chainId')).toBe('0x1');
  });
});

describe('sessions', () => {
  test('keep their subscriptions and ids when the writer changes', async () => {
    const { nodes, tabs: pages, logs } = await tabs(3);
    const told: unknown[] = [];
    const session = nodes[1]!.openSession((message) => told.push(message));
    const id = await askIn(session, 'eth_subscribe', ['newHeads']);
    await ask(nodes[2]!, 'eth_sendRawTransaction', ['0x01']);
    await expect.poll(() => told).toEqual([{ subscription: id, result: { number: '0x1' } }]);
    pages[0]!.kill();
    await expect.poll(() => logs[1]!.calls).toEqual(['eth_subscribe']);
    await ask(nodes[2]!, 'eth_sendRawTransaction', ['0x02']);
    await expect.poll(() => told).toHaveLength(2);
    expect(told[1]).toEqual({ subscription: id, result: { number: '0x2' } });
    expect(await askIn(session, 'eth_unsubscribe', [id])).toBe(true);
    await expect(askIn(session, 'eth_unsubscribe', [id])).rejects.toMatchObject({ code: -32000 });
    await ask(nodes[2]!, 'eth_sendRawTransaction', ['0x03']);
    expect(told).toHaveLength(2);
    session.close();
  });

  test('of a killed page are closed at the writer', async () => {
    const { nodes, tabs: pages, logs } = await tabs(2);
    const session = nodes[1]!.openSession(() => {});
    await askIn(session, 'eth_subscribe', ['newHeads']);
    expect(logs[0]!.heads.size).toBe(1);
    pages[1]!.kill();
    await expect.poll(() => logs[0]!.heads.size).toBe(0);
  });
});
