import { describe, expect, test } from 'vitest';
import { parseEndpointAddress } from '../../src/upstream/address.js';
import type { Transport } from '../../src/upstream/failure.js';
import { jsonRpcTransport } from '../../src/upstream/json-rpc.js';
import { restTransport } from '../../src/upstream/rest.js';

const { signal } = new AbortController();
const address = parseEndpointAddress('https://host.example/v3/my-secret-key');
const call = (method: string) => ({ method, params: [method] });
const fault = (kind: string, reason: string, more: object = { status: 200 }) => ({
  kind: 'fault',
  fault: { kind, reason, ...more },
});
const KEY_ADVICE = '; check its API key, plan and allowed origins';
const NOT_JSON = 'not JSON; check the path of its URL';

/** Requests that a transport made, and a transport whose requests get this answer. */
function answering(status: number, body: string, headers: Record<string, string> = {}) {
  const bodies: unknown[] = [];
  const urls: string[] = [];
  const given: typeof fetch = async (input, init) => {
    urls.push(String(input));
    bodies.push(typeof init?.body === 'string' ? JSON.parse(init.body) : undefined);
    return new Response(body, { status, headers });
  };
  const http = { fetch: given, maxResponseBytes: 2_000 };
  return { bodies, urls, rpc: jsonRpcTransport(address, 7, http), rest: restTransport(address, http) };
}
async function replyOf(transport: Transport, count: number) {
  const { reply } = await transport.exchange(['a', 'b', 'c'].slice(0, count).map(call), signal);
  return reply;
}

describe('a JSON-RPC request', () => {
  test('is an object for one call, a list for several, with ids that go on', async () => {
    const { rpc, bodies, urls } = answering(200, '[]');
    await rpc.exchange([call('a'), call('b')], signal);
    await rpc.exchange([call('ü')], signal);
    const json = (method: string, id: number) => ({ jsonrpc: '2.0', id, method, params: [method] });
    expect(bodies).toStrictEqual([[json('a', 1), json('b', 2)], json('ü', 3)]);
    expect(urls).toStrictEqual(Array(2).fill('https://host.example/v3/my-secret-key'));
    expect([rpc.origin, rpc.batchLimit]).toStrictEqual(['https://host.example', 7]);
  });

  test('is counted in bytes, and so is its answer', async () => {
    const { rpc } = answering(200, '{"id":1,"result":"ü"}');
    // {"jsonrpc":"2.0","id":1,"method":"ü","params":["ü"]}: 52 characters, of which two have two bytes.
    expect(await rpc.exchange([call('ü')], signal)).toStrictEqual({
      reply: [{ kind: 'result', result: 'ü' }],
      status: 200,
      bytesSent: 54,
      bytesReceived: 22,
    });
  });
});

