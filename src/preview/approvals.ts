import type { CallFrame } from '../evm/tracing/call-frame.js';
import { bytesToBigInt } from '../primitives/bytes.js';
import type { Hex } from '../primitives/hex.js';
import { toQuantity } from '../primitives/quantity.js';
import { claimOf, type EventClaim } from './events.js';
import { ENTRY_CHARACTERS, type Inspection } from './inspection.js';
import type { Approval, Transfer, Warn } from './preview.js';
import { type Probes, quantityOrNull } from './probes.js';
import { ZERO } from './transfers.js';
import { isLog, itemsOf } from './tree-items.js';

const SELECTOR = {
  allowance: '0xdd62ed3e',
  getApproved: '0x081812fc',
  isApprovedForAll: '0xe985e9c5',
  permit2Allowance: '0x927da105',
} as const;
const PERMIT2: Hex = '0x000000000022d473030f116ddee9f6b43ac78ba3';

const ALLOWANCE_WITHOUT_LIMIT = 1n << 255n;
const PERMIT2_WITHOUT_LIMIT = 1n << 159n;
/** Most that tokens with allowances of 96 bits hold. */
const MAX_96_BITS = (1n << 96n) - 1n;
const MAX_160_BITS = (1n << 160n) - 1n;
const MAX_48_BITS = (1n << 48n) - 1n;

/** Functions that approve, by selector: whose approval it is, and the position of the argument that names the spender. */
const APPROVING: Readonly<
  Record<Hex, { readonly owner: 'sender' | 'first'; readonly spender: number; operator?: true }>
> = {
  '0x095ea7b3': { owner: 'sender', spender: 0 }, // approve(address,uint256)
  '0x39509351': { owner: 'sender', spender: 0 }, // increaseAllowance(address,uint256)
  '0xd505accf': { owner: 'first', spender: 1 }, // permit, ERC-2612
  '0x8fcbaf0c': { owner: 'first', spender: 1 }, // permit, Dai
  '0xa22cb465': { owner: 'sender', spender: 0, operator: true }, // setApprovalForAll(address,bool)
};

/**
 * The approvals of a call: those of its events, and those that its inner calls made without an event.
 *
 * @source docs/spec/preview.md 8.6
 */
export async function approvalsOf(tree: CallFrame, { probes, pause, grow }: Inspection): Promise<Approval[]> {
  const approvals: Approval[] = [];
  const told = new Set<string>();
  const add = (approval: Approval | undefined) => {
    if (approval === undefined) return;
    grow(ENTRY_CHARACTERS);
    approvals.push(approval);
    told.add(partiesKey(approval.kind, approval.token, approval.owner, approval.spender));
  };
  const approving: CallFrame[] = [];
  for (const item of itemsOf(tree)) {
    const paused = pause();
    if (paused !== undefined) await paused;
    if (!isLog(item)) {
      if (approvingOf(item) !== undefined) approving.push(item);
      continue;
    }
    const claim = claimOf(item);
    if (typeof claim === 'object') add(await claimedApproval(item.address, claim, probes));
  }
  for (const frame of approving) {
    await pause();
    add(await silentApproval(frame, told, probes));
  }
  return approvals;
}

const partiesKey = (...parties: readonly string[]) => parties.join(' ');

async function claimedApproval(contract: Hex, claim: EventClaim, probes: Probes): Promise<Approval | undefined> {
  switch (claim.claim) {
    case 'allowance': {
      const { owner, spender, amount } = claim;
      const told = toQuantity(amount);
      return {
        kind: 'erc20',
        token: contract,
        owner,
        spender,
        told,
        ...(await allowance(contract, claim, probes)),
        evidence: 'event',
      };
    }
    case 'token': {
      const { owner, spender, id } = claim;
      const after = (await probes.address('after', contract, SELECTOR.getApproved, id)) ?? null;
      return { kind: 'erc721', token: contract, owner, spender, id: toQuantity(id), after, evidence: 'event' };
    }
    case 'operator': {
      const { owner, spender, approved } = claim;
      return {
        kind: 'operator',
        token: contract,
        owner,
        spender,
        approved,
        ...(await operator(contract, claim, probes)),
        evidence: 'event',
      };
    }
    case 'permit2': {
      const { token, owner, spender, amount } = claim;
      const [before, after] = await beforeAndAfter((when) => permit2Allowance(when, contract, claim, probes));
      return {
        kind: 'permit2',
        contract,
        genuine: contract === PERMIT2,
        token,
        owner,
        spender,
        told: toQuantity(amount),
        before: quantityOrNull(before?.amount),
        after: quantityOrNull(after?.amount),
        expiration: quantityOrNull(after?.expiration),
        unlimited: (after?.amount ?? amount) >= PERMIT2_WITHOUT_LIMIT,
        evidence: 'event',
      };
    }
    default:
      return undefined;
  }
}

interface Parties {
  readonly owner: Hex;
  readonly spender: Hex;
}

async function beforeAndAfter<T>(ask: (when: 'before' | 'after') => Promise<T>): Promise<readonly [T, T]> {
  return [await ask('before'), await ask('after')];
}

