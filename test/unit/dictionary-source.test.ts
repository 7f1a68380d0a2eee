import { createHash } from 'node:crypto';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { DEV_ACCOUNTS } from '../../src/chain/devnet/state/dev-accounts.js';
import { PlumblineError } from '../../src/errors.js';
import { generalDictionary, obtainDictionary } from '../../src/fees/dictionary.js';
import { createInlineNode } from '../../src/hosts/opening/inline.js';
import { resolveDictionary } from '../../src/hosts/opening/node-wiring.js';
import { MAX_DICTIONARY } from '../../src/kernel/contracts.js';
import { devnet } from '../../src/networks/devnet.js';
import type { DictionaryReference, Network } from '../../src/networks/network.js';
import { MemoryStore } from '../../src/store/memory-store.js';
import { seededRandom } from '../support/random.js';

const random = seededRandom(2025);
const BYTES = Uint8Array.from({ length: 3000 }, () => random(256));
const sha256: DictionaryReference['sha256'] = `0x${createHash('sha256').update(BYTES).digest('hex')}`;

/** A loopback server that gives `answer`, or is silent, and counts. */
let server: Server;
let asked = 0;
let answer: { status: number; body: Uint8Array } | 'silence';
let url: string;

beforeAll(async () => {
  server = createServer((_, response) => {
    asked++;
    if (answer !== 'silence') response.writeHead(answer.status).end(answer.body);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v3/SECRET/dict.bin`;
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});
beforeEach(() => {
  asked = 0;
  answer = { status: 200, body: BYTES };
});

const reference = (more: Partial<DictionaryReference> = {}): DictionaryReference => ({
  name: 'own',
  sha256,
  byteLength: BYTES.length,
  url,
  ...more,
});
const networkWith = (dictionary: DictionaryReference): Network => ({ ...devnet(), dictionary });
const OWN = { name: 'own', sha256, bytes: BYTES, networkOwn: true };

describe('the dictionary of a network with a reference', () => {
  it('comes from the first of its addresses that has it; the others are not asked', async () => {
    const wrong = createServer((_, response) => response.end(new Uint8Array(BYTES.length)));
    await new Promise<void>((resolve) => wrong.listen(0, '127.0.0.1', resolve));
    const { port } = wrong.address() as AddressInfo;
    const [moved, other] = ['http://127.0.0.1:9/SECRET', `http://127.0.0.1:${port}/SECRET`];
    try {
      const of = (first: string, ...mirrors: string[]) => networkWith(reference({ url: first, mirrors }));
      // One that is down, one with other bytes: sha256 decides.
      expect(await resolveDictionary(undefined, of(moved, other, url), undefined)).toEqual(OWN);
      expect(asked).toBe(1);
      expect(await resolveDictionary(undefined, of(url, other), undefined)).toEqual(OWN);
      const { networkOwn, reason } = await resolveDictionary(undefined, of(moved, other), undefined);
      expect(networkOwn).toBe(false);
      const actual = createHash('sha256').update(new Uint8Array(BYTES.length)).digest('hex');
      expect(reason).toBe(
        'the dictionary cannot be loaded from http://127.0.0.1:9: no answer; ' +
          `http://127.0.0.1:${port}: dictionary own has sha256 0x${actual}, expected ${sha256}`,
      );
    } finally {
      wrong.close();
    }
  });

  it('comes from the profile’s address, and from the store the next time', async () => {
    const store = new MemoryStore();
    expect(await resolveDictionary(undefined, networkWith(reference()), store)).toEqual(OWN);
    expect(await store.get('dictionaries', sha256)).toEqual(BYTES);
    answer = { status: 500, body: new Uint8Array() };
    expect(await resolveDictionary(undefined, networkWith(reference()), store)).toEqual(OWN);
    expect(asked).toBe(1);
  });

  it('is found in the store under the checksum in either case', async () => {
    const store = new MemoryStore();
    const upper = reference({ sha256: `0x${sha256.slice(2).toUpperCase()}` });
    await resolveDictionary(undefined, networkWith(upper), store);
    expect(await resolveDictionary(undefined, networkWith(reference()), store)).toEqual(OWN);
    expect(asked).toBe(1);
  });

  it.each([
    ['with one bit changed', () => Uint8Array.from(BYTES, (byte, i) => (i === 1500 ? byte ^ 1 : byte))],
    ['cut off', () => BYTES.subarray(0, 2999)],
    ['empty', () => new Uint8Array()],
  ])('is fetched again when the stored copy is %s', async (_, damaged) => {
    const store = new MemoryStore();
    await store.commit({ puts: [{ table: 'dictionaries', key: sha256, value: damaged() }] });
    expect(await resolveDictionary(undefined, networkWith(reference()), store)).toEqual(OWN);
    expect(await store.get('dictionaries', sha256)).toEqual(BYTES);
    expect(asked).toBe(1);
  });

  it('is never a damaged copy, even if nothing else is available', async () => {
    const store = new MemoryStore();
    await store.commit({ puts: [{ table: 'dictionaries', key: sha256, value: new Uint8Array(BYTES.length) }] });
    answer = { status: 503, body: new Uint8Array() };
    const used = await resolveDictionary(undefined, networkWith(reference()), store);
    expect(used).toMatchObject({ name: 'general', networkOwn: false });
  });

  it('comes from the user’s address instead of the profile’s', async () => {
    const elsewhere = networkWith(reference({ url: 'http://127.0.0.1:1/nothing' }));
    expect(await resolveDictionary({ kind: 'url', url }, elsewhere, undefined)).toEqual(OWN);
    expect(asked).toBe(1);
  });

  it('comes from the user’s bytes, which are cached for the next time', async () => {
    const store = new MemoryStore();
    const network = networkWith(reference());
    expect(await resolveDictionary({ kind: 'bytes', bytes: BYTES }, network, store)).toEqual(OWN);
    expect(await resolveDictionary(undefined, network, store)).toEqual(OWN);
    expect(asked).toBe(0);
  });

  it('refuses the wrong bytes of a user, whatever the store holds', async () => {
    const store = new MemoryStore();
    const network = networkWith(reference());
    await resolveDictionary(undefined, network, store);
    const bytes = new Uint8Array(BYTES.length);
    await expect(resolveDictionary({ kind: 'bytes', bytes }, network, store)).rejects.toMatchObject({
      code: 'DICTIONARY_CHECKSUM_MISMATCH',
    });
    expect(await store.get('dictionaries', sha256)).toEqual(BYTES);
  });

  it('is not loaded if the general one is requested', async () => {
    const used = await resolveDictionary({ kind: 'general' }, networkWith(reference()), new MemoryStore());
    expect(used).toEqual(await generalDictionary());
    expect(asked).toBe(0);
  });

  it('is used even if the store is full', async () => {
    class Full extends MemoryStore {
      override async commit(): Promise<never> {
        throw new PlumblineError('STORE_QUOTA_EXCEEDED', 'full', {});
      }
    }
    expect(await resolveDictionary(undefined, networkWith(reference()), new Full())).toEqual(OWN);
  });
});

