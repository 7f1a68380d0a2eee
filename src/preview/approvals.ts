import type { CallFrame } from '../evm/tracing/tracer.js';
import { bytesToBigInt } from '../primitives/bytes.js';
import type { Hex } from '../primitives/hex.js';
import { toQuantity } from '../primitives/quantity.js';
import { claimOf, type EventClaim } from './events.js';
import type { Approval, Asset, Right, Transfer, Warn } from './preview.js';
import { type Probes, quantityOrNull, SELECTOR } from './probes.js';
import { ZERO } from './transfers.js';
import { type CodeRun, codeRuns, ENTRY_CHARACTERS, type Inspection, isLog, itemsOf } from './tree-items.js';

const PERMIT2: Hex = '0x000000000022d473030f116ddee9f6b43ac78ba3';

const ALLOWANCE_WITHOUT_LIMIT = 1n << 128n;
/** The largest numbers of allowances with fewer bits. */
const LARGEST = [96n, 128n].map((bits) => (1n << bits) - 1n);
const MAX_160_BITS = (1n << 160n) - 1n;
const MAX_48_BITS = (1n << 48n) - 1n;

/** As good as without limit: at least 2^128, or within one part in a million of the largest number. */
const isNearLargest = (amount: bigint) =>
  amount >= ALLOWANCE_WITHOUT_LIMIT ||
  LARGEST.some((largest) => amount <= largest && (largest - amount) * 1_000_000n <= largest);

type Approving = {
  /** Whose approval it is. */
  readonly owner: 'sender' | 'first';
  /** Position of the argument that names the spender. */
  readonly spender: number;
} & ({ readonly kind: 'erc20' | 'operator' | 'permit2' } | { readonly kind: 'right'; readonly right: Right });

/** Functions that approve, by selector. */
const APPROVING: Readonly<Record<Hex, Approving>> = {
  '0x095ea7b3': { owner: 'sender', spender: 0, kind: 'erc20' }, // approve(address,uint256)
  '0x39509351': { owner: 'sender', spender: 0, kind: 'erc20' }, // increaseAllowance(address,uint256)
  '0xd505accf': { owner: 'first', spender: 1, kind: 'erc20' }, // permit, ERC-2612
  '0x8fcbaf0c': { owner: 'first', spender: 1, kind: 'erc20' }, // permit, Dai
  '0xa22cb465': { owner: 'sender', spender: 0, kind: 'operator' }, // setApprovalForAll(address,bool)
  '0x2b67b570': { owner: 'first', spender: 5, kind: 'permit2' }, // permit of Permit2, for one token
  '0x959b8c3f': { owner: 'sender', spender: 0, kind: 'right', right: 'operator-777' }, // authorizeOperator(address)
  '0x558a7297': { owner: 'sender', spender: 0, kind: 'right', right: 'operator-6909' }, // setOperator(address,bool)
  '0x110496e5': { owner: 'sender', spender: 0, kind: 'right', right: 'manager' }, // allow(address,bool)
  '0xc04a8a10': { owner: 'sender', spender: 0, kind: 'right', right: 'debt' }, // approveDelegation(address,uint256)
};
const APPROVE: Hex = '0x095ea7b3';

/** Questions for a right, by its name: the first that a contract answers counts. `o`, `s` and `i` are owner, spender and id; a flag without arguments is the spender. */
const GETTERS: Readonly<Record<Right, readonly (readonly [selector: Hex, args: string, isFlag: boolean])[]>> = {
  'operator-777': [['0xd95b6371', 'so', true]],
  'operator-6909': [['0xb6363cf2', 'os', true]],
  'allowance-6909': [['0x598af9e7', 'osi', false]],
  debt: [['0x6bd76d24', 'os', false]],
  manager: [
    ['0xa1654379', 'os', true],
    ['0x65e4ad9e', 'os', true],
  ],
  owner: [['0x8da5cb5b', '', true]],
  'pending-owner': [['0xe30c3978', '', true]],
  'safe-module': [['0x2d9ad53d', 's', true]],
  'safe-owner': [['0x2f54bf6e', 's', true]],
  'safe-fallback-handler': [],
  'safe-guard': [],
  'safe-singleton': [],
  'safe-threshold': [['0xe75235b8', '', false]],
  permit: [],
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
  for (const item of itemsOf(tree)) {
    const paused = pause();
    if (paused !== undefined) await paused;
    if (!isLog(item)) continue;
    const claim = claimOf(item);
    if (typeof claim === 'object') add(await claimedApproval(item.address, claim, probes));
  }
  for (const run of codeRuns(tree)) {
    const paused = pause();
    if (paused !== undefined) await paused;
    if (approvingOf(run) === undefined) continue;
    add(await silentApproval(run, told, probes));
    add(await silentTokenApproval(run, told, probes));
  }
  return approvals;
}

