import { describe, expect, it } from 'vitest';
import { checkEnvelopeCase, fixtureEndpoint } from '../../conformance/envelope.js';
import { PlumblineError } from '../../src/errors.js';
import { NODE_OPTIONS } from '../../src/hosts/options/options.js';

import { type Reply, readRequest, writeReply } from '../../src/rpc/envelope.js';
import { createDispatcher, type HandleOptions, type PayloadOptions } from '../../src/rpc/handle.js';
import { createMethodTable, type Method, type MethodTable } from '../../src/rpc/method.js';
import { LateController } from '../../src/scheduling/deadline.js';
import { fixtureJson } from '../support/fixtures.js';
import { someMethod } from '../support/some-method.js';

type Case = Parameters<typeof checkEnvelopeCase>[1];

const NO_REQUEST = {
  code: -32600,
  message: 'Invalid Request',
  reason: 'REQUEST_MALFORMED',
  details: { reason: 'is not a request' },
};

it('a method gets a signal that is made when it is read, also as part of a copy', async () => {
  const given: { signal?: AbortSignal | undefined }[] = [];
  const keeps = someMethod('keeps', (_, __, call) => {
    given.push(call);
    return new Promise(() => {});
  });
  const dispatch = createDispatcher(createMethodTable([keeps]), { seen: [] });
  const caller = new LateController();
  const reply = dispatch({ jsonrpc: '2.0', id: 1, method: 'keeps' }, { signal: caller });
  const copy = { ...given[0]! };
  expect(copy.signal).toBe(given[0]!.signal);
  expect(copy.signal!.aborted).toBe(false);
  caller.abort();
  expect(copy.signal!.aborted).toBe(true);
  expect((await reply).body).toMatchObject({ error: { reason: 'ABORTED' } });
});

describe('envelope fixture', () => {
  const cases = fixtureJson<{ cases: Case[] }>('json-rpc/envelope.json').cases;
  it.each(cases.map((entry) => [entry.name, entry] as const))('%s', async (_, entry) => {
    expect(await checkEnvelopeCase(fixtureEndpoint(), entry)).toBeUndefined();
  });

  it('is answered to the letter, without its leniencies', async () => {
    for (const { clientMay: _, clientMayReject: __, ...strict } of cases) {
      expect(await checkEnvelopeCase(fixtureEndpoint(), strict)).toBeUndefined();
    }
  });
});

interface Log {
  readonly seen: string[];
}

const METHODS: readonly Method<Log>[] = [
  someMethod('echo', (_, params) => params),
  someMethod('nothing', () => undefined),
  someMethod('slow', () => new Promise(() => {})),
  someMethod('note', async ({ seen }, [text, turns]) => {
    seen.push(`${text} begins`);
    for (let turn = 0; turn < Number(turns); turn++) await new Promise((resolve) => setTimeout(resolve));
    seen.push(`${text} ends`);
    return text;
  }),
  someMethod('throws', () => {
    throw new Error('secret at https://example.invalid/v3/key');
  }),
  someMethod('rejects', () => Promise.reject('a text')),
  someMethod('bigint', () => ({ value: 1n })),
  someMethod('circle', () => {
    const circle: { self?: unknown } = {};
    circle.self = circle;
    return circle;
  }),
];

const table = createMethodTable(METHODS, { aliases: { other: 'echo' }, disabled: ['evm_mine'] });
const fresh = (): Log => ({ seen: [] });
function handlePayload<Context>(
  table: MethodTable<Context>,
  context: Context,
  payload: unknown,
  options?: HandleOptions,
  caller?: PayloadOptions,
): Promise<Reply> {
  return createDispatcher(table, context, options)(payload, caller);
}
/** The response to one request object. */
const handleRequest = async (...args: Parameters<typeof handlePayload<Log>>) => (await handlePayload(...args)).body;
const request = (method: string, params: unknown = [], id: unknown = 1) => ({ jsonrpc: '2.0', id, method, params });

