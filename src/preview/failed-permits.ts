import { loadSignerRecovery, signerOf } from '../ethereum/signer.js';
import type { CallFrame } from '../evm/tracing/tracer.js';
import { keccak256 } from '../kernel/keccak.js';
import { bytesToBigInt, concatBytes } from '../primitives/bytes.js';
import { bytesToHex, type Hex, hexToBytes } from '../primitives/hex.js';
import { toQuantity } from '../primitives/quantity.js';
import type { Approval, Warn } from './preview.js';
import type { Probes } from './probes.js';
import { ENTRY_CHARACTERS, type Inspection } from './tree-items.js';

/*
 * Calls of `permit` that failed, or that were taken back with a call around them. The signature in them is not used up: whoever has seen
 * it can use it while its nonce and its deadline fit.
 *
 * docs/spec/preview.md 8.6
 */

/** A signed allowance as it stands in a call. */
interface Signed {
  readonly token: Hex;
  readonly owner: Hex;
  readonly spender: Hex;
  readonly amount: bigint;
  /** Seconds since 1970; undefined for never. */
  readonly deadline: bigint | undefined;
  /** Undefined where the call does not name it. */
  readonly nonce: bigint | undefined;
  /** The nonce that fits after the calls. */
  expected(probes: Probes): Promise<bigint | undefined>;
  structHash(nonce: bigint): Uint8Array;
  readonly v: bigint;
  readonly r: bigint;
  readonly s: bigint;
}

type Kind = (contract: Hex, words: readonly bigint[]) => Signed;

const DOMAIN_SEPARATOR: Hex = '0x3644e515';
const NONCES: Hex = '0x7ecebe00';
const PERMIT2_ALLOWANCE: Hex = '0x927da105';
/** `keccak256` of `encodeType`. @source ERC-2612; Dai; Permit2 */
const PERMIT_TYPE = 0x6e71edae12b1b97f4d1f60370fef10105fa2faae0126114a169c64845d6126c9n;
const DAI_PERMIT_TYPE = 0xea2aa0a1be11a07ed86d755c93467f4f82362b452371d1ba94d1715123511acbn;
const PERMIT_SINGLE_TYPE = 0xf3841cd1ff0085026a6327b620b67997ce40f282c88a8e905a7a5626e310f3d0n;
const DETAILS_TYPE = 0x65626cad6cb96493bf6f5ebea28756c966f023ab9e8a83a7101849d5573b3678n;

const bytesOf = (word: bigint) => hexToBytes(`0x${word.toString(16).padStart(64, '0')}`);
const hashOf = (...words: readonly bigint[]) => keccak256(concatBytes(...words.map(bytesOf)));
const addressOf = (word: bigint): Hex => bytesToHex(bytesOf(word).subarray(12));

/** Kinds by selector and number of words that are read. */
const KINDS: Readonly<Record<Hex, readonly [words: number, read: Kind]>> = {
  // permit(address owner,address spender,uint256 value,uint256 deadline,uint8 v,bytes32 r,bytes32 s)
  '0xd505accf': [
    7,
    (token, [owner, spender, amount, deadline, v, r, s]) => ({
      token,
      owner: addressOf(owner!),
      spender: addressOf(spender!),
      amount: amount!,
      deadline,
      nonce: undefined,
      expected: (probes) => probes.word('after', token, NONCES, owner!),
      structHash: (nonce) => hashOf(PERMIT_TYPE, owner!, spender!, amount!, nonce, deadline!),
      v: v!,
      r: r!,
      s: s!,
    }),
  ],
  // permit(address holder,address spender,uint256 nonce,uint256 expiry,bool allowed,uint8 v,bytes32 r,bytes32 s) of Dai
  '0x8fcbaf0c': [
    8,
    (token, [owner, spender, nonce, expiry, allowed, v, r, s]) => ({
      token,
      owner: addressOf(owner!),
      spender: addressOf(spender!),
      amount: allowed === 0n ? 0n : (1n << 256n) - 1n,
      deadline: expiry === 0n ? undefined : expiry,
      nonce,
      expected: (probes) => probes.word('after', token, NONCES, owner!),
      structHash: (signed) => hashOf(DAI_PERMIT_TYPE, owner!, spender!, signed, expiry!, allowed!),
      v: v!,
      r: r!,
      s: s!,
    }),
  ],
  // permit(address owner,((address,uint160,uint48,uint48),address,uint256),bytes) of Permit2: the signature has 65 bytes
  '0x2b67b570': [
    12,
    (contract, [owner, token, amount, expiration, nonce, spender, deadline, , , r, s, last]) => ({
      token: addressOf(token!),
      owner: addressOf(owner!),
      spender: addressOf(spender!),
      amount: amount!,
      deadline,
      nonce,
      async expected(probes) {
        const answer = await probes.bytes('after', contract, PERMIT2_ALLOWANCE, owner!, token!, spender!);
        return answer === undefined || answer.length < 96 ? undefined : bytesToBigInt(answer.subarray(64, 96));
      },
      structHash(signed) {
        const details = bytesToBigInt(hashOf(DETAILS_TYPE, token!, amount!, expiration!, signed));
        return hashOf(PERMIT_SINGLE_TYPE, details, spender!, deadline!);
      },
      v: last! >> 248n,
      r: r!,
      s: s!,
    }),
  ],
};