const partiesKey = (...parties: readonly string[]) => parties.join(' ');

const flag = (answer: bigint | undefined) => (answer === undefined ? null : answer !== 0n);

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
        ...(await allowanceSize(token, owner, after?.amount ?? amount, probes)),
        evidence: 'event',
      };
    }
    case 'right': {
      const { right, spender, told, owner = contract } = claim;
      const base = {
        right,
        token: contract,
        owner,
        spender,
        ...(claim.id !== undefined && { id: toQuantity(claim.id) }),
      };
      const held = await beforeAndAfter((when) => rightHeld(when, base, probes));
      const [before, after] = held;
      const said = typeof told === 'boolean' ? told : toQuantity(told);
      return { kind: 'right', ...base, told: said, before, after, evidence: 'event' };
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
  return {
    before: quantityOrNull(before),
    after: quantityOrNull(after),
    ...(await allowanceSize(token, owner, after, probes)),
  };
}

/** How large an allowance is: nobody has more than the supply, and the owner no more than its balance. */
export async function allowanceSize(token: Hex, owner: Hex, amount: bigint | undefined, probes: Probes) {
  const nothing = { unlimited: false, covers: null } as const;
  if (amount === undefined || amount === 0n) return nothing;
  const balance = await probes.word('after', token, SELECTOR.balanceOf, owner);
  const covers = balance === undefined || balance === 0n ? null : amount * 10n >= balance * 9n ? 'all' : 'part';
  if (isNearLargest(amount)) return { unlimited: true, covers } as const;
  const supply = await probes.word('after', token, SELECTOR.totalSupply);
  return { unlimited: supply !== undefined && supply > 0n && amount >= supply, covers } as const;
}

/** What a contract answers of a right; null where it answers nothing. */
async function rightHeld(
  when: 'before' | 'after',
  { right, token, owner, spender, id = '0x0' }: RightParties,
  probes: Probes,
): Promise<Hex | boolean | null> {
  for (const [selector, args, isFlag] of GETTERS[right]) {
    const words = [...args].map((one) => (one === 'o' ? owner : one === 's' ? spender : BigInt(id)));
    const answer = await probes.word(when, token, selector, ...words);
    if (answer === undefined) continue;
    if (args === '' && isFlag) return answer === BigInt(spender);
    return isFlag ? answer !== 0n : toQuantity(answer);
  }
  return null;
}

interface RightParties extends Parties {
  readonly right: Right;
  readonly token: Hex;
  readonly id?: Hex;
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
  const [before, after] = await beforeAndAfter(async (when) =>
    flag(await probes.word(when, token, SELECTOR.isApprovedForAll, owner, spender)),
  );
  return { before, after };
}

const approvingOf = ({ frame }: CodeRun) =>
  frame.type === 'STATICCALL' || frame.type.startsWith('CREATE')
    ? undefined
    : APPROVING[frame.input.slice(0, 10) as Hex];

/** Word of a call's input, as an address. */
const addressAt = (input: Hex, at: number): Hex => `0x${input.slice(10 + 64 * at + 24, 10 + 64 * (at + 1))}`;

