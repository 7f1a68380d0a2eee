import { PlumblineError } from '../errors.js';
import type { Pieces } from '../scheduling/pieces.js';
import type { BeaconNetwork } from './networks/beacon-network.js';
import type { ConsensusRefusal } from './rules/refusal.js';
import type { LightClientStore } from './rules/store.js';
import { type PreparedUpdate, prepareUpdate } from './rules/update.js';
import type { AnyUpdate } from './rules/update-facts.js';
import { firstFalseClaim, type SignatureFailure } from './signatures/verify-signatures.js';

export interface Advance {
  /** The store to go on with, also after a refusal. */
  readonly store: LightClientStore;
  /** The updates that were applied, from the first on: how many members signed, and the attested slot. */
  readonly applied: readonly { readonly participants: number; readonly attested: number }[];
  /** Why the update after those was refused. */
  readonly refused?: ConsensusRefusal | undefined;
}

/**
 * Verifies updates of any kind and applies them in order; their signatures are verified together. It stops at the first
 * that is refused, and before one that cannot be read, unless that is the first: ask again with the rest.
 *
 * @param currentSlot - by the clock, with the skew that is allowed
 * @throws PlumblineError `LAYER_ONE_CONTRADICTS` for a store with a contradiction; `FORK_UNSUPPORTED`; `PROOF_MALFORMED`
 * @source docs/spec/consensus.md 7
 */
export function* advance(
  network: BeaconNetwork,
  store: LightClientStore,
  updates: readonly AnyUpdate[],
  currentSlot: number,
): Pieces<Advance> {
  requireConsistent(store);
  const prepared: PreparedUpdate[] = [];
  /** The store before each prepared update, and after the last. */
  const stores = [store];
  let refused: ConsensusRefusal | undefined;
  for (const update of updates) {
    const step = prepareOrStop(network, stores.at(-1)!, update, currentSlot, prepared.length === 0);
    yield;
    if (step === undefined) break;
    if ('verified' in step) {
      refused = step;
      break;
    }
    prepared.push(step);
    if ('verified' in step.outcome) {
      refused = step.outcome;
      break;
    }
    stores.push(step.outcome);
  }
  const failed = yield* firstFalseClaim(prepared.map(({ claim }) => claim));
  if (failed !== undefined) {
    const refusal = prepared[failed.index]!.otherwise ?? refusalOf(failed.failure);
    return { store: stores[failed.index]!, applied: prepared.slice(0, failed.index), refused: refusal };
  }
  const last = prepared.at(-1);
  const end = stores.at(-1)!;
  const applied = prepared.slice(0, stores.length - 1);
  const reason = last?.outcome === refused ? refused?.reason : undefined;
  if (reason !== 'EQUIVOCATION' && reason !== 'NEXT_COMMITTEE_DIFFERS') return { store: end, applied, refused };
  return { store: { ...end, contradiction: { reason, slot: last!.attested } }, applied, refused };
}

/** @returns undefined for an update that cannot be read; @param isFirst - then what was thrown is thrown on */
function prepareOrStop(
  network: BeaconNetwork,
  store: LightClientStore,
  update: AnyUpdate,
  currentSlot: number,
  isFirst: boolean,
): PreparedUpdate | ConsensusRefusal | undefined {
  try {
    return prepareUpdate(network, store, update, currentSlot);
  } catch (error) {
    if (isFirst) throw error;
    return undefined;
  }
}

const MESSAGES: { readonly [F in SignatureFailure]: string } = {
  COMMITTEE_KEY: 'a key of the committee is not a point of the curve',
  SIGNATURE_POINT: 'is not a point of the group of signatures',
  SIGNATURE: 'is not the signature of those members under the header',
};

function refusalOf(reason: SignatureFailure): ConsensusRefusal {
  return { verified: false, reason, at: 'sync_aggregate.sync_committee_signature', message: MESSAGES[reason] };
}

/** @throws PlumblineError `LAYER_ONE_CONTRADICTS` for a store with a contradiction: nothing may rest on it */
export function requireConsistent({ contradiction }: LightClientStore): void {
  if (contradiction === undefined) return;
  const { reason, slot } = contradiction;
  const message = `layer 1 contradicts itself at slot ${slot} (${reason}): begin again from a block root that you trust`;
  throw new PlumblineError('LAYER_ONE_CONTRADICTS', message, { reason, slot });
}
