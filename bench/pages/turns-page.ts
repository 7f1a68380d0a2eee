/** A devnet in the package's own worker, on which bench/turns.ts measures. */
import { createNode, devnet } from '../../src/index.js';
import { measureTurns, type TurnsResult, turnsOptions } from './turns-measure.js';

declare global {
  var turns: TurnsResult[] | undefined;
}

// Served beside the worker of the package; see bench/page-site.ts.
globalThis.turns = await measureTurns(await createNode(turnsOptions(devnet())));
