import { describe, expect, test } from 'vitest';
import { settled } from '../support/eventually.js';
import { ask, type Gates, gate, stubLog, stubNode } from '../support/stub-node.js';
import { hashOf, TestBrowser, tabs } from '../support/tabs.js';

describe('requests under way when the writer ends', () => {
  test('reads are sent to the next writer', async () => {
    const held = gate();
    const gates: Gates = { read: held.closed };
    const { nodes, tabs: pages, logs } = await tabs(2, gates);
    const answer = ask(nodes[1]!, 'eth_chainId');
    await expect.poll(() => logs[0]!.calls).toEqual(['eth_chainId']);
    gates.read = undefined;
    pages[0]!.kill();
    expect(await answer).toBe('0x1');
    expect(logs[1]!.calls).toEqual(['eth_chainId']);
  });

  test.each(['beforeCommit', 'afterCommit'] as const)('a signed transaction is included once: %s', async (place) => {
    const held = gate();
    const gates: Gates = { [place]: held.closed };
    const { nodes, tabs: pages, logs, browser } = await tabs(2, gates);
    const sent = ask(nodes[1]!, 'eth_sendRawTransaction', ['0x01']);
    await expect.poll(() => logs[0]!.calls).toEqual(['eth_sendRawTransaction']);
    if (place === 'afterCommit') await expect.poll(() => browser.store.keys('blocks')).toHaveLength(1);
    gates[place] = undefined;
    pages[0]!.kill();
    expect(await sent).toBe(hashOf('0x01'));
    held.open();
    expect(await browser.store.keys('blocks')).toEqual([hashOf('0x01')]);
    expect(logs[1]!.calls[0]).toBe('eth_sendRawTransaction');
  });

  test('a transaction that the caller sent twice is still refused', async () => {
    const { nodes } = await tabs(2);
    await ask(nodes[1]!, 'eth_sendRawTransaction', ['0x01']);
    await expect(ask(nodes[1]!, 'eth_sendRawTransaction', ['0x01'])).rejects.toMatchObject({ code: -32000 });
  });

  test('a transaction that the next writer refuses is answered with its error', async () => {
    const held = gate();
    const gates: Gates = { beforeCommit: held.closed };
    const { nodes, tabs: pages, logs, browser } = await tabs(2, gates);
    const sent = ask(nodes[1]!, 'eth_sendRawTransaction', ['0x01']);
    await expect.poll(() => logs[0]!.calls).toHaveLength(1);
    gates.refuses = true;
    pages[0]!.kill();
    await expect(sent).rejects.toMatchObject({ code: -32004 });
    expect(await browser.store.keys('blocks')).toEqual([]);
  });

  test('a non-idempotent request is not sent again; its outcome is unknown', async () => {
    const held = gate();
    const gates: Gates = { afterCommit: held.closed };
    const { nodes, tabs: pages, browser, logs } = await tabs(2, gates);
    const sent = ask(nodes[1]!, 'eth_sendTransaction', ['0x01']);
    await expect.poll(() => browser.store.keys('blocks')).toHaveLength(1);
    pages[0]!.kill();
    const message = 'Internal error (the outcome of eth_sendTransaction is unknown: the node that had it ended)';
    await expect(sent).rejects.toMatchObject({ code: -32603, message });
    expect(logs[1]!.calls).toEqual([]);
  });

  test('of a batch, only idempotent requests are sent again', async () => {
    const held = gate();
    const gates: Gates = { afterCommit: held.closed };
    const { nodes, tabs: pages, browser, logs } = await tabs(2, gates);
    const batch = [
      { jsonrpc: '2.0', id: 1, method: 'eth_chainId' },
      { jsonrpc: '2.0', method: 'eth_chainId' },
      { jsonrpc: '2.0', id: 2, method: 'eth_sendTransaction', params: ['0x01'] },
      { jsonrpc: '2.0', id: 3, method: 'eth_blockNumber' },
    ];
    const sent = nodes[1]!.dispatch('l2', batch);
    await expect.poll(() => browser.store.keys('blocks')).toHaveLength(1);
    pages[0]!.kill();
    expect((await sent).body).toMatchObject([
      { id: 1, result: '0x1' },
      {
        id: 2,
        error: { code: -32603, reason: 'OUTCOME_UNKNOWN', details: { method: 'eth_sendTransaction' } },
      },
      { id: 3, result: '0x1' },
    ]);
    expect(logs[1]!.calls).toEqual(['eth_chainId', 'eth_chainId', 'eth_blockNumber']);
  });

  test('a writer that closes finishes requests that change state; later ones wait for the next writer', async () => {
    const held = gate();
    const gates: Gates = { beforeCommit: held.closed };
    const { nodes, browser, logs } = await tabs(3, gates);
    const first = ask(nodes[1]!, 'eth_sendTransaction', ['0x01']);
    await expect.poll(() => logs[0]!.calls).toHaveLength(1);
    const left: unknown[] = [];
    const listener = new BroadcastChannel(`plumbline-writer-${browser.name}`);
    listener.onmessage = ({ data }) => void left.push((data as { kind: string }).kind);
    const closing = nodes[0]!.close();
    const second = ask(nodes[2]!, 'eth_sendTransaction', ['0x02']);
    // All nodes have received the announcement of the end.
    await expect.poll(() => left).toContain('leaving');
    await settled();
    listener.close();
    gates.beforeCommit = undefined;
    held.open();
    await closing;
    expect(await first).toBe(hashOf('0x01'));
    expect(await second).toBe(hashOf('0x02'));
    expect(await browser.store.keys('blocks')).toHaveLength(2);
    expect(logs.map(({ calls }) => calls.length)).toEqual([1, 1, 0]);
  });

  test('a request that waits for a writer times out', async () => {
    const browser = new TestBrowser();
    const [first, second] = [browser.tab(), browser.tab()];
    await browser.open(first, stubNode(stubLog()));
    const options = { requestTimeoutMs: 300 };
    const node = await browser.open(second, stubNode(stubLog()), { options });
    first.hang();
    await expect(ask(node, 'eth_chainId')).rejects.toMatchObject({ code: -32603, message: 'Timeout expired' });
  });

  test('an aborted request is aborted at the writer too', async () => {
    const held = gate();
    const { nodes, logs } = await tabs(2, { read: held.closed });
    const controller = new AbortController();
    const answer = ask(nodes[1]!, 'eth_chainId', [], controller.signal);
    await expect.poll(() => logs[0]!.calls).toHaveLength(1);
    controller.abort(new Error('changed my mind'));
    await expect(answer).rejects.toThrow('changed my mind');
    await expect.poll(() => logs[0]!.aborted).toEqual(['eth_chainId']);
    held.open();
  });
});
