import { describe, expect, test } from 'vitest';
import type { MockFault } from '../support/mock-upstream-fault.js';
import { failureOf, until } from '../support/mock-upstream-scene.js';
import { openPair, useScene } from '../support/upstream-scene-hooks.js';

const scene = useScene();
const pair = () => openPair(scene);

describe('faults of one endpoint: the next one answers', () => {
  const faults: readonly (readonly [string, MockFault, string])[] = [
    ['connection reset', { kind: 'reset' }, 'unavailable'],
    ['connection reset midway', { kind: 'reset', midway: true }, 'unavailable'],
    ['status 500', { kind: 'status', status: 500, body: 'oops' }, 'unavailable'],
    ['status 502 with HTML', { kind: 'status', status: 502, body: '<html>' }, 'unavailable'],
    ['status 503', { kind: 'status', status: 503 }, 'unavailable'],
    [
      'status 408',
      { kind: 'status', status: 408, body: '{"error":{"code":-32603,"message":"Timeout expired"}}' },
      'unavailable',
    ],
    ['HTML', { kind: 'html' }, 'configuration'],
    ['text', { kind: 'status', status: 200, body: 'Please wait' }, 'configuration'],
    ['truncated JSON', { kind: 'truncated' }, 'malformed'],
    ['empty body', { kind: 'status', status: 200 }, 'malformed'],
    ['JSON that is no answer', { kind: 'status', status: 200, body: '{"ok":true}' }, 'malformed'],
    ['an answer to another call', { kind: 'status', status: 200, body: '{"id":77,"result":1}' }, 'malformed'],
    ['status 401', { kind: 'status', status: 401, body: 'invalid project id\n' }, 'configuration'],
    [
      'status 402',
      { kind: 'status', status: 402, body: '{"error":{"code":402,"message":"payment required"}}' },
      'configuration',
    ],
    ['status 403', { kind: 'status', status: 403, body: '{"message":"Host not authorized."}' }, 'configuration'],
    ['status 404 with text', { kind: 'status', status: 404, body: 'not found' }, 'configuration'],
    [
      'project refused, status 200',
      { kind: 'error', code: -32002, message: 'rejected due to project ID settings' },
      'configuration',
    ],
    ['forbidden, status 200', { kind: 'error', code: -33100, message: 'forbidden' }, 'configuration'],
    ['429', { kind: 'rate-limit' }, 'rate-limited'],
    ['429 with Retry-After', { kind: 'rate-limit', retryAfter: '3' }, 'rate-limited'],
    [
      '-32005, status 200',
      { kind: 'error', code: -32005, message: 'daily request count exceeded, request rate limited' },
      'rate-limited',
    ],
    ['still syncing', { kind: 'error', code: -32008, message: 'Initial sync is still in progress' }, 'unavailable'],
  ];

  test.each(faults)('%s', async (_, fault, kind) => {
    const { a, b, group } = await pair();
    a.fail(fault);
    expect(await group.request('m', [])).toBe('b');
    expect([a.calls, b.calls]).toEqual([1, 1]);
    expect(scene.events).toEqual([expect.objectContaining({ type: 'degraded', role: 'l2', origin: a.origin, kind })]);
  });

  test('JSON nested a million deep is refused before it is parsed', async () => {
    const { a, group } = await pair();
    const body = `{"jsonrpc":"2.0","id":1,"result":${'['.repeat(1_000_000)}${']'.repeat(1_000_000)}}`;
    a.fail({ kind: 'status', status: 200, body });
    expect(await group.request('m', [])).toBe('b');
    const reason = 'answer nested deeper than 256 levels';
    expect(scene.events).toEqual([expect.objectContaining({ type: 'degraded', kind: 'malformed', reason })]);
  });

  test('no server listening', async () => {
    const { a, b, group } = await pair();
    await a.close();
    expect(await group.request('m', [])).toBe('b');
    expect(b.calls).toBe(1);
    expect(scene.events[0]!.reason).toBe('no connection (ECONNREFUSED); check host and port, and that it runs');
  });

  test('silence, for one time-out', async () => {
    const { a, group } = await pair();
    a.fail({ kind: 'silence' });
    const answer = group.request('m', []);
    await until(() => a.requests.length === 1);
    await scene.clock.advance(10_000);
    expect(await answer).toBe('b');
  });
});

