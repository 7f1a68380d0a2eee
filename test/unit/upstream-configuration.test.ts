import { describe, expect, test } from 'vitest';
import { failureOf } from '../support/mock-upstream-scene.js';
import { openPair, useScene } from '../support/upstream-scene-hooks.js';

const scene = useScene();
const pair = () => openPair(scene);

describe('configuration errors', () => {
  test('are not retried, and the endpoint is not asked until forgetRefusals', async () => {
    const mock = await scene.mock();
    mock.fail({ kind: 'status', status: 401, body: 'invalid project id\n' });
    const group = scene.group([mock.url]);
    for (let i = 0; i < 3; i++)
      expect(await failureOf(group.request('m', [i]))).toMatchObject({
        code: 'UPSTREAM_CONFIGURATION',
        details: { endpoints: [{ origin: mock.origin, kind: 'configuration', status: 401 }] },
      });
    expect(mock.calls).toBe(1);
    expect(group.endpoints[0]!.readiness).toBe('refused');
    mock.fail(undefined);
    group.forgetRefusals();
    await group.request('m', []);
    expect(scene.events.map(({ type }) => type)).toEqual(['degraded', 'recovered']);
  });

  test('about one method leave the others alone', async () => {
    const mock = await scene.mock({ handler: (method) => method });
    mock.fail((index) => (index === 1 ? { kind: 'status', status: 403, body: 'not in your plan' } : undefined));
    const group = scene.group([mock.url]);
    expect(await group.request('eth_getProof', [])).toBe('eth_getProof');
    for (let i = 0; i < 2; i++)
      expect(await failureOf(group.request('linea_getProof', []))).toMatchObject({ code: 'UPSTREAM_CONFIGURATION' });
    expect(await group.request('eth_call', [])).toBe('eth_call');
    expect(mock.calls).toBe(3);
  });
});

describe('a key that is withdrawn', () => {
  test('fails requests at once, and after some the endpoint is left alone', async () => {
    const mock = await scene.mock();
    const group = scene.group([mock.url]);
    await group.request('m', []);
    mock.fail({ kind: 'status', status: 401 });
    for (let i = 0; i < 8; i++) {
      await scene.clock.advance(10);
      expect(await failureOf(group.request('m', [i]))).toMatchObject({ code: 'UPSTREAM_CONFIGURATION' });
    }
    expect(mock.calls).toBe(1 + 4);
  });

  test('a batch that is refused for one method does not take the others with it', async () => {
    const mock = await scene.mock({ handler: (method) => method });
    const group = scene.group([mock.url]);
    await group.request('eth_call', []);
    // The batch, and then the method that is the reason.
    mock.fail((index) => ([0, 2].includes(index) ? { kind: 'status', status: 403 } : undefined));
    const [call, estimate] = ['eth_call', 'linea_estimateGas'].map((method) => group.request(method, []));
    const failure = failureOf(estimate!);
    expect(await call).toBe('eth_call');
    expect(await failure).toMatchObject({ code: 'UPSTREAM_CONFIGURATION' });
    expect(await group.request('eth_call', [])).toBe('eth_call');
    expect(await failureOf(group.request('linea_estimateGas', []))).toMatchObject({ code: 'UPSTREAM_CONFIGURATION' });
    expect(mock.requests.map(({ methods }) => methods)).toEqual([
      ['eth_call'],
      ['eth_call', 'linea_estimateGas'],
      ['eth_call'],
      ['linea_estimateGas'],
      ['eth_call'],
    ]);
  });
});

describe('a body that is not JSON', () => {
  test('is not asked for again; the next request asks, for the page in its way may be gone', async () => {
    const { a } = await pair();
    const group = scene.group([a.url]);
    a.fail((index) => (index === 0 ? { kind: 'html' } : undefined));
    expect(await failureOf(group.request('m', []))).toMatchObject({
      code: 'UPSTREAM_CONFIGURATION',
      details: {
        endpoints: [
          {
            origin: a.origin,
            kind: 'configuration',
            reason: 'status 200: HTML instead of JSON; check the path of its URL',
            status: 200,
          },
        ],
      },
    });
    expect(a.calls).toBe(1);
    expect(await group.request('m', [])).toBe('a');
  });
});