describe('method table', () => {
  it('lists what it answers', () => {
    expect(table.names).toEqual(['bigint', 'circle', 'echo', 'note', 'nothing', 'other', 'rejects', 'slow', 'throws']);
  });

  it('refuses a name given twice and an alias of nothing', () => {
    const method = someMethod('a', () => 1);
    expect(() => createMethodTable([method, method])).toThrow('a is there twice');
    expect(() => createMethodTable([method], { aliases: { b: 'c' } })).toThrow(
      'b is an alias of a method that is not there',
    );
  });

  it.each(['evm_mine', 'unknown', 'constructor', '__proto__', ''])('answers %j with its error', async (name) => {
    const code = name === 'evm_mine' ? -32604 : -32601;
    const message = `${name === 'evm_mine' ? 'Method not enabled' : 'Method not found'} (${name})`;
    const reason = name === 'evm_mine' ? 'METHOD_NOT_ENABLED' : 'METHOD_NOT_FOUND';
    expect(await handleRequest(table, fresh(), request(name))).toEqual({
      jsonrpc: '2.0',
      id: 1,
      error: { code, message, reason, details: { method: name } },
    });
  });

  it('answers an alias', async () => {
    expect(await handleRequest(table, fresh(), request('other', [5]))).toEqual({ jsonrpc: '2.0', id: 1, result: [5] });
  });
});

describe('ids', () => {
  it.each(['', 'abc', 0, -1, 1.5, 2 ** 53 - 1, -(2 ** 53 - 1), null])('repeats %j', async (id) => {
    expect(await handleRequest(table, fresh(), request('echo', [], id))).toMatchObject({ id, result: [] });
  });

  it.each(['9007199254740993', '-9007199254740993', '1e400', '1e300', 'true', '[]', '{}', '[1]'])(
    'refuses %s with id null',
    async (id) => {
      const value = JSON.parse(`{"jsonrpc":"2.0","id":${id},"method":"echo"}`);
      const error = NO_REQUEST;
      expect(await handleRequest(table, fresh(), value)).toEqual({ jsonrpc: '2.0', id: null, error });
    },
  );

  it('keeps the order of members', async () => {
    const dispatch = createDispatcher(table, fresh());
    expect(writeReply(await dispatch(request('echo', [1])))).toBe('{"jsonrpc":"2.0","id":1,"result":[1]}');
    expect(writeReply(await dispatch(request('none')))).toBe(
      '{"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"Method not found (none)",' +
        '"data":{"reason":"METHOD_NOT_FOUND","details":{"method":"none"}}}}',
    );
  });
});

describe('one request', () => {
  it.each([undefined, null, 1, 'text', []])('is not %j', async (value) => {
    expect(readRequest(value)).toEqual({
      jsonrpc: '2.0',
      id: null,
      error: NO_REQUEST,
    });
  });

  it('gives null for a result of undefined', async () => {
    expect(await handleRequest(table, fresh(), request('nothing'))).toEqual({ jsonrpc: '2.0', id: 1, result: null });
  });

  it('carries a notification out without answering', async () => {
    const log = fresh();
    expect(await handleRequest(table, log, { method: 'note', params: ['a', 0] })).toBeUndefined();
    expect(log.seen).toEqual(['a begins', 'a ends']);
    expect(await handleRequest(table, log, { method: 'throws' })).toBeUndefined();
    expect(await handleRequest(table, log, { method: 'unknown' })).toBeUndefined();
  });

  it.each(['throws', 'rejects'])(
    'says no more than internal error of a method that %s, and tells the observer',
    async (name) => {
      const told: unknown[] = [];
      const options = { onError: (error: unknown, method: string) => told.push([method, error]) };
      const response = await handleRequest(table, fresh(), request(name), options);
      const { id } = (response as { error: { details: { id: string } } }).error.details;
      expect(id).toMatch(/^[0-9a-f]{8}$/);
      const error = { code: -32603, message: `Internal error (id ${id})`, reason: 'INTERNAL', details: { id } };
      expect(response).toEqual({ jsonrpc: '2.0', id: 1, error });
      expect(told).toEqual([[name, name === 'throws' ? expect.any(Error) : 'a text']]);
    },
  );

  it('answers when the observer throws', async () => {
    const onError = () => {
      throw new Error('observer');
    };
    expect(await handleRequest(table, fresh(), request('throws'), { onError })).toMatchObject({
      error: { code: -32603 },
    });
  });

  it.each(['bigint', 'circle'])('answers a result JSON cannot hold (%s) with an error in its place', async (name) => {
    const reply = await handlePayload(table, fresh(), [
      request('echo', [1], 1),
      request(name, [], 2),
      request('echo', [3], 3),
    ]);
    expect(JSON.parse(writeReply(reply))).toEqual([
      { jsonrpc: '2.0', id: 1, result: [1] },
      {
        jsonrpc: '2.0',
        id: 2,
        error: {
          code: -32603,
          message: expect.stringMatching(/^Internal error \(id \w+\)$/),
          data: { reason: 'INTERNAL', details: expect.any(Object) },
        },
      },
      { jsonrpc: '2.0', id: 3, result: [3] },
    ]);
  });
});