/** The approval that a call made, if it is not among those that are told. */
async function silentApproval(run: CodeRun, told: ReadonlySet<string>, probes: Probes): Promise<Approval | undefined> {
  const approving = approvingOf(run);
  if (approving === undefined) return undefined;
  const { frame, executing: token, caller } = run;
  const [owner, spender] = [
    approving.owner === 'sender' ? caller : addressAt(frame.input, 0),
    addressAt(frame.input, approving.spender),
  ];
  if (spender.length !== 42 || owner.length !== 42) return undefined;
  const { kind } = approving;
  // An event of another kind tells nothing of it: a contract may send any event.
  const asset = kind === 'permit2' ? addressAt(frame.input, 1) : token;
  if (told.has(partiesKey(kind, asset, owner, spender))) return undefined;
  return unless(
    await stateApproval(approving, token, { owner, spender }, probes, asset),
    (one) => one.before === one.after,
  );
}

const unless = <T>(value: T, isOut: (value: T) => boolean) => (isOut(value) ? undefined : value);

/** An approval as a contract answers it, of which no event tells. */
async function stateApproval(
  approving: Pick<Approving, 'kind'> & { right?: Right },
  token: Hex,
  parties: Parties,
  probes: Probes,
  asset = token,
) {
  const base = { token, ...parties, evidence: 'state' } as const;
  switch (approving.kind) {
    case 'operator':
      return { kind: 'operator', ...base, approved: null, ...(await operator(token, parties, probes)) } as const;
    case 'right': {
      const right = approving.right!;
      const [before, after] = await beforeAndAfter((when) => rightHeld(when, { ...base, right }, probes));
      return { kind: 'right', ...base, right, told: null, before, after } as const;
    }
    case 'permit2': {
      const of = { token: asset, ...parties };
      const [before, after] = await beforeAndAfter((when) => permit2Allowance(when, token, of, probes));
      return {
        kind: 'permit2',
        ...base,
        token: asset,
        contract: token,
        genuine: token === PERMIT2,
        told: '0x0',
        before: quantityOrNull(before?.amount),
        after: quantityOrNull(after?.amount),
        expiration: quantityOrNull(after?.expiration),
        ...(await allowanceSize(asset, parties.owner, after?.amount, probes)),
      } as const;
    }
    default:
      return { kind: 'erc20', ...base, told: null, ...(await allowance(token, parties, probes)) } as const;
  }
}

/** As `silentApproval`, of one token of a collection: the second word of `approve` may be an id. */
async function silentTokenApproval(
  { frame: { input }, executing: token, caller: owner }: CodeRun,
  told: ReadonlySet<string>,
  probes: Probes,
): Promise<Approval | undefined> {
  if (!input.startsWith(APPROVE) || input.length < 10 + 128) return undefined;
  const spender = addressAt(input, 0);
  const id = BigInt(`0x${input.slice(74, 138)}`);
  if (told.has(partiesKey('erc721', token, owner, spender))) return undefined;
  const after = await probes.address('after', token, SELECTOR.getApproved, id);
  if (after === undefined || after !== spender) return undefined;
  if ((await probes.address('before', token, SELECTOR.getApproved, id)) === after) return undefined;
  return { kind: 'erc721', token, owner, spender, id: toQuantity(id), after, evidence: 'state' };
}

/** Most questions to a contract about what its calls do not name. */
const MAX_UNNAMED = 32;
/** A number above it is taken for an address: nobody finds one that begins with eight zero bytes. */
const LEAST_ADDRESS = 1n << 96n;

/** What may have been approved or taken, whatever the functions are called. */
export interface Unnamed {
  readonly approvals: readonly Approval[];
  /** Tokens of collections that a user had before. */
  readonly taken: readonly { readonly asset: Asset; readonly account: Hex; readonly change: bigint }[];
}

/**
 * Asks the contracts that were written about each address and number in the inputs of the calls that ran their code.
 *
 * @param written - contracts whose storage changed
 * @param told - approvals that are known
 * @param moved - keys of assets with a known transfer
 * @source docs/spec/preview.md 8.6, "Whatever the selector"
 */
