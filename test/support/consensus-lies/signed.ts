import { type ConsensusLie, liesAt } from '../consensus-liar.js';
import { type Edit, nudged, otherFirst, plus, removed, said, zeroed } from '../lie-edits.js';
import { BEACON, places } from './places.js';

const INFINITY = `0xc0${'00'.repeat(95)}`;
/** The point with the other sign: bit 5 of the first byte says which of the two it is. */
const negated: Edit = (hex: string) => `0x${(Number.parseInt(hex.slice(2, 4), 16) ^ 0x20).toString(16)}${hex.slice(4)}`;
/** Not marked as compressed. */
const unmarked: Edit = (hex: string) =>
  `0x${(Number.parseInt(hex.slice(2, 4), 16) & 0x7f).toString(16).padStart(2, '0')}${hex.slice(4)}`;

/**
 * Lies about what updates of periods and finality updates share: docs/spec/consensus.md 7 says which check refuses each.
 *
 * @param data - where the members are: `data`, in a list behind an index
 * @param execution - members of the execution headers
 * @param from - the trusted block
 */
export function signedLies(
  on: 'updates' | 'finality',
  data: string,
  execution: readonly string[],
  from: 'old' | 'recent',
): ConsensusLie[] {
  const at = (refused: RegExp, paths: readonly string[], edit: Edit = nudged, label = '') =>
    liesAt(
      on,
      refused,
      paths.map((path) => `${data}.${path}`),
      edit,
      label,
    ).map((lie) => ({ ...lie, from }));
  const bits = 'sync_aggregate.sync_committee_bits';
  const signature = 'sync_aggregate.sync_committee_signature';
  return [
    ...at(/^ATTESTED_EXECUTION_BRANCH$/, places('attested_header.execution', execution)),
    ...at(/^ATTESTED_EXECUTION_BRANCH$/, places('attested_header.execution_branch', [0, 3])),
    ...at(/^ATTESTED_EXECUTION_BRANCH$/, ['attested_header.beacon.body_root']),
    ...at(/^FINALITY_BRANCH$/, ['attested_header.beacon.state_root']),
    ...at(/^SIGNATURE$/, places('attested_header.beacon', ['proposer_index', 'parent_root'])),
    ...at(/^SLOT_ORDER$/, ['attested_header.beacon.slot']),
    ...at(/^SIGNATURE$/, ['attested_header.beacon.slot'], plus(-1), 'a slot earlier'),
    ...at(/^FINALIZED_EXECUTION_BRANCH$/, places('finalized_header.execution', execution)),
    ...at(/^FINALIZED_EXECUTION_BRANCH$/, places('finalized_header.execution_branch', [0, 1, 2, 3])),
    ...at(/^FINALIZED_EXECUTION_BRANCH$/, ['finalized_header.beacon.body_root']),
    ...at(
      /^FINALITY_BRANCH$/,
      places(
        'finalized_header.beacon',
        BEACON.filter((name) => name !== 'body_root'),
      ),
    ),
    ...at(/^FINALIZED_EXECUTION_BRANCH$/, ['finalized_header.execution'], zeroed, 'all zero'),
    ...at(/^PROOF_MALFORMED$/, ['finalized_header.execution', 'attested_header.execution'], removed, 'left out'),
    ...at(/^FINALITY_BRANCH$/, places('finality_branch', [0, 1, 2, 3, 4, 5, 6])),
    ...at(/^FINALIZED_NOT_EMPTY$/, ['finality_branch'], zeroed, 'all zero'),
    ...at(/^NO_PARTICIPANTS$/, [bits], said('0x00000000'), 'without participants'),
    ...at(/^PARTICIPATION_LOW$/, [bits], said('0xffff1f00'), 'of 21 in 32'),
    ...at(/^SIGNATURE$/, [bits], said('0xffff3f00'), 'of 22 in 32'),
    ...at(/^SIGNATURE$/, [bits], said('0xfffffffd'), 'of another 31'),
    ...at(/^SIGNATURE_POINT$/, [signature], nudged),
    ...at(/^SIGNATURE_POINT$/, [signature], said(INFINITY), 'infinity'),
    ...at(/^SIGNATURE_POINT$/, [signature], zeroed, 'all zero'),
    ...at(/^SIGNATURE_POINT$/, [signature], unmarked, 'not marked as compressed'),
    ...at(/^SIGNATURE$/, [signature], negated, 'of the other sign'),
    ...at(/^SIGNATURE_POINT$|^SIGNATURE$/, [signature], otherFirst),
    ...at(/^SLOT_ORDER$/, ['signature_slot'], plus(-1), 'that of the attested header'),
    ...at(/^FROM_THE_FUTURE$/, ['signature_slot'], plus(1_000_000), 'in the future'),
  ];
}
