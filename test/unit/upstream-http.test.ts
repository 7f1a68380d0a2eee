import { afterEach, describe, expect, test } from 'vitest';
import { parseEndpointAddress, urlBelow } from '../../src/upstream/address.js';
import { exchangeHttp, UNCONNECTED } from '../../src/upstream/http.js';

const { signal } = new AbortController();
const address = parseEndpointAddress('https://host.example/rpc', { 'x-own': 'mine' });
/** One exchange whose request gets this answer. */
const exchange = (given: typeof fetch, maxResponseBytes = 100, body: string | undefined = '{}', stop = signal) =>
  exchangeHttp(address, address.url, body, { fetch: given, maxResponseBytes }, stop);
const answers = (body: BodyInit | null, init?: ResponseInit) => exchange(async () => new Response(body, init));
const throws = (error: unknown) =>
  exchange(async () => {
    throw error;
  });
const withCode = (code: unknown) => Object.assign(new Error('secret'), { cause: { code } });

describe('an HTTP request', () => {
  test('is made without cookies, caches, referrers and redirects, and with the headers of the address', async () => {
    const seen: unknown[] = [];
    const given: typeof fetch = async (input, init) => {
      seen.push([input, init]);
      return new Response('');
    };
    await exchange(given);
    await exchangeHttp(address, 'https://host.example/x', undefined, { fetch: given, maxResponseBytes: 1 }, signal);
    const common = {
      credentials: 'omit',
      cache: 'no-store',
      referrerPolicy: 'no-referrer',
      redirect: 'manual',
      signal,
    };
    const accept = { accept: 'application/json', 'x-own': 'mine' };
    expect(seen).toStrictEqual([
      [
        'https://host.example/rpc',
        { method: 'POST', headers: { ...accept, 'content-type': 'application/json' }, body: '{}', ...common },
      ],
      ['https://host.example/x', { method: 'GET', headers: accept, ...common }],
    ]);
  });
});

describe('an HTTP answer', () => {
  test('has its status, its text and its bytes', async () => {
    expect(await answers('ü{}', { status: 399 + 1 })).toStrictEqual({ status: 400, body: 'ü{}', bytesReceived: 4 });
    expect(await answers(null, { status: 204 })).toStrictEqual({ status: 204, body: '', bytesReceived: 0 });
  });

  test.each([300, 302, 399])('that redirects is a fault: status %i', async (status) => {
    const reason = `status ${status}: redirects to another address, which is not followed; give that address`;
    expect(await answers(null, { status })).toStrictEqual({
      fault: { kind: 'configuration', reason, status },
      bytesReceived: 0,
    });
  });

  test('that redirects has no status in a browser, and its body is let go', async () => {
    let cancelled = false;
    const body = {
      cancel: async () => {
        cancelled = true;
      },
    };
    const opaque = { type: 'opaqueredirect', status: 0, body } as unknown as Response;
    const reason = 'redirects to another address, which is not followed; give that address';
    expect(await exchange(async () => opaque)).toStrictEqual({
      fault: { kind: 'configuration', reason },
      bytesReceived: 0,
    });
    expect(cancelled).toBe(true);
    const stuck = { ...opaque, body: { cancel: () => Promise.reject(new Error('locked')) } } as unknown as Response;
    expect(await exchange(async () => stuck)).toMatchObject({ fault: { reason } });
  });

  test('may have as many bytes as the limit, and not one more', async () => {
    expect(await answers('x'.repeat(100))).toMatchObject({ body: 'x'.repeat(100) });
    const tooLong = { kind: 'malformed', reason: 'answer above 100 bytes', status: 200 };
    expect(await answers('x'.repeat(101))).toStrictEqual({ fault: tooLong, bytesReceived: 101 });
    const announced = (length: number) => answers('x', { headers: { 'content-length': String(length) } });
    expect(await announced(100)).toMatchObject({ body: 'x' });
    expect(await announced(101)).toStrictEqual({ fault: tooLong, bytesReceived: 0 });
  });

  test('whose length is announced above the limit is not read', async () => {
    let cancelled = false;
    const cancel = () => {
      cancelled = true;
    };
    await answers(new ReadableStream({ cancel }), { headers: { 'content-length': '101' } });
    expect(cancelled).toBe(true);
  });

  test('may nest 256 levels deep', async () => {
    const nested = (depth: number) => exchange(async () => new Response('['.repeat(depth) + ']'.repeat(depth)), 1_000);
    expect(await nested(256)).toMatchObject({ status: 200 });
    const reason = 'answer nested deeper than 256 levels';
    expect(await nested(257)).toMatchObject({ fault: { kind: 'malformed', reason, status: 200 } });
  });

  test('that breaks off is a fault with the code of the system', async () => {
    const broken = (error: unknown) =>
      answers(new ReadableStream({ start: (controller) => controller.error(error) }), { status: 206 });
    const fault = (reason: string) => ({ fault: { kind: 'unavailable', reason, status: 206 }, bytesReceived: 0 });
    expect(await broken(withCode('ECONNRESET'))).toStrictEqual(fault('connection broke off (ECONNRESET)'));
    expect(await broken(new Error('secret'))).toStrictEqual(fault('connection broke off'));
  });
});

