import { describe, expect, it } from 'vitest';
import { checksOf } from '../../demo/proofs/checks.js';
import type { LineaProofJson } from '../../src/accumulator/proof-shape.js';
import { isPlumblineError } from '../../src/errors.js';
import { verifyLineaProof } from '../../src/proof/linea-proof.js';
import { bitFlips, type Json, shapeEdits } from '../support/damage.js';
import { fixtureJson } from '../support/fixtures.js';
import { ANSWERS, type AnswerFixture, rememberingHasher, requestOf } from '../support/proof-fixtures.js';

/** The checks the demo shows for an answer; undefined where the answer cannot be read at all. */
function shown(fixture: AnswerFixture) {
  try {
    const verdict = verifyLineaProof(rememberingHasher(fixture.scheme), requestOf(fixture), fixture.result);
    return { verdict, checks: checksOf(verdict, fixture.result as LineaProofJson) };
  } catch (error) {
    if (isPlumblineError(error, 'PROOF_MALFORMED')) return undefined;
    throw error;
  }
}

describe('the checks that the demo lists', () => {
  it.each(ANSWERS)('%s: all hold', (name) => {
    const { verdict, checks } = shown(fixtureJson<AnswerFixture>(`state/getproof/${name}.json`))!;
    expect(verdict.verified).toBe(true);
    expect(checks.length).toBeGreaterThan(6);
    expect(new Set(checks.map(({ state }) => state))).toEqual(new Set(['passed']));
  });

  it.each(ANSWERS)('%s, damaged: each refusal is the failure of one check, and none after it was reached', (name) => {
    const fixture = fixtureJson<AnswerFixture>(`state/getproof/${name}.json`);
    const damages = [bitFlips(fixture.result as Json, 3), shapeEdits(fixture.result as Json)];
    const failed = new Set<string>();
    for (const damage of damages) {
      for (const place of damage) {
        const outcome = shown(fixture);
        if (outcome === undefined) continue;
        expect(outcome.verdict.verified, place).toBe(false);
        const states = outcome.checks.map(({ state }) => state);
        expect(
          states.filter((state) => state === 'failed'),
          place,
        ).toHaveLength(1);
        expect(states.slice(states.indexOf('failed') + 1), place).not.toContain('passed');
        failed.add(outcome.checks.find(({ state }) => state === 'failed')!.name);
      }
    }
    expect([...failed]).toEqual(expect.arrayContaining(['root', 'path', 'key']));
  });
  it.each(['mimc', 'poseidon2'] as const)(
    'answers forged with care, %s: each kind of check is the one that fails',
    (scheme) => {
      type Case = AnswerFixture & { readonly name: string; readonly expect: 'accept' | 'reject' };
      const { cases } = fixtureJson<{ cases: Case[] }>(`state/adversarial-${scheme}.json`);
      const failed = new Set<string>();
      for (const fixture of cases) {
        const outcome = shown(fixture);
        const failures = outcome?.checks.filter(({ state }) => state === 'failed') ?? [];
        if (outcome === undefined) continue;
        expect(failures.length, fixture.name).toBe(outcome.verdict.verified ? 0 : 1);
        expect(outcome.verdict.verified, fixture.name).toBe(fixture.expect === 'accept');
        for (const { name } of failures) failed.add(name);
      }
      const kinds = ['count', 'key', 'neighbours', 'order', 'owner', 'path', 'position', 'root', 'value'];
      expect([...failed]).toEqual(expect.arrayContaining(kinds));
    },
  );
});
