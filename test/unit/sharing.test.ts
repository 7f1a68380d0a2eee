import { keccak_256 } from '@noble/hashes/sha3.js';
import { describe, expect, test } from 'vitest';
import type { NodeTransport } from '../../src/hosts/transport.js';
import { bytesToHex, hexToBytes } from '../../src/primitives/hex.js';
import { ask, type Gates, gate, sharingOf, stubLog, stubNode } from '../support/stub-node.js';
import { TestBrowser } from '../support/tabs.js';

const HUNG_AFTER_MS = 1_000;
const hashOf = (raw: string) => bytesToHex(keccak_256(hexToBytes(raw)));

/** So many tabs with a node each, opened one after the other: the first one writes. */
async function tabs(count: number, gates: Gates = {}, browser = new TestBrowser()) {
  const logs = Array.from({ length: count }, stubLog);
  const opened: { tab: ReturnType<TestBrowser['tab']>; node: NodeTransport }[] = [];
  for (const log of logs) {
    const tab = browser.tab();
    const sharing = { hungAfterMs: HUNG_AFTER_MS };
    opened.push({ tab, node: await browser.open(tab, stubNode(log, gates), { sharing }) });
  }
  return { browser, logs, tabs: opened.map(({ tab }) => tab), nodes: opened.map(({ node }) => node) };
}

const rolesOf = async (nodes: readonly NodeTransport[]) =>
  (await Promise.all(nodes.map(sharingOf))).map(({ role }) => role);

describe('nodes that share a store', () => {
  test('one writes, and answers for the others', async () => {
    const { nodes, logs, browser } = await tabs(3);
    expect(await rolesOf(nodes)).toEqual(['writer', 'follower', 'follower']);
    expect(nodes.map(({ info }) => info.networkName)).toEqual(['stub', 'stub', 'stub']);
    const hashes = await Promise.all(nodes.map((node, i) => ask(node, 'eth_sendRawTransaction', [`0x0${i}`])));
    expect(hashes).toEqual(['0x00', '0x01', '0x02'].map(hashOf));
    expect(await browser.store.keys('blocks')).toHaveLength(3);
    expect(logs.map(({ opened }) => opened.length)).toEqual([1, 0, 0]);
    expect(logs[0]!.calls).toHaveLength(3);
  });

  test('that open all at once have one writer', async () => {
    const browser = new TestBrowser();
    const logs = Array.from({ length: 4 }, stubLog);
    const nodes = await Promise.all(logs.map((log) => browser.open(browser.tab(), stubNode(log))));
    expect((await rolesOf(nodes)).sort()).toEqual(['follower', 'follower', 'follower', 'writer']);
    expect(logs.flatMap(({ opened }) => opened)).toHaveLength(1);
    expect(await Promise.all(nodes.map((node) => ask(node, 'eth_chainId')))).toEqual(['0x1', '0x1', '0x1', '0x1']);
  });

  test('batches, notifications and errors come through as from a node of one’s own', async () => {
    const { nodes } = await tabs(2);
    const batch = [
      { jsonrpc: '2.0', id: 1, method: 'eth_chainId' },
      { jsonrpc: '2.0', method: 'eth_chainId' },
      { jsonrpc: '2.0', id: 'x', method: 'nope' },
      'nonsense',
    ];
    const own = await nodes[0]!.dispatch('l2', batch);
    expect(own.body).toHaveLength(3);
    expect(await nodes[1]!.dispatch('l2', batch)).toEqual(own);
    expect(await nodes[1]!.dispatch('l2', 5)).toMatchObject({ fault: 'envelope' });
  });

  test('another takes over when the writer closes, and when its page dies', async () => {
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

  test('epochs go up with each writer', async () => {
    const { nodes, tabs: pages } = await tabs(3);
    const first = (await sharingOf(nodes[2]!)).epoch!;
    pages[0]!.kill();
    await ask(nodes[2]!, 'eth_chainId');
    const second = (await sharingOf(nodes[2]!)).epoch!;
    expect(second).toBeGreaterThan(first);
    expect((await sharingOf(nodes[1]!)).epoch).toBe(second);
  });

  test('a follower that closes leaves the writer alone', async () => {
    const { nodes, logs } = await tabs(2);
    await nodes[1]!.close();
    await expect(ask(nodes[1]!, 'eth_chainId')).rejects.toMatchObject({ code: 'NODE_CLOSED' });
    expect(logs[0]!.closed).toEqual([]);
    expect(await ask(nodes[0]!, 'eth_chainId')).toBe('0x1');
  });
});

describe('requests under way when the writer goes', () => {
  test('reading is asked for again', async () => {
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

  test.each(['beforeCommit', 'afterCommit'] as const)('a signed transaction happens once: %s', async (place) => {
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

  test('a transaction that is known for another reason is still refused', async () => {
    const { nodes } = await tabs(2);
    await ask(nodes[1]!, 'eth_sendRawTransaction', ['0x01']);
    await expect(ask(nodes[1]!, 'eth_sendRawTransaction', ['0x01'])).rejects.toMatchObject({ code: -32000 });
  });

  test('what would happen twice is not asked for again, and says so', async () => {
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

  test('of a batch, what may be repeated is', async () => {
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
      { id: 2, error: { code: -32603 } },
      { id: 3, result: '0x1' },
    ]);
    expect(logs[1]!.calls).toEqual(['eth_chainId', 'eth_chainId', 'eth_blockNumber']);
  });

  test('an orderly end waits for what writes; what comes after waits for the next writer', async () => {
    const held = gate();
    const gates: Gates = { beforeCommit: held.closed };
    const { nodes, browser, logs } = await tabs(3, gates);
    const first = ask(nodes[1]!, 'eth_sendTransaction', ['0x01']);
    await expect.poll(() => logs[0]!.calls).toHaveLength(1);
    const closing = nodes[0]!.close();
    const second = ask(nodes[2]!, 'eth_sendTransaction', ['0x02']);
    gates.beforeCommit = undefined;
    held.open();
    await closing;
    expect(await first).toBe(hashOf('0x01'));
    expect(await second).toBe(hashOf('0x02'));
    expect(await browser.store.keys('blocks')).toHaveLength(2);
    expect(logs.map(({ calls }) => calls.length)).toEqual([1, 1, 0]);
  });

  test('a request waits for a writer no longer than a request may take', async () => {
    const browser = new TestBrowser();
    const [first, second] = [browser.tab(), browser.tab()];
    await browser.open(first, stubNode(stubLog()));
    const options = { requestTimeoutMs: 300 };
    const node = await browser.open(second, stubNode(stubLog()), { options });
    first.hang();
    await expect(ask(node, 'eth_chainId')).rejects.toMatchObject({ code: -32603, message: 'Timeout expired' });
  });

  test('an aborted request ends at the writer too', async () => {
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
