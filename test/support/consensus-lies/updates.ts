import type { ConsensusLie } from '../consensus-liar.js';
import { liesAt } from '../consensus-liar.js';
import type { Stage } from '../consensus-stage.js';
import { type Forgery, firstBits, forgedUpdate } from '../forged-beacon.js';
import { type Edit, edited, type Json, nudged, nulled, removed, said, shortened, zeroed } from '../lie-edits.js';
import { places } from './places.js';
import { signedLies } from './signed.js';

const at = (refused: RegExp, paths: readonly string[], edit: Edit = nudged, label = ''): ConsensusLie[] =>
  liesAt('updates', refused, paths, edit, label).map((lie) => ({ ...lie, from: 'old' }));

const next = '0.data.next_sync_committee';

/** A lie about the whole list of updates. */
const ofList = (
  name: string,
  refused: RegExp,
  tell: (updates: Json[], stage: Stage) => Json | Promise<Json>,
): ConsensusLie => ({ name: `updates: ${name}`, on: 'updates', from: 'old', refused, tell });

/** A lie about the update of the second period, when that of the first is believed already. */
const ofLater = (name: string, refused: RegExp, path: string, edit: Edit = nudged): ConsensusLie =>
  ofList(`of the second period, ${name}`, refused, (updates, { firstPeriod }) => {
    const second = updates.findIndex(({ data }) => Math.floor(Number(data.signature_slot) / 64) === firstPeriod + 1);
    return edited(updates, `${second}.data.${path}`, (value) => edit(value, updates));
  });

/** All updates that the chain has. */
const allUpdates = ({ beacon, firstPeriod }: Stage) =>
  beacon(`/eth/v1/beacon/light_client/updates?start_period=${firstPeriod}&count=4`);

/** The update of the first period of an invented chain. */
const forged = (name: string, refused: RegExp, forgery: (period: number) => Partial<Forgery>): ConsensusLie =>
  ofList(`of an invented chain, ${name}`, refused, async (_, { firstPeriod, dev }) => {
    const layerOne = await dev.l1.request({ method: 'eth_getBlockByNumber', params: ['0x1', false] });
    const finalized = firstPeriod * 64 + 40;
    return [forgedUpdate(layerOne, { finalized, ...forgery(firstPeriod) })];
  });

