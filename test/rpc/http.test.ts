import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { bodyMeter } from '../../src/hosts/cli/connections.js';
import type { NodeFault } from '../../src/rpc/envelope.js';
import type { Dispatch } from '../../src/rpc/handle.js';
import { createDispatcher } from '../../src/rpc/handle.js';
import { createFetchHandler, type FetchHandlerOptions } from '../../src/rpc/http.js';
import { createMethodTable } from '../../src/rpc/method.js';
import { settled } from '../support/eventually.js';
import { someMethod } from '../support/some-method.js';

let slowBegins = () => {};
const table = createMethodTable<undefined>([
  someMethod('eth_chainId', () => '0xe708'),
  someMethod('slow', () => {
    slowBegins();
    return new Promise(() => {});
  }),
]);
const CALL = '{"jsonrpc":"2.0","id":1,"method":"eth_chainId","params":[]}';
const ANSWER = '{"jsonrpc":"2.0","id":1,"result":"0xe708"}';

function endpoint(options: FetchHandlerOptions = {}, timeoutMs?: number) {
  return createFetchHandler(createDispatcher(table, undefined, { timeoutMs }), options);
}

function post(body: BodyInit, headers: Record<string, string> = {}): Request {
  return new Request('http://node.test/v3/key', { method: 'POST', body, headers, duplex: 'half' } as RequestInit);
}

/** A body of `chunks` pieces, without a length; `pulled` counts what was really read. */
function streamed(chunks: number, piece: Uint8Array) {
  const state = { pulled: 0, cancelled: false };
  const body = new ReadableStream<Uint8Array>(
    {
      pull(controller) {
        if (state.pulled === chunks) return controller.close();
        state.pulled++;
        controller.enqueue(piece);
      },
      cancel() {
        state.cancelled = true;
      },
    },
    { highWaterMark: 0 },
  );
  return { state, body };
}

describe('HTTP', () => {
  it('answers a POST on any path as JSON', async () => {
    const response = await endpoint()(post(CALL));
    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toBe('application/json');
    expect(await response.text()).toBe(ANSWER);
  });

  it('answers a request without a JSON content type', async () => {
    expect((await endpoint()(post(CALL, { 'content-type': 'text/plain' }))).status).toBe(200);
  });

  it('reads a body that comes in pieces, a character cut in two included', async () => {
    const text = new TextEncoder().encode('{"id":"é","method":"eth_chainId"}');
    const pieces = [...text].map((byte) => Uint8Array.of(byte));
    const body = new ReadableStream<Uint8Array>({
      start(controller) {
        for (const piece of pieces) controller.enqueue(piece);
        controller.close();
      },
    });
    expect(await (await endpoint()(post(body))).json()).toMatchObject({ id: 'é', result: '0xe708' });
  });

  it.each([
    ['bytes that are no UTF-8', Uint8Array.of(0x22, 0xff, 0x22)],
    ['nothing', ''],
  ])('answers %s with a parse error', async (_, body) => {
    const response = await endpoint()(post(body));
    expect(response.status).toBe(400);
    expect(await response.json()).toEqual({
      jsonrpc: '2.0',
      id: null,
      error: {
        code: -32700,
        message: 'Parse error',
        data: { reason: 'REQUEST_MALFORMED', details: { reason: 'is not JSON' } },
      },
    });
  });

  it.each([
    ['arrays', '['.repeat(1_000_000)],
    ['objects', '{"a":'.repeat(1_000_000)],
    ['a whole value', `${'['.repeat(500_000)}${']'.repeat(500_000)}`],
  ])('refuses %s that are nested without end before it parses them', async (_, body) => {
    const parse = vi.spyOn(JSON, 'parse');
    onTestFinished(() => parse.mockRestore());
    const response = await endpoint()(post(body));
    expect(parse).not.toHaveBeenCalled();
    expect(response.status).toBe(400);
    const message = 'Invalid Request (nested deeper than 256 levels)';
    const data = { reason: 'REQUEST_MALFORMED' };
    expect(await response.json()).toMatchObject({ jsonrpc: '2.0', id: null, error: { code: -32600, message, data } });
  });

  it('answers a body that breaks off with a parse error', async () => {
    const body = new ReadableStream({ pull: (controller) => controller.error(new Error('gone')) });
    expect((await endpoint()(post(body))).status).toBe(400);
  });

  it('answers GET with 201 and nothing, other verbs with 405', async () => {
    const ask = (method: string) => endpoint()(new Request('http://node.test/', { method }));
    const get = await ask('GET');
    expect([get.status, await get.text()]).toEqual([201, '']);
    for (const method of ['PUT', 'DELETE', 'PATCH', 'HEAD']) {
      const response = await ask(method);
      expect([response.status, response.headers.get('allow')]).toEqual([405, 'POST, GET, OPTIONS']);
    }
  });

  it('answers 408 when one request takes too long', async () => {
    const response = await endpoint({}, 10)(post('{"id":7,"method":"slow"}'));
    expect(response.status).toBe(408);
    expect(await response.json()).toEqual({
      jsonrpc: '2.0',
      id: 7,
      error: {
        code: -32603,
        message: 'Timeout expired',
        data: { reason: 'REQUEST_TIMED_OUT', details: { timeoutMs: 10 } },
      },
    });
  });

  it('ends the request when its caller aborts', async () => {
    const controller = new AbortController();
    const request = new Request('http://node.test/', {
      method: 'POST',
      body: '{"id":7,"method":"slow"}',
      signal: controller.signal,
    });
    slowBegins = () => controller.abort();
    const response = await endpoint()(request);
    expect(await response.json()).toMatchObject({ error: { message: 'Request aborted' } });
  });

  it('answers 500 with an internal error when the node behind is gone', async () => {
    const gone: Dispatch = () => Promise.reject(new Error('secret'));
    const faults: NodeFault[] = [];
    const response = await createFetchHandler(gone, { onFault: (fault) => faults.push(fault) })(post(CALL));
    expect(response.status).toBe(500);
    const [{ id, error: cause }] = faults as [NodeFault];
    expect(id).toMatch(/^[0-9a-f]{8}$/);
    expect(cause.message).toBe('secret');
    const error = { code: -32603, message: `Internal error (id ${id})`, data: { reason: 'INTERNAL', details: { id } } };
    expect(await response.json()).toEqual({ jsonrpc: '2.0', id: null, error });
  });
});

