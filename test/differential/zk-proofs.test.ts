import { describe, expect, test } from 'vitest';
import { zkFormat } from '../reference/zk-hash.js';
import { ANSWERS } from '../support/proof-fixtures.js';
import { covered, playChain, refusedDamage } from './zk-play.js';

/*
 * Random blocks on a devnet, through JSON-RPC; roots and proofs beside a twin that shares no code with the library. A failure
 * is repeated by `PLUMBLINE_SEED=N PLUMBLINE_COUNT=1`; test/slow/hostile-proofs.test.ts runs many more.
 */
const FIRST_SEED = Number(process.env.PLUMBLINE_SEED ?? 1);
const COUNT = Number(process.env.PLUMBLINE_COUNT ?? 1);

/**
 * The twelve blocks of seed 1 under Shanghai have one in which a contract with slots is destroyed and made again without any:
 * a devnet could not seal that block. MiMC in bigint takes ten times as long.
 */
describe.each([
  ['mimc', 4],
  ['poseidon2', 12],
] as const)('%s', (scheme, blocks) => {
  test.each(['shanghai', 'prague'] as const)('roots and proofs of random blocks, %s', async (fork) => {
    const format = zkFormat(scheme);
    const count = covered();
    for (let seed = FIRST_SEED; seed < FIRST_SEED + COUNT; seed++) {
      await playChain(scheme, format, fork, seed, { blocks, proofsPerBlock: 3 }, count).catch((error: Error) => {
        throw new Error(`PLUMBLINE_SEED=${seed} PLUMBLINE_COUNT=1, ${fork}: ${error.message}`, { cause: error });
      });
    }
    console.log(scheme, fork, JSON.stringify(count));
    expect(count.proofs).toBe(3 * (blocks + 1) * COUNT);
  });
});

test.each(ANSWERS)('the twin accepts %s, and refuses it with a bit flipped', (name) => {
  expect(refusedDamage(name, 20)).toBeGreaterThan(4);
});
