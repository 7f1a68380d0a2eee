import { describe, expect, it } from 'vitest';
import { hashWord } from '../../src/accumulator/keys.js';
import { bytesToHex } from '../../src/primitives/hex.js';
import { verifyLineaProof } from '../../src/proof/linea-proof.js';
import { bitFlips, type Json, shapeEdits } from '../support/damage.js';
import { fixtureJson, hasFixture } from '../support/fixtures.js';
import { ANSWERS, type AnswerFixture, rememberingHasher, requestOf } from '../support/proof-fixtures.js';
import { outcome } from '../support/refusal.js';

function outcomeOf(fixture: AnswerFixture): string {
  return outcome(() => verifyLineaProof(rememberingHasher(fixture.scheme), requestOf(fixture), fixture.result));
}

describe('an answer, damaged in one place, is refused', () => {
  describe.each(ANSWERS)('%s', (name) => {
    const load = () => fixtureJson<AnswerFixture>(`state/getproof/${name}.json`);

    it('one bit of any hex field', () => {
      const fixture = load();
      const reasons = new Set<string>();
      let damaged = 0;
      for (const place of bitFlips(fixture.result as Json, 2)) {
        const reason = outcomeOf(fixture);
        expect(reason, place).not.toBe('accepted');
        reasons.add(reason);
        damaged++;
      }
      expect(damaged).toBeGreaterThan(80);
      expect([...reasons]).toEqual(expect.arrayContaining(['KEY_MISMATCH', 'PATH_MISMATCH', 'ROOT_MISMATCH']));
      expect(outcomeOf(fixture)).toBe('accepted');
    });

    it('one number, list, field or type', () => {
      const fixture = load();
      for (const place of shapeEdits(fixture.result as Json)) expect(outcomeOf(fixture), place).not.toBe('accepted');
      expect(outcomeOf(fixture)).toBe('accepted');
    });

    it('what was asked: another address, slot, root', () => {
      const fixture = load();
      const { result, scheme, ...request } = fixture;
      const asked: Json = { address: request.address, storageKeys: request.storageKeys, stateRoot: request.stateRoot };
      for (const place of bitFlips(asked)) {
        expect(outcomeOf({ ...(asked as unknown as AnswerFixture), scheme, result }), place).not.toBe('accepted');
      }
    });
  });
});

describe.skipIf(!hasFixture('state/getproof/mimc-contract-three-slots.json'))('slots that share their way up', () => {
  const load = () => fixtureJson<AnswerFixture>('state/getproof/mimc-contract-three-slots.json');
  interface Result {
    accountProof: Json;
    storageProofs: Json[];
  }

  it('the same slot asked twice is proven twice, and both are looked at', () => {
    const fixture = load();
    const { accountProof, storageProofs } = fixture.result as Result;
    const [first, second] = [structuredClone(storageProofs[0]!), structuredClone(storageProofs[0]!)];
    const asked = {
      ...fixture,
      storageKeys: [fixture.storageKeys[0]!, fixture.storageKeys[0]!],
      result: { accountProof, storageProofs: [first, second] },
    };
    expect(outcomeOf(asked)).toBe('accepted');
    for (const place of bitFlips(second, 5)) expect(outcomeOf(asked), place).not.toBe('accepted');
    for (const place of bitFlips(first, 2)) expect(outcomeOf(asked), place).not.toBe('accepted');
  });

  it('a leaf at the place of one already shown, forged to fit another value, is refused', () => {
    const fixture = load();
    const { accountProof, storageProofs } = fixture.result as Result;
    const forged = structuredClone(storageProofs[0]!) as { proof: { value: string; proofRelatedNodes: string[] } };
    const value = new Uint8Array(32).fill(1, 31);
    const { proofRelatedNodes: nodes } = forged.proof;
    forged.proof.value = bytesToHex(value);
    const hval = hashWord(rememberingHasher(fixture.scheme), value);
    nodes[41] = `${nodes[41]!.slice(0, -64)}${bytesToHex(hval).slice(2)}`;
    const key = fixture.storageKeys[0]!;
    const asked = (items: unknown[]) => ({
      ...fixture,
      storageKeys: items.map(() => key),
      result: { accountProof, storageProofs: items },
    });
    expect(outcomeOf(asked([storageProofs[0]!, storageProofs[0]!]))).toBe('accepted');
    expect(outcomeOf(asked([forged]))).toBe('PATH_MISMATCH');
    expect(outcomeOf(asked([storageProofs[0]!, forged]))).toBe('PATH_MISMATCH');
  });

  it('they are proven in any order of the request', () => {
    const fixture = load();
    const { accountProof, storageProofs } = fixture.result as Result;
    const reversed = { ...fixture, storageKeys: [...fixture.storageKeys].reverse() };
    expect(outcomeOf(reversed)).toBe('KEY_MISMATCH');
    const result = { accountProof, storageProofs: [...storageProofs].reverse() };
    expect(outcomeOf({ ...reversed, result })).toBe('accepted');
  });
});

