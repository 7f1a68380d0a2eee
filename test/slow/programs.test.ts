import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { Anvil, anvilPath } from '../support/anvil.js';
import { compareWithEthereumjs } from '../support/programs/compare-ethereumjs.js';
import { compareWithRevm, type Ends, programs } from '../support/programs/compare-revm.js';
import { compareAtEveryLimit } from '../support/programs/gas-limits.js';
import { compareMined, MINING_OPTIONS } from '../support/programs/mined.js';
import { COMPARED_FORKS, FIRST_SEED, scenarios } from '../support/programs/seed.js';
import { THEMES } from '../support/programs/statements.js';

/* Slow because of 10 000 programs under each fork, beside two other engines: half an hour. */

const PROGRAMS = 10_000;
/** 2 000 transactions under all forks together. */
const SEQUENCES = 17;
const TRANSACTIONS = 20;

describe.each(COMPARED_FORKS)('many programs under %s', (hardfork) => {
  it('run as with @ethereumjs/vm', async () => {
    const ends = await compareWithEthereumjs(scenarios(hardfork, PROGRAMS));
    if (programs(ends) >= PROGRAMS) expect(ends.size).toBeGreaterThan(5);
  });

  describe.skipIf(anvilPath() === undefined)('beside revm', () => {
    let anvil: Anvil;
    beforeAll(async () => {
      anvil = await Anvil.start(hardfork);
    });
    afterAll(() => anvil.close());

    it('run alike', async () => {
      const ends: Ends = new Map();
      const options = { authoritiesExist: true, pointEvaluation: true };
      await compareWithRevm(anvil, scenarios(hardfork, PROGRAMS, options), ends);
      expect(ends.get('success') ?? 0).toBeGreaterThan(programs(ends) / 3);
    });

    it('mined transactions come to the same', async () => {
      const mining = await Anvil.start(hardfork, MINING_OPTIONS);
      onTestFinished(() => mining.close());
      let succeeded = 0;
      for (let i = 0; i < SEQUENCES; i++) {
        succeeded += await compareMined(mining, hardfork, FIRST_SEED + i, TRANSACTIONS);
      }
      expect(succeeded).toBeGreaterThan((SEQUENCES * TRANSACTIONS) / 4);
    });

    it.each(Object.keys(THEMES))('run alike with too little gas for each instruction: %s', async (theme) => {
      await compareAtEveryLimit(anvil, scenarios(hardfork, 20, { theme, authoritiesExist: true }), 300);
    });
  });
});
