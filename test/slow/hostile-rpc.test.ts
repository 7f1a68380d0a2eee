import { test } from 'vitest';
import { devnetScene, layerOneScene, lightScene, replicaScene } from '../support/hostile/rpc-scenes.js';
import { runHostile } from '../support/hostile/run.js';
import { inspectScene, sessionScene } from '../support/hostile/session-scenes.js';

/* Slow because of its 100 000 requests to each kind of chain: some minutes each. */

test.each([
  ['a devnet', devnetScene],
  ['its simulated layer 1', layerOneScene],
  ['a light node', lightScene],
  ['a replica', replicaScene],
  ['a WebSocket of a devnet', sessionScene],
  ['what the library offers beside JSON-RPC', inspectScene],
] as const)('100 000 damaged requests to %s', (_, open) => runHostile(100_000, open));