/** Most signatures of a preview that are looked at. */
const MAX_SIGNATURES = 16;
/** Where the call does not name the nonce, so many are tried, from the one that fits. */
const NONCES_TRIED = 8n;

/**
 * The rights that signatures of users in failed calls still give.
 *
 * @param now - time of the block, seconds since 1970
 * @returns by the position of the call
 */
export async function failedPermits(
  trees: readonly CallFrame[],
  { users, now, warn }: { readonly users: readonly Hex[]; readonly now: number; readonly warn: Warn },
  { probes, pause, grow }: Inspection,
): Promise<Approval[][]> {
  const rights: Approval[][] = [];
  const seen = new Set<string>();
  for (const tree of trees) {
    const found: Approval[] = [];
    rights.push(found);
    for (const { to, input } of takenBack(tree)) {
      const paused = pause();
      if (paused !== undefined) await paused;
      const signed = to === undefined ? undefined : readPermit(to, input);
      if (signed === undefined || !users.includes(signed.owner) || seen.has(`${to} ${input}`)) continue;
      if (seen.size >= MAX_SIGNATURES) {
        warn({ code: 'not-all-asked', severity: 'note', address: to! });
        break;
      }
      seen.add(`${to} ${input}`);
      const validity = await validityOf(signed, to!, BigInt(now), probes);
      if (validity === undefined) continue;
      grow(ENTRY_CHARACTERS);
      const { token, owner, spender, amount } = signed;
      const parties = { token, owner, spender, told: toQuantity(amount), before: null, after: null };
      found.push({ kind: 'right', right: 'permit', ...parties, evidence: 'state', validity });
    }
  }
  return rights;
}

/** Frames of calls that failed, and all below them. */
function* takenBack(tree: CallFrame): Generator<CallFrame> {
  const open = [{ frame: tree, isBack: false }];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const { frame } = next;
    const isBack = next.isBack || frame.error !== undefined;
    if (isBack && frame.type === 'CALL') yield frame;
    for (const call of [...(frame.calls ?? [])].reverse()) open.push({ frame: call, isBack });
  }
}

function readPermit(contract: Hex, input: Hex): Signed | undefined {
  const kind = KINDS[input.slice(0, 10) as Hex];
  if (kind === undefined) return undefined;
  const [count, read] = kind;
  const words: bigint[] = [];
  for (let at = 10; words.length < count && at < input.length; at += 64)
    words.push(BigInt(`0x${input.slice(at, at + 64).padEnd(64, '0')}`));
  return words.length < count ? undefined : read(contract, words);
}

/** @returns undefined where the owner did not sign it, as far as that can be known */
async function validityOf(
  { owner, nonce, deadline, v, r, s, expected, structHash }: Signed,
  contract: Hex,
  now: bigint,
  probes: Probes,
): Promise<'now' | 'later' | 'past' | undefined> {
  const separator = await probes.bytes('after', contract, DOMAIN_SEPARATOR);
  const fitting = await expected(probes);
  if (separator?.length !== 32 || fitting === undefined || (v !== 27n && v !== 28n)) return undefined;
  await loadSignerRecovery();
  const isBy = (signedNonce: bigint) => {
    const digest = keccak256(concatBytes(Uint8Array.of(0x19, 0x01), separator, structHash(signedNonce)));
    const signer = signerOf(digest, bytesOf(r), bytesOf(s), v === 28n ? 1 : 0);
    return signer !== undefined && bytesToHex(signer) === owner;
  };
  let signedNonce = nonce;
  if (signedNonce === undefined) {
    signedNonce = fitting;
    while (!isBy(signedNonce)) if (++signedNonce >= fitting + NONCES_TRIED) return undefined;
  } else if (!isBy(signedNonce)) return undefined;
  if (signedNonce < fitting || (deadline !== undefined && deadline < now)) return 'past';
  return signedNonce === fitting ? 'now' : 'later';
}