describe('body limit', () => {
  const data = { reason: 'REQUEST_TOO_LARGE', details: { what: 'body', limit: 100 } };
  const error = { code: -32600, message: 'Invalid Request (body above 100 bytes)', data };

  it('refuses by the announced length', async () => {
    const response = await endpoint({ maxBodyBytes: 100 })(post(CALL, { 'content-length': '101' }));
    expect(response.status).toBe(413);
    expect(await response.json()).toEqual({ jsonrpc: '2.0', id: null, error });
  });

  it('refuses by what really comes, and stops reading there', async () => {
    const { state, body } = streamed(1_000_000, new Uint8Array(30).fill(0x20));
    const response = await endpoint({ maxBodyBytes: 100 })(post(body));
    expect(response.status).toBe(413);
    expect(await response.json()).toEqual({ jsonrpc: '2.0', id: null, error });
    expect(state.cancelled).toBe(true);
    expect(state.pulled).toBeLessThan(10);
  });

  it('refuses a body that is longer than its announced length', async () => {
    const { body } = streamed(10, new Uint8Array(30).fill(0x20));
    expect((await endpoint({ maxBodyBytes: 100 })(post(body, { 'content-length': '10' }))).status).toBe(413);
  });

  it('holds for the bodies of one client together, while they come and while they are answered', async () => {
    const limited = endpoint({ maxBodyBytes: 100 });
    const bodies = bodyMeter(800);
    const ask = (body: BodyInit, client: string) => {
      const { mayTake, release } = bodies(client);
      return limited(post(body), { mayTake }).finally(release);
    };
    const controller = new AbortController();
    const { body, state } = streamed(1, new Uint8Array(100).fill(0x20));
    const held = new ReadableStream<Uint8Array>({
      start: (stream) => {
        stream.enqueue(new Uint8Array(100).fill(0x20));
        controller.signal.addEventListener('abort', () => stream.close());
      },
    });
    const running = Array.from({ length: 7 }, () => ask(CALL.replace('eth_chainId', 'slow').padEnd(100), 'a'));
    const slow = ask(held, 'a');
    await settled();
    const refused = await ask(body, 'a');
    expect([refused.status, state.cancelled]).toEqual([429, true]);
    const data = { reason: 'REQUEST_TOO_LARGE', details: { what: 'bodies' } };
    const error = { code: -32005, message: 'Too many bytes of requests at once', data };
    expect(await refused.json()).toEqual({ jsonrpc: '2.0', id: null, error });
    expect((await ask(CALL, 'b')).status).toBe(200);
    controller.abort();
    expect((await slow).status).toBe(400);
    expect((await ask(CALL, 'a')).status).toBe(200);
    expect(running).toHaveLength(7);
  });

  it('counts a part of one byte as 64 of what one client may have under way', async () => {
    const limited = endpoint({ maxBodyBytes: 1000 });
    const ask = async (text: string) => {
      const { mayTake } = bodyMeter(640)('a');
      const parts = [...new TextEncoder().encode(text)].map((byte) => Uint8Array.of(byte));
      const body = new ReadableStream({
        start(stream) {
          for (const part of parts) stream.enqueue(part);
          stream.close();
        },
      });
      return (await limited(post(body), { mayTake })).status;
    };
    expect([await ask('"10 bytes"'), await ask('"11 bytes!"')]).toEqual([400, 429]);
  });

  it('takes a body of exactly the limit', async () => {
    expect((await endpoint({ maxBodyBytes: 100 })(post(CALL.padEnd(100)))).status).toBe(200);
    expect((await endpoint({ maxBodyBytes: 100 })(post(CALL.padEnd(101)))).status).toBe(413);
  });

  it('holds in browsers whose requests have no body stream', async () => {
    const limited = endpoint({ maxBodyBytes: 100 });
    const bare = (text: string) => Object.defineProperty(post(text), 'body', { value: undefined });
    expect(await (await limited(bare(CALL))).text()).toBe(ANSWER);
    expect((await limited(bare(CALL.padEnd(101)))).status).toBe(413);
  });
});

