import { expect, test } from 'vitest';
import { METHOD_INFO } from '../../src/rpc/method-info.js';
import { devNode } from '../support/dev-node.js';
import { history, validRequests } from '../support/hostile/requests.js';
import { devnetScene, layerOneScene, lightScene, replicaScene } from '../support/hostile/rpc-scenes.js';
import { runHostile } from '../support/hostile/run.js';
import { inspectScene, sessionScene } from '../support/hostile/session-scenes.js';

/*
 * Every request is answered: with a result, or with an error that says what was wrong. test/slow/hostile-rpc.test.ts sends
 * many more.
 */

/** Refused with the reason, whatever is asked. */
const REFUSED = /_set(MinGasPrice|RpcUrl)$/;

test('the requests that are damaged are valid: no method refuses their form', async () => {
  const { ask } = await devNode();
  await history(ask);
  for (const [method, sets] of Object.entries(await validRequests(ask))) {
    expect(Object.keys(METHOD_INFO.l2)).toContain(method);
    for (const params of sets) {
      const code = await ask(method, ...params).then(
        () => undefined,
        (error: { code: number }) => error.code,
      );
      if (!REFUSED.test(method)) expect([-32602, -32603], `${method} ${JSON.stringify(params)}`).not.toContain(code);
    }
  }
});

test.each([
  ['a devnet', devnetScene, 1000],
  ['its simulated layer 1', layerOneScene, 250],
  ['a light node', lightScene, 250],
  ['a replica', replicaScene, 250],
  ['a WebSocket of a devnet', sessionScene, 250],
  ['what the library offers beside JSON-RPC', inspectScene, 250],
] as const)('damaged requests to %s', (_, open, count) => runHostile(count, open));