describe('when to ask again', () => {
  const sent = 'Sat, 01 Aug 2026 10:00:00 GMT';
  test.each<[string, Record<string, string>, number | undefined]>([
    ['seconds', { 'retry-after': '7' }, 7_000],
    ['seconds with space around', { 'retry-after': ' 12 ' }, 12_000],
    ['no seconds', { 'retry-after': '0' }, 0],
    ['nine digits', { 'retry-after': '123456789' }, 123_456_789_000],
    ['a date behind that of the answer', { 'retry-after': 'Sat, 01 Aug 2026 10:01:30 GMT', date: sent }, 90_000],
    ['a date before that of the answer', { 'retry-after': 'Sat, 01 Aug 2026 09:00:00 GMT', date: sent }, 0],
    ['a date of the past, without one of the answer', { 'retry-after': 'Sun, 01 Aug 1999 10:00:00 GMT' }, 0],
    ['no date', { 'retry-after': 'soon', date: sent }, undefined],
    ['a fraction', { 'retry-after': '1.5s' }, undefined],
    ['eleven digits', { 'retry-after': '12345678901' }, undefined],
    ['nothing', { 'retry-after': '' }, undefined],
    ['no header', {}, undefined],
  ])('%s', async (_, headers, retryAfterMs) => {
    const expected = { status: 503, body: '', bytesReceived: 0 };
    expect(await answers('', { status: 503, headers })).toStrictEqual(
      retryAfterMs === undefined ? expected : { ...expected, retryAfterMs },
    );
  });

  test('a date to come, without one of the answer, is as far as the clock says', async () => {
    const reply = await answers('', { headers: { 'retry-after': new Date(Date.now() + 3_600_000).toUTCString() } });
    const { retryAfterMs } = reply as { retryAfterMs: number };
    expect(Math.abs(retryAfterMs - 3_600_000)).toBeLessThan(600_000);
  });
});

