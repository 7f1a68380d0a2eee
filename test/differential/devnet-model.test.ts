import { expect, test } from 'vitest';
import { zkFormat } from '../reference/zk-hash.js';
import { anvilPath } from '../support/anvil.js';
import { playDevnet } from './devnet-model.js';

if (anvilPath() === undefined)
  console.warn(`no devnet was compared with anvil: there is none for ${process.platform} ${process.arch}`);

/** `PLUMBLINE_SEED=N` repeats a sequence; test/slow/devnet-model.test.ts runs ten. */
const SEED = Number(process.env.PLUMBLINE_SEED ?? 1);

test.skipIf(anvilPath() === undefined)(
  'a random sequence of steps leaves a devnet as it leaves anvil, with the zk roots of the twin',
  async () => {
    const steps = await playDevnet(SEED, 60, zkFormat('poseidon2')).catch((error: Error) => {
      throw new Error(`PLUMBLINE_SEED=${SEED}: ${error.message}`, { cause: error });
    });
    console.log(JSON.stringify(steps));
    expect(Object.keys(steps).length).toBeGreaterThan(8);
  },
  300_000,
);
