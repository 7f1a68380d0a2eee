import type { UntypedMethod } from '../../../src/hosts/provider/provider.js';
import type { ConsensusLie } from '../consensus-liar.js';
import { liesAt } from '../consensus-liar.js';
import { edited, type Json, lengthened, nulled, otherFirst, plusOne, removed, said, shortened } from '../lie-edits.js';
import { HEADER, LATER_HEADER } from './places.js';

const account = 'accountProof';
const slot = 'storageProofs.0';
/** Of a proof: the top, the sub root, nodes from the leaf upwards, and the leaf. */
const NODES = [0, 1, 2, 3, 20, 40, 41];

const nodes = (of: string, refused: RegExp): ConsensusLie[] =>
  NODES.flatMap((i) => liesAt('ring', refused, [`${of}.proof.proofRelatedNodes.${i}`]));

const word = (number: number) => `0x${number.toString(16).padStart(64, '0')}`;

/** A proof of something else than what was asked for. */
const other = (
  name: string,
  refused: RegExp,
  params: (asked: readonly Json[]) => readonly Json[],
  change: (proof: Json, truth: Json) => Json = (proof) => proof,
): ConsensusLie => ({
  name: `ring: ${name}`,
  on: 'ring',
  refused,
  tell: async (truth, { dev }, asked) =>
    change(
      structuredClone(await dev.request<UntypedMethod>({ method: 'linea_getProof', params: [...params(asked)] })),
      truth,
    ),
});

/** Lies about the hash of a block in the zk state: docs/spec/settled.md 3. */
export const RING_LIES: readonly ConsensusLie[] = [
  ...nodes(account, /MISMATCH$|^NOT_CANONICAL$|^INDEX_OUT_OF_RANGE$|^PROOF_MALFORMED$/),
  ...nodes(slot, /MISMATCH$|^NOT_CANONICAL$|^INDEX_OUT_OF_RANGE$|^PROOF_MALFORMED$/),
  ...liesAt('ring', /^PATH_MISMATCH$|^KEY_MISMATCH$|^ROOT_MISMATCH$/, [`${account}.leafIndex`, `${slot}.leafIndex`]),
  ...liesAt('ring', /^VALUE_MISMATCH$/, [`${account}.proof.value`, `${slot}.proof.value`]),
  ...liesAt(
    'ring',
    /^VALUE_MISMATCH$|^NOT_CANONICAL$|^ZERO_SLOT_STORED$/,
    [`${slot}.proof.value`],
    said(word(0)),
    'zero',
  ),
  ...liesAt('ring', /^KEY_MISMATCH$/, [`${account}.key`], otherFirst),
  ...liesAt('ring', /^KEY_MISMATCH$/, [`${slot}.key`], said(word(4)), 'another'),
  ...liesAt('ring', /^INDEX_OUT_OF_RANGE$|MISMATCH$/, [`${account}.leafIndex`], said(0), 'that of the head'),
  ...liesAt('ring', /^SLOT_COUNT_MISMATCH$/, ['storageProofs'], shortened, 'empty'),
  ...liesAt('ring', /^SLOT_COUNT_MISMATCH$/, ['storageProofs'], lengthened, 'with a slot more'),
  ...liesAt('ring', /^PROOF_MALFORMED$/, [`${account}.proof.proofRelatedNodes`], shortened, 'shorter'),
  ...liesAt('ring', /^PROOF_MALFORMED$/, [`${slot}.proof.proofRelatedNodes`], lengthened, 'longer'),
  ...liesAt('ring', /^PROOF_MALFORMED$/, [account, slot, `${slot}.proof.value`], removed, 'left out'),
  ...liesAt('ring', /^PROOF_MALFORMED$/, [''], nulled, 'null'),
  other('another slot', /^KEY_MISMATCH$/, ([address, , at]) => [address, [word(4)], at]),
  other(
    'another slot, said to be the one asked for',
    /^KEY_MISMATCH$/,
    ([address, , at]) => [address, [word(4)], at],
    (proof, truth) => edited(proof, `${slot}.key`, said(truth.storageProofs[0].key)),
  ),
  other(
    'the value of another slot',
    /^VALUE_MISMATCH$/,
    ([address, , at]) => [address, [word(4)], at],
    (proof, truth) => edited(truth, `${slot}.proof.value`, said(proof.storageProofs[0].proof.value)),
  ),
  other('a slot that is not set', /^KEY_MISMATCH$/, ([address, , at]) => [address, [word(5000)], at]),
  other(
    'a slot that is not set, said to be the one asked for',
    /^LEAF_ORDER_BROKEN$|MISMATCH$/,
    ([address, , at]) => [address, [word(5000)], at],
    (proof, truth) => edited(proof, `${slot}.key`, said(truth.storageProofs[0].key)),
  ),
  other('after another block', /^ROOT_MISMATCH$/, ([address, keys]) => [address, keys, '0x9']),
  other(
    'the account after the block, the slot after another',
    /^ROOT_MISMATCH$/,
    ([address, keys]) => [address, keys, '0x9'],
    (proof, truth) => ({ ...truth, storageProofs: proof.storageProofs }),
  ),
  other('of another account', /^KEY_MISMATCH$/, ([, keys, at]) => [`0x${'11'.repeat(20)}`, keys, at]),
  other(
    'that there is no such account',
    /^LEAF_ORDER_BROKEN$|MISMATCH$/,
    ([, keys, at]) => [`0x${'11'.repeat(20)}`, keys, at],
    (proof, truth) => edited(proof, `${account}.key`, said(truth.accountProof.key)),
  ),
];

const settled = (name: string, refused: RegExp, number: string, keep: readonly string[] = []): ConsensusLie => ({
  name: `settled: ${name}`,
  on: 'settled',
  refused,
  async tell(truth, { dev }) {
    const block: Json = await dev.request<UntypedMethod>({ method: 'eth_getBlockByNumber', params: [number, false] });
    return { ...block, ...Object.fromEntries(keep.map((member) => [member, truth[member]])) };
  },
});

/** Lies about the header that has the hash of the ring. */
export const SETTLED_LIES: readonly ConsensusLie[] = [
  ...liesAt('settled', /^HEADER_HASH$|^PROOF_MALFORMED$/, [...HEADER, ...LATER_HEADER], plusOne),
  ...liesAt('settled', /^HEADER_HASH$/, ['hash'], otherFirst),
  ...liesAt('settled', /^HEADER_HASH$/, ['requestsHash'], removed, 'left out'),
  ...liesAt('settled', /^MISSING$/, [''], nulled, 'null'),
  settled('the finalized block itself', /^HEADER_HASH$/, '0xa'),
  settled('the block below', /^HEADER_HASH$/, '0x8'),
  settled('the block below, under the hash that was asked for', /^HEADER_HASH$/, '0x8', ['hash']),
  settled('the block below, under the number and the hash', /^HEADER_HASH$/, '0x8', ['hash', 'number']),
];