async function allowance(token: Hex, { owner, spender }: Parties, probes: Probes) {
  const [before, after] = await beforeAndAfter((when) => probes.word(when, token, SELECTOR.allowance, owner, spender));
  const unlimited = after !== undefined && (after >= ALLOWANCE_WITHOUT_LIMIT || after === MAX_96_BITS);
  return { before: quantityOrNull(before), after: quantityOrNull(after), unlimited };
}

/** Amount and expiration that a contract with the form of Permit2 answers. */
async function permit2Allowance(
  when: 'before' | 'after',
  contract: Hex,
  { token, owner, spender }: Parties & { readonly token: Hex },
  probes: Probes,
) {
  const answer = await probes.bytes(when, contract, SELECTOR.permit2Allowance, owner, token, spender);
  if (answer === undefined || answer.length < 64) return undefined;
  const [amount, expiration] = [bytesToBigInt(answer.subarray(0, 32)), bytesToBigInt(answer.subarray(32, 64))];
  return amount > MAX_160_BITS || expiration > MAX_48_BITS ? undefined : { amount, expiration };
}

async function operator(token: Hex, { owner, spender }: Parties, probes: Probes) {
  const [before, after] = await beforeAndAfter(async (when) => {
    const answer = await probes.word(when, token, SELECTOR.isApprovedForAll, owner, spender);
    return answer === undefined ? null : answer !== 0n;
  });
  return { before, after };
}

const approvingOf = ({ type, input }: CallFrame) =>
  type === 'CALL' ? APPROVING[input.slice(0, 10) as Hex] : undefined;

/** The approval that a call made, if it is not among those that are told. */
async function silentApproval(
  frame: CallFrame,
  told: ReadonlySet<string>,
  probes: Probes,
): Promise<Approval | undefined> {
  const { from, to: token, input } = frame;
  const approving = approvingOf(frame);
  if (approving === undefined || token === undefined) return undefined;
  const argument = (at: number): Hex => `0x${input.slice(10 + 64 * at + 24, 10 + 64 * (at + 1))}`;
  const [owner, spender] = [approving.owner === 'sender' ? from : argument(0), argument(approving.spender)];
  if (spender.length !== 42 || owner.length !== 42) return undefined;
  const kind = approving.operator ? 'operator' : 'erc20';
  // An event of another kind tells nothing of it: a contract may send any event.
  if (told.has(partiesKey(kind, token, owner, spender))) return undefined;
  const base = { token, owner, spender, evidence: 'state' } as const;
  if (kind === 'operator') {
    const held = await operator(token, base, probes);
    return held.before === held.after ? undefined : { kind, ...base, approved: null, ...held };
  }
  const held = await allowance(token, base, probes);
  return held.before === held.after ? undefined : { kind, ...base, told: null, ...held };
}

/**
 * Warns of what a user should know of the approvals.
 *
 * @param transfers - of all calls
 * @source docs/spec/preview.md 8.7
 */
export function warnOfApprovals(approvals: readonly Approval[], transfers: readonly Transfer[], warn: Warn): void {
  if (approvals.length === 0) return;
  // Of several approvals of the same thing, the last one is what the contract should answer.
  const last = new Map(approvals.map((approval) => [subjectOf(approval), approval]));
  const moved = new Set(
    transfers.flatMap(({ asset, from }) => ('address' in asset ? [partiesKey(asset.address, from)] : [])),
  );
  for (const approval of approvals) {
    if (last.get(subjectOf(approval)) !== approval) continue;
    const { kind, token, owner, spender } = approval;
    const parties = { token, owner, spender };
    if (approval.evidence === 'state' && 'before' in approval && approval.after !== null)
      warn({ code: 'silent-approval', ...parties, after: approval.after });
    if ((kind === 'erc20' || kind === 'permit2') && approval.unlimited)
      warn({ code: 'unlimited-approval', kind, ...parties });
    if (kind === 'operator' && (approval.after ?? approval.approved)) warn({ code: 'operator-approval', ...parties });
    const told = toldIn(approval);
    if (told !== undefined && approval.after !== null && differs(approval, told, moved.has(partiesKey(token, owner))))
      warn({ code: 'approval-differs', kind, ...parties, told, after: approval.after });
  }
}

/** A text that is the same for approvals of the same thing only. */
function subjectOf(approval: Approval): string {
  const { kind, token, owner, spender } = approval;
  return partiesKey(kind, token, owner, kind === 'erc721' ? approval.id : spender);
}

function toldIn(approval: Approval): Hex | boolean | undefined {
  if (approval.kind === 'erc721') return approval.spender;
  return (approval.kind === 'operator' ? approval.approved : approval.told) ?? undefined;
}

/** @param isUsed - the owner transferred some */
function differs(approval: Approval, told: Hex | boolean, isUsed: boolean): boolean {
  const { kind, after } = approval;
  if (kind === 'operator') return after !== told;
  if (kind === 'erc721') return after !== null && after !== ZERO && after !== told;
  if (after === null || approval.before === null) return false;
  const [before, now, said] = [BigInt(approval.before), BigInt(after), BigInt(told)];
  if (now > said) return true;
  return now === before && now < said && !isUsed;
}
