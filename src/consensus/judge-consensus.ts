import { invalidParameter } from '../errors.js';
import { finish } from '../scheduling/pieces.js';
import { nextTurn } from '../scheduling/turns.js';
import { advance } from './advance.js';
import type { ConsensusAnswer, ConsensusRequest, ConsensusVerdict } from './consensus-request.js';
import { objectFrom, updatesFrom } from './containers/objects.js';
import { layerOneBlock } from './layer-one-block.js';
import { type BeaconNetwork, latestSignatureSlot, slotAtTime, slotsIn } from './networks/beacon-network.js';
import { BEACON_NETWORKS } from './networks/public-networks.js';
import { verifyBootstrap } from './rules/bootstrap.js';
import type { ConsensusRefusal } from './rules/refusal.js';
import type { LightClientStore } from './rules/store.js';
import type { AnyUpdate } from './rules/update-facts.js';
import { storeFromBytes, storeToBytes } from './stored.js';

const MAX_AGE_MS = 14 * 86_400_000;

/** See `verifyConsensusUpdate`. */
export async function judgeConsensus(request: ConsensusRequest): Promise<ConsensusVerdict> {
  const network = typeof request.network === 'number' ? BEACON_NETWORKS.get(request.network) : request.network;
  if (network === undefined) throw invalidParameter('network', 'must be 1, 11155111, 560048 or a beacon chain');
  const now = request.now ?? Date.now();
  const start = begin(network, request, now);
  if ('verified' in start) return start;
  const currentSlot = latestSignatureSlot(network, now);
  const participants: number[] = [];
  let store = start;
  for (const [i, answer] of request.answers.entries()) {
    const updates = readAnswer(network, answer);
    for (let at = 0; at < updates.length; ) {
      const result = await finish(advance(network, store, updates.slice(at), currentSlot), nextTurn);
      store = result.store;
      at += result.applied.length;
      participants.push(...result.applied.map((update) => update.participants));
      // A caller that goes on from a state cannot know what is newer than that.
      if (result.refused?.reason === 'NOT_RELEVANT' && 'state' in request.from) {
        at++;
        continue;
      }
      const place = answer.kind === 'updates' ? `answers[${i}][${at}]` : `answers[${i}]`;
      if (result.refused !== undefined) return { ...result.refused, at: `${place}.data.${result.refused.at}` };
    }
  }
  const finalized = layerOneBlock(network, store.finalized);
  return { verified: true, finalized, participants, state: storeToBytes(network, store) };
}

function begin(
  network: BeaconNetwork,
  { from, maxAgeMs = MAX_AGE_MS }: ConsensusRequest,
  now: number,
): LightClientStore | ConsensusRefusal {
  const currentSlot = slotAtTime(network, now);
  const maxAgeSlots = slotsIn(network, maxAgeMs);
  if ('state' in from) {
    const store = storeFromBytes(network, from.state);
    const age = currentSlot - Number(store.finalized.beacon.slot);
    if (age <= maxAgeSlots) return store;
    const message = `its final block is ${age} slots old, ${maxAgeSlots} are allowed`;
    return { verified: false, reason: 'CHECKPOINT_TOO_OLD', at: 'from.state', message };
  }
  const { root, bootstrap } = from;
  const object = objectFrom(network, 'bootstrap', bootstrap);
  const verdict = verifyBootstrap(network, object, { root, currentSlot, maxAgeSlots });
  return verdict.verified ? verdict.store : { ...verdict, at: `from.bootstrap.data.${verdict.at}` };
}

function readAnswer(network: BeaconNetwork, { kind, answer }: ConsensusAnswer): readonly AnyUpdate[] {
  if (kind === 'updates') return updatesFrom(network, answer);
  return [objectFrom(network, kind === 'finality_update' ? 'finalityUpdate' : 'optimisticUpdate', answer)];
}
