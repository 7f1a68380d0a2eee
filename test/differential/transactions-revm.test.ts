import { describe, expect, it, onTestFinished } from 'vitest';
import { Anvil, anvilPath } from '../support/anvil.js';
import { compareMined, MINING_OPTIONS } from '../support/programs/mined.js';
import { COMPARED_FORKS, FIRST_SEED } from '../support/programs/seed.js';

/*
 * Signed transactions on one state, one after another, each mined by anvil in a block and run by the library in the same one:
 * the same receipts, and at the end the same accounts. test/slow/programs.test.ts runs 2 000.
 */

const SEQUENCES = 3;
const TRANSACTIONS = 10;

describe.skipIf(anvilPath() === undefined)('mined transactions beside revm', () => {
  it.each(COMPARED_FORKS)('%s', async (hardfork) => {
    const anvil = await Anvil.start(hardfork, MINING_OPTIONS);
    onTestFinished(() => anvil.close());
    let succeeded = 0;
    console.log(`${hardfork}: ${SEQUENCES} sequences from PLUMBLINE_SEED=${FIRST_SEED}`);
    for (let i = 0; i < SEQUENCES; i++) succeeded += await compareMined(anvil, hardfork, FIRST_SEED + i, TRANSACTIONS);
    expect(succeeded).toBeGreaterThan((SEQUENCES * TRANSACTIONS) / 4);
  });
});