describe('the answer to one call', () => {
  const error = '"error":{"code":-32000,"message":"no"}';
  const plain = { kind: 'error', error: { code: -32000, message: 'no' } };
  const limit = '"error":{"code":-32005,"message":"rate","data":{"rate":{"backoff_seconds":3}}}';
  test.each<[number, string, Record<string, string>, unknown]>([
    [200, '{"id":1,"result":null}', {}, { kind: 'result', result: null }],
    [200, '{"id":"1","result":5}', {}, { kind: 'result', result: 5 }],
    [200, `{"id":1,${error}}`, {}, plain],
    [200, `{${error}}`, {}, plain],
    [200, `[{"id":null,${error}}]`, {}, plain],
    [200, `[{"id":1,${error}}]`, {}, plain],
    [200, `[{"id":2,${error}}]`, {}, fault('malformed', 'the answer to this call is missing')],
    [200, '{"id":1,"error":null,"result":6}', {}, { kind: 'result', result: 6 }],
    [200, '[{"id":1,"result":1},{"id":1,"result":2}]', {}, { kind: 'result', result: 1 }],
    [200, '[null,3,{"result":0},{"id":1,"result":7}]', {}, { kind: 'result', result: 7 }],
    [200, '{"id":2,"result":1}', {}, fault('malformed', 'the answer to this call is missing')],
    [200, '{"ok":1}', {}, fault('malformed', 'not a JSON-RPC answer')],
    [200, '', {}, fault('malformed', 'not a JSON-RPC answer')],
    [200, '"Wait"', {}, fault('malformed', 'not a JSON-RPC answer')],
    [200, '[null]', {}, fault('malformed', 'not a JSON-RPC answer')],
    [200, '[{"id":2,"result":1},5]', {}, fault('malformed', 'the answer to this call is missing')],
    [200, ' {"id":1,', {}, fault('malformed', 'not a JSON-RPC answer')],
    [299, ' Wait', {}, fault('configuration', `status 299: ${NOT_JSON}`, { status: 299, mayPass: true })],
    [
      200,
      ' <HTML>',
      {},
      fault('configuration', 'status 200: HTML instead of JSON; check the path of its URL', {
        status: 200,
        mayPass: true,
      }),
    ],
    [400, `{"id":1,${error}}`, {}, plain],
    [400, `[{"id":1,"result":8}]`, {}, { kind: 'result', result: 8 }],
    [400, '[null,{"id":1,"result":8}]', {}, { kind: 'result', result: 8 }],
    [404, 'no', {}, fault('configuration', 'status 404; check the path of its URL', { status: 404 })],
    [401, 'no', {}, fault('configuration', `status 401${KEY_ADVICE}`, { status: 401 })],
    [402, `{${error}}`, {}, fault('configuration', `status 402, it says "no"${KEY_ADVICE}`, { status: 402 })],
    [
      403,
      `{"error":{"code":1,"message":"not my-secret-key"}}`,
      {},
      fault('configuration', `status 403, it says "not [redacted]"${KEY_ADVICE}`, { status: 403 }),
    ],
    [
      403,
      '{"error":{"code":-33100,"message":"no"}}',
      {},
      fault('configuration', `status 403, it says "no"${KEY_ADVICE}`, { status: 403 }),
    ],
    [403, `{${limit}}`, {}, fault('rate-limited', 'it says "rate"', { status: 403, retryAfterMs: 3_000 })],
    [429, 'slowly', {}, fault('rate-limited', 'status 429', { status: 429 })],
    [429, `{${limit}}`, {}, fault('rate-limited', 'status 429, it says "rate"', { status: 429, retryAfterMs: 3_000 })],
    [
      429,
      `{${limit}}`,
      { 'retry-after': '9' },
      fault('rate-limited', 'status 429, it says "rate"', { status: 429, retryAfterMs: 9_000 }),
    ],
    [408, `{${error}}`, {}, fault('unavailable', 'status 408, it says "no"', { status: 408 })],
    [425, '', {}, fault('unavailable', 'status 425', { status: 425 })],
    [500, `{"id":1,"result":1}`, {}, fault('unavailable', 'status 500', { status: 500 })],
    [503, '', { 'retry-after': '2' }, fault('unavailable', 'status 503', { status: 503, retryAfterMs: 2_000 })],
    [200, `{${limit}}`, {}, fault('rate-limited', 'it says "rate"', { status: 200, retryAfterMs: 3_000 })],
  ])('status %i, %s %j', async (status, body, headers, outcome) => {
    expect(await replyOf(answering(status, body, headers).rpc, 1)).toStrictEqual([outcome]);
  });
});

