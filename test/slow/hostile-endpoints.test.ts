import { test } from 'vitest';
import { endpointScene } from '../support/hostile/endpoint-scenes.js';
import { runHostile } from '../support/hostile/run.js';

/* Slow because each of its 10 000 damaged answers goes to a light node of its own. */

test('damaged answers of endpoints', () => runHostile(10_000, endpointScene));
