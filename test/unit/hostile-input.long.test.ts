import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, test } from 'vitest';
import { endpointScene } from '../support/hostile/endpoint-scenes.js';
import { chainFileScene, genesisScene, profileScene, verifyScene } from '../support/hostile/file-scenes.js';
import { proxyScene } from '../support/hostile/proxy-scene.js';
import { runHostile } from '../support/hostile/run.js';
import { proofScene, traceScene, trieLogScene } from '../support/hostile/state-scenes.js';
import { devnetStoreScene, lightStoreScene } from '../support/hostile/store-scenes.js';

/*
 * Whatever comes in damaged: a typed error or the right answer, and nothing half-written. The suites hostile-… of test/slow take
 * many more inputs.
 */

let directory: string;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'plumbline-hostile-'));
});
afterAll(() => rm(directory, { recursive: true }));

test.each([
  ['answers of endpoints', () => runHostile(60, endpointScene)],
  ['trie logs', () => runHostile(100, trieLogScene)],
  ['answers of linea_getProof', () => runHostile(200, proofScene)],
  ['state traces', () => runHostile(60, traceScene)],
  ['files for plumbline verify', () => runHostile(100, () => verifyScene(directory))],
  ['genesis files', () => runHostile(30, genesisScene)],
  ['network profiles', () => runHostile(30, () => profileScene(directory))],
  ['exported devnets', () => runHostile(30, chainFileScene)],
  ['records in the store of a devnet', () => runHostile(30, devnetStoreScene)],
  ['records in the store of a light node', () => runHostile(30, lightStoreScene)],
  ['messages of the service worker', () => runHostile(20, proxyScene)],
] as const)('damaged %s', (_, run) => run());
