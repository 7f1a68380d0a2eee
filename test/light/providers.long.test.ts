import { describe, expect, test } from 'vitest';
import { PROVIDER_ROWS, runRow } from '../support/provider-rows.js';

/** All but one of those that limit the rate, which wait for long: the slow suite runs them to the end. */
const LIMITED = PROVIDER_ROWS.filter(({ reads }) => reads.startsWith('the endpoints limit the rate')).slice(1);

describe('providers’ ways to say no (npm run test:slow -- providers prints the table)', () => {
  test.each(PROVIDER_ROWS.map((row) => [`${row.name}: ${row.did}`, row] as const))('%s', async (_, row) => {
    const { requests, reads, isRight } = await runRow(row, !LIMITED.includes(row));
    expect(reads).toBe(row.reads);
    expect(isRight).toEqual(row.most.once === undefined ? { beside: true } : { once: true, beside: true });
    for (const [when, count] of Object.entries(requests))
      expect(count, when).toBeLessThanOrEqual(row.most[when as keyof typeof requests]!);
  });
});
