import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { toRpcError } from '../../src/rpc/rpc-errors.js';
import { createRedactor, endpointSecretsOf } from '../../src/upstream/address.js';
import { EndpointGroup } from '../../src/upstream/group.js';
import type { UrlEndpoint } from '../../src/upstream/options.js';
import { RestGroup } from '../../src/upstream/rest-group.js';
import type { MockUpstream } from '../support/mock-upstream.js';
import type { MockFault } from '../support/mock-upstream-fault.js';
import { MockRpcError } from '../support/mock-upstream-replies.js';
import { createScene, failureOf, type UpstreamScene } from '../support/mock-upstream-scene.js';

const KEY = 'c0ffee5ecre7kEy0123456789abcdef1';

let scene: UpstreamScene;
beforeEach(() => {
  scene = createScene();
});
afterEach(async () => {
  expect(await scene.close()).toBe(0);
});

/** Every way a key gets into an endpoint. */
const places: readonly (readonly [string, (mock: MockUpstream) => UrlEndpoint])[] = [
  ['path', ({ url }) => ({ url: `${url}/v3/${KEY}` })],
  ['path, with a slash behind', ({ url }) => ({ url: `${url}/v3/${KEY}/` })],
  ['apiKey', ({ url }) => ({ url: `${url}/`, apiKey: KEY })],
  ['query', ({ url }) => ({ url: `${url}/rpc?apikey=${KEY}` })],
  ['query, without a name', ({ url }) => ({ url: `${url}/rpc?${KEY}` })],
  ['user', ({ url }) => ({ url: url.replace('//', `//${KEY}@`) })],
  ['password', ({ url }) => ({ url: url.replace('//', `//:${KEY}@`) })],
  ['authorization header', ({ url }) => ({ url, headers: { authorization: `Bearer ${KEY}` } })],
  ['header of its own', ({ url }) => ({ url, headers: { 'x-api-key': KEY } })],
];

/** Everything that can be read off a value: own properties, messages, causes, stacks; and base64 of them. */
function everything(value: unknown, seen = new Set<unknown>()): string {
  if (typeof value !== 'object' || value === null) return String(value);
  if (seen.has(value)) return '';
  seen.add(value);
  if (value instanceof Map) return everything([...value], seen);
  return Object.getOwnPropertyNames(value)
    .map((name) => `${name}=${everything((value as Record<string, unknown>)[name], seen)}`)
    .join('\n');
}

function expectNoKey(...values: readonly unknown[]): void {
  const text = values.map((value) => everything(value)).join('\n');
  expect(text.length).toBeGreaterThan(20);
  for (const form of [KEY, KEY.toUpperCase(), KEY.slice(0, 12), btoa(`${KEY}:`), btoa(`:${KEY}`)])
    expect(text.toLowerCase()).not.toContain(form.toLowerCase());
}