describe('origins and hosts', () => {
  const page = 'https://wallet.long.test';

  it('lets every page in unless told otherwise', async () => {
    const response = await endpoint()(post(CALL, { origin: page }));
    expect(response.headers.get('access-control-allow-origin')).toBe('*');
    expect(await response.text()).toBe(ANSWER);
  });

  it('answers a preflight itself', async () => {
    const headers = {
      origin: page,
      'access-control-request-method': 'POST',
      'access-control-request-headers': 'content-type',
    };
    const response = await endpoint({ allowedOrigins: [page] })(
      new Request('http://node.test/', { method: 'OPTIONS', headers }),
    );
    expect(response.status).toBe(204);
    expect(response.headers.get('access-control-allow-origin')).toBe(page);
    expect(response.headers.get('access-control-allow-methods')).toContain('POST');
    expect(response.headers.get('access-control-allow-headers')).toBe('content-type');
    expect(response.headers.get('vary')).toBe('Origin');
  });

  it('with a list, answers its origins, its own, and callers that are no page', async () => {
    const listed = endpoint({ allowedOrigins: [page], allowedHosts: ['node.test'] });
    const statuses = [{ origin: page }, { origin: 'http://node.test' }, {}].map(
      async (headers) => (await listed(post(CALL, headers as Record<string, string>))).status,
    );
    expect(await Promise.all(statuses)).toEqual([200, 200, 200]);
  });

  it.each(['https://evil.test', 'null', 'https://wallet.long.test.evil.test'])(
    'with a list, does not carry out what %s asks',
    async (origin) => {
      let calls = 0;
      const counting: Dispatch = async () => {
        calls++;
        return { body: undefined };
      };
      const response = await createFetchHandler(counting, { allowedOrigins: [page] })(post(CALL, { origin }));
      expect([response.status, calls]).toEqual([403, 0]);
      expect(response.headers.get('access-control-allow-origin')).toBeNull();
    },
  );

  it.each([
    ['chrome-extension://nkbihfbeogaeaoehlefnkodbefgpgknn', ['extensions'], 200],
    ['moz-extension://0e4b3a3c-1c1e-4a0e-9c55-0d2e0b1b6f3a', ['extensions'], 200],
    ['chrome-extension://nkbihfbeogaeaoehlefnkodbefgpgknn', ['loopback'], 403],
    ['http://localhost:3000', ['loopback'], 200],
    ['https://app.localhost:5173', ['loopback'], 200],
    ['http://127.0.0.1:3000', ['loopback'], 200],
    ['http://[::1]:3000', ['loopback'], 200],
    ['http://localhost:3000', ['extensions'], 403],
    ['http://localhost.evil.test', ['loopback', 'extensions'], 403],
    ['http://127.0.0.1.evil.test', ['loopback', 'extensions'], 403],
    ['http://notlocalhost', ['loopback', 'extensions'], 403],
    ['https://evil.test/chrome-extension://a', ['loopback', 'extensions'], 403],
    ['null', ['loopback', 'extensions'], 403],
  ])('%s, where %j may ask: %i', async (origin, allowedOrigins, status) => {
    const refused: string[] = [];
    const asked = endpoint({ allowedOrigins, onRefusedOrigin: (text) => refused.push(text) });
    const response = await asked(post(CALL, { origin }));
    expect(response.status).toBe(status);
    expect(refused).toEqual(status === 403 ? [origin] : []);
    if (status === 200) expect(response.headers.get('access-control-allow-origin')).toBe(origin);
    else expect(((await response.json()) as { message: string }).message).toContain(`--allow-origin ${origin} `);
  });

  it.each([
    ['http://evil.test', 403],
    ['http://evil.test:8545', 403],
    ['http://localhost.evil.test', 403],
    ['http://127.0.0.1.evil.test', 403],
    ['http://127.0.0.1:8545', 200],
    ['http://192.168.0.7', 200],
    ['http://[fd00::1]:8545', 200],
    ['http://localhost:8545', 200],
  ])('with a list and any host, its own origin %s gets %i: a site may point its name here', async (own, status) => {
    const listed = endpoint({ allowedOrigins: [page] });
    const request = new Request(own, { method: 'POST', body: CALL, headers: { origin: own } });
    expect((await listed(request)).status).toBe(status);
  });

  it('refuses a host name that is not listed', async () => {
    const response = await endpoint({ allowedHosts: ['localhost'] })(post(CALL));
    expect(response.status).toBe(403);
    expect(await response.json()).toEqual({ message: 'Host not authorized.' });
    expect((await endpoint({ allowedHosts: ['node.test'] })(post(CALL))).status).toBe(200);
  });
});
