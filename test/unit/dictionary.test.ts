import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { type Dictionary, generalDictionary, loadDictionary, verifyDictionary } from '../../src/fees/dictionary.js';
import { MAX_DICTIONARY } from '../../src/kernel/contracts.js';
import { LINEA_DICTIONARY } from '../../src/networks/linea.js';
import type { DictionaryReference } from '../../src/networks/network.js';
import { fixtureBytes, hasFixture } from '../support/fixtures.js';

// sha256 of 'abc': FIPS 180-4, example of SHA-256.
const ABC = new TextEncoder().encode('abc');
const reference: DictionaryReference = {
  name: 'abc',
  byteLength: 3,
  sha256: '0xba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad',
};
const URL_WITH_KEY = 'https://user:pass@files.example.org:8443/v3/SECRET/abc.bin?key=SECRET';

const answer =
  (body: BodyInit | null, status = 200) =>
  async () =>
    new Response(body, { status });

function load(fetch: typeof globalThis.fetch, url = URL_WITH_KEY): Promise<Dictionary> {
  return loadDictionary({ url, fetch }, reference);
}

describe('a dictionary from bytes', () => {
  it('is accepted if length and checksum match', async () => {
    const loaded = await loadDictionary({ bytes: ABC }, reference);
    expect(loaded).toEqual({ name: 'abc', sha256: reference.sha256, bytes: ABC, networkOwn: true });
  });

  it('is a copy', async () => {
    const bytes = ABC.slice();
    const loaded = await loadDictionary({ bytes }, reference);
    bytes[0] = 0;
    expect(loaded.bytes).toEqual(ABC);
  });

  it('is refused with another length', async () => {
    await expect(loadDictionary({ bytes: ABC.subarray(1) }, reference)).rejects.toMatchObject({
      code: 'DICTIONARY_LENGTH_MISMATCH',
      details: { expected: 3, actual: 2 },
    });
  });

  it('is refused with one bit changed', async () => {
    const bytes = Uint8Array.of(0x61, 0x62, 0x62);
    await expect(loadDictionary({ bytes }, reference)).rejects.toMatchObject({
      code: 'DICTIONARY_CHECKSUM_MISMATCH',
      details: { expected: reference.sha256, actual: `0x${createHash('sha256').update(bytes).digest('hex')}` },
    });
  });

  it('is compared with a checksum in either case', async () => {
    const sha256 = `0x${reference.sha256.slice(2).toUpperCase()}` as const;
    expect(await verifyDictionary(ABC, { ...reference, sha256 })).toBe(reference.sha256);
  });

  it('is verified on pages without https, too, which have no crypto.subtle', async () => {
    vi.stubGlobal('crypto', {});
    onTestFinished(() => void vi.unstubAllGlobals());
    expect(await verifyDictionary(ABC, reference)).toBe(reference.sha256);
    const other = { ...reference, sha256: `0x${'00'.repeat(32)}` } as const;
    await expect(verifyDictionary(ABC, other)).rejects.toMatchObject({ code: 'DICTIONARY_CHECKSUM_MISMATCH' });
  });

  it('is not the network’s own without a reference', async () => {
    expect(await loadDictionary({ bytes: ABC })).toMatchObject({
      name: 'custom',
      sha256: reference.sha256,
      networkOwn: false,
    });
  });

  it.skipIf(!hasFixture('compression/dict/25-04-21.bin'))('is the one of Linea’s networks', async () => {
    const loaded = await loadDictionary({ bytes: fixtureBytes('compression/dict/25-04-21.bin') }, LINEA_DICTIONARY);
    expect(loaded).toMatchObject({ name: '25-04-21', networkOwn: true });
    const other = fixtureBytes('compression/dict/compressor_dict.bin');
    await expect(loadDictionary({ bytes: other }, LINEA_DICTIONARY)).rejects.toMatchObject({
      code: 'DICTIONARY_CHECKSUM_MISMATCH',
    });
  });
});

