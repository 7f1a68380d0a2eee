import { describe, expect, onTestFinished, test } from 'vitest';
import { isPlumblineError, PlumblineError } from '../../src/errors.js';
import type { NodeOptions } from '../../src/hosts/options/options.js';
import { ask, proxyConfig, type RpcProxyOptions, thrownReply } from '../../src/hosts/proxy/config.js';
import {
  loadConfig,
  optionSecretsOf,
  storedForm,
  Targets,
  withoutSecrets,
  withSecrets,
} from '../../src/hosts/proxy/stored-config.js';
import { devnet } from '../../src/networks/devnet.js';
import { linea } from '../../src/networks/linea.js';

const KEY = '0123456789abcdef0123456789abcdef';
const PAGE = 'https://dapp.example/app/';

describe('targets', () => {
  const find = async (options: Partial<RpcProxyOptions>, href: string) => {
    const { targets } = proxyConfig({ scriptUrl: '', ...options }, PAGE);
    const stored = await storedForm({ targets, forward: true, fallback: 'none', node: {} });
    const looked = new Targets(stored.targets, stored.salt);
    const found = await looked.find(href);
    // The second time, the result is cached.
    expect(looked.mayHave(href)).toBe(found !== undefined);
    return found?.index;
  };

  test.each([
    [{}, 'https://dapp.example/rpc', 0],
    [{}, 'https://dapp.example/rpc?a=1', 0],
    [{}, 'https://dapp.example/rpc/', undefined],
    [{}, 'https://dapp.example/', undefined],
    [{}, 'https://other.example/rpc', undefined],
    [{}, 'http://dapp.example/rpc', undefined],
    [{ paths: ['/a', '/v3/*'] }, `https://dapp.example/v3/${KEY}`, 1],
    [{ paths: ['/v3/*'] }, 'https://dapp.example/v3/', undefined],
    [{ paths: ['/v3/*'] }, 'https://dapp.example/v3/a/b', undefined],
    [{ paths: ['/*'] }, 'https://dapp.example/anything', 0],
    [{ urls: [`https://rpc.example/v3/${KEY}`] }, `https://rpc.example/v3/${KEY}`, 0],
    [{ urls: [`https://rpc.example/v3/${KEY}`] }, `https://rpc.example/v3/${KEY}0`, undefined],
    [{ urls: ['https://rpc.example'] }, 'https://rpc.example/', 0],
    [{ urls: [`https://rpc.example/?key=${KEY}`] }, `https://rpc.example/?key=${KEY}`, 0],
    [{ urls: [`https://rpc.example/?key=${KEY}`] }, 'https://rpc.example/?key=other', undefined],
    [{ urls: [`https://rpc.example/?key=${KEY}`] }, 'https://rpc.example/', undefined],
    [{ urls: ['https://rpc.example/x#y'] }, 'https://rpc.example/x', 0],
    [{ urls: ['https://rpc.example/%7Ename/x'] }, 'https://rpc.example/%7Ename/x', 0],
  ])('%j of %s', async (options, href, index) => {
    expect(await find(options, href)).toBe(index);
  });
});

