import { describe, expect, test } from 'vitest';
import { createInlineNode, type NodeOptions } from '../../src/hosts/opening/inline.js';
import { registerRpcProxy } from '../../src/hosts/proxy/register.js';
import { createNode } from '../../src/hosts/worker/client.js';
import { linea } from '../../src/networks/linea.js';
import { KEY, UNKNOWN_OPTIONS } from '../support/unknown-options.js';

const thrownBy = (opening: Promise<unknown>) =>
  opening.then(
    () => undefined,
    (error: unknown) => error,
  );

describe('members of options that do not exist', () => {
  const cases = UNKNOWN_OPTIONS.map(([message, options]) => [message, options as NodeOptions] as const);

  test.each(cases)('%s', async (message, options) => {
    const refused = { name: 'PlumblineError', code: 'INVALID_PARAMETER', message };
    expect(await thrownBy(createInlineNode(options))).toMatchObject(refused);
    expect(message).not.toContain(KEY);
  });

  test.each(cases)('%s (in a page)', async (message, options) => {
    // Before a worker is started: there are none here.
    expect(await thrownBy(createNode(options))).toMatchObject({ code: 'INVALID_PARAMETER', message });
  });

  test.each(cases.filter(([message]) => !message.startsWith('http')))(
    '%s (proxy of a page)',
    async (message, options) => {
      const given = { scriptUrl: '/service-worker.js', ...options };
      expect(await thrownBy(registerRpcProxy(given))).toMatchObject({ code: 'INVALID_PARAMETER', message });
    },
  );

  test('a name in place of a store', async () => {
    const message = 'store: must be a PageStore; the name of a database is storeName';
    const given = { store: 'wallet' } as unknown as NodeOptions;
    expect(await thrownBy(createInlineNode(given))).toMatchObject({ code: 'INVALID_PARAMETER', message });
    const inPage = 'store: is not an option; did you mean storeName?';
    expect(await thrownBy(createNode(given))).toMatchObject({ code: 'INVALID_PARAMETER', message: inPage });
  });

  test.each([null, {}, 8545])('a worker that is none: %j', async (worker) => {
    const message = 'worker: must be a Worker, a SharedWorker or the URL of a script';
    expect(await thrownBy(createNode({ worker: worker as never }))).toMatchObject({
      code: 'INVALID_PARAMETER',
      message,
    });
  });

  test('options of one way to open a node are not those of another', async () => {
    const asInline = await thrownBy(createInlineNode({ loadTimeoutMs: 1 } as NodeOptions));
    expect(asInline).toMatchObject({ code: 'INVALID_PARAMETER', details: { parameter: 'loadTimeoutMs' } });
    const asProxy = { scriptUrl: '/service-worker.js', scopes: '/' };
    expect(await thrownBy(registerRpcProxy(asProxy as never))).toMatchObject({
      message: 'scopes: is not an option; did you mean scope?',
    });
  });

  test('a name that an object inherits is not one of its options', async () => {
    const given = JSON.parse('{"constructor": 1}');
    expect(await thrownBy(createInlineNode(given))).toMatchObject({ details: { parameter: 'constructor' } });
  });

  test('names that a caller chooses are not checked: headers, modules, the members of a genesis file', async () => {
    const headers = { 'x-anything': 'yes' };
    const network = { ...linea, moduleLimits: { HUB: 1 } as object };
    const node = await createInlineNode({
      chain: { kind: 'light', network, endpoints: [{ url: 'http://127.0.0.1:9/', headers }] },
      dictionary: { kind: 'general' },
      http: { allowedOrigins: '*' },
    });
    expect(node.info.chainId).toBe(59_144);
    await node.close();
  });
});