describe('answers that are no faults', () => {
  test('a JSON-RPC error with status 400 is one', async () => {
    const { a, group } = await pair();
    const body =
      '{"jsonrpc":"2.0","id":1,"error":{"code":-32600,"message":"BLOCK_MISSING_IN_CHAIN - block is missing"}}';
    a.fail({ kind: 'status', status: 400, body });
    const { id } = group.endpoints[0]!;
    expect(await failureOf(group.request('m', [], { endpoint: id }))).toMatchObject({
      code: 'UPSTREAM_ERROR',
      details: { origin: a.origin, code: -32600, message: 'BLOCK_MISSING_IN_CHAIN - block is missing' },
    });
  });

  test.each([
    'Requested range exceeds maximum RPC range limit',
    'query returned more than 10000 results',
    'Transaction gas limit exceeds block gas limit',
  ])('-32005 of another meaning is an error, without a pause: %s', async (message) => {
    const { a, group } = await pair();
    a.fail({ kind: 'error', code: -32005, message });
    const { id } = group.endpoints[0]!;
    expect(await failureOf(group.request('m', [], { endpoint: id }))).toMatchObject({
      code: 'UPSTREAM_ERROR',
      details: { code: -32005 },
    });
    expect(group.endpoints[0]!.pausedForMs).toBe(0);
  });

  test('an execution error of one endpoint decides nothing; where all give one it is thrown with its data', async () => {
    const { a, b, group } = await pair();
    a.fail({ kind: 'error', code: 3, message: 'execution reverted', data: '0x4e487b71' });
    expect(await group.request('m', [])).toBe('b');
    b.fail({ kind: 'error', code: -32000, message: 'another' });
    const error = await failureOf(group.request('m', []));
    expect(error).toMatchObject({ details: { code: 3, message: 'execution reverted', data: '0x4e487b71' } });
    expect(error).not.toHaveProperty('details.forwarded');
    const handedOn = await failureOf(group.request('m', [], { forwarded: true }));
    expect(handedOn).toMatchObject({ details: { code: 3, data: '0x4e487b71', forwarded: true } });
  });

  test('a state one endpoint has pruned is asked of the other', async () => {
    const { a, group } = await pair();
    a.fail({ kind: 'error', code: -32000, message: 'missing trie node 12ab' });
    expect(await group.request('m', [])).toBe('b');
    expect(scene.events).toEqual([]);
  });

  test('a method that one endpoint lacks is asked of the other, now and later; where all lack it, no one is asked again', async () => {
    const { a, b, group } = await pair();
    a.fail({ kind: 'error', code: -32601, message: 'Method not found' });
    expect(await group.request('m', [])).toBe('b');
    expect(await group.request('m', [])).toBe('b');
    expect([a.calls, b.calls]).toEqual([1, 2]);
    b.fail({ kind: 'error', code: -32601, message: 'Method not found' });
    expect(group.originsWith('m')).toEqual([b.origin]);
    for (let i = 0; i < 2; i++)
      expect(await failureOf(group.request('m', []))).toMatchObject({
        code: 'UPSTREAM_ERROR',
        details: { code: -32601 },
      });
    expect([a.calls, b.calls]).toEqual([1, 3]);
    expect(group.originsWith('m')).toEqual([]);
    a.fail(undefined);
    expect(await group.request('another', [])).toBe('a');
  });

  test('an endpoint that refuses to serve keeps that reason, also if an older answer of it turns out to be false', async () => {
    const { a, b, group } = await pair();
    a.fail({ kind: 'status', status: 401, body: 'invalid project id\n' });
    expect(await group.request('m', [])).toBe('b');
    group.reportFalse(group.endpoints[0]!.id, 'its sealed block was refused');
    b.fail({ kind: 'reset' });
    const error = await failureOf(group.request('m', [], { waits: false }));
    expect(error).toMatchObject({
      code: 'UPSTREAM_UNAVAILABLE',
      details: { endpoints: [{ origin: a.origin, kind: 'configuration' }, { origin: b.origin }] },
    });
    expect(a.calls).toBe(1);
  });

  test('tryNext decides which errors go on', async () => {
    const { a, b, group } = await pair();
    a.fail({ kind: 'error', code: -32601, message: 'Method not found' });
    expect(await failureOf(group.request('m', [], { tryNext: () => false }))).toMatchObject({ code: 'UPSTREAM_ERROR' });
    a.fail({ kind: 'error', code: 3, message: 'execution reverted' });
    expect(await group.request('n', [], { tryNext: () => true })).toBe('b');
    expect(b.calls).toBe(1);
  });
});