describe('a dictionary from a URL', () => {
  it('is fetched and verified', async () => {
    const asked: unknown[] = [];
    const loaded = await load(async (url) => {
      asked.push(url);
      return new Response(ABC);
    });
    expect(asked).toEqual([URL_WITH_KEY]);
    expect(loaded).toMatchObject({ name: 'abc', networkOwn: true });
    await expect(load(answer('abd'))).rejects.toMatchObject({ code: 'DICTIONARY_CHECKSUM_MISMATCH' });
    await expect(load(answer('<html>'))).rejects.toMatchObject({ code: 'DICTIONARY_LENGTH_MISMATCH' });
    await expect(load(answer(null))).rejects.toMatchObject({ code: 'DICTIONARY_LENGTH_MISMATCH' });
  });

  const origin = 'https://files.example.org:8443';
  const refusing = async () => {
    throw new TypeError(`fetch failed for ${URL_WITH_KEY}`);
  };
  const breaking = async () =>
    new Response(
      new ReadableStream({
        pull(controller) {
          controller.error(new Error(URL_WITH_KEY));
        },
      }),
    );
  it.each([
    ['does not answer', refusing, { origin }],
    ['breaks off', breaking, { origin }],
    ['has no such file', answer('', 404), { origin, status: 404 }],
    ['is in trouble', answer('', 503), { origin, status: 503 }],
  ] as const)('errors contain only the origin of a host that %s', async (_, fetch, details) => {
    const error: unknown = await load(fetch).catch((caught) => caught);
    expect(error).toMatchObject({ code: 'DICTIONARY_UNREACHABLE', details });
    const { message, cause } = error as Error;
    expect(`${message} ${String(cause)} ${JSON.stringify(error)}`).not.toMatch(/SECRET|pass|user/);
  });

  it('redirects are not followed', async () => {
    const open = async (listener: RequestListener) => {
      const server = createServer(listener).listen(0, '127.0.0.1');
      await once(server, 'listening');
      return { server, address: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
    };
    let asked = 0;
    const elsewhere = await open((_, response) => {
      asked++;
      response.end(ABC);
    });
    const first = await open((_, response) => {
      response.writeHead(302, { location: `${elsewhere.address}/abc.bin` }).end();
    });
    try {
      await expect(load(fetch, `${first.address}/abc.bin`)).rejects.toMatchObject({
        code: 'DICTIONARY_UNREACHABLE',
        details: { origin: first.address },
      });
      expect(asked).toBe(0);
    } finally {
      for (const { server } of [first, elsewhere]) server.close();
    }
  });

  it('errors do not repeat an invalid URL', async () => {
    const error: unknown = await load(refusing, 'SECRET').catch((caught) => caught);
    expect(error).toMatchObject({ code: 'DICTIONARY_UNREACHABLE' });
    expect(`${(error as Error).message} ${JSON.stringify(error)}`).not.toMatch(/SECRET/);
  });

  it('stops reading an answer that is too long for any dictionary', async () => {
    let sent = 0;
    const endless = new ReadableStream<Uint8Array>({
      pull(controller) {
        sent += 65_536;
        controller.enqueue(new Uint8Array(65_536));
      },
    });
    await expect(load(async () => new Response(endless))).rejects.toMatchObject({ code: 'OUT_OF_RANGE' });
    expect(sent).toBeLessThan(MAX_DICTIONARY + 4 * 65_536);
  });

  it('does not wait for a host that never confirms the end', async () => {
    const endless = new ReadableStream<Uint8Array>({
      pull: (controller) => controller.enqueue(new Uint8Array(65_536)),
      cancel: () => new Promise(() => {}),
    });
    await expect(load(async () => new Response(endless))).rejects.toMatchObject({ code: 'OUT_OF_RANGE' });
  });

  it('is aborted by its signal', async () => {
    const controller = new AbortController();
    const fetch: typeof globalThis.fetch = (_, init) =>
      new Promise((_resolve, reject) => {
        init!.signal!.addEventListener('abort', () => reject(init!.signal!.reason));
      });
    const loading = loadDictionary({ url: URL_WITH_KEY, fetch, signal: controller.signal }, reference);
    controller.abort();
    await expect(loading).rejects.toMatchObject({ code: 'ABORTED' });
  });
});

describe('the general dictionary', () => {
  it('matches its checksum, contains both reserved bytes, and is not that of a network', async () => {
    const general = await generalDictionary();
    expect(general).toMatchObject({ name: 'general', networkOwn: false });
    expect(general.sha256).toBe(`0x${createHash('sha256').update(general.bytes).digest('hex')}`);
    expect(general.sha256).not.toBe(LINEA_DICTIONARY.sha256);
    expect(general.bytes.length).toBeGreaterThan(16_384);
    expect(general.bytes.length).toBeLessThanOrEqual(65_536);
    expect(general.bytes.includes(0xfe) && general.bytes.includes(0xff)).toBe(true);
  });

  // Selectors as the ERC-20, ERC-721 and ERC-4337 texts publish them.
  it.each(['a9059cbb', '095ea7b3', '23b872dd', '42842e0e', 'a22cb465', '1fad948c', '765e827f'])(
    'contains the selector %s',
    async (selector) => {
      const { bytes } = await generalDictionary();
      expect(Buffer.from(bytes).includes(Buffer.from(selector, 'hex'))).toBe(true);
    },
  );

  it('has the same bytes each time', async () => {
    const { composeDictionary } = await import('../../scripts/build-dictionary.mjs');
    expect(composeDictionary()).toEqual((await generalDictionary()).bytes);
  });
});
