import { describe, expect, it } from 'vitest';
import { containersOf } from '../../../src/consensus/containers.js';
import { timeOfSlot } from '../../../src/consensus/slots.js';
import { concatBytes } from '../../../src/primitives/bytes.js';
import { bytesToHex, hexToBytes } from '../../../src/primitives/hex.js';
import { verifyConsensusUpdate } from '../../../src/verify.js';
import { lastSlot, network, scenario, updates } from './scene.js';

const answer = ({ version, json }: { version: string; json?: unknown }) => ({ version, data: json });
const now = timeOfSlot(network, lastSlot) * 1000;
const from = { root: hexToBytes(scenario.trustedBlockRoot), bootstrap: answer(scenario.bootstrap!) };
const KINDS = { finality: 'finality_update', optimistic: 'optimistic_update' } as const;
const answers = scenario.steps.map(({ op, object }) =>
  op === 'update'
    ? { kind: 'updates' as const, answer: [answer(object)] }
    : { kind: KINDS[op as keyof typeof KINDS], answer: answer(object) },
);

describe('verifyConsensusUpdate', () => {
  it('gives the final block of a chain over four forks', async () => {
    const verdict = await verifyConsensusUpdate({ network, from, answers, now });
    const { finalized } = scenario.steps.at(-1)!.strict;
    expect(verdict.verified && bytesToHex(verdict.finalized.blockHash)).toBe(finalized.blockHash);
    expect(verdict.verified && verdict.finalized.number).toBe(Number(finalized.blockNumber));
    expect(verdict.verified && verdict.participants).toEqual(scenario.steps.map(({ strict }) => strict.participants));
  });

  it('goes on from the state of a verdict, and reads SSZ', async () => {
    const first = await verifyConsensusUpdate({ network, from, answers: answers.slice(0, 5), now });
    if (!first.verified) throw new Error(first.reason);
    const { layout, data } = updates[5]!;
    const bytes = containersOf(layout, 32).update.encode(data as never);
    const length = new Uint8Array(8);
    new DataView(length.buffer).setBigUint64(0, BigInt(bytes.length + 4), true);
    const chunk = concatBytes(length, new Uint8Array(4), bytes);
    const request = { network, from: { state: first.state }, now };
    const next = await verifyConsensusUpdate({ ...request, answers: [{ kind: 'updates', answer: chunk }] });
    expect(next.verified && bytesToHex(next.finalized.beaconRoot)).toBe(scenario.steps[5]!.strict.finalized.root);
    const cut = verifyConsensusUpdate({ ...request, answers: [{ kind: 'updates', answer: chunk.slice(0, -600) }] });
    await expect(cut).rejects.toMatchObject({ code: 'PROOF_MALFORMED' });
  });

  it('goes on from a state past answers that are not newer', async () => {
    const whole = await verifyConsensusUpdate({ network, from, answers, now });
    if (!whole.verified) throw new Error(whole.reason);
    for (const known of [0, 1, 5, answers.length]) {
      const first = await verifyConsensusUpdate({ network, from, answers: answers.slice(0, known), now });
      if (!first.verified) throw new Error(first.reason);
      // All of them again, and those that the state has already are passed over.
      const next = await verifyConsensusUpdate({ network, from: { state: first.state }, answers, now });
      expect(next.verified && next.finalized).toEqual(whole.finalized);
      const left = whole.participants.slice(known);
      expect(next.verified && next.participants.slice(next.participants.length - left.length)).toEqual(left);
    }
    // A false answer among them is refused all the same.
    const { state } = (await verifyConsensusUpdate({ network, from, answers: answers.slice(0, 5), now })) as {
      state: Uint8Array;
    };
    const cut = structuredClone(answers) as {
      answer: { data: { sync_aggregate: { sync_committee_signature: string } } }[];
    }[];
    const aggregate = cut[5]!.answer[0]!.data.sync_aggregate;
    const other = cut.find(({ answer }, i) => i < 5 && Array.isArray(answer))!;
    aggregate.sync_committee_signature = other.answer[0]!.data.sync_aggregate.sync_committee_signature;
    expect(await verifyConsensusUpdate({ network, from: { state }, answers: cut as never, now })).toMatchObject({
      verified: false,
      reason: 'SIGNATURE',
    });
  });

  it('says where a check failed', async () => {
    const early = timeOfSlot(network, 100) * 1000;
    expect(await verifyConsensusUpdate({ network, from, answers, now: early })).toEqual({
      verified: false,
      reason: 'FROM_THE_FUTURE',
      at: 'answers[5][0].data.signature_slot',
      message: "slot 105 is after slot 101 of this device's clock",
    });
    const old = await verifyConsensusUpdate({ network, from, answers, now, maxAgeMs: 600_000 });
    expect(old).toMatchObject({
      verified: false,
      reason: 'CHECKPOINT_TOO_OLD',
      at: 'from.bootstrap.data.header.beacon.slot',
    });
    const wrong = await verifyConsensusUpdate({ network, from: { ...from, root: new Uint8Array(32) }, answers, now });
    expect(wrong).toMatchObject({ verified: false, reason: 'ROOT_MISMATCH' });
    const { state } = (await verifyConsensusUpdate({ network, from, answers: [], now })) as { state: Uint8Array };
    const later = await verifyConsensusUpdate({ network, from: { state }, answers, now: now + 20 * 86_400_000 });
    expect(later).toMatchObject({ verified: false, reason: 'CHECKPOINT_TOO_OLD', at: 'from.state' });
  });

  it('knows three networks by the chain id', async () => {
    const unknown = verifyConsensusUpdate({ network: 5, from, answers, now });
    await expect(unknown).rejects.toThrow('network: must be 1, 11155111, 560048 or a beacon chain');
  });
});