describe('a request without an answer', () => {
  const scope = globalThis as { document?: unknown; importScripts?: unknown };
  afterEach(() => {
    delete scope.document;
    delete scope.importScripts;
  });
  const advice = '; check host and port, and that it runs';
  const unavailable = (reason: string) => ({ fault: { kind: 'unavailable', reason }, bytesReceived: 0 });

  test.each([
    [withCode('ECONNREFUSED'), ' (ECONNREFUSED)'],
    [withCode('EPIPE'), ' (EPIPE)'],
    [withCode('EIO'), ''],
    [withCode('Esecret'), ''],
    [withCode('xECONNRESET'), ''],
    [withCode('ECONNRESETx'), ''],
    [withCode(111), ''],
    [Object.assign(new Error('secret'), { cause: null }), ''],
    [Object.assign(new Error('secret'), { cause: 'ECONNREFUSED' }), ''],
    [Object.assign(new Error('secret'), { cause: {} }), ''],
    [{ cause: { code: 'ECONNREFUSED' } }, ''],
    ['secret', ''],
  ])('is told with the code of the system alone: %#', async (error, code) => {
    expect(await throws(error)).toStrictEqual(unavailable(`no connection${code}${advice}`));
  });

  test.each(['document', 'importScripts'] as const)(
    'in a browser, which has %s, may lack CORS headers',
    async (name) => {
      scope[name] = {};
      expect(await throws(new TypeError('failed'))).toStrictEqual(unavailable(UNCONNECTED));
      expect(await throws(withCode('ECONNREFUSED'))).toStrictEqual(
        unavailable(`no connection (ECONNREFUSED)${advice}`),
      );
    },
  );

  test('ends with the reason of its signal, before and after the headers', async () => {
    const controller = new AbortController();
    const failing: typeof fetch = async () => {
      controller.abort('enough');
      throw new Error('aborted');
    };
    await expect(exchange(failing, 100, '{}', controller.signal)).rejects.toBe('enough');
    const later = new AbortController();
    const body = new ReadableStream({
      pull: (stream) => {
        later.abort('enough');
        stream.error(new Error('aborted'));
      },
    });
    await expect(exchange(async () => new Response(body), 100, '{}', later.signal)).rejects.toBe('enough');
  });
});

describe('an address', () => {
  test('keeps its query, and loses its fragment and its user, who goes into a header', () => {
    const { url, origin, headers } = parseEndpointAddress('https://al%40ice:p%C3%BC@host.example:8545/v3/abc?k=v#frag');
    expect([url, origin]).toStrictEqual(['https://host.example:8545/v3/abc?k=v', 'https://host.example:8545']);
    // RFC 7617: base64 of the UTF-8 bytes of `al@ice:pü`.
    expect(headers).toStrictEqual({ authorization: `Basic ${Buffer.from('al@ice:pü').toString('base64')}` });
  });

  test('with a user or a password alone has a header too; one that is given comes before it', () => {
    const headers = (text: string, given = {}) => parseEndpointAddress(text, given).headers;
    expect(headers('http://me@host/')).toStrictEqual({ authorization: `Basic ${btoa('me:')}` });
    expect(headers('http://:pw@host/')).toStrictEqual({ authorization: `Basic ${btoa(':pw')}` });
    expect(headers('http://me@host/', { authorization: 'Bearer x' })).toStrictEqual({ authorization: 'Bearer x' });
    expect(headers('http://host/', { a: 'b' })).toStrictEqual({ a: 'b' });
    expect(headers('http://host/')).toStrictEqual({});
  });

  test.each([
    ['not a URL', 'must be an absolute http or https URL'],
    ['ftp://host/', 'must be an http or https URL'],
    ['https://100%:x@host/', 'user and password must be percent-encoded correctly'],
  ])('is refused with what it must be: %s', (text, reason) => {
    expect(() => parseEndpointAddress(text)).toThrow(
      expect.objectContaining({ code: 'INVALID_PARAMETER', details: { parameter: 'endpoint', reason } }),
    );
  });

  test.each([
    ['https://h.example', '/a/b', 'https://h.example/a/b'],
    ['https://h.example/', 'a/b', 'https://h.example/a/b'],
    ['https://h.example/v3/k//', '//a', 'https://h.example/v3/k/a'],
    ['https://h.example/v3?k=v', '/a', 'https://h.example/v3/a?k=v'],
    ['https://h.example/v3', '/a?x=1', 'https://h.example/v3/a?x=1'],
    ['https://h.example/v3?k=v', '/a?x=1', 'https://h.example/v3/a?k=v&x=1'],
    ['https://h.example/v3?k=v', '/a?', 'https://h.example/v3/a?k=v'],
    ['https://h.example/v3', '', 'https://h.example/v3/'],
  ])('%s, and a path below it: %s', (base, path, expected) => {
    expect(urlBelow(parseEndpointAddress(base), path)).toBe(expected);
  });
});
