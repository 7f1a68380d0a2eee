import { describe, expect, test } from 'vitest';
import { countRoundTrips } from '../support/mock-upstream.js';
import { MockRpcError } from '../support/mock-upstream-replies.js';
import { failureOf, turns, until } from '../support/mock-upstream-scene.js';
import { echo, useScene } from '../support/upstream-scene-hooks.js';

const scene = useScene();

describe('requests of one turn', () => {
  test('share one HTTP request and get their own answers', async () => {
    const mock = await scene.mock({ handler: echo });
    const group = scene.group([mock.url]);
    const answers = await Promise.all([1, 2, 3].map((n) => group.request('m', [n])));
    expect(answers).toEqual(['m:[1]', 'm:[2]', 'm:[3]']);
    expect(mock.requests).toHaveLength(1);
    expect(mock.requests[0]).toMatchObject({ isBatch: true, methods: ['m', 'm', 'm'], httpMethod: 'POST' });
    expect(mock.requests[0]!.headers['content-type']).toBe('application/json');
  });

  test('a single one is no batch', async () => {
    const mock = await scene.mock({ handler: echo });
    await scene.group([mock.url]).request('m', []);
    expect(mock.requests[0]!.isBatch).toBe(false);
  });

  test('a few awaits apart are still one turn; after an answer there is a new one', async () => {
    const mock = await scene.mock({ handler: echo });
    const group = scene.group([mock.url]);
    const late = async (n: number) => {
      await undefined;
      await undefined;
      return group.request('m', [n]);
    };
    await Promise.all([group.request('m', [0]), late(1), late(2)]);
    expect(mock.requests).toHaveLength(1);
    await group.request('m', [3]);
    expect(mock.requests).toHaveLength(2);
    expect(countRoundTrips(mock)).toBe(2);
  });

  test('go in several requests above the batch limit', async () => {
    const mock = await scene.mock({ handler: echo });
    const group = scene.group([{ url: mock.url, batchLimit: 4 }]);
    const answers = await Promise.all(Array.from({ length: 10 }, (_, n) => group.request('m', [n])));
    expect(answers).toEqual(Array.from({ length: 10 }, (_, n) => `m:[${n}]`));
    expect(mock.requests.map(({ methods }) => methods.length).sort()).toEqual([2, 4, 4]);
  });

  test('identical calls in flight are sent once by default', async () => {
    const mock = await scene.mock({ handler: echo, latencyMs: 20 });
    const group = scene.group([mock.url]);
    const first = group.request('m', [{ a: 1 }]);
    await until(() => mock.requests.length === 1);
    const others = [group.request('m', [{ a: 1 }]), group.request('m', [{ a: 1 }], { deduplicate: false })];
    expect(await Promise.all([first, ...others])).toEqual(Array(3).fill('m:[{"a":1}]'));
    expect(mock.calls).toBe(2);
    await group.request('m', [{ a: 1 }]);
    expect(mock.calls).toBe(3);
  });

  test('identical batches in flight are sent once; a batch with another member is a different one', async () => {
    const mock = await scene.mock({ handler: echo, latencyMs: 20 });
    const group = scene.group([mock.url]);
    const batch = (...numbers: number[]) => numbers.map((n) => ({ method: 'm', params: [n] }));
    const results = async (calls: ReturnType<typeof batch>, deduplicate = true) => {
      const { answers } = await group.requestMany(calls, { deduplicate });
      return answers.map((answer) => answer.kind === 'result' && answer.result);
    };
    const given = new AbortController();
    const first = group.requestMany(batch(1, 2), { signal: given.signal });
    await until(() => mock.requests.length === 1);
    const others = [results(batch(1, 2)), results(batch(2, 1)), results(batch(1, 2), false)];
    // Who gives up does not end it for the other.
    given.abort();
    await expect(first).rejects.toMatchObject({ code: 'ABORTED' });
    expect(await Promise.all(others)).toEqual([
      ['m:[1]', 'm:[2]'],
      ['m:[2]', 'm:[1]'],
      ['m:[1]', 'm:[2]'],
    ]);
    expect(mock.calls).toBe(6);
  });

  test('an identical one made while the answer is being handed out is made anew', async () => {
    const mock = await scene.mock({ handler: echo });
    const group = scene.group([mock.url]);
    const again = group.request('m', []).then(() => group.request('m', []));
    await Promise.all([again, group.request('m', [])]);
    expect(mock.calls).toBe(2);
  });

  test('requestMany is one HTTP request with JSON-RPC errors in place', async () => {
    const mock = await scene.mock({
      handler: (method) => {
        if (method === 'bad') throw new MockRpcError(3, 'execution reverted', '0x08c379a0');
        return null;
      },
    });
    const { answers, from } = await scene
      .group([mock.url])
      .requestMany(['good', 'bad'].map((method) => ({ method, params: [] })));
    expect(answers).toEqual([
      { kind: 'result', result: null },
      { kind: 'error', error: { code: 3, message: 'execution reverted', data: '0x08c379a0' } },
    ]);
    expect(from.origin).toBe(mock.origin);
    expect(mock.requests).toHaveLength(1);
  });
});

