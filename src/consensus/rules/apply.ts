import { equalBytes } from '../../primitives/bytes.js';
import { judge } from '../../proof/verdict.js';
import { beaconBlockHeader } from '../containers/headers.js';
import { type BeaconNetwork, periodAt } from '../networks/beacon-network.js';
import { type ConsensusRefusal, type ConsensusRefusalReason, checkKeys, refuseUnless } from './refusal.js';
import type { LightClientStore } from './store.js';
import type { UpdateFacts } from './update-facts.js';

/** The store after an update whose signature holds, or a refusal by the checks behind the signature. */
export function applyUpdate(
  network: BeaconNetwork,
  store: LightClientStore,
  facts: UpdateFacts,
): LightClientStore | ConsensusRefusal {
  const { finalizedHeader, finalized, nextCommittee } = facts;
  const hasFinality = facts.finalityBranch.length > 0;
  const hasCommittee = facts.nextCommitteeBranch.length > 0;
  return judge<LightClientStore, ConsensusRefusalReason>(() => {
    if (hasCommittee) checkKeys(nextCommittee!, 'next_sync_committee');
    const known = Number(store.finalized.beacon.slot);
    if (hasFinality && finalized === known) {
      const [root, other] = [store.finalized, finalizedHeader!].map(({ beacon }) =>
        beaconBlockHeader.hashTreeRoot(beacon),
      );
      const message = `another header of slot ${known} is final already`;
      refuseUnless(equalBytes(root!, other!), 'EQUIVOCATION', 'finalized_header.beacon', message);
    }
    const attestedIsNewer = facts.attestedHeader.beacon.slot > store.optimistic.beacon.slot;
    const optimistic = attestedIsNewer ? facts.attestedHeader : store.optimistic;
    const isNewer = hasFinality && finalized > known;
    const gives =
      store.next === undefined && hasCommittee && hasFinality && facts.finalizedPeriod === facts.attestedPeriod;
    if (!isNewer && !gives) return { ...store, optimistic };

    const period = periodAt(network, known);
    const rotates = facts.finalizedPeriod === period + 1;
    const fits = facts.finalizedPeriod === period || (rotates && store.next !== undefined);
    const message = `period ${facts.finalizedPeriod} is final, but the committee of period ${period + 1} is not known`;
    refuseUnless(fits, 'PERIOD_SKIPPED', 'finalized_header.beacon.slot', message);
    // A header is signed by a known committee, so the attested one is of the same period here as the finalized one.
    const given = hasCommittee ? nextCommittee : undefined;
    const next = store.next === undefined || rotates ? given : store.next;
    const header = isNewer ? finalizedHeader! : store.finalized;
    return {
      finalized: header,
      optimistic: optimistic.beacon.slot < header.beacon.slot ? header : optimistic,
      current: rotates ? store.next! : store.current,
      next,
    };
  });
}
