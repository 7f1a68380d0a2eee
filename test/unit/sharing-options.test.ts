import { describe, expect, test } from 'vitest';
import { PlumblineError } from '../../src/errors.js';
import { differences, fingerprintOf } from '../../src/hosts/options/fingerprint.js';
import type { NodeOptions } from '../../src/hosts/options/options.js';
import { devnet } from '../../src/networks/devnet.js';
import { linea } from '../../src/networks/linea.js';
import type { Network } from '../../src/networks/network.js';
import { settled } from '../support/eventually.js';
import { ask, gate, sharingOf, stubLog, stubNode } from '../support/stub-node.js';
import { SwitchedActivity } from '../support/switched-activity.js';
import { hashOf, heardFrom, rolesOf, TestBrowser, tabs } from '../support/tabs.js';

describe('options, versions, progress and activity of nodes that share a store', () => {
  test('a node with other chain options is refused with the names of the options', async () => {
    const browser = new TestBrowser();
    const genesis = (balance: bigint) => ({ chain: { kind: 'devnet', alloc: { '0x01': { balance } } } }) as NodeOptions;
    await browser.open(browser.tab(), stubNode(stubLog()), { options: genesis(1n) });
    await browser.open(browser.tab(), stubNode(stubLog()), { options: genesis(1n) });
    const opening = browser.open(browser.tab(), stubNode(stubLog()), { options: genesis(2n) });
    await expect(opening).rejects.toMatchObject({ code: 'STORE_IN_USE', message: expect.stringMatching(/: alloc$/) });
  });

  test('the fingerprint holds no endpoints and only digests', () => {
    const key = 'https://endpoint.test/v3/0123456789abcdef0123456789abcdef';
    const chain = { kind: 'light', network: devnet(), level: 'linked', agreeing: 2, maru: [key] };
    const of = (endpoints: string[], more = {}) =>
      fingerprintOf({ chain: { ...chain, endpoints, layerOne: endpoints, ...more } } as unknown as NodeOptions);
    const fingerprint = of([key]);
    expect(Object.keys(fingerprint).sort()).toEqual(['agreeing', 'kind', 'level', 'network']);
    expect(Object.values(fingerprint)).toEqual(Array(4).fill(expect.stringMatching(/^0x[0-9a-f]{16}$/)));
    expect(of(['https://other.test'])).toEqual(fingerprint);
    expect(differences(fingerprint, of([key], { level: 'plain', agreeing: undefined }))).toEqual(['agreeing', 'level']);
    expect(differences(fingerprint, of([key], { accessLists: true, required: {}, maxLagBlocks: undefined }))).toEqual(
      [],
    );
    expect(differences(fingerprint, of([key], { network: devnet({ scheme: 'mimc' }) }))).toEqual(['network']);
  });

  test('the fingerprint of a fork holds no endpoints either', () => {
    const of = (url: string, more: object = {}) => {
      const layerOne = { consensus: [url], execution: [url], checkpoint: { root: '0x12' } };
      const fork = { network: devnet(), endpoints: [{ url }], layerOne, maru: [url], block: 7, ...more };
      return fingerprintOf({ chain: { kind: 'devnet', fork } } as unknown as NodeOptions);
    };
    const fingerprint = of('https://a.test/v3/secret');
    expect(Object.keys(fingerprint).sort()).toEqual(['fork', 'kind']);
    expect(of('https://other.test')).toEqual(fingerprint);
    expect(differences(fingerprint, of('https://a.test', { block: 8 }))).toEqual(['fork']);
    expect(differences(fingerprint, of('https://a.test', { layerOne: undefined }))).toEqual(['fork']);
  });

  test('the dictionary of estimates has to be the same, whatever its source', () => {
    const bytes = Uint8Array.of(1, 2, 3);
    const sources = [undefined, { kind: 'general' }, { kind: 'bytes', bytes }, { kind: 'url', url: 'https://a.test' }];
    const of = (network: Network) =>
      sources.map((dictionary) => fingerprintOf({ chain: { kind: 'devnet', network }, dictionary } as NodeOptions));
    // A network that names a dictionary checks it. Another network accepts any.
    const [none, general, own, url] = of(linea);
    expect(differences(none!, general!)).toEqual(['dictionary']);
    expect([own, url]).toEqual([none, none]);
    const [free, same, given] = of(devnet());
    expect(same).toEqual(free);
    expect(differences(free!, given!)).toEqual(['dictionary']);
  });

  test('the error of opening goes to the node that failed; the next node can still open', async () => {
    const browser = new TestBrowser();
    const broken = async () => {
      throw new PlumblineError('STORE_CORRUPT', 'broken', { table: 'blocks', reason: 'broken' });
    };
    await expect(browser.open(browser.tab(), broken)).rejects.toMatchObject({ code: 'STORE_CORRUPT' });
    const node = await browser.open(browser.tab(), stubNode(stubLog()));
    expect((await sharingOf(node)).role).toBe('writer');
  });

  test('a node that cannot take over reports the error and rejects waiting requests', async () => {
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

  test('a node ends with an error when a node of a newer version appears', async () => {
    const { nodes, logs, browser } = await tabs(2);
    const told: Error[] = [];
    for (const node of nodes) node.onFailure((failure) => told.push(failure));
    const newer = new BroadcastChannel(`plumbline-writer-${browser.name}`);
    newer.postMessage({ kind: 'seek', from: 'x', version: 1e6, fingerprint: {}, rank: 'page', isActive: true });
    await expect.poll(() => logs[0]!.closed).toEqual([1]);
    // The follower takes over first. Then it hears that a node of the newer version is the writer.
    await expect.poll(() => ask(nodes[1]!, 'eth_chainId')).toBe('0x1');
    const epoch = Date.now() + 1_000;
    newer.postMessage({ kind: 'writer', from: 'x', version: 1e6, fingerprint: {}, epoch });
    await expect.poll(() => told).toMatchObject([{ code: 'STORE_TOO_NEW' }, { code: 'STORE_TOO_NEW' }]);
    newer.close();
  });

  test('announcements of an older version are ignored', async () => {
    const { nodes, browser } = await tabs(2);
    const told: Error[] = [];
    for (const node of nodes) node.onFailure((failure) => told.push(failure));
    const before = await Promise.all(nodes.map(sharingOf));
    const older = new BroadcastChannel(`plumbline-writer-${browser.name}`);
    // Nodes of an older version have other fingerprints and may send other messages.
    const standing = { from: 'x', version: 1, fingerprint: { kind: 'other' } };
    older.postMessage({ kind: 'writer', ...standing, epoch: Date.now() + 1_000, info: nodes[0]!.info });
    const answered = heardFrom(browser, before[0]!.writer!);
    older.postMessage({ kind: 'seek', ...standing, rank: 'page', isActive: true });
    await answered;
    await settled();
    expect(await Promise.all(nodes.map(sharingOf))).toEqual(before);
    expect(await ask(nodes[1]!, 'eth_sendRawTransaction', ['0x01'])).toBe(hashOf('0x01'));
    expect(told).toEqual([]);
    older.close();
  });

  test('messages of other code on the same channels are ignored', async () => {
    const { nodes, browser } = await tabs(2);
    const { writer: id, epoch } = await sharingOf(nodes[1]!);
    const name = `plumbline-writer-${browser.name}`;
    const [all, one] = [new BroadcastChannel(name), new BroadcastChannel(`${name}:${id}`)];
    const heard: { version: number }[] = [];
    const listener = new BroadcastChannel(name);
    listener.onmessage = ({ data }) => void heard.push(data as { version: number });
    all.postMessage({ kind: 'seek', from: 'x', version: 0, fingerprint: {}, rank: 'page', isActive: true });
    await expect.poll(() => heard.length).toBeGreaterThan(0);
    const { version } = heard[0]!;
    const from = 'stranger';
    for (const kind of ['seek', 'writer', 'leaving', 'bye', 'reply', 'call', 'other', 7, null]) {
      for (const channel of [all, one]) {
        for (const more of [{}, { version }, { version, epoch: epoch! + 5, fingerprint: 3 }, { from: 5, version }]) {
          channel.postMessage({ from, ...more, kind });
        }
      }
    }
    for (const data of ['text', 5, null, undefined, [], new Uint8Array(3)]) {
      all.postMessage(data);
      one.postMessage(data);
    }
    const answered = heardFrom(browser, id!);
    all.postMessage({ kind: 'seek', from: 'y', version: 0, fingerprint: {}, rank: 'page', isActive: true });
    await answered;
    await settled();
    expect(await rolesOf(nodes)).toEqual(['writer', 'follower']);
    expect(await ask(nodes[1]!, 'eth_sendRawTransaction', ['0x01'])).toBe(hashOf('0x01'));
    for (const channel of [all, one, listener]) channel.close();
  });

  test('a node shares nothing where channels are denied', async () => {
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

  test('a writer that takes long to open sends its progress to the others', async () => {
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

  test('the activity of the writer is that of all pages together', async () => {
    const browser = new TestBrowser();
    const [own, others] = [new SwitchedActivity(), new SwitchedActivity()];
    const log = stubLog();
    await browser.open(browser.tab(), stubNode(log), { extras: { activity: own } });
    const tab = browser.tab();
    const other = await browser.open(tab, stubNode(stubLog()), { extras: { activity: others } });
    const changes: boolean[] = [];
    const { activity } = log.opened[0]!;
    activity!.onChange(() => changes.push(activity!.isActive));
    own.set(false);
    await ask(other, 'eth_chainId');
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