describe.skipIf(!hasFixture('state/getproof/mimc-620681-missing-slot.json'))(
  'what is said about a refused answer',
  () => {
    const load = () => {
      const fixture = fixtureJson<AnswerFixture>('state/getproof/mimc-620681-missing-slot.json');
      type Branch = { value: string; proofRelatedNodes: string[] };
      type Result = { accountProof: { proof: Branch }; storageProofs: [{ leftProof: Branch; rightProof: Branch }] };
      return { fixture, result: fixture.result as Result };
    };
    const verify = (fixture: AnswerFixture) =>
      verifyLineaProof(rememberingHasher(fixture.scheme), requestOf(fixture), fixture.result);

    it('a verdict names the place of what does not hold', () => {
      const { fixture, result } = load();
      result.storageProofs[0].rightProof.value = `0x${'00'.repeat(31)}7e`;
      expect(verify(fixture)).toMatchObject({
        verified: false,
        reason: 'VALUE_MISMATCH',
        at: 'storageProofs[0].rightProof.value',
      });
      const { fixture: other, result: nodes } = load();
      nodes.storageProofs[0].leftProof.proofRelatedNodes[37] = `0x${'ff'.repeat(64)}`;
      expect(verify(other)).toMatchObject({
        verified: false,
        reason: 'NOT_CANONICAL',
        at: 'storageProofs[0].leftProof.proofRelatedNodes[37]',
      });
    });

    it('the value of a neighbour has the length that its leaf asks for', () => {
      // The right neighbour is the tail, the left one an account.
      const tail = fixtureJson<AnswerFixture>('state/getproof/poseidon2-missing-account.json');
      const { leftProof, rightProof } = (tail.result as { accountProof: Record<string, { value: string }> })
        .accountProof;
      const [left, right] = [leftProof!.value, rightProof!.value];
      rightProof!.value = `0x${'00'.repeat(192)}`;
      expect(verify(tail)).toMatchObject({ reason: 'VALUE_MISMATCH', at: 'accountProof.rightProof.value' });
      rightProof!.value = right;
      leftProof!.value = `0x${'00'.repeat(32)}`;
      expect(verify(tail)).toMatchObject({ message: 'has 32 bytes, a value of this tree has 192' });
      leftProof!.value = left;
      expect(outcomeOf(tail)).toBe('accepted');
    });

    it('an error names the place of what is malformed', () => {
      const { fixture, result } = load();
      result.storageProofs[0].leftProof.proofRelatedNodes[40] = `0x${'11'.repeat(32)}`;
      expect(() => verify(fixture)).toThrow(
        expect.objectContaining({
          code: 'PROOF_MALFORMED',
          details: expect.objectContaining({ path: 'storageProofs[0].leftProof.proofRelatedNodes[40]' }),
        }),
      );
    });

    it('a verifier of the other scheme finds an answer malformed; a bad request is an error', () => {
      const { fixture } = load();
      expect(outcomeOf({ ...fixture, scheme: 'poseidon2' })).toBe('PROOF_MALFORMED');
      const request = requestOf(fixture);
      const ask = (changed: object) => () =>
        verifyLineaProof(rememberingHasher(fixture.scheme), { ...request, ...changed }, fixture.result);
      const bad = expect.objectContaining({ code: 'INVALID_LENGTH' });
      expect(ask({ address: new Uint8Array(19) })).toThrow(bad);
      expect(ask({ stateRoot: new Uint8Array(31) })).toThrow(bad);
      expect(ask({ storageKeys: [new Uint8Array(33)] })).toThrow(bad);
    });

    it.each([null, undefined, 1, 'proof', [], {}, { accountProof: {} }])('%j is malformed', (answer) => {
      const { fixture } = load();
      expect(outcomeOf({ ...fixture, result: answer })).toBe('PROOF_MALFORMED');
    });
  },
);

