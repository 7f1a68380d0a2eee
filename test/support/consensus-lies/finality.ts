import type { ConsensusLie } from '../consensus-liar.js';
import { liesAt } from '../consensus-liar.js';
import type { Stage } from '../consensus-stage.js';
import { type Forgery, firstBits, forgedFinality } from '../forged-beacon.js';
import { edited, type Json, nulled, said } from '../lie-edits.js';
import { EXECUTION } from './places.js';
import { signedLies } from './signed.js';

const ofWhole = (
  name: string,
  refused: RegExp,
  tell: (update: Json, stage: Stage) => Json | Promise<Json>,
): ConsensusLie => ({ name: `finality: ${name}`, on: 'finality', refused, tell });

const newestUpdate = async ({ beacon, firstPeriod }: Stage) =>
  (await beacon(`/eth/v1/beacon/light_client/updates?start_period=${firstPeriod + 3}&count=1`))[0];

/** Slot of the trusted block. */
const trustedSlot = async ({ beacon, checkpoints }: Stage) =>
  Number((await beacon(`/eth/v1/beacon/headers/${checkpoints.recent}`)).data.header.message.slot);

/** The newest update of an invented chain. @param ahead - slots from the trusted block to the one that it names as final */
const forged = (name: string, refused: RegExp, forgery: (slot: number) => Partial<Forgery>, ahead = 4): ConsensusLie =>
  ofWhole(`of an invented chain, ${name}`, refused, async (_, stage) => {
    const slot = await trustedSlot(stage);
    const layerOne = await stage.dev.l1.request({ method: 'eth_getBlockByNumber', params: ['latest', false] });
    return forgedFinality(layerOne, { finalized: slot + ahead, ...forgery(slot) });
  });

/** Lies about the newest finality. */
export const FINALITY_LIES: readonly ConsensusLie[] = [
  ...signedLies('finality', 'data', EXECUTION, 'recent'),
  ...liesAt('finality', /^PROOF_MALFORMED$/, ['data'], nulled, 'null'),
  ...liesAt('finality', /^PROOF_MALFORMED$/, [''], said([]), 'a list'),
  ...liesAt('finality', /^FORK_UNSUPPORTED$/, ['version'], said('bellatrix'), 'of a fork without execution'),
  ofWhole('attested and finalized header change places', /^SLOT_ORDER$/, (update) => ({
    ...update,
    data: {
      ...update.data,
      attested_header: update.data.finalized_header,
      finalized_header: update.data.attested_header,
    },
  })),
  ofWhole('the attested header names itself as final', /^FINALITY_BRANCH$/, (update) =>
    edited(update, 'data.finalized_header', said(update.data.attested_header)),
  ),
  ofWhole('the signature of another update', /^SIGNATURE$/, async (update, stage) =>
    edited(
      update,
      'data.sync_aggregate.sync_committee_signature',
      said((await newestUpdate(stage)).data.sync_aggregate.sync_committee_signature),
    ),
  ),
  ofWhole('the finalized header of another update', /^FINALITY_BRANCH$/, async (update, stage) =>
    edited(update, 'data.finalized_header', said((await newestUpdate(stage)).data.finalized_header)),
  ),
  forged('signed by 21 of 32', /^PARTICIPATION_LOW$/, () => ({ bits: firstBits(21) })),
  forged('signed by one', /^PARTICIPATION_LOW$/, () => ({ bits: firstBits(1) })),
  forged('signed by 21 of 32, which claims all', /^SIGNATURE$/, () => ({
    bits: firstBits(21),
    claimed: firstBits(32),
  })),
  forged('signed by the committee of the next period', /^SIGNATURE$/, (slot) => ({
    signers: Math.floor(slot / 64) + 1,
  })),
  forged('signed for the genesis of another chain', /^SIGNATURE$/, () => ({
    signedFor: { genesisValidatorsRoot: `0x${'11'.repeat(32)}` },
  })),
  forged('signed for another fork', /^SIGNATURE$/, () => ({
    signedFor: { forks: [{ name: 'fulu', epoch: 0, version: '0x06000000' }] },
  })),
  forged('well signed in a slot to come', /^FROM_THE_FUTURE$/, (slot) => ({ signed: slot + 20 })),
  forged('well signed two periods on', /^FROM_THE_FUTURE$/, (slot) => ({ finalized: slot + 128 })),
  {
    ...forged('well signed, another block of the slot that is final', /^LAYER_ONE_CONTRADICTS$/, () => ({}), 0),
    stops: true,
  },
];
