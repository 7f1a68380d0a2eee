import { bls12_381 } from '@noble/curves/bls12-381.js';
import { sha256 } from '@noble/hashes/sha2.js';
import { isPresent, type SyncCommittee, syncCommittee } from '../../../consensus/containers.js';
import { DOMAIN_SEPARATION_TAG } from '../../../consensus/signatures.js';
import { bytesToBigInt } from '../../../primitives/bytes.js';

/** Validators of the simulated beacon chain. A power of two, at most 256. */
const VALIDATORS = 64;
const { G1 } = bls12_381;
const { Fr } = bls12_381.fields;

const digest = (text: string) => sha256(new TextEncoder().encode(text));

interface Validator {
  readonly secret: bigint;
  readonly point: InstanceType<typeof G1.Point>;
  readonly key: Uint8Array;
}

const validators = new Map<number, Validator>();

/** Keys are the same for all devnets, and public: they prove nothing outside of one. */
function validatorAt(index: number): Validator {
  const known = validators.get(index);
  if (known !== undefined) return known;
  const secret = Fr.create(bytesToBigInt(digest(`plumbline simulated validator ${index}`)));
  const point = G1.Point.BASE.multiply(secret);
  const validator = { secret, point, key: point.toBytes(true) };
  validators.set(index, validator);
  return validator;
}

/** Members of a period's committee: 32, drawn from the validators. One can be a member more than once. */
function membersOf(period: number): Validator[] {
  return [...digest(`plumbline simulated committee ${period}`)].map((byte) => validatorAt(byte % VALIDATORS));
}

/** The sync committee of a period, and its root. */
interface SimulatedCommittee {
  readonly committee: SyncCommittee;
  readonly root: Uint8Array;
}

const committeeType = syncCommittee(32);
/** Committees that were used last. */
const committees = new Map<number, SimulatedCommittee>();
const MAX_COMMITTEES = 16;

export function simulatedCommittee(period: number): SimulatedCommittee {
  const known = committees.get(period);
  if (known !== undefined) return known;
  const members = membersOf(period);
  const sum = members.reduce((point, member) => point.add(member.point), G1.Point.ZERO);
  const committee = { pubkeys: members.map(({ key }) => key), aggregatePubkey: sum.toBytes(true) };
  const made = { committee, root: committeeType.hashTreeRoot(committee) };
  for (const oldest of committees.keys()) if (committees.size >= MAX_COMMITTEES) committees.delete(oldest);
  committees.set(period, made);
  return made;
}

/**
 * The aggregate signature of members of a committee.
 *
 * @param bits - who signs: a bit for each member
 * @param message - signing root, 32 bytes
 * @returns 96 bytes
 */
export function signAsCommittee(period: number, bits: Uint8Array, message: Uint8Array): Uint8Array {
  const present = membersOf(period).filter((_, i) => isPresent(bits, i));
  const secret = present.reduce((sum, member) => Fr.add(sum, member.secret), 0n);
  return bls12_381.longSignatures.hash(message, DOMAIN_SEPARATION_TAG).multiplyUnsafe(secret).toBytes(true);
}