describe('forged answers', () => {
  interface Case extends AnswerFixture {
    name: string;
    expect: 'accept' | 'reject';
  }
  /** What the forgery is caught by, where the specification names it. */
  const caughtBy: Record<string, string> = {
    'wrong-state-root': 'ROOT_MISMATCH',
    'stale-root': 'ROOT_MISMATCH',
    'nodes-41': 'PROOF_MALFORMED',
    'index-plus-1': 'PATH_MISMATCH',
    'index-plus-2pow40': 'INDEX_OUT_OF_RANGE',
    'index-negative': 'INDEX_OUT_OF_RANGE',
    'index-string': 'PROOF_MALFORMED',
    'index-fraction': 'PROOF_MALFORMED',
    'value-balance': 'VALUE_MISMATCH',
    'value-storage-root': 'VALUE_MISMATCH',
    'value-short': 'PROOF_MALFORMED',
    'other-account-same-echo': 'KEY_MISMATCH',
    'other-account-honest-echo': 'KEY_MISMATCH',
    'slot-value': 'VALUE_MISMATCH',
    'slot-none': 'SLOT_COUNT_MISMATCH',
    'slot-extra': 'SLOT_COUNT_MISMATCH',
    'slot-of-other-account': 'ROOT_MISMATCH',
    'slot-other-key': 'KEY_MISMATCH',
    'both-shapes': 'PROOF_MALFORMED',
    'no-shape': 'PROOF_MALFORMED',
    'absent-head-tail': 'LINK_BROKEN',
    'absent-skip-self': 'LINK_BROKEN',
    'absent-right-is-self': 'LEAF_ORDER_BROKEN',
    'absent-left-is-self': 'LEAF_ORDER_BROKEN',
    'absent-wrong-gap': 'LEAF_ORDER_BROKEN',
    'absent-mixed-states': 'ROOT_MISMATCH',
    'absent-with-storage': 'SLOT_COUNT_MISMATCH',
    'absent-noncanonical-hkey': 'NOT_CANONICAL',
    'noncanonical-code-hash': 'NOT_CANONICAL',
    'noncanonical-storage-root': 'NOT_CANONICAL',
    'noncanonical-inner-node': 'NOT_CANONICAL',
    'noncanonical-sub-root': 'NOT_CANONICAL',
    'bad-hex': 'PROOF_MALFORMED',
  };

  describe.each(['mimc', 'poseidon2'] as const)('%s', (scheme) => {
    const cases = fixtureJson<{ cases: Case[] }>(`state/adversarial-${scheme}.json`).cases;
    it.each(cases.map((one) => [one.name, one.expect, one] as const))('%s: %s', (name, expected, one) => {
      const reason = outcomeOf(one);
      if (expected === 'accept') expect(reason).toBe('accepted');
      else expect(reason).not.toBe('accepted');
      if (caughtBy[name] !== undefined) expect(reason).toBe(caughtBy[name]);
    });
  });
});
