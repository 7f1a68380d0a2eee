import { type ConsensusLie, liesAt } from '../consensus-liar.js';
import { cut, lengthened, nudged, otherFirst, padded, removed, said, shortened, zeroed } from '../lie-edits.js';
import { BEACON, EXECUTION, places } from './places.js';

const header = 'data.header';
const committee = 'data.current_sync_committee';
const at = (refused: RegExp, paths: readonly string[], edit = nudged, label = '') =>
  liesAt('bootstrap', refused, paths, edit, label);

/** Lies about the trusted block: docs/spec/consensus.md 6 says which check refuses each. */
export const BOOTSTRAP_LIES: readonly ConsensusLie[] = [
  ...at(/^ROOT_MISMATCH$/, places(`${header}.beacon`, BEACON)),
  ...at(/^EXECUTION_BRANCH$/, places(`${header}.execution`, EXECUTION)),
  ...at(/^EXECUTION_BRANCH$/, places(`${header}.execution_branch`, [0, 1, 2, 3])),
  ...at(/^EXECUTION_BRANCH$/, [`${header}.execution`], zeroed, 'all zero'),
  ...at(/^CURRENT_COMMITTEE_BRANCH$/, places(`${committee}.pubkeys`, [0, 17, 31])),
  ...at(/^CURRENT_COMMITTEE_BRANCH$/, [`${committee}.pubkeys`], nudged, 'in another order'),
  ...at(/^CURRENT_COMMITTEE_BRANCH$/, [`${committee}.aggregate_pubkey`], otherFirst),
  ...at(/^CURRENT_COMMITTEE_BRANCH$/, [committee], zeroed, 'all zero'),
  ...at(/^CURRENT_COMMITTEE_BRANCH$/, places(`${committee}_branch`, [0, 1, 2, 3, 4, 5])),
  ...at(/^CURRENT_COMMITTEE_BRANCH$/, [`${committee}_branch`], zeroed, 'all zero'),
  ...at(/^PROOF_MALFORMED$/, [`${committee}_branch`], shortened, 'shorter'),
  ...at(/^PROOF_MALFORMED$/, [`${committee}_branch`], lengthened, 'longer'),
  ...at(/^PROOF_MALFORMED$/, [`${committee}.pubkeys`], shortened, 'with a key less'),
  ...at(/^PROOF_MALFORMED$/, [`${committee}.pubkeys`], lengthened, 'with a key more'),
  ...at(/^PROOF_MALFORMED$/, [`${committee}.pubkeys.0`], cut, 'a byte less'),
  ...at(/^PROOF_MALFORMED$/, [`${header}.beacon.state_root`], padded, 'a byte more'),
  ...at(/^PROOF_MALFORMED$/, [`${header}.beacon.slot`], said('0x1'), 'in hex'),
  ...at(/^PROOF_MALFORMED$/, [`${header}.execution`, committee, 'version', 'data'], removed, 'left out'),
  ...at(/^PROOF_MALFORMED$/, ['version'], said('deneb'), 'of an earlier fork'),
  ...at(/^FORK_UNSUPPORTED$/, ['version'], said('heze'), 'of a later fork'),
  {
    name: 'bootstrap: that of another final block',
    on: 'bootstrap',
    refused: /^ROOT_MISMATCH$/,
    tell: (_, { beacon, checkpoints }) => beacon(`/eth/v1/beacon/light_client/bootstrap/${checkpoints.old}`),
  },
  {
    name: 'bootstrap: the committee of another period',
    on: 'bootstrap',
    refused: /^CURRENT_COMMITTEE_BRANCH$/,
    async tell(answer, { beacon, checkpoints }) {
      const other = await beacon(`/eth/v1/beacon/light_client/bootstrap/${checkpoints.old}`);
      return { ...answer, data: { ...answer.data, current_sync_committee: other.data.current_sync_committee } };
    },
  },
];
