import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, test } from 'vitest';
import {
  blockFileScene,
  chainFileScene,
  genesisScene,
  hasBlockFiles,
  profileScene,
  verifyScene,
} from '../support/hostile/file-scenes.js';
import { proxyScene } from '../support/hostile/proxy-scene.js';
import { runHostile } from '../support/hostile/run.js';
import { proofScene, traceScene, trieLogScene } from '../support/hostile/state-scenes.js';

/* Slow because of its 100 000 inputs of each kind, or as many as open a node of their own in some minutes. */

let directory: string;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'plumbline-hostile-'));
});
afterAll(() => rm(directory, { recursive: true }));

test('trie logs', () => runHostile(100_000, trieLogScene));
test('answers of linea_getProof', () => runHostile(100_000, proofScene));
test('state traces', () => runHostile(100_000, traceScene));
test('files for plumbline verify', () => runHostile(100_000, () => verifyScene(directory)));
test('genesis files', () => runHostile(100_000, genesisScene));
test('network profiles', () => runHostile(100_000, () => profileScene(directory)));
test('exported devnets', () => runHostile(20_000, chainFileScene));
test.skipIf(!hasBlockFiles)('blocks in RLP', () => runHostile(1000, blockFileScene));
test('messages of the service worker', () => runHostile(5000, proxyScene));