export async function unnamedOf(
  trees: readonly CallFrame[],
  written: readonly Hex[],
  {
    users,
    told,
    moved,
    warn,
  }: { users: readonly Hex[]; told: readonly Approval[]; moved: ReadonlySet<string>; warn: Warn },
  { probes, pause }: Inspection,
): Promise<Unnamed> {
  const approvals: Approval[] = [];
  const taken: Unnamed['taken'][number][] = [];
  const known = new Set(told.map(({ kind, token, owner, spender }) => partiesKey(kind, token, owner, spender)));
  const words = await inputWords(trees, new Set(written), pause);
  for (const [token, found] of words) {
    let left = MAX_UNNAMED;
    const room = () => {
      if (left === 0) warn({ code: 'not-all-asked', severity: 'note', address: token });
      return left-- > 0;
    };
    const spenders = [...found].filter((word) => word >= LEAST_ADDRESS && word >> 160n === 0n);
    const refused = new Set<Hex>();
    const holds = async (selector: Hex, owner: Hex, spender: Hex) => {
      if (refused.has(selector) || !room()) return false;
      const after = await probes.word('after', token, selector, owner, spender);
      if (after === undefined) refused.add(selector);
      return after !== undefined && after > 0n;
    };
    for (const owner of users) {
      for (const word of spenders) {
        const spender: Hex = `0x${word.toString(16).padStart(40, '0')}`;
        if (users.includes(spender)) continue;
        for (const [kind, selector] of [
          ['erc20', SELECTOR.allowance],
          ['operator', SELECTOR.isApprovedForAll],
        ] as const) {
          if (known.has(partiesKey(kind, token, owner, spender)) || !(await holds(selector, owner, spender))) continue;
          const one = await stateApproval({ kind }, token, { owner, spender }, probes);
          const [before, after] = [Number(one.before ?? 0), Number(one.after)];
          if (one.kind === 'operator' ? after > before : BigInt(one.after as Hex) > BigInt((one.before as Hex) ?? 0n))
            approvals.push(one);
        }
      }
    }
    const isCollection = (await probes.word('after', token, SUPPORTS_INTERFACE, ERC721)) === 1n;
    const isMulti = !isCollection && (await probes.word('after', token, SUPPORTS_INTERFACE, ERC1155)) === 1n;
    if (!isCollection && !isMulti) continue;
    for (const id of found) {
      for (const account of users) {
        const asset = { kind: isMulti ? 'erc1155' : 'erc721', address: token, id: toQuantity(id) } as const;
        if (moved.has(Object.values(asset).join(' ')) || !room()) continue;
        const ask = async (when: 'before' | 'after') =>
          isMulti
            ? probes.word(when, token, SELECTOR.balanceOfId, account, id)
            : (await probes.address(when, token, SELECTOR.ownerOf, id)) === account
              ? 1n
              : 0n;
        const [before, after] = [await ask('before'), await ask('after')];
        if (before !== undefined && after !== undefined && after < before)
          taken.push({ asset, account, change: after - before });
      }
    }
  }
  return { approvals, taken };
}

const SUPPORTS_INTERFACE: Hex = '0x01ffc9a7';
/** Arguments of `supportsInterface`, as words. */
const [ERC721, ERC1155] = [0x80ac58cdn << 224n, 0xd9b67a26n << 224n];
/** Most words of the inputs of a contract. */
const MAX_WORDS = 64;

/** The words in the inputs of the calls that ran a contract's code, by contract. */
async function inputWords(trees: readonly CallFrame[], written: ReadonlySet<Hex>, pause: Inspection['pause']) {
  const words = new Map<Hex, Set<bigint>>();
  for (const tree of trees) {
    for (const { frame, executing } of codeRuns(tree)) {
      const paused = pause();
      if (paused !== undefined) await paused;
      if (!written.has(executing) || frame.type.startsWith('CREATE')) continue;
      const found = words.get(executing) ?? new Set();
      words.set(executing, found);
      for (let at = 10; at + 64 <= frame.input.length && found.size < MAX_WORDS; at += 64)
        found.add(BigInt(`0x${frame.input.slice(at, at + 64)}`));
    }
  }
  return words;
}

/** Those to whom an approval is no danger, and what spenders are. */
export interface SpenderFacts {
  /** Senders, and those of `watch`. */
  readonly own: ReadonlySet<Hex>;
  readonly users: readonly Hex[];
  /** Contracts that the calls go to. */
  readonly called: ReadonlySet<Hex>;
  /** Whether there was code at the address before the calls. */
  stood(address: Hex): Promise<boolean>;
}