describe('batch', () => {
  it('runs one after another, in order', async () => {
    const log = fresh();
    const reply = await handlePayload(table, log, [request('note', ['a', 15], 1), request('note', ['b', 0], 2)]);
    expect(log.seen).toEqual(['a begins', 'a ends', 'b begins', 'b ends']);
    expect(reply.body).toMatchObject([
      { id: 1, result: 'a' },
      { id: 2, result: 'b' },
    ]);
  });

  it('takes as many requests as it may, and no more', async () => {
    const { or: maxBatch } = NODE_OPTIONS.maxBatch;
    const many = Array.from({ length: maxBatch }, (_, id) => request('echo', [], id));
    const reply = await handlePayload(table, fresh(), many, { maxBatch });
    expect(reply.body).toHaveLength(1024);
    const refused = (limit: number) => {
      const error = { code: -32005, message: 'Number of requests exceeds max batch size' };
      const own = { reason: 'REQUEST_TOO_LARGE', details: { what: 'batch', limit } };
      return { body: { jsonrpc: '2.0', id: null, error: { ...error, ...own } } };
    };
    expect(await handlePayload(table, fresh(), [...many, request('echo')], { maxBatch })).toEqual(refused(1024));
    expect(await handlePayload(table, fresh(), many.slice(0, 3), { maxBatch: 2 })).toEqual(refused(2));
  });

  it('counts notifications too', async () => {
    const notes = Array.from({ length: 3 }, () => ({ method: 'echo' }));
    expect((await handlePayload(table, fresh(), notes, { maxBatch: 2 })).body).toMatchObject({
      error: { code: -32005 },
    });
  });
});

describe('deadline', () => {
  it('answers a slow request with a time-out, and tells the method', async () => {
    let told: unknown;
    const watching = createMethodTable<undefined>([
      someMethod(
        'watch',
        (_, __, { signal }) =>
          new Promise((resolve) =>
            signal?.addEventListener('abort', () => {
              told = signal.reason;
              resolve('too late');
            }),
          ),
      ),
    ]);
    const reply = await handlePayload(watching, undefined, request('watch'), { timeoutMs: 10 });
    const error = {
      code: -32603,
      message: 'Timeout expired',
      reason: 'REQUEST_TIMED_OUT',
      details: { timeoutMs: 10 },
    };
    expect(reply).toEqual({ body: { jsonrpc: '2.0', id: 1, error }, fault: 'timeout' });
    expect(told).toMatchObject({ code: 'REQUEST_TIMED_OUT', details: { timeoutMs: 10 } });
  });

  it('is shared by a batch: what comes after it is not begun', async () => {
    const log = fresh();
    const batch = [request('echo', [], 1), request('slow', [], 2), request('note', ['never', 0], 3)];
    const reply = await handlePayload(table, log, batch, { timeoutMs: 20 });
    expect(reply.fault).toBeUndefined();
    expect(reply.body).toMatchObject([
      { id: 1, result: [] },
      { id: 2, error: { code: -32603, message: 'Timeout expired' } },
      { id: 3, error: { code: -32603, message: 'Timeout expired' } },
    ]);
    expect(log.seen).toEqual([]);
  });

  it('ends with the caller’s signal, before and during the work', async () => {
    const error = { code: -32603, message: 'Request aborted', reason: 'ABORTED', details: {} };
    const log = fresh();
    const early = await handleRequest(table, log, request('note', ['a', 0]), {}, { signal: AbortSignal.abort() });
    expect(early).toMatchObject({ error });
    expect(log.seen).toEqual([]);
    const controller = new AbortController();
    const running = createDispatcher(table, log)(request('slow'), { signal: controller.signal });
    controller.abort(new Error('left'));
    expect(await running).toEqual({ body: { jsonrpc: '2.0', id: 1, error } });
  });

  it('does not mistake a method’s own time-out text for the request’s', async () => {
    const own = createMethodTable<undefined>([
      someMethod('own', () => {
        throw new PlumblineError('STORE_UNAVAILABLE', 'Timeout expired', { reason: 'Timeout expired' });
      }),
    ]);
    const reply = await handlePayload(own, undefined, request('own'));
    expect(reply.fault).toBeUndefined();
    expect(reply.body).toMatchObject({
      error: { code: -32603, message: 'Internal error (the store is not available)' },
    });
  });
});