/** Lies about the updates of the periods since the trusted block. */
export const UPDATE_LIES: readonly ConsensusLie[] = [
  ...signedLies('updates', '0.data', ['state_root', 'block_number', 'block_hash'], 'old'),
  ...at(/^NEXT_COMMITTEE_BRANCH$/, places(`${next}.pubkeys`, [0, 17, 31])),
  ...at(/^NEXT_COMMITTEE_BRANCH$/, [`${next}.pubkeys`], nudged, 'in another order'),
  ...at(/^NEXT_COMMITTEE_BRANCH$/, [`${next}.aggregate_pubkey`]),
  ...at(/^NEXT_COMMITTEE_BRANCH$/, [next], zeroed, 'all zero'),
  ...at(/^NEXT_COMMITTEE_BRANCH$/, places(`${next}_branch`, [0, 1, 2, 3, 4, 5])),
  ...at(/^NOT_RELEVANT$/, [`${next}_branch`], zeroed, 'all zero'),
  ...at(/^PROOF_MALFORMED$/, [next, `${next}_branch`], removed, 'left out'),
  ...at(/^PROOF_MALFORMED$/, ['0'], nulled, 'null'),
  ...at(/^PROOF_MALFORMED$/, [''], said({}), 'no list'),
  ...at(/^FORK_UNSUPPORTED$/, ['0.version'], said('phase0'), 'of the first fork'),
  ofList('none', /^MISSING$/, () => []),
  ofList('the next committee of another period', /^NEXT_COMMITTEE_BRANCH$/, async (updates, stage) => {
    const other = (await allUpdates(stage))[1].data.next_sync_committee;
    return edited(updates, next, said(other));
  }),
  ofList('the signature of another period', /^SIGNATURE$/, async (updates, stage) => {
    const other = (await allUpdates(stage))[2].data.sync_aggregate.sync_committee_signature;
    return edited(updates, '0.data.sync_aggregate.sync_committee_signature', said(other));
  }),
  ofList('the attested header of another period', /^SLOT_ORDER$/, async (updates, stage) =>
    edited(updates, '0.data.attested_header', said((await allUpdates(stage))[2].data.attested_header)),
  ),
  ofList('the finalized header of another period', /^SLOT_ORDER$/, async (updates, stage) =>
    edited(updates, '0.data.finalized_header', said((await allUpdates(stage))[2].data.finalized_header)),
  ),
  ofList('without the first', /^PERIOD_SKIPPED$/, async (_, stage) => (await allUpdates(stage)).slice(1)),
  ofList('without the second', /^PERIOD_SKIPPED$|^NOT_RELEVANT$/, async (_, stage) => {
    const [first, , ...later] = await allUpdates(stage);
    return [first, ...later];
  }),
  ofList('in the wrong order', /^PERIOD_SKIPPED$/, async (_, stage) => (await allUpdates(stage)).reverse()),
  ofList('those of the newest period alone', /^PERIOD_SKIPPED$/, async (_, stage) =>
    (await allUpdates(stage)).slice(3),
  ),
  ofList('the first again and again', /^NOT_RELEVANT$/, async (_, stage) => {
    const [first] = await allUpdates(stage);
    return [first, first, first];
  }),
  ofList('each twice, the second of two damaged', /^NEXT_COMMITTEE_BRANCH$|^NEXT_COMMITTEE_DIFFERS$/, (updates) =>
    updates.flatMap((update) => [edited(update, 'data.next_sync_committee.pubkeys', nudged), update]),
  ),
  ofLater(
    'the signature of the last',
    /^SIGNATURE$/,
    'sync_aggregate.sync_committee_signature',
    (_, updates) => updates.at(-1).data.sync_aggregate.sync_committee_signature,
  ),
  ofLater('less than two thirds', /^PARTICIPATION_LOW$/, 'sync_aggregate.sync_committee_bits', said('0xff1fff00')),
  ofLater('another layer-1 block', /^FINALIZED_EXECUTION_BRANCH$/, 'finalized_header.execution.block_hash'),
  ofLater('another next committee', /^NEXT_COMMITTEE_BRANCH$/, 'next_sync_committee.pubkeys'),
  ofLater('no next committee', /^NEXT_COMMITTEE_NOT_EMPTY$/, 'next_sync_committee_branch', zeroed),
  ofLater('another layout', /^PROOF_MALFORMED$/, 'next_sync_committee_branch', shortened),
  forged('signed by 21 of 32', /^PARTICIPATION_LOW$/, () => ({ bits: firstBits(21) })),
  forged('signed by 21 of 32, which claims all', /^SIGNATURE$/, () => ({
    bits: firstBits(21),
    claimed: firstBits(32),
  })),
  forged('signed by the committee of another period', /^SIGNATURE$/, (period) => ({ signers: period + 1 })),
  forged('signed for the genesis of another chain', /^SIGNATURE$/, () => ({
    signedFor: { genesisValidatorsRoot: `0x${'11'.repeat(32)}` },
  })),
  forged('signed for another fork', /^SIGNATURE$/, () => ({
    signedFor: { forks: [{ name: 'fulu', epoch: 0, version: '0x06000000' }] },
  })),
  forged('with other committees, signed by the next of them', /^SIGNATURE$/, (period) => ({
    otherCommittees: true,
    signers: Math.floor(period / 2) + 1,
  })),
  {
    ...ofList('two next committees, both well signed', /^LAYER_ONE_CONTRADICTS$/, async (_, stage) => {
      const [first] = await allUpdates(stage);
      const layerOne = await stage.dev.l1.request({ method: 'eth_getBlockByNumber', params: ['0x1', false] });
      const finalized = stage.firstPeriod * 64 + 40;
      return [first, forgedUpdate(layerOne, { finalized, otherCommittees: true })];
    }),
    stops: true,
  },
];