/**
 * Warns of what a user should know of the approvals.
 *
 * @param transfers - of all calls
 * @source docs/spec/preview.md 8.7
 */
export async function warnOfApprovals(
  approvals: readonly Approval[],
  transfers: readonly Transfer[],
  facts: SpenderFacts,
  warn: Warn,
): Promise<void> {
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
    const told = toldIn(approval);
    if (told !== undefined && approval.after !== null && differs(approval, told, moved.has(partiesKey(token, owner))))
      warn({ code: 'approval-differs', severity: 'warning', kind, ...parties, told, after: approval.after });
    if (facts.own.has(spender)) continue;
    const { after } = approval;
    if (kind === 'erc721') {
      if (approval.evidence === 'state' && after !== null)
        warn({ code: 'silent-approval', severity: 'danger', ...parties, id: approval.id, after });
      continue;
    }
    const isMore = grows(approval);
    // A right over a contract or a Safe is a user's where that is the user's, or where it is what is called.
    const isTheirs =
      kind !== 'right' ||
      (facts.users.includes(owner) ? owner !== spender : facts.called.has(owner) && token === owner);
    if (!isMore || !isTheirs) continue;
    if (approval.evidence === 'state' && after !== null)
      warn({ code: 'silent-approval', severity: 'danger', ...parties, after });
    if (kind === 'erc20' || kind === 'permit2') {
      if (approval.unlimited) warn({ code: 'unlimited-approval', severity: 'danger', kind, ...parties });
      else if (approval.covers === 'all') {
        const severity = (await facts.stood(spender)) ? 'warning' : 'danger';
        warn({ code: 'covers-balance', severity, ...parties, amount: after as Hex });
      }
    }
    if (kind === 'operator') warn({ code: 'operator-approval', severity: 'danger', ...parties });
    if (kind === 'right' && (BigInt(spender) !== 0n || approval.right === 'safe-threshold')) {
      const { right, id } = approval;
      const amount = typeof after === 'string' ? after : typeof approval.told === 'string' ? approval.told : undefined;
      const details = { ...(id !== undefined && { id }), ...(amount !== undefined && { amount }) };
      warn({ code: 'right-granted', severity: 'danger', right, ...parties, ...details });
    }
  }
}

/** Whether an approval gives more than there was before. */
function grows(approval: Exclude<Approval, { readonly kind: 'erc721' }>): boolean {
  const number = (value: Hex | boolean | null | undefined) =>
    value === null || value === undefined ? undefined : BigInt(value);
  const told = number(approval.kind === 'operator' ? approval.approved : approval.told);
  const [before = 0n, after = told ?? 0n] = [number(approval.before), number(approval.after)];
  if (approval.kind !== 'right') return after > before;
  // Where fewer owners must sign, each of them may do more.
  if (approval.right === 'safe-threshold') return approval.before === null || after < before;
  return after > before && approval.validity !== 'past';
}

/** A text that is the same for approvals of the same thing only. */
function subjectOf(approval: Approval): string {
  const { kind, token, owner, spender } = approval;
  if (kind === 'right') return partiesKey(kind, approval.right, token, owner, spender, approval.id ?? '');
  return partiesKey(kind, token, owner, kind === 'erc721' ? approval.id : spender);
}

function toldIn(approval: Approval): Hex | boolean | undefined {
  if (approval.evidence === 'state' || approval.kind === 'right') return undefined;
  if (approval.kind === 'erc721') return approval.spender;
  return (approval.kind === 'operator' ? approval.approved : approval.told) ?? undefined;
}

/** @param isUsed - the owner transferred some */
function differs(approval: Approval, told: Hex | boolean, isUsed: boolean): boolean {
  if (approval.kind === 'right') return false;
  const { kind, after } = approval;
  if (kind === 'operator') return after !== told;
  if (kind === 'erc721') return after !== null && after !== ZERO && after !== told;
  if (after === null || approval.before === null) return false;
  const [before, now, said] = [BigInt(approval.before), BigInt(after), BigInt(told)];
  if (now > said) return true;
  return now === before && now < said && !isUsed;
}
