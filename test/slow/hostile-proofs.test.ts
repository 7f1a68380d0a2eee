import { describe, expect, test } from 'vitest';
import { covered, playChain, refusedDamage } from '../differential/zk-play.js';
import { zkFormat } from '../reference/zk-hash.js';
import { ANSWERS } from '../support/proof-fixtures.js';

/* Slow because of its many chains beside a twin in bigint: some minutes. test/differential/zk-proofs.test.ts is the short form. */
const FIRST_SEED = Number(process.env.PLUMBLINE_SEED ?? 1);
const COUNT = Number(process.env.PLUMBLINE_COUNT ?? 20);

describe.each(['mimc', 'poseidon2'] as const)('%s', (scheme) => {
  test.each(['shanghai', 'prague'] as const)('roots and proofs of many random chains, %s', async (fork) => {
    const count = covered();
    for (let seed = FIRST_SEED; seed < FIRST_SEED + COUNT; seed++) {
      // It remembers digests; a new one for each chain bounds that.
      const format = zkFormat(scheme);
      await playChain(scheme, format, fork, seed, { blocks: 12, proofsPerBlock: 5 }, count).catch((error: Error) => {
        throw new Error(`PLUMBLINE_SEED=${seed} PLUMBLINE_COUNT=1, ${fork}: ${error.message}`, { cause: error });
      });
    }
    console.log(scheme, fork, JSON.stringify(count));
    expect(count.proofs).toBe(65 * COUNT);
    if (process.env.PLUMBLINE_COUNT !== undefined) return;
    // What the chains are there for has happened.
    expect(fork === 'prague' ? count.delegated : Math.min(count.destroyed, count.recreated)).toBeGreaterThan(50);
  });
});

test.each(ANSWERS)('the twin accepts %s, and refuses it with a bit flipped in any field', (name) => {
  expect(refusedDamage(name, 1)).toBeGreaterThan(80);
});
