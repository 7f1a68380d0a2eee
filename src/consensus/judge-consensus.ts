import { invalidParameter } from '../errors.js';
import { publicBeaconNetwork } from '../networks/beacon-networks.js';
import { type BeaconNetwork, requireBeaconNetwork } from '../networks/network.js';
import { finish } from '../scheduling/pieces.js';
import { nextTurn } from '../scheduling/turns.js';
import { type LayerOneBlock, layerOneBlock, objectFrom, updatesFrom } from './containers.js';
import {
  type AnyUpdate,
  type ConsensusRefusal,
  initializeLightClientStore,
  type LightClientStore,
  processLightClientUpdates,
} from './rules.js';
import { latestSignatureSlot, slotAtTime, slotsIn } from './slots.js';
import { storeFromBytes, storeToBytes } from './stored.js';

/**
 * Answers of beacon nodes, in the order in which they are applied: JSON, or bytes of SSZ. If you start from a `state`, answers that
 * are not newer are ignored.
 */
export interface ConsensusAnswer {
  /** `updates`: the whole answer, a list. */
  readonly kind: 'updates' | 'finality_update' | 'optimistic_update';
  readonly answer: unknown;
}

export interface ConsensusRequest {
  /** Chain id of layer 1 (1, 11155111, 560048), or a beacon chain of your own. */
  readonly network: number | BeaconNetwork;
  /** Root of a trusted beacon block (32 bytes) with the bootstrap for it, or the `state` of an earlier verdict. The state is believed. */
  readonly from: { readonly root: Uint8Array; readonly bootstrap: unknown } | { readonly state: Uint8Array };
  readonly answers: readonly ConsensusAnswer[];
  /** Unix time in milliseconds. Nothing may be signed more than one slot after it. Default: the time of the clock. */
  readonly now?: number;
  /** How old the trusted block, or the final block of `state`, may be at `now`, ms. Default: 14 days. */
  readonly maxAgeMs?: number;
}

export interface VerifiedConsensus {
  readonly verified: true;
  /** The newest layer-1 block that is proved final. */
  readonly finalized: LayerOneBlock;
  /** How many members of the committee signed each update that was applied, in order. */
  readonly participants: readonly number[];
  /** For the next request: about 51 KB. */
  readonly state: Uint8Array;
}

export type ConsensusVerdict = VerifiedConsensus | ConsensusRefusal;

const MAX_AGE_MS = 14 * 86_400_000;

/** See `verifyConsensusUpdate`. */
export async function judgeConsensus(request: ConsensusRequest): Promise<ConsensusVerdict> {
  const network = typeof request.network === 'number' ? publicBeaconNetwork(request.network) : request.network;
  if (network === undefined) throw invalidParameter('network', 'must be 1, 11155111, 560048 or a beacon chain');
  requireBeaconNetwork(network, 'network');
  const now = request.now ?? Date.now();
  const start = begin(network, request, now);
  if ('verified' in start) return start;
  const currentSlot = latestSignatureSlot(network, now);
  const participants: number[] = [];
  let store = start;
  for (const [i, answer] of request.answers.entries()) {
    const updates = readAnswer(network, answer);
    for (let at = 0; at < updates.length; ) {
      const result = await finish(processLightClientUpdates(network, store, updates.slice(at), currentSlot), nextTurn);
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
  const verdict = initializeLightClientStore(network, object, { root, currentSlot, maxAgeSlots });
  return verdict.verified ? verdict.store : { ...verdict, at: `from.bootstrap.data.${verdict.at}` };
}

function readAnswer(network: BeaconNetwork, { kind, answer }: ConsensusAnswer): readonly AnyUpdate[] {
  if (kind === 'updates') return updatesFrom(network, answer);
  return [objectFrom(network, kind === 'finality_update' ? 'finalityUpdate' : 'optimisticUpdate', answer)];
}
