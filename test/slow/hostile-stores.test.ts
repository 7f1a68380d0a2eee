import { test } from 'vitest';
import { runHostile } from '../support/hostile/run.js';
import { devnetStoreScene, lightStoreScene } from '../support/hostile/store-scenes.js';

/* Slow because each of its 10 000 damaged records is in a database of its own, which a node opens. */

test('a damaged record in the store of a devnet', () => runHostile(10_000, devnetStoreScene));
test('a damaged record in the store of a light node', () => runHostile(10_000, lightStoreScene));
