import { keccak_256 } from '@noble/hashes/sha3.js';
import { describe, expect, test } from 'vitest';
import { PlumblineError } from '../../src/errors.js';
import type { NodeOptions } from '../../src/hosts/options.js';
import { SwitchedActivity } from '../../src/hosts/page-activity.js';
import { differences, fingerprintOf } from '../../src/hosts/sharing/fingerprint.js';
import { LockOffice } from '../../src/hosts/sharing/office.js';
import type { NodeTransport } from '../../src/hosts/transport.js';
import { devnet } from '../../src/networks/devnet.js';
import { bytesToHex, hexToBytes } from '../../src/primitives/hex.js';
import { claimStore, type FencedStore, LEASE_KEY } from '../../src/store/fence.js';
import { ask, askIn, type Gates, gate, sharingOf, stubLog, stubNode } from '../support/stub-node.js';
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

  test.each([0, 1, 2, 3, 5, 8, 13])('one that is closed while it takes over (%s) comes to its end', async (turns) => {
    const { nodes, tabs: pages, browser } = await tabs(2);
    pages[0]!.kill();
    for (let turn = 0; turn < turns; turn++) await new Promise((resolve) => setImmediate(resolve));
    await nodes[1]!.close();
    const next = await browser.open(browser.tab(), stubNode(stubLog()));
    expect(await ask(next, 'eth_chainId')).toBe('0x1');
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

  test('a transaction that the next writer refuses is refused', async () => {
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

describe('a writer that hangs', () => {
  test('is taken over from, writes nothing more, and goes on as one of the others', async () => {
    const held = gate();
    const gates: Gates = {};
    const { nodes, tabs: pages, browser, logs } = await tabs(2, gates);
    gates.beforeCommit = held.closed;
    const own = ask(nodes[0]!, 'eth_sendRawTransaction', ['0x01']);
    const late = ask(nodes[0]!, 'eth_sendTransaction', ['0x02']);
    const outcome = late.catch((error: Error) => error.message);
    await expect.poll(() => logs[0]!.calls).toHaveLength(2);
    pages[0]!.hang();
    expect(await ask(nodes[1]!, 'eth_blockNumber')).toBe('0x0');
    expect((await sharingOf(nodes[1]!)).role).toBe('writer');
    // What it had begun comes to the store now.
    gates.beforeCommit = undefined;
    held.open();
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(await browser.store.keys('blocks')).toEqual([]);
    pages[0]!.resume();
    expect(await own).toBe(hashOf('0x01'));
    expect(await outcome).toContain('the outcome of eth_sendTransaction is unknown');
    expect(await rolesOf(nodes)).toEqual(['follower', 'writer']);
    expect(await browser.store.keys('blocks')).toEqual([hashOf('0x01')]);
    expect(logs[0]!.closed).toEqual([1]);
  });

  test('has not begun what it did not read: that happens, once', async () => {
    const { nodes, tabs: pages, browser, logs } = await tabs(2);
    pages[0]!.hang();
    expect(await ask(nodes[1]!, 'eth_sendTransaction', ['0x01'])).toBe(hashOf('0x01'));
    pages[0]!.resume();
    await expect.poll(() => rolesOf(nodes)).toEqual(['follower', 'writer']);
    expect(await browser.store.keys('blocks')).toEqual([hashOf('0x01')]);
    expect(logs.map(({ calls }) => calls)).toEqual([[], ['eth_sendTransaction']]);
  });

  test('with commits of its own is refused by the store, wherever the news of the next is', async () => {
    const { nodes, browser } = await tabs(1);
    const other = await claimStore(browser.store);
    await other!.commit({ puts: [{ table: 'blocks', key: 1, value: new Uint8Array() }] });
    const sent = ask(nodes[0]!, 'eth_sendRawTransaction', ['0x01']);
    // It stands again, and writes as a new one.
    expect(await sent).toBe(hashOf('0x01'));
    expect((await sharingOf(nodes[0]!)).epoch).toBeGreaterThan(other!.epoch);
    await expect(other!.commit({ deletes: [{ table: 'blocks', key: 1 }] })).rejects.toMatchObject({
      code: 'STORE_TAKEN_OVER',
    });
    expect(await browser.store.keys('blocks')).toEqual([1, hashOf('0x01')]);
  });
});

describe('the lock', () => {
  const never = new AbortController().signal;
  const officeOf = (browser: TestBrowser) => {
    const { locks, openStore } = browser.tab().environment;
    return new LockOffice(locks!, browser.name, () => openStore!(browser.name, {}));
  };

  test('is held by one at a time; stolen, its holder is told, and the stores of both know', async () => {
    const browser = new TestBrowser();
    const [first, second] = [officeOf(browser), officeOf(browser)];
    const order: string[] = [];
    const end = gate();
    let old: FencedStore | undefined;
    const holding = first.hold(
      async ({ lost, store }) => {
        old = await store();
        lost.addEventListener('abort', () => order.push('lost'));
        end.arrive();
        await end.closed;
        order.push('first ends');
      },
      { signal: never, steal: false },
    );
    await end.reached;
    const patience = new AbortController();
    const waiting = second.hold(async () => void order.push('never'), { signal: patience.signal, steal: false });
    patience.abort();
    await waiting;
    await second.hold(
      async ({ store }) => {
        await (await store())!.commit({});
        order.push('second');
      },
      { signal: never, steal: true },
    );
    await expect.poll(() => order).toEqual(['lost', 'second']);
    await expect(old!.commit({})).rejects.toMatchObject({ code: 'STORE_TAKEN_OVER' });
    end.open();
    await holding;
    expect(order.at(-1)).toBe('first ends');
  });
});

describe('without locks', () => {
  test('a writer that hangs longer than its lease learns that it is over', async () => {
    const browser = new TestBrowser(false);
    const { nodes, tabs: pages, logs } = await tabs(2, {}, browser);
    pages[0]!.hang(true);
    expect(await ask(nodes[1]!, 'eth_chainId')).toBe('0x1');
    expect((await sharingOf(nodes[1]!)).role).toBe('writer');
    // It is woken by the news of the other alone.
    pages[0]!.resume();
    await expect.poll(() => rolesOf(nodes)).toEqual(['follower', 'writer']);
    expect(await ask(nodes[0]!, 'eth_chainId')).toBe('0x1');
    expect(logs[1]!.calls).toHaveLength(2);
  });

  test('a lease in the store says who writes; when it is not renewed another does', async () => {
    const browser = new TestBrowser(false);
    const { nodes, tabs: pages, logs } = await tabs(3, {}, browser);
    expect(await rolesOf(nodes)).toEqual(['writer', 'follower', 'follower']);
    expect(await ask(nodes[1]!, 'eth_sendRawTransaction', ['0x01'])).toBe(hashOf('0x01'));
    // Longer than a lease: it is renewed meanwhile.
    await new Promise((resolve) => setTimeout(resolve, 1.5 * HUNG_AFTER_MS));
    expect(logs.flatMap(({ opened }) => opened)).toHaveLength(1);
    pages[0]!.kill();
    expect(await ask(nodes[1]!, 'eth_sendRawTransaction', ['0x02'])).toBe(hashOf('0x02'));
    expect((await rolesOf(nodes.slice(1))).sort()).toEqual(['follower', 'writer']);
    expect(await browser.store.keys('blocks')).toHaveLength(2);
  });

  test('an orderly end gives the lease back', async () => {
    const browser = new TestBrowser(false);
    const { nodes } = await tabs(2, {}, browser);
    await nodes[0]!.close();
    expect(await browser.store.get('meta', LEASE_KEY)).toBeUndefined();
    expect(await ask(nodes[1]!, 'eth_chainId')).toBe('0x1');
  });
});

describe('a background node', () => {
  const background = { rank: 'background', hungAfterMs: HUNG_AFTER_MS } as const;

  test('lets the node of a page write, and finishes what it had begun', async () => {
    const browser = new TestBrowser();
    const held = gate();
    const gates: Gates = { beforeCommit: held.closed };
    const logs = [stubLog(), stubLog()];
    const worker = await browser.open(browser.tab(), stubNode(logs[0]!, gates), { sharing: background });
    expect((await sharingOf(worker)).role).toBe('writer');
    const begun = ask(worker, 'eth_sendTransaction', ['0x01']);
    await expect.poll(() => logs[0]!.calls).toHaveLength(1);
    const opening = browser.open(browser.tab(), stubNode(logs[1]!, {}));
    const later = ask(worker, 'eth_sendRawTransaction', ['0x02']);
    held.open();
    gates.beforeCommit = undefined;
    const page = await opening;
    expect(await begun).toBe(hashOf('0x01'));
    expect(await later).toBe(hashOf('0x02'));
    await expect.poll(() => rolesOf([worker, page])).toEqual(['follower', 'writer']);
    expect(await ask(worker, 'eth_blockNumber')).toBe('0x2');
  });

  test('writes when the last page is gone, not while another is there', async () => {
    const browser = new TestBrowser();
    const [first, second] = [browser.tab(), browser.tab()];
    const node = await browser.open(first, stubNode(stubLog()));
    const worker = await browser.open(browser.tab(), stubNode(stubLog()), { sharing: background });
    const other = await browser.open(second, stubNode(stubLog()));
    expect(await rolesOf([node, worker, other])).toEqual(['writer', 'follower', 'follower']);
    first.kill();
    expect(await ask(worker, 'eth_chainId')).toBe('0x1');
    await expect.poll(() => rolesOf([worker, other])).toEqual(['follower', 'writer']);
    second.kill();
    expect(await ask(worker, 'eth_chainId')).toBe('0x1');
    expect((await sharingOf(worker)).role).toBe('writer');
  });
});

describe('what nodes have in common', () => {
  test('a node with another chain is refused, and says in what', async () => {
    const browser = new TestBrowser();
    const genesis = (balance: bigint) => ({ chain: { kind: 'devnet', alloc: { '0x01': { balance } } } }) as NodeOptions;
    await browser.open(browser.tab(), stubNode(stubLog()), { options: genesis(1n) });
    await browser.open(browser.tab(), stubNode(stubLog()), { options: genesis(1n) });
    const opening = browser.open(browser.tab(), stubNode(stubLog()), { options: genesis(2n) });
    await expect(opening).rejects.toMatchObject({ code: 'STORE_IN_USE', message: expect.stringMatching(/: alloc$/) });
  });

  test('what is told of the options holds no endpoints, and nothing that can be read', () => {
    const key = 'https://endpoint.test/v3/0123456789abcdef0123456789abcdef';
    const chain = { kind: 'light', network: devnet(), level: 'linked', agreeing: 2, maru: [key] };
    const of = (endpoints: string[], more = {}) =>
      fingerprintOf({ chain: { ...chain, endpoints, layerOne: endpoints, ...more } } as unknown as NodeOptions);
    const told = of([key]);
    expect(Object.keys(told).sort()).toEqual(['agreeing', 'kind', 'level', 'network']);
    expect(Object.values(told)).toEqual(Array(4).fill(expect.stringMatching(/^0x[0-9a-f]{16}$/)));
    expect(of(['https://other.test'])).toEqual(told);
    expect(differences(told, of([key], { level: 'plain', agreeing: undefined }))).toEqual(['agreeing', 'level']);
    expect(differences(told, of([key], { accessLists: true, required: {}, maxLagBlocks: undefined }))).toEqual([]);
    expect(differences(told, of([key], { network: devnet({ scheme: 'mimc' }) }))).toEqual(['network']);
  });

  test('the error of a node that does not open is its own; the next one tries for itself', async () => {
    const browser = new TestBrowser();
    const broken = async () => {
      throw new PlumblineError('STORE_CORRUPT', 'broken', { table: 'blocks', reason: 'broken' });
    };
    await expect(browser.open(browser.tab(), broken)).rejects.toMatchObject({ code: 'STORE_CORRUPT' });
    const node = await browser.open(browser.tab(), stubNode(stubLog()));
    expect((await sharingOf(node)).role).toBe('writer');
  });

  test('a node that cannot take over says so, and rejects what waits', async () => {
    const browser = new TestBrowser();
    const first = browser.tab();
    await browser.open(first, stubNode(stubLog()));
    const error = new PlumblineError('STORE_CORRUPT', 'broken', { table: 'blocks', reason: 'broken' });
    const second = await browser.open(browser.tab(), () => Promise.reject(error));
    const told: Error[] = [];
    second.onFailure((failure) => told.push(failure));
    first.kill();
    await expect(ask(second, 'eth_chainId')).rejects.toMatchObject({ code: 'NODE_CLOSED', message: 'broken' });
    expect(told).toEqual([error]);
    const third = await browser.open(browser.tab(), stubNode(stubLog()));
    expect(await ask(third, 'eth_chainId')).toBe('0x1');
  });

  test('a node makes room for one of a newer version, and says so', async () => {
    const { nodes, logs, browser } = await tabs(2);
    const told: Error[] = [];
    for (const node of nodes) node.onFailure((failure) => told.push(failure));
    const newer = new BroadcastChannel(`plumbline-writer-${browser.name}`);
    newer.postMessage({ kind: 'seek', from: 'x', version: 1e6, fingerprint: {}, rank: 'page', isActive: true });
    await expect.poll(() => logs[0]!.closed).toEqual([1]);
    // The other would have followed: it hears that one of the newer version writes.
    await expect.poll(() => ask(nodes[1]!, 'eth_chainId')).toBe('0x1');
    const epoch = Date.now() + 1_000;
    newer.postMessage({ kind: 'writer', from: 'x', version: 1e6, fingerprint: {}, epoch });
    await expect.poll(() => told).toMatchObject([{ code: 'STORE_TOO_NEW' }, { code: 'STORE_TOO_NEW' }]);
    newer.close();
  });

  test('where neither locks nor channels are allowed, a node is alone', async () => {
    const browser = new TestBrowser();
    const denied = () => {
      throw new DOMException('denied', 'SecurityError');
    };
    const extras = { store: undefined };
    const sharing = { environment: { ...browser.tab().environment, channel: denied } };
    const alone = stubNode(stubLog());
    const open = () => alone({}, { store: browser.store });
    const node = await browser.open(browser.tab(), open, { extras, sharing });
    expect(await ask(node, 'eth_chainId')).toBe('0x1');
  });

  test('one that opens long tells the others how far it is', async () => {
    const browser = new TestBrowser();
    const held = gate();
    const slow: Parameters<TestBrowser['open']>[1] = async (options, extras) => {
      extras.onProgress?.({ stage: 'blocks', fraction: 0.5 });
      await held.closed;
      return stubNode(stubLog())(options, extras);
    };
    const told: unknown[] = [];
    const first = browser.open(browser.tab(), slow);
    const extras = { onProgress: (progress: unknown) => void told.push(progress) };
    const second = browser.open(browser.tab(), stubNode(stubLog()), { extras });
    await expect.poll(() => told).toContainEqual({ stage: 'blocks', fraction: 0.5 });
    held.open();
    expect(await rolesOf([await first, await second])).toEqual(['writer', 'follower']);
  });

  test('the writer is active while any page is', async () => {
    const browser = new TestBrowser();
    const [own, others] = [new SwitchedActivity(), new SwitchedActivity()];
    const log = stubLog();
    await browser.open(browser.tab(), stubNode(log), { extras: { activity: own } });
    const tab = browser.tab();
    await browser.open(tab, stubNode(stubLog()), { extras: { activity: others } });
    const changes: boolean[] = [];
    const { activity } = log.opened[0]!;
    activity!.onChange(() => changes.push(activity!.isActive));
    own.set(false);
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(activity!.isActive).toBe(true);
    others.set(false);
    await expect.poll(() => activity!.isActive).toBe(false);
    others.set(true);
    await expect.poll(() => activity!.isActive).toBe(true);
    tab.kill();
    await expect.poll(() => activity!.isActive).toBe(false);
    expect(changes).toEqual([false, true, false]);
  });
});

describe('sessions', () => {
  test('keep their subscriptions through a change of writer, under the ids they were given', async () => {
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

  test('of a page that died end at the writer', async () => {
    const { nodes, tabs: pages, logs } = await tabs(2);
    const session = nodes[1]!.openSession(() => {});
    await askIn(session, 'eth_subscribe', ['newHeads']);
    expect(logs[0]!.heads.size).toBe(1);
    pages[1]!.kill();
    await expect.poll(() => logs[0]!.heads.size).toBe(0);
  });
});