describe('if the network’s dictionary cannot be loaded', () => {
  it.each([
    [
      'has no such file',
      () => ({ status: 404, body: new Uint8Array() }),
      /^the dictionary cannot be loaded from .*: status 404$/,
    ],
    [
      'gives another of that length',
      () => ({ status: 200, body: new Uint8Array(3000) }),
      /has sha256 0x[0-9a-f]{64}, expected 0x/,
    ],
    ['gives a page of text', () => ({ status: 200, body: Buffer.from('<html>') }), /must have 3000 bytes, got 6$/],
    ['gives far too much', () => ({ status: 200, body: new Uint8Array(2 ** 21) }), /longer than/],
  ])('because its address %s, the general one is used and gives the reason', async (_, given, reason) => {
    answer = given();
    const store = new MemoryStore();
    const used = await resolveDictionary(undefined, networkWith(reference()), store);
    expect(used).toEqual({ ...(await generalDictionary()), reason: expect.stringMatching(reason) });
    expect(used.reason).not.toMatch(/SECRET/);
    expect(await store.keys('dictionaries')).toEqual([]);
  });

  it('because the address is not reachable, the general one is used and gives the reason', async () => {
    const network = networkWith(reference({ url: 'http://127.0.0.1:1/SECRET' }));
    const { networkOwn, reason } = await resolveDictionary(undefined, network, undefined);
    expect({ networkOwn, reason }).toEqual({
      networkOwn: false,
      reason: 'the dictionary cannot be loaded from http://127.0.0.1:1: no answer',
    });
  });

  it('because the address takes too long, the general one is used and gives the reason', async () => {
    answer = 'silence';
    const { networkOwn, reason } = await obtainDictionary(reference(), { signal: AbortSignal.timeout(50) });
    expect(networkOwn).toBe(false);
    expect(reason).toMatch(/^the dictionary cannot be loaded from .*: no answer$/);
  });

  it('because no address is configured, the general one is used and gives the reason', async () => {
    const { url: _, ...nameless } = reference();
    const { name, reason } = await resolveDictionary(undefined, networkWith(nameless), new MemoryStore());
    expect(name).toBe('general');
    expect(reason).toMatch(/no address/);
  });

  it('an aborted caller gets no replacement', async () => {
    answer = 'silence';
    const controller = new AbortController();
    const loading = obtainDictionary(reference(), { signal: controller.signal });
    controller.abort();
    await expect(loading).rejects.toMatchObject({ code: 'ABORTED' });
  });
});

