import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Anvil, anvilPath } from '../support/anvil.js';
import { compareWithEthereumjs } from '../support/programs/compare-ethereumjs.js';
import { compareWithRevm, type Ends, programs } from '../support/programs/compare-revm.js';
import { compareAtEveryLimit } from '../support/programs/gas-limits.js';
import { COMPARED_FORKS, scenarios } from '../support/programs/seed.js';

/*
 * Random programs in transactions, beside @ethereumjs/vm and beside revm (anvil): the same outcome, gas, refund, return data,
 * logs and state, and with the first also the same exception and warm sets. `PLUMBLINE_SEED` and `PLUMBLINE_COUNT` choose
 * others; a failure names its seed. test/slow/programs.test.ts runs many more.
 */

const PROGRAMS = 150;
const BESIDE_ETHEREUMJS = 60;

if (anvilPath() === undefined)
  console.warn('NOTICE: left out: there is no anvil for this system, so no revm to compare with');

describe.each(COMPARED_FORKS)('programs under %s', (hardfork) => {
  it('run as with @ethereumjs/vm', async () => {
    const ends = await compareWithEthereumjs(scenarios(hardfork, BESIDE_ETHEREUMJS));
    if (programs(ends) >= BESIDE_ETHEREUMJS) expect(ends.size).toBeGreaterThan(3);
  });

  describe.skipIf(anvilPath() === undefined)('beside revm', () => {
    let anvil: Anvil;
    beforeAll(async () => {
      anvil = await Anvil.start(hardfork);
    });
    afterAll(() => anvil.close());

    it('run alike', async () => {
      const ends: Ends = new Map();
      await compareWithRevm(anvil, scenarios(hardfork, PROGRAMS, { authoritiesExist: true }), ends);
      if (programs(ends) < PROGRAMS) return;
      // A differential test of nothing but failures would show little.
      expect(ends.get('success') ?? 0).toBeGreaterThan(programs(ends) / 3);
      expect(ends.get('revert') ?? 0).toBeGreaterThan(0);
      expect(ends.get('halt') ?? 0).toBeGreaterThan(0);
    });

    it('run alike with too little gas for each instruction', async () => {
      await compareAtEveryLimit(anvil, scenarios(hardfork, 4, { authoritiesExist: true }), 60);
    });
  });
});