describe('keys', () => {
  const endpoint = {
    url: `https://b.example/v3/${KEY}1`,
    headers: { authorization: `Bearer ${KEY}2`, [`x-${KEY}8`]: '1' },
    ratePerSecond: 5,
  };
  /** With members of another version, or of none. */
  const strange = { url: `https://g.example/${KEY}a`, id: `${KEY}b`, [`${KEY}c`]: 1, timeoutMs: `${KEY}d` };
  const node: NodeOptions = {
    chain: {
      kind: 'replica',
      network: {
        ...devnet(),
        dictionary: { name: 'own', sha256: '0x00', byteLength: 1, url: `https://h.example/${KEY}e` },
      },
      endpoints: [
        `https://a.example/v3/${KEY}0`,
        'https://plain.example',
        endpoint,
        strange as unknown as string,
        { feed: `https://i.example/${KEY}g/feed`, maxAgeMs: 60_000 },
      ],
      trieLogs: [{ url: 'https://c.example', apiKey: `${KEY}3` }],
      layerOne: [`https://user:${KEY}4@d.example/`],
      maru: [`https://e.example/?key=${KEY}5`],
      stateManager: [`not an address ${KEY}6`],
    },
    dictionary: { kind: 'url', url: `https://f.example/${KEY}7` },
    storeName: 'kept',
  };

  test('are not in the stored form, and can be restored', async () => {
    const secrets = optionSecretsOf(node);
    expect(secrets).toHaveLength(11);
    expect(withSecrets(withoutSecrets(node, secrets), secrets)).toEqual(node);
    const targets = [
      `https://a.example/v3/${KEY}0`,
      `https://dapp.example/v3/${KEY}9`,
      `https://dapp.example/${KEY}f/*`,
    ];
    const stored = await storedForm({ targets, forward: true, fallback: 'none', node });
    const text = JSON.stringify(stored, (_, value: unknown) => (typeof value === 'bigint' ? String(value) : value));
    expect(text).not.toContain(KEY.slice(0, 8));
    expect(text).toContain('https://plain.example');
    expect(text).toContain('https://g.example');
    expect(text).toContain('{"feed":"https://i.example","maxAgeMs":60000}');
    expect(text).toContain('"ratePerSecond":5');
    expect(stored.missing.filter(({ target }) => target !== undefined)).toEqual([
      { path: ['chain', 'endpoints', 0], target: 0 },
    ]);
  });

  test('of a followed layer 1 are found, too', () => {
    const layerOne = {
      consensus: [`https://a.example/${KEY}`],
      execution: [{ url: 'https://b.example', apiKey: KEY }],
      checkpointServers: ['https://plain.example', `https://c.example/?key=${KEY}`],
      checkpoint: { root: `0x${'11'.repeat(32)}` as const },
    };
    const followed: NodeOptions = {
      chain: { kind: 'light', network: linea, endpoints: ['https://plain.example'], layerOne },
    };
    const secrets = optionSecretsOf(followed);
    const shown = JSON.stringify(withoutSecrets(followed, secrets), (_, value: unknown) =>
      typeof value === 'bigint' ? String(value) : value,
    );
    expect(shown).not.toContain(KEY);
    expect(shown).toContain('https://plain.example');
    expect(shown).toContain('1111');
    expect(withSecrets(withoutSecrets(followed, secrets), secrets)).toEqual(followed);
  });

  test('a configuration without keys is stored unchanged, the public dictionary of its network included', async () => {
    const endpoints = ['https://plain.example', { url: 'https://other.example', timeoutMs: 5 }];
    const plain: NodeOptions = { chain: { kind: 'light', network: linea, endpoints } };
    expect(await storedForm({ targets: [], forward: true, fallback: 'none', node: plain })).toMatchObject({
      node: plain,
      missing: [],
    });
  });
});

test('invalid options are refused with a message that does not quote them', () => {
  for (const options of [
    { paths: ['rpc'] },
    { paths: ['//elsewhere.example/secret'] },
    { urls: ['secret'] },
    { urls: ['ws://secret.example/'] },
    { urls: ['https://user:secret@rpc.example/'] },
    { urls: ['https://rpc.example/*/secret'] },
    { urls: ['https://rpc.example/secret*'] },
    { urls: [] },
    { fallback: 'secret' as 'none' },
  ]) {
    let thrown: unknown;
    try {
      proxyConfig({ scriptUrl: '', ...options }, PAGE);
    } catch (error) {
      thrown = error;
    }
    expect(isPlumblineError(thrown, 'INVALID_PARAMETER'), JSON.stringify(options)).toBe(true);
    expect(String(thrown)).not.toContain('secret');
  }
});

test('a browser that throws where indexedDB is read has no store', async () => {
  const denied = new DOMException('denied', 'SecurityError');
  const global = Object.getOwnPropertyDescriptor(globalThis, 'indexedDB');
  Object.defineProperty(globalThis, 'indexedDB', {
    configurable: true,
    get() {
      throw denied;
    },
  });
  onTestFinished(() => {
    // Other files of this process need the one that they put there.
    if (global === undefined) Reflect.deleteProperty(globalThis, 'indexedDB');
    else Object.defineProperty(globalThis, 'indexedDB', global);
  });
  await expect(loadConfig('/')).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE', cause: denied });
});

test('an error of the worker crosses to the page with its cause', async () => {
  const cause = new Error('the disk is full');
  const thrown = new PlumblineError('STORE_QUOTA_EXCEEDED', 'no more space', {}, { cause });
  const worker = {
    postMessage: (_: unknown, [port]: MessagePort[]) => port!.postMessage(thrownReply(thrown)),
  } as unknown as ServiceWorker;
  await expect(ask(worker, { plumblineProxy: 'open' }, 10_000)).rejects.toMatchObject({
    ...{ code: 'STORE_QUOTA_EXCEEDED', message: 'no more space', cause: { message: 'the disk is full' } },
  });
});