it('a network without a reference uses the general dictionary, or the user’s, unverified and not cached', async () => {
  const store = new MemoryStore();
  expect(await resolveDictionary(undefined, devnet(), store)).toEqual(await generalDictionary());
  expect(asked).toBe(0);
  const custom = { name: 'custom', sha256, bytes: BYTES, networkOwn: false };
  expect(await resolveDictionary({ kind: 'url', url }, devnet(), store)).toEqual(custom);
  expect(await resolveDictionary({ kind: 'bytes', bytes: BYTES }, devnet(), store)).toEqual(custom);
  expect(await store.keys('dictionaries')).toEqual([]);
});

it('a devnet does not open with more bytes than a dictionary may have', async () => {
  const dictionary = { kind: 'bytes', bytes: new Uint8Array(MAX_DICTIONARY + 1) } as const;
  await expect(createInlineNode({ dictionary })).rejects.toMatchObject({
    code: 'OUT_OF_RANGE',
    details: { what: 'dictionary', value: String(MAX_DICTIONARY + 1) },
  });
});

describe('evidence of an estimate', () => {
  async function dictionaryInUse(network: Network): Promise<unknown> {
    const node = await createInlineNode({
      chain: { kind: 'devnet', network },
      store: new MemoryStore(),
      onError: console.error,
    });
    try {
      const { evidence } = await node.explainEstimate([
        { from: DEV_ACCOUNTS[0]!.address, to: DEV_ACCOUNTS[1]!.address, value: '0x1' },
      ]);
      return evidence.dictionary;
    } finally {
      await node.close();
    }
  }

  it('contains the network’s dictionary if it was loaded, else the general one', async () => {
    expect(await dictionaryInUse(networkWith(reference()))).toEqual({ name: 'own', networkOwn: true });
    answer = { status: 404, body: new Uint8Array() };
    expect(await dictionaryInUse(networkWith(reference()))).toEqual({
      name: 'general',
      networkOwn: false,
      reason: expect.stringMatching(/status 404$/),
    });
  });
});