describe.each(places)('a key in the %s', (place, endpointOf) => {
  test('reaches the endpoint', async () => {
    const mock = await scene.mock();
    await scene.group([endpointOf(mock)]).request('m', []);
    const { path, headers } = mock.requests[0]!;
    const seen = `${path} ${JSON.stringify(headers)} ${atob((headers.authorization ?? '').replace(/^Basic |^Bearer .*$/g, ''))}`;
    expect(seen).toContain(KEY);
    if (place === 'apiKey') expect(path).toBe(`/v3/${KEY}`);
  });

  test('is not in errors, events or statistics, whatever the endpoint echoes', async () => {
    const bodies = [`invalid project id ${KEY}\n`, `<p>${KEY}</p>`, `{"message":"${KEY}"}`];
    const error = `{"jsonrpc":"2.0","id":1,"error":{"code":-32002,"message":"rejected due to project ID settings ${KEY}"}}`;
    const faults: readonly MockFault[] = [
      ...[200, 400, 401, 403, 404, 429, 500].flatMap((status) =>
        [...bodies, error].map((body) => ({ kind: 'status', status, body }) as const),
      ),
      { kind: 'reset' },
      { kind: 'rate-limit', retryAfter: '1000' },
      { kind: 'error', code: -32005, message: `rate of ${KEY} exceeded`, data: { rate: { backoff_seconds: 500 } } },
      { kind: 'single-error', code: -32000, message: `${KEY.toUpperCase()} is wrong` },
    ];
    const mock = await scene.mock();
    const shown: unknown[] = [];
    for (const fault of faults) {
      mock.fail(fault);
      // Shorter than the first wait after a rate limit, so that none of these waits.
      const group = scene.group([endpointOf(mock)], { retries: 0, totalTimeoutMs: 200 });
      const failure = await failureOf(group.request('m', []));
      shown.push(failure, toRpcError(failure), group.endpoints);
    }
    expectNoKey(...shown, scene.events, scene.exchanges);
  });

  test('does not go where the endpoint points', async () => {
    const elsewhere = await scene.mock({ get: () => ({ status: 200, body: [] }) });
    const mock = await scene.mock();
    for (const status of [301, 302, 303, 307, 308]) {
      mock.reset();
      mock.fail({ kind: 'status', status, headers: { location: `${elsewhere.url}/${KEY}` }, body: '{"result":1}' });
      const failure = await failureOf(scene.group([endpointOf(mock)]).request('m', []));
      expect(failure).toMatchObject({ code: 'UPSTREAM_CONFIGURATION' });
      expectNoKey(failure, scene.events, scene.exchanges);
      expect(mock.requests).toHaveLength(1);
      const rest = new RestGroup({ role: 'maru', endpoints: [endpointOf(mock)], clock: scene.clock });
      expect(await failureOf(rest.get('blocks'))).toMatchObject({ code: 'UPSTREAM_CONFIGURATION' });
      rest.close();
    }
    expect(elsewhere.requests).toEqual([]);
  });

  test('is taken out of JSON-RPC errors that are passed on', async () => {
    const mock = await scene.mock({
      handler: (_, [where]) => {
        const basic = place === 'user' ? btoa(`${KEY}:`) : place === 'password' ? btoa(`:${KEY}`) : '';
        const text = `see ${mock.url}/v3/${KEY}?x=${KEY} or ${basic || KEY}`;
        if (where === 'message') throw new MockRpcError(-32000, text);
        throw new MockRpcError(-32000, 'no', { [KEY]: [text, { deep: `0x${KEY}` }], code: 5 });
      },
    });
    const group = scene.group([endpointOf(mock)]);
    const failures = await Promise.all(['message', 'data'].map((where) => failureOf(group.request('m', [where]))));
    expectNoKey(failures, failures.map(toRpcError));
    expect(failures[0]).toMatchObject({ details: { message: `see ${mock.origin} or [redacted]` } });
    expect(failures[1]).toMatchObject({ details: { data: { code: 5 } } });
  });

  test('is not in what comes of a fetch that throws', async () => {
    const mock = await scene.mock();
    const throwing: typeof fetch = async (input, init) => {
      const cause = Object.assign(new Error(`connect ${String(input)}`), { code: KEY, headers: init?.headers });
      throw new TypeError(`failed to fetch ${String(input)} ${KEY}`, { cause });
    };
    const broken: typeof fetch = async () =>
      new Response(
        new ReadableStream({
          start: (controller) => controller.error(new TypeError(`${KEY} broke`)),
        }),
      );
    for (const given of [throwing, broken]) {
      const group = scene.group([endpointOf(mock)], { fetch: given, retries: 0 });
      const failure = await failureOf(group.request('m', []));
      expect(failure).toMatchObject({ code: 'UPSTREAM_UNAVAILABLE' });
      expectNoKey(failure, scene.events, scene.exchanges);
    }
  });
});

describe('a key at the place where a long message is cut', () => {
  test.each([470, 490, 495])('%i characters in front of it', async (length) => {
    const mock = await scene.mock({
      handler: () => {
        throw new MockRpcError(-32000, `${'x'.repeat(length)}${KEY} and more of it`);
      },
    });
    const failure = await failureOf(scene.group([{ url: `${mock.url}/v3/${KEY}` }]).request('m', []));
    expect(everything(failure)).toContain('x'.repeat(length));
    expect(everything(failure)).not.toContain(KEY.slice(0, 500 - length));
  });
});

describe('addresses that are not well formed', () => {
  test.each([
    `${KEY}`,
    `ftp://host/${KEY}`,
    `http://ho st/${KEY}`,
    `wss://host/${KEY}`,
    // Not what percent signs are for.
    `https://100%:${KEY}@host`,
    `https://${KEY}:50%@host`,
  ])('are not quoted: %s', (url) => {
    const open = () => new EndpointGroup({ role: 'l2', endpoints: [url] });
    let failure: unknown;
    try {
      open();
    } catch (error) {
      failure = error;
    }
    expect(failure).toMatchObject({ code: 'INVALID_PARAMETER', details: { parameter: 'endpoint' } });
    expectNoKey(failure);
  });
});

describe('createRedactor', () => {
  test('leaves URLs their origin alone', () => {
    const { text } = createRedactor([]);
    expect(text('at https://user:pw@host.example:8443/v3/abc?k=v, or <http://other.example/x>')).toBe(
      'at https://host.example:8443 or <http://other.example>',
    );
  });

  test('hides a long secret even in hex data', () => {
    const secret = '00112233445566778899aabbccddeeff';
    expect(createRedactor([secret]).text(`0x${secret}01`)).toBe('0x[redacted]01');
  });

  test('hides values of a query as they stand there, plus signs and all, and names that stand alone', () => {
    const { text } = createRedactor(
      endpointSecretsOf(new URL('https://host/?token=ab+cd%2Fef&lonely-key&empty=&'), {}),
    );
    expect(text('ab+cd%2Fef, ab cd/ef, lonely-key')).toBe('[redacted], [redacted], [redacted]');
    expect(text('the token is wrong')).toBe('the token is wrong');
  });

  test('hides secrets with and without URL encoding, and leaves hex data that holds a short one by accident', () => {
    const { text, json } = createRedactor(['a b/c', 'beef']);
    expect(text('a b/c a%20b%2Fc BEEF')).toBe('[redacted] [redacted] [redacted]');
    expect(json({ data: '0xdeadbeef', list: ['beef', 1, null] })).toEqual({
      data: '0xdeadbeef',
      list: ['[redacted]', 1, null],
    });
  });
});
