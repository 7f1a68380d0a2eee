import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type ConsensusLie, tryLie } from '../support/consensus-liar.js';
import { BOOTSTRAP_LIES } from '../support/consensus-lies/bootstrap.js';
import { EXECUTION_LIES } from '../support/consensus-lies/execution.js';
import { FINALITY_LIES } from '../support/consensus-lies/finality.js';
import { RING_LIES, SETTLED_LIES } from '../support/consensus-lies/ring.js';
import { UPDATE_LIES } from '../support/consensus-lies/updates.js';
import { openConsensusStage, type Stage } from '../support/consensus-stage.js';

const LIES: Record<string, readonly ConsensusLie[]> = {
  'the trusted block': BOOTSTRAP_LIES,
  'updates of periods': UPDATE_LIES,
  'the newest finality': FINALITY_LIES,
  'the rollup contract on layer 1': EXECUTION_LIES,
  'the ring of hashes in the zk state': RING_LIES,
  'the header of a settled block': SETTLED_LIES,
};
let stage: Stage;
/** What was told, and the lie that told it. */
const told = new Map<string, string>();
const sameAs: string[] = [];

beforeAll(async () => {
  stage = await openConsensusStage();
});
afterAll(() => stage.close());

describe.each(Object.entries(LIES))('lies about %s are not believed, alone or beside an honest endpoint', (_, lies) => {
  test.each(lies.map((lie) => [lie.name, lie] as const))('%s', async (_, lie) => {
    const tried = await tryLie(stage, lie);
    expect(tried.faults).toEqual([]);
    const key = `${lie.on} ${tried.told}`;
    const same = told.get(key);
    if (same !== undefined) sameAs.push(`${lie.name} is ${same}`);
    told.set(key, lie.name);
  });
});

test('the lies are many, and no two are the same', () => {
  expect(sameAs).toEqual([]);
  expect(told.size).toBe(Object.values(LIES).flat().length);
  expect(told.size).toBeGreaterThanOrEqual(300);
});