describe('the answer to a batch', () => {
  const refused = '{"error":{"code":-32600,"message":"Invalid"}}';
  test.each([400, 405, 413, 415, 422])('status %i with text refuses the batch, not a single call', async (status) => {
    const { rpc } = answering(status, 'no');
    expect(await replyOf(rpc, 2)).toStrictEqual({ batchLimit: 1 });
    const reason = `status ${status}; check the path of its URL`;
    expect(await replyOf(rpc, 1)).toStrictEqual([fault('configuration', reason, { status })]);
  });

  test('another status with text is the fault of each call', async () => {
    const reason = 'status 404; check the path of its URL';
    const each = fault('configuration', reason, { status: 404 });
    expect(await replyOf(answering(404, 'no').rpc, 2)).toStrictEqual([each, each]);
  });

  test('one error refuses the batch, or is that of each call', async () => {
    expect(await replyOf(answering(200, refused).rpc, 3)).toStrictEqual({ batchLimit: 1 });
    expect(await replyOf(answering(400, refused).rpc, 3)).toStrictEqual({ batchLimit: 1 });
    const other = answering(200, '{"error":{"code":-32000,"message":"no"}}').rpc;
    expect(await replyOf(other, 3)).toStrictEqual(
      Array(3).fill({ kind: 'error', error: { code: -32000, message: 'no' } }),
    );
    const key = answering(200, '{"error":{"code":-33100,"message":"my-secret-key is not a batch"}}').rpc;
    expect(await replyOf(key, 2)).toStrictEqual(
      Array(2).fill(fault('configuration', 'it says "[redacted] is not a batch"')),
    );
  });

  test('with an error for one call and none for another', async () => {
    const body = '[{"id":3,"error":{"code":-32008,"message":"sync"}},{"id":1,"result":[]}]';
    expect(await replyOf(answering(200, body).rpc, 3)).toStrictEqual([
      { kind: 'result', result: [] },
      fault('malformed', 'the answer to this call is missing'),
      fault('unavailable', 'it says "sync"', {}),
    ]);
  });

  test('has an error without an id that is not the only one', async () => {
    const body = '[{"id":null,"error":{"code":1,"message":"no"}},{"id":2,"result":5}]';
    expect(await replyOf(answering(200, body).rpc, 2)).toStrictEqual([
      fault('malformed', 'the answer to this call is missing'),
      { kind: 'result', result: 5 },
    ]);
  });

  test('above the limit of bytes is a fault of each call', async () => {
    const { rpc } = answering(200, 'x'.repeat(2_001));
    const { reply, bytesReceived } = await rpc.exchange([call('a'), call('b')], signal);
    expect(reply).toStrictEqual(Array(2).fill(fault('malformed', 'answer above 2000 bytes')));
    expect(bytesReceived).toBe(2_001);
  });
});

describe('the answer to a GET', () => {
  test.each<[number, string, Record<string, string>, unknown]>([
    [200, '{"a":1}', {}, { kind: 'result', result: { a: 1 } }],
    [299, '0', {}, { kind: 'result', result: 0 }],
    [200, ' Wait', {}, fault('configuration', `status 200: ${NOT_JSON}`, { status: 200, mayPass: true })],
    [200, '[1,', {}, fault('malformed', `status 200: ${NOT_JSON}`, { status: 200, mayPass: false })],
    [404, '{"code":7,"message":"none"}', {}, { kind: 'error', error: { code: 404, message: 'none' } }],
    [400, '{"message":"my-secret-key"}', {}, { kind: 'error', error: { code: 400, message: '[redacted]' } }],
    [404, '{}', {}, fault('configuration', 'status 404', { status: 404 })],
    [429, '', { 'retry-after': '4' }, fault('rate-limited', 'status 429', { status: 429, retryAfterMs: 4_000 })],
    [429, '', {}, fault('rate-limited', 'status 429', { status: 429 })],
    [401, '{"code":401,"message":"x"}', {}, fault('configuration', `status 401${KEY_ADVICE}`, { status: 401 })],
    [402, '', {}, fault('configuration', `status 402${KEY_ADVICE}`, { status: 402 })],
    [403, '', {}, fault('configuration', `status 403${KEY_ADVICE}`, { status: 403 })],
    [408, '', {}, fault('unavailable', 'status 408', { status: 408 })],
    [425, '', {}, fault('unavailable', 'status 425', { status: 425 })],
    [500, '{"code":500,"message":"x"}', {}, fault('unavailable', 'status 500', { status: 500 })],
    [503, '', { 'retry-after': '4' }, fault('unavailable', 'status 503', { status: 503, retryAfterMs: 4_000 })],
  ])('status %i, %s %j', async (status, body, headers, outcome) => {
    const { rest, urls } = answering(status, body, headers);
    expect(await rest.exchange([call('/blocks/1')], signal)).toStrictEqual({
      reply: [outcome],
      status,
      bytesSent: 0,
      bytesReceived: body.length,
    });
    expect(urls).toStrictEqual(['https://host.example/v3/my-secret-key/blocks/1']);
    expect([rest.origin, rest.batchLimit]).toStrictEqual(['https://host.example', 1]);
  });

  test('above the limit of bytes is a fault', async () => {
    expect(await answering(200, 'x'.repeat(2_001)).rest.exchange([call('/')], signal)).toStrictEqual({
      reply: [fault('malformed', 'answer above 2000 bytes')],
      bytesSent: 0,
      bytesReceived: 2_001,
    });
  });
});
