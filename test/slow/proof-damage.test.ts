import { describe, expect, it } from 'vitest';
import { loadHasher } from '../../src/kernel/hasher.js';
import { verifyLineaProof } from '../../src/proof/linea-proof.js';
import { bitFlips, type Json } from '../support/damage.js';
import { fixtureJson } from '../support/fixtures.js';
import { ANSWERS, type AnswerFixture, requestOf } from '../support/proof-fixtures.js';
import { outcome } from '../support/refusal.js';

/* Slow because every byte of the answers is damaged; test/unit/proof-damaged.long.test.ts damages two of each field. */
describe('an answer with any one byte damaged is refused', () => {
  it.each(ANSWERS)('%s', async (name) => {
    const fixture = fixtureJson<AnswerFixture>(`state/getproof/${name}.json`);
    const hasher = await loadHasher(fixture.scheme);
    const judged = () => outcome(() => verifyLineaProof(hasher, requestOf(fixture), fixture.result));
    let damaged = 0;
    for (const place of bitFlips(fixture.result as Json)) {
      if (judged() === 'accepted') expect.fail(`accepted with ${place}`);
      damaged++;
    }
    expect(damaged).toBeGreaterThan(5000);
    expect(judged()).toBe('accepted');
  });
});
