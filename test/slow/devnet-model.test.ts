import { expect, test } from 'vitest';
import { playDevnet } from '../differential/devnet-model.js';
import { zkFormat } from '../reference/zk-hash.js';
import { anvilPath } from '../support/anvil.js';

/* Ten sequences of 150 steps, beside anvil and the twin of the zk state: minutes. One of 60 is in test/differential. */

if (anvilPath() === undefined)
  console.warn(`no devnet was compared with anvil: there is none for ${process.platform} ${process.arch}`);

const FIRST_SEED = Number(process.env.PLUMBLINE_SEED ?? 101);
const COUNT = Number(process.env.PLUMBLINE_COUNT ?? 10);
const format = zkFormat('poseidon2');

test.skipIf(anvilPath() === undefined).each(Array.from({ length: COUNT }, (_, i) => FIRST_SEED + i))(
  'a random sequence of steps leaves a devnet as it leaves anvil (seed %i)',
  async (seed) => {
    const steps = await playDevnet(seed, 150, format).catch((error: Error) => {
      throw new Error(`PLUMBLINE_SEED=${seed} PLUMBLINE_COUNT=1: ${error.message}`, { cause: error });
    });
    console.log(seed, JSON.stringify(steps));
    expect(Object.keys(steps).length).toBeGreaterThan(8);
  },
  900_000,
);