describe('answers of a batch', () => {
  const three = [1, 2, 3];

  test('out of order, and with ids as text, find their calls', async () => {
    for (const kind of ['out-of-order', 'string-ids'] as const) {
      const mock = await scene.mock({ handler: echo });
      mock.fail({ kind });
      const group = scene.group([mock.url]);
      const answers = await Promise.all(three.map((n) => group.request('m', [n])));
      expect(answers).toEqual(['m:[1]', 'm:[2]', 'm:[3]']);
      expect(await group.request('m', [])).toBe('m:[]');
    }
  });

  test('that are missing are asked for at the next endpoint, the others stay', async () => {
    const mock = await scene.mock({ handler: echo });
    const other = await scene.mock({ handler: (_, [n]) => `other ${n}` });
    mock.fail({ kind: 'partial', count: 2 });
    const group = scene.group([mock.url, other.url]);
    const answers = await Promise.all(three.map((n) => group.request('m', [n])));
    expect(answers).toEqual(['m:[1]', 'm:[2]', 'other 3']);
  });

  test('that are missing in requestMany are asked for again at the same endpoint', async () => {
    const mock = await scene.mock({ handler: echo });
    const other = await scene.mock();
    mock.fail((index) => (index === 0 ? { kind: 'partial', count: 1 } : undefined));
    const group = scene.group([mock.url, other.url]);
    const { answers } = await group.requestMany(three.map((n) => ({ method: 'm', params: [n] })));
    expect(answers.map((answer) => 'result' in answer && answer.result)).toEqual(['m:[1]', 'm:[2]', 'm:[3]']);
    expect(mock.requests.map(({ methods }) => methods.length)).toEqual([3, 2]);
    expect(other.calls).toBe(0);
  });

  test('one error for the whole batch goes to each call', async () => {
    for (const inArray of [false, true]) {
      const mock = await scene.mock();
      mock.fail({ kind: 'single-error', code: -32000, message: 'no', inArray });
      const group = scene.group([mock.url]);
      const failures = await Promise.all(three.map((n) => failureOf(group.request('m', [n]))));
      for (const failure of failures)
        expect(failure).toMatchObject({ code: 'UPSTREAM_ERROR', details: { code: -32000, message: 'no' } });
      expect(mock.requests).toHaveLength(1);
    }
  });

  test('with status 400 are read all the same', async () => {
    const mock = await scene.mock();
    const error = { code: -32600, message: 'no such block' };
    const body = JSON.stringify([
      { jsonrpc: '2.0', id: 2, error },
      { jsonrpc: '2.0', id: 1, result: 'one' },
    ]);
    mock.fail({ kind: 'status', status: 400, body });
    const { answers } = await scene.group([mock.url]).requestMany([1, 2].map((n) => ({ method: 'm', params: [n] })));
    expect(answers).toEqual([
      { kind: 'result', result: 'one' },
      { kind: 'error', error },
    ]);
  });

  test('a batch that is given up while it goes out in parts is broken off as a whole', async () => {
    const mock = await scene.mock();
    mock.fail({ kind: 'silence' });
    const group = scene.group([{ url: mock.url, batchLimit: 2, concurrency: 2 }]);
    const controller = new AbortController();
    const calls = [1, 2, 3, 4, 5, 6].map((n) => ({ method: 'm', params: [n] }));
    const failure = failureOf(group.requestMany(calls, { signal: controller.signal }));
    await until(() => mock.requests.length === 2);
    controller.abort();
    expect(await failure).toMatchObject({ code: 'ABORTED' });
    await until(() => mock.requests.every(({ brokenOff }) => brokenOff));
    await turns(5);
    expect(mock.requests).toHaveLength(2);
  });

  test.each([
    ['an error that says too many', { kind: 'batch-limit', limit: 3 }, [8, 4, 4, 2, 2, 2, 2]],
    [
      'an error about batches',
      { kind: 'batch-limit', limit: 1, message: 'batch not allowed' },
      [8, ...Array(8).fill(1)],
    ],
    ['a status and text', { kind: 'batch-limit', limit: 4, status: 413 }, [8, 4, 4]],
  ] as const)('a refused batch is taken apart, and that is remembered: %s', async (_, fault, sizes) => {
    const mock = await scene.mock({ handler: echo });
    mock.fail(fault);
    const group = scene.group([mock.url]);
    const eight = Array.from({ length: 8 }, (_, n) => n);
    const expected = eight.map((n) => `m:[${n}]`);
    expect(await Promise.all(eight.map((n) => group.request('m', [n])))).toEqual(expected);
    expect(mock.requests.map(({ methods }) => methods.length)).toEqual(sizes);
    mock.reset();
    const { answers } = await group.requestMany(eight.map((n) => ({ method: 'm', params: [n] })));
    expect(answers.map((answer) => 'result' in answer && answer.result)).toEqual(expected);
    expect(mock.requests).toHaveLength(8 / sizes.at(-1)!);
  });
});
