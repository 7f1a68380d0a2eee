import { describe, expect, test } from 'vitest';
import { LockElection } from '../../src/hosts/sharing/writer-election.js';
import { claimStore, type FencedStore, LEASE_KEY } from '../../src/store/fence.js';
import { ask, type Gates, gate, sharingOf, stubLog, stubNode } from '../support/stub-node.js';
import { HUNG_AFTER_MS, hashOf, rolesOf, TestBrowser, tabs } from '../support/tabs.js';

/** Until when the lease in the store holds, ms. */
const leaseEnd = async ({ store }: TestBrowser) => Number(new TextDecoder().decode(await store.get('meta', LEASE_KEY)));

describe('a writer that hangs', () => {
  test('is replaced, commits nothing more, and becomes a follower', async () => {
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
    // The requests that it had begun reach the store now.
    gates.beforeCommit = undefined;
    held.open();
    await expect.poll(() => logs[0]!.refused).toEqual(['STORE_TAKEN_OVER', 'STORE_TAKEN_OVER']);
    expect(await browser.store.keys('blocks')).toEqual([]);
    pages[0]!.resume();
    expect(await own).toBe(hashOf('0x01'));
    expect(await outcome).toContain('the outcome of eth_sendTransaction is unknown');
    expect(await rolesOf(nodes)).toEqual(['follower', 'writer']);
    expect(await browser.store.keys('blocks')).toEqual([hashOf('0x01')]);
    expect(logs[0]!.closed).toEqual([1]);
  });

  test('a request that the hung writer never received is sent to the next writer, once', async () => {
    const { nodes, tabs: pages, browser, logs } = await tabs(2);
    pages[0]!.hang();
    expect(await ask(nodes[1]!, 'eth_sendTransaction', ['0x01'])).toBe(hashOf('0x01'));
    pages[0]!.resume();
    await expect.poll(() => rolesOf(nodes)).toEqual(['follower', 'writer']);
    expect(await browser.store.keys('blocks')).toEqual([hashOf('0x01')]);
    expect(logs.map(({ calls }) => calls)).toEqual([[], ['eth_sendTransaction']]);
  });

  test('is refused by the store before it has heard of the next writer', async () => {
    const { nodes, browser } = await tabs(1);
    const other = await claimStore(browser.store);
    await other!.commit({ puts: [{ table: 'blocks', key: 1, value: new Uint8Array() }] });
    const sent = ask(nodes[0]!, 'eth_sendRawTransaction', ['0x01']);
    // It waits for the lease again and writes in a new epoch.
    expect(await sent).toBe(hashOf('0x01'));
    expect((await sharingOf(nodes[0]!)).epoch).toBeGreaterThan(other!.epoch);
    await expect(other!.commit({ deletes: [{ table: 'blocks', key: 1 }] })).rejects.toMatchObject({
      code: 'STORE_TAKEN_OVER',
    });
    expect(await browser.store.keys('blocks')).toEqual([1, hashOf('0x01')]);
  });
});

describe('LockElection', () => {
  const never = new AbortController().signal;
  const noWriterKnown = () => true;
  const electionOf = (browser: TestBrowser) => {
    const { locks, openStore } = browser.tab().environment;
    return new LockElection(locks!, browser.name, () => openStore!(browser.name, {}));
  };

  test('one node at a time has the lease; when it is stolen, the old writer ends and its commits are refused', async () => {
    const browser = new TestBrowser();
    const [first, second] = [electionOf(browser), electionOf(browser)];
    const order: string[] = [];
    const end = gate();
    let old: FencedStore | undefined;
    const firstLead = first.lead(
      async ({ lost, store }) => {
        old = await store();
        lost.addEventListener('abort', () => order.push('lost'));
        end.arrive();
        await end.closed;
        order.push('first ends');
      },
      { signal: never, steal: false, noWriterKnown },
    );
    await end.reached;
    const patience = new AbortController();
    const waiting = second.lead(async () => void order.push('never'), {
      signal: patience.signal,
      steal: false,
      noWriterKnown,
    });
    patience.abort();
    await waiting;
    await second.lead(
      async ({ store }) => {
        await (await store())!.commit({});
        order.push('second');
      },
      { signal: never, steal: true, noWriterKnown },
    );
    await expect.poll(() => order).toEqual(['lost', 'second']);
    await expect(old!.commit({})).rejects.toMatchObject({ code: 'STORE_TAKEN_OVER' });
    end.open();
    await firstLead;
    expect(order.at(-1)).toBe('first ends');
  });
});

describe('without locks', () => {
  test('a writer that hangs longer than its lease becomes a follower', async () => {
    const browser = new TestBrowser(false);
    const { nodes, tabs: pages, logs } = await tabs(2, {}, browser);
    pages[0]!.hang(true);
    expect(await ask(nodes[1]!, 'eth_chainId')).toBe('0x1');
    expect((await sharingOf(nodes[1]!)).role).toBe('writer');
    // Only the announcement of the other node tells it.
    pages[0]!.resume();
    await expect.poll(() => rolesOf(nodes)).toEqual(['follower', 'writer']);
    expect(await ask(nodes[0]!, 'eth_chainId')).toBe('0x1');
    expect(logs[1]!.calls).toHaveLength(2);
  });

  test('a lease in the store names the writer; when it is not renewed, another node takes over', async () => {
    const browser = new TestBrowser(false);
    const { nodes, tabs: pages, logs } = await tabs(3, {}, browser);
    expect(await rolesOf(nodes)).toEqual(['writer', 'follower', 'follower']);
    expect(await ask(nodes[1]!, 'eth_sendRawTransaction', ['0x01'])).toBe(hashOf('0x01'));
    // It is renewed, past the end of the first one and of the next.
    const first = await leaseEnd(browser);
    await expect.poll(() => leaseEnd(browser)).toBeGreaterThan(first + 2 * HUNG_AFTER_MS);
    expect(logs.flatMap(({ opened }) => opened)).toHaveLength(1);
    pages[0]!.kill();
    expect(await ask(nodes[1]!, 'eth_sendRawTransaction', ['0x02'])).toBe(hashOf('0x02'));
    expect((await rolesOf(nodes.slice(1))).sort()).toEqual(['follower', 'writer']);
    expect(await browser.store.keys('blocks')).toHaveLength(2);
  });

  test('a writer that closes gives its lease back', async () => {
    const browser = new TestBrowser(false);
    const { nodes } = await tabs(2, {}, browser);
    await nodes[0]!.close();
    expect(await browser.store.get('meta', LEASE_KEY)).toBeUndefined();
    expect(await ask(nodes[1]!, 'eth_chainId')).toBe('0x1');
  });
});

describe('a background node', () => {
  const background = { rank: 'background', hungAfterMs: HUNG_AFTER_MS } as const;

  test('lets the node of a page write, and finishes the requests it had begun', async () => {
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

  test('writes only when the last page has gone', async () => {
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
