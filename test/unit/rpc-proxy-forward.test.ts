import { afterEach, describe, expect, test } from 'vitest';
import { forwardTo } from '../../src/hosts/proxy/proxy-host.js';
import { type MockUpstream, openMockUpstream } from '../support/mock-upstream.js';

const KEY = '0123456789abcdef0123456789abcdef';

describe('forwarding', () => {
  let upstream: MockUpstream | undefined;
  afterEach(async () => {
    await upstream?.close();
    upstream = undefined;
  });
  const calls = [
    { id: 'x', method: 'a', params: [1] },
    { method: 'told', params: [] },
    { id: 7, method: 'b', params: [2] },
    { id: 'x', method: 'c', params: [3] },
  ];
  const request = (url: string) =>
    new Request(url, { method: 'POST', headers: { authorization: 'Bearer mine', 'x-own': '1' }, body: 'unused' });
  const answers = calls
    .filter(({ id }) => id !== undefined)
    .map(({ id, method, params }) => ({ jsonrpc: '2.0', id, result: { method, params } }));

  test.each([[undefined], [{ kind: 'out-of-order' } as const], [{ kind: 'string-ids' } as const]])(
    'gives each call its answer: %j',
    async (fault) => {
      upstream = await openMockUpstream();
      upstream.fail(fault);
      expect(await forwardTo(request(`${upstream.url}/v3/${KEY}?a=b`), 300_000)(calls)).toEqual(answers);
      expect(upstream.requests).toHaveLength(1);
      expect(upstream.requests[0]).toMatchObject({
        path: `/v3/${KEY}?a=b`,
        headers: { authorization: 'Bearer mine', 'x-own': '1' },
      });
    },
  );

  test.each([
    [{ kind: 'partial', count: 1 }, ['ok', -32000, -32000]],
    [{ kind: 'partly-limited', count: 3 }, ['ok', 'ok', -32005]],
    [{ kind: 'batch-limit', limit: 1 }, [-32005, -32005, -32005]],
    [{ kind: 'single-error', code: -32001, message: 'no', inArray: true }, [-32001, -32001, -32001]],
    [{ kind: 'rate-limit' }, [-32005, -32005, -32005]],
    [{ kind: 'status', status: 500, body: KEY }, [-32000, -32000, -32000]],
    [{ kind: 'html' }, [-32000, -32000, -32000]],
    [{ kind: 'truncated' }, [-32000, -32000, -32000]],
    [{ kind: 'reset' }, [-32000, -32000, -32000]],
    [{ kind: 'stall' }, [-32000, -32000, -32000]],
    [{ kind: 'silence' }, [-32000, -32000, -32000]],
    [{ kind: 'status', status: 307, headers: { location: '/elsewhere' } }, [-32000, -32000, -32000]],
  ] as const)('%j', async (fault, outcomes) => {
    upstream = await openMockUpstream();
    upstream.fail(fault);
    // Only where no answer comes is the time for it to be over.
    const timeoutMs = fault.kind === 'stall' || fault.kind === 'silence' ? 100 : 300_000;
    const responses = await forwardTo(request(`${upstream.url}/v3/${KEY}`), timeoutMs)(calls);
    expect(responses?.map((response) => ('error' in response ? response.error.code : 'ok'))).toEqual(outcomes);
    expect(responses?.map(({ id }) => id)).toEqual(['x', 7, 'x']);
    expect(JSON.stringify(responses)).not.toContain(KEY);
    expect(upstream.requests).toHaveLength(1);
  });

  test('returns undefined where no endpoint is, and ends when the caller aborts', async () => {
    upstream = await openMockUpstream();
    upstream.fail({ kind: 'status', status: 404, body: 'not found' });
    expect(await forwardTo(request(upstream.url), 300_000)(calls)).toBe(undefined);
    upstream.fail({ kind: 'silence' });
    const controller = new AbortController();
    const waiting = forwardTo(request(upstream.url), 300_000)(calls, controller.signal);
    await expect.poll(() => upstream!.requests).toHaveLength(2);
    controller.abort();
    expect((await waiting)?.every((response) => 'error' in response)).toBe(true);
  });
});
