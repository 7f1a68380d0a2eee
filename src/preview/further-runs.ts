import { isPlumblineError } from '../errors.js';
import { createdAddress } from '../ethereum/encode-transaction.js';
import type { BlockContext } from '../evm/block-context.js';
import { FREE_RUN } from '../evm/call.js';
import { Machine } from '../evm/machine.js';
import { precompileOverrides } from '../evm/overrides.js';
import { StateOverlay } from '../evm/state-overlay.js';
import { hasCode, type StateReader } from '../evm/state-reader.js';
import { runTransaction } from '../evm/transaction.js';
import type { TransactionMessage, TransactionOutcome } from '../evm/transaction-message.js';
import { keccak256 } from '../kernel/keccak.js';
import { concatBytes } from '../primitives/bytes.js';
import { bytesToHex, type Hex, hexToBytes } from '../primitives/hex.js';
import { toQuantity } from '../primitives/quantity.js';
import { isProxySlot } from './contracts.js';
import { claimOf } from './events.js';
import type { Approval, Asset, BalanceChange, OwnerChange, PreviewWarning, Warn } from './preview.js';
import { openProbes, type Probes, SELECTOR } from './probes.js';
import { type PreviewBase, type Ran, statusOf } from './run-calls.js';
import { assetKey } from './transfers.js';

/*
 * The calls run again as they might be included: in another block that could come next, with another price and limit. A contract may
 * behave well only where it is looked at.
 *
 * docs/spec/preview.md 9
 */

/** An instruction by which a contract can tell one run from another, by the name that a finding has. */
type Cause =
  | 'NUMBER'
  | 'SLOTNUM'
  | 'TIMESTAMP'
  | 'BLOCKHASH'
  | 'COINBASE'
  | 'PREVRANDAO'
  | 'GASLIMIT'
  | 'BASEFEE'
  | 'BLOBBASEFEE'
  | 'GASPRICE'
  | 'GAS'
  | 'BALANCE';

const OPCODES: Readonly<Record<Exclude<Cause, 'GAS'>, readonly number[]>> = {
  NUMBER: [0x43],
  SLOTNUM: [0x4b],
  TIMESTAMP: [0x42],
  BLOCKHASH: [0x40],
  COINBASE: [0x41],
  PREVRANDAO: [0x44],
  GASLIMIT: [0x45],
  BASEFEE: [0x48],
  BLOBBASEFEE: [0x4a],
  GASPRICE: [0x3a],
  BALANCE: [0x31, 0x47],
};
const GAS = 0x5a;

/**
 * What code of a call asked for. GAS counts where the outcome hangs on it: a use directly before a call, to pass on all gas, does
 * not.
 */
function causesOf({ outcome, tree }: Ran): Set<Cause> {
  const { environment = 0n, spareGas } = outcome;
  const has = (opcode: number) => ((environment >> BigInt(opcode & 63)) & 1n) === 1n;
  const causes = new Set<Cause>();
  for (const [cause, opcodes] of Object.entries(OPCODES) as [keyof typeof OPCODES, readonly number[]][])
    if (opcodes.some(has)) causes.add(cause);
  if ((has(GAS) && spareGas === undefined) || ranOut(tree)) causes.add('GAS');
  return causes;
}

/** Whether a frame below the outermost one ran out of gas. */
function ranOut(tree: Ran['tree']): boolean {
  const open = [...(tree.calls ?? [])];
  for (let frame = open.pop(); frame !== undefined; frame = open.pop()) {
    if (frame.error?.startsWith('out of gas')) return true;
    for (const call of frame.calls ?? []) open.push(call);
  }
  return false;
}

/** A further run: what differs, and by which instructions that can be seen. */
interface Variation {
  readonly seen: readonly Cause[];
  readonly block: Partial<BlockContext>;
  /** Of a price and of a gas limit, as a fraction. */
  readonly price?: readonly [bigint, bigint];
  readonly gas?: readonly [bigint, bigint];
  /** Contracts have one wei more. */
  readonly richer?: true;
}

/** `value` times a fraction, rounded away from it. */
function scaled(value: bigint, [numerator, denominator]: readonly [bigint, bigint]): bigint {
  const product = value * numerator;
  return numerator > denominator ? (product + denominator - 1n) / denominator : product / denominator;
}

const UP = [9n, 8n] as const;
const DOWN = [7n, 8n] as const;
/**
 * Seconds by which the runs are later, and blocks; one slot for the first. To add a power of two turns the bit of it over, whatever the time
 * is.
 */
const SECONDS_LATER = [undefined, 60, 4, 8, 16, 32, 1, 2] as const;
const BLOCKS_LATER = [1, 5, 2, 4, 8, 16, 3, 7] as const;
const FEES = ['BASEFEE', 'BLOBBASEFEE', 'GASPRICE'] as const;
const LATER = ['NUMBER', 'SLOTNUM', 'TIMESTAMP', 'BLOCKHASH', 'PREVRANDAO'] as const;

/**
 * The runs, each with what is independent of the rest of it: another block in all of them. Those that would differ in nothing that a call
 * asked for are left out.
 */
function variations(
  block: BlockContext,
  slotSeconds: number,
  causes: ReadonlySet<Cause>,
  coinbases: readonly Uint8Array[],
): Variation[] {
  const { number, slotNumber, timestamp, baseFeePerGas, blobBaseFee, gasLimit } = block;
  const blobs = (by: readonly [bigint, bigint]) => blobBaseFee && { blobBaseFee: scaled(blobBaseFee, by) };
  const [contract, account] = coinbases.map((coinbase) => ({ coinbase }));
  const own: readonly (Partial<Variation> & { readonly causes: readonly Cause[] })[] = [
    { causes: [] },
    { causes: ['COINBASE'], block: contract ?? {} },
    { causes: ['COINBASE'], block: account ?? {} },
    { causes: FEES, block: { baseFeePerGas: scaled(baseFeePerGas, UP), ...blobs(UP) }, price: UP },
    { causes: FEES, block: { baseFeePerGas: scaled(baseFeePerGas, DOWN), ...blobs(DOWN) }, price: DOWN },
    { causes: ['GAS', 'GASLIMIT'], block: { gasLimit: scaled(gasLimit, [1025n, 1024n]) }, gas: [3n, 2n] },
    { causes: ['GAS'], gas: [11n, 10n] },
    { causes: ['BALANCE'], richer: true },
  ];
  return own.flatMap(({ causes: others, ...differs }, i) => {
    const seen = [...LATER, ...others].filter((cause) => causes.has(cause));
    if (seen.length === 0 || (i > 1 && seen.every((cause) => cause === 'BLOCKHASH'))) return [];
    const later: Partial<BlockContext> = {
      number: number + BLOCKS_LATER[i]!,
      ...(slotNumber !== undefined && { slotNumber: slotNumber + BigInt(BLOCKS_LATER[i]!) }),
      timestamp: timestamp + (SECONDS_LATER[i] ?? slotSeconds),
      prevRandao: otherRandom(block.prevRandao, i + 1),
      // The block that this one is in the place of has no hash yet.
      blockHash: async (n) => (n >= number ? keccak256(block.prevRandao) : block.blockHash(n)),
    };
    return [{ ...differs, seen, block: { ...later, ...differs.block } }];
  });
}

/** Another value of a plausible form. Its lowest byte is no other one's. */
function otherRandom(value: Uint8Array, i: number): Uint8Array {
  const other = keccak256(concatBytes(value, Uint8Array.of(i))).slice();
  other[31] = value[31]! ^ i;
  return other;
}

/** The calls as they ended in one run. */
interface Ended {
  readonly outcomes: readonly TransactionOutcome[];
  /** The state that it began with. */
  readonly ground: StateReader;
  readonly after: StateReader;
  readonly written: ReadonlyMap<string, string>;
}

/** Account and slot, or account and member, with the value after. Balances are compared apart, those of users only. */
async function writtenIn(after: readonly StateOverlay[]): Promise<Map<string, string>> {
  const written = new Map<string, string>();
  for (const overlay of after)
    for (const { address: bytes, after: account, slots } of await overlay.changes()) {
      const address = bytesToHex(bytes);
      written.set(`${address} code`, account === undefined ? '0x' : bytesToHex(account.codeHash));
      written.set(`${address} nonce`, String(account?.nonce ?? 0n));
      for (const { key, after: value } of slots) written.set(`${address} ${bytesToHex(key)}`, bytesToHex(value));
    }
  return written;
}

/** What further runs are compared with. */
export interface Compared {
  readonly base: PreviewBase;
  readonly before: StateReader;
  readonly ran: readonly Ran[];
  readonly balances: readonly (BalanceChange | OwnerChange)[];
  readonly approvals: readonly Approval[];
  readonly users: readonly Hex[];
  readonly own: ReadonlySet<Hex>;
  readonly as: Parameters<typeof openProbes>[0]['as'];
  readonly warn: Warn;
}

type Finding = Omit<Extract<PreviewWarning, { readonly code: 'environment-dependent' }>, 'code' | 'call' | 'what'>;

/**
 * Runs the calls again and warns of what differs against a user.
 *
 * @returns how many further runs there were
 * @throws PlumblineError `ABORTED`
 */
export async function compareFurtherRuns(compared: Compared): Promise<number> {
  const { base, ran, warn } = compared;
  const perCall = ran.map(causesOf);
  const causes = new Set(perCall.flatMap((one) => [...one]));
  if (causes.size === 0) return 0;
  const first: Ended = {
    outcomes: ran.map(({ outcome }) => outcome),
    ground: compared.before,
    after: ran.at(-1)!.after,
    written: await writtenIn(ran.map(({ after }) => after)),
  };
  const found = new Map<string, { finding: Finding; what: Set<Cause> }>();
  const cuts = new Map<string, Set<Cause>>();
  const planned = variations(base.block, base.network.slotSeconds, causes, await otherCoinbases(compared));
  let runs = 0;
  for (const variation of planned) {
    runs++;
    try {
      const ended = await runAgain(compared, variation);
      if (ended === undefined) continue;
      for (const finding of await differences(compared, first, ended, { ...base.block, ...variation.block }))
        note(found, finding, variation.seen);
    } catch (error) {
      if (!isPlumblineError(error) || error.code === 'ABORTED') throw error;
      const seen = cuts.get(error.code) ?? new Set(variation.seen);
      for (const cause of seen) if (!variation.seen.includes(cause)) seen.delete(cause);
      cuts.set(error.code, seen);
      if (error.code === 'GAS_BUDGET_EXCEEDED') break;
    }
  }
  const callOf = (what: ReadonlySet<Cause>) =>
    Math.max(
      0,
      perCall.findIndex((one) => [...what].some((cause) => one.has(cause))),
    );
  for (const { finding, what } of found.values())
    warn({ code: 'environment-dependent', ...finding, call: callOf(what), what: [...what] });
  const status = ran.map(({ outcome }) => statusOf(outcome)).join();
  for (const [cut, what] of cuts)
    warn({
      code: 'environment-dependent',
      severity: 'warning',
      call: callOf(what),
      what: [...what],
      first: status,
      other: 'unknown',
      cut,
    });
  return runs;
}

const RANK = { danger: 2, warning: 1, note: 0 } as const;

/** Keeps one finding for each subject: the worst, with the causes that all runs have in common. */
function note(
  found: Map<string, { finding: Finding; what: Set<Cause> }>,
  finding: Finding,
  seen: readonly Cause[],
): void {
  const { account, asset, token, owner, spender, address, slot } = finding;
  const key = JSON.stringify({ account, asset, token, owner, spender, address, slot });
  const known = found.get(key);
  if (known === undefined) {
    found.set(key, { finding, what: new Set(seen) });
    return;
  }
  if (RANK[finding.severity] > RANK[known.finding.severity]) known.finding = finding;
  const common = [...known.what].filter((cause) => seen.includes(cause));
  known.what = new Set(common.length > 0 ? common : [...known.what, ...seen]);
}

/** Two accounts that are proved already and could be paid the fees: one with code and one without. */
async function otherCoinbases({ base, before, ran }: Compared): Promise<Uint8Array[]> {
  const known = [...ran.flatMap(({ message: { to, from } }) => [...(to === undefined ? [] : [to]), from])];
  const found: Uint8Array[] = [];
  for (const isContract of [true, false])
    for (const address of known) {
      if (bytesToHex(address) === bytesToHex(base.block.coinbase) || (await hasCode(before, address)) !== isContract)
        continue;
      found.push(address);
      break;
    }
  return found;
}

/** @returns undefined for a run that the sender could not pay for, or that the chain forbids */
async function runAgain({ base, before, ran }: Compared, variation: Variation): Promise<Ended | undefined> {
  const { network, budget, overrides = [], speculativeRun, supposed, isFree } = base;
  const block = { ...base.block, ...variation.block };
  const machineOptions = { ...precompileOverrides(overrides), supposed };
  const ground = new StateOverlay(before);
  if (variation.richer) await enrich(ground, ran);
  const outcomes: TransactionOutcome[] = [];
  const overlays: StateOverlay[] = [];
  try {
    for (const { message: original } of ran) {
      const message = varied(original, variation);
      const after = new StateOverlay(overlays.at(-1) ?? ground);
      const machine = Machine.open(network, block, after, machineOptions);
      try {
        const { from, nonce, to } = message;
        speculativeRun?.begin(to === undefined ? createdAddress({ from, nonce }) : undefined);
        const run = speculativeRun === undefined && isFree !== true ? { budget } : { budget, ...FREE_RUN };
        const outcome = await runTransaction(machine, message, run);
        speculativeRun?.ended(outcome.succeeded);
        outcomes.push(outcome);
        overlays.push(after);
      } finally {
        machine.close();
      }
    }
  } catch (error) {
    const couldNotBeSent =
      isPlumblineError(error, 'TRANSACTION_REJECTED') || isPlumblineError(error, 'INSUFFICIENT_FUNDS');
    if (!couldNotBeSent) throw error;
    // A call that an earlier one left without the funds is a difference.
    if (outcomes.length === 0 || variation.price !== undefined || variation.gas !== undefined) return undefined;
  }
  return { outcomes, ground, after: overlays.at(-1) ?? ground, written: await writtenIn(overlays) };
}

function varied(message: TransactionMessage, { price, gas }: Variation): TransactionMessage {
  const { gasPrice, maxFeePerGas, gasLimit } = message;
  return {
    ...message,
    ...(gas !== undefined && { gasLimit: scaled(gasLimit, gas) }),
    ...(price !== undefined && gasPrice !== undefined && { gasPrice: scaled(gasPrice, price) }),
    ...(price !== undefined &&
      maxFeePerGas !== undefined &&
      price === UP && { maxFeePerGas: scaled(maxFeePerGas, price) }),
  };
}

/** One wei more for each contract whose code ran. */
async function enrich(state: StateOverlay, ran: readonly Ran[]): Promise<void> {
  const seen = new Set<Hex>();
  for (const { tree } of ran) {
    const open = [tree];
    for (let frame = open.pop(); frame !== undefined; frame = open.pop()) {
      for (const call of frame.calls ?? []) open.push(call);
      if (frame.to !== undefined) seen.add(frame.to);
    }
  }
  for (const address of seen) {
    const bytes = hexToBytes(address);
    const account = await state.account(bytes);
    if (account === undefined || !(await hasCode(state, bytes))) continue;
    state.setAccount(bytes, { ...account, balance: account.balance + 1n });
  }
}

/** What of a further run differs from the first. */
async function differences(compared: Compared, first: Ended, other: Ended, block: BlockContext): Promise<Finding[]> {
  const { ran, users } = compared;
  const statuses = (ended: Ended) => ended.outcomes.map(statusOf).join();
  const found: Finding[] = [];
  const native = await nativeDifferences(compared, other, block);
  const isSameStatus = statuses(first) === statuses(other);
  const differing = [...new Set([...first.written.keys(), ...other.written.keys()])].filter(
    (key) => first.written.get(key) !== other.written.get(key),
  );
  const isSame = isSameStatus && native.length === 0 && differing.length === 0 && sameLogs(first, other);
  if (isSame) return [];
  found.push(...native, ...(await tokenDifferences(compared, other, block)));
  for (const key of differing) {
    const [address, member] = key.split(' ') as [Hex, string];
    const change = { first: first.written.get(key) ?? 'unchanged', other: other.written.get(key) ?? 'unchanged' };
    if (member === 'code' && users.includes(address)) found.push({ severity: 'danger', address, ...change });
    else if (isProxySlot(member as Hex)) {
      const severity = users.includes(address) ? 'danger' : 'warning';
      found.push({ severity, address, slot: member as Hex, ...change });
    }
  }
  if (!isSameStatus) found.push({ severity: 'warning', first: statuses(first), other: statuses(other) });
  if (found.length === 0) {
    const address = (differing[0]?.split(' ')[0] ?? bytesToHex(ran[0]!.message.to ?? ran[0]!.message.from)) as Hex;
    found.push({ severity: 'note', address, first: 'storage or events', other: 'other storage or events' });
  }
  return found;
}

/** Whether the logs that are transfers or approvals are the same. */
function sameLogs(first: Ended, other: Ended): boolean {
  const claims = ({ outcomes }: Ended) =>
    outcomes
      .flatMap(({ logs }) => logs.map(logInHex))
      .filter((log) => claimOf(log) !== undefined)
      .map(({ address, topics, data }) => `${address} ${topics.join()} ${data}`)
      .join('\n');
  return claims(first) === claims(other);
}

const logInHex = (log: TransactionOutcome['logs'][number]) => ({
  address: bytesToHex(log.address),
  topics: log.topics.map((topic) => bytesToHex(topic)),
  data: bytesToHex(log.data),
  index: '0x0' as const,
  position: '0x0' as const,
});

/** Interest and averages over time drift by less than this part of what is moved. */
const DRIFT = 200n;

/** A difference of what a user gains or loses; none in the user's favour. */
function changeFinding(account: Hex, asset: Asset, first: bigint, other: bigint): Finding | undefined {
  if (first === other) return undefined;
  const size = (value: bigint) => (value < 0n ? -value : value);
  const largest = size(first) > size(other) ? size(first) : size(other);
  const isDrift = other > first || (first - other) * DRIFT < largest;
  return { severity: isDrift ? 'note' : 'danger', account, asset, first: String(first), other: String(other) };
}

/** What users paid for gas in a run. */
function paidIn(ran: readonly Ran[], outcomes: readonly TransactionOutcome[], block: BlockContext): Map<Hex, bigint> {
  const paid = new Map<Hex, bigint>();
  for (const [i, { gasUsed, effectiveGasPrice }] of outcomes.entries()) {
    const from = bytesToHex(ran[i]!.message.from);
    const coinbase = bytesToHex(block.coinbase);
    paid.set(from, (paid.get(from) ?? 0n) + gasUsed * effectiveGasPrice);
    paid.set(coinbase, (paid.get(coinbase) ?? 0n) - gasUsed * (effectiveGasPrice - block.baseFeePerGas));
  }
  return paid;
}

async function nativeDifferences(
  { base, before, ran, users }: Compared,
  other: Ended,
  block: BlockContext,
): Promise<Finding[]> {
  const found: Finding[] = [];
  const last = ran.at(-1)!.after;
  const balance = async (state: StateReader, account: Hex) => (await state.account(hexToBytes(account)))?.balance ?? 0n;
  const [paid, paidThen] = [
    paidIn(
      ran,
      ran.map(({ outcome }) => outcome),
      base.block,
    ),
    paidIn(ran, other.outcomes, block),
  ];
  for (const account of users) {
    const first = (await balance(last, account)) - (await balance(before, account)) + (paid.get(account) ?? 0n);
    const gain = (await balance(other.after, account)) - (await balance(other.ground, account));
    const then = gain + (paidThen.get(account) ?? 0n);
    const finding = changeFinding(account, { kind: 'native' }, first, then);
    if (finding !== undefined) found.push(finding);
  }
  return found;
}

/** Balances and approvals of users, as the contracts answer after the further run, in its block. */
async function tokenDifferences(compared: Compared, other: Ended, block: BlockContext): Promise<Finding[]> {
  const { base, before, balances, approvals, users, own, as } = compared;
  const probes = openProbes({ network: base.network, block, before, after: other.after, budget: base.budget, as });
  const found: Finding[] = [];
  try {
    const known = new Map<string, BalanceChange>();
    for (const one of balances) {
      if (!('account' in one)) {
        const owner =
          (await probes.address(
            'after',
            'address' in one.asset ? one.asset.address : '0x',
            SELECTOR.ownerOf,
            idOf(one.asset),
          )) ?? null;
        const wasTheirs = one.ownerAfter !== null && users.includes(one.ownerAfter);
        if (owner !== one.ownerAfter && wasTheirs)
          found.push({ severity: 'danger', account: one.ownerAfter!, asset: one.asset, first: '1', other: '0' });
      } else if (one.asset.kind !== 'native' && users.includes(one.account))
        known.set(`${one.account} ${assetKey(one.asset)}`, one);
    }
    const claimed = claimedIn(other, users);
    for (const { account, asset } of claimed.ids.values()) {
      const owner = (when: 'before' | 'after') =>
        probes.address(when, asset.address, SELECTOR.ownerOf, BigInt(asset.id));
      if ((await owner('before')) === account && (await owner('after')) !== account && !isShown(asset, balances))
        found.push({ severity: 'danger', account, asset, first: '0', other: '-1' });
    }
    for (const [key, { account, asset }] of new Map([...claimed.balances, ...known])) {
      const was = known.get(key);
      const change = await changeIn(probes, asset, account);
      if (change === undefined) continue;
      const finding = changeFinding(account, asset, BigInt(was?.change ?? 0n), change);
      if (finding !== undefined && (was === undefined || was.change !== null)) found.push(finding);
    }
    const amounts = new Map<string, Extract<Approval, { readonly kind: 'erc20' }>>(
      approvals.flatMap((one) =>
        one.kind === 'erc20' ? [[`${one.token} ${one.owner} ${one.spender}`, one] as const] : [],
      ),
    );
    for (const [key, { token, owner, spender }] of new Map([...claimed.allowances, ...amounts])) {
      if (!users.includes(owner) || own.has(spender)) continue;
      const after = await probes.word('after', token, SELECTOR.allowance, owner, spender);
      const first = BigInt(
        amounts.get(key)?.after ?? (await probes.word('before', token, SELECTOR.allowance, owner, spender)) ?? 0n,
      );
      if (after === undefined || after <= first) continue;
      found.push({ severity: 'danger', token, owner, spender, first: String(first), other: String(after) });
    }
    for (const one of claimed.rights) {
      const { token, owner, spender } = one;
      const shown = approvals.find((approval) => isSameRight(approval, one));
      if (own.has(spender) || shown?.kind === 'right' || shown?.kind === 'erc721') continue;
      const first = BigInt(shown?.after ?? (await rightIn(probes, 'before', one)) ?? 0n);
      const after = await rightIn(probes, 'after', one);
      if (after === undefined || after <= first) continue;
      found.push({ severity: 'danger', token, owner, spender, first: String(first), other: String(after) });
    }
  } finally {
    probes.close();
  }
  return found;
}

const idOf = (asset: Asset) => ('id' in asset ? BigInt(asset.id) : 0n);

async function changeIn(probes: Probes, asset: Asset, account: Hex): Promise<bigint | undefined> {
  if (!('address' in asset)) return undefined;
  const ask = (when: 'before' | 'after') =>
    'id' in asset
      ? probes.word(when, asset.address, SELECTOR.balanceOfId, account, asset.id)
      : probes.word(when, asset.address, SELECTOR.balanceOf, account);
  const after = await ask('after');
  if (after === undefined) return undefined;
  const before = (await ask('before')) ?? ((await probes.hasCode('before', asset.address)) ? undefined : 0n);
  return before === undefined ? undefined : after - before;
}

type TokenOfCollection = Extract<Asset, { readonly id: Hex }> & { readonly kind: 'erc721' };

/** Whether the first run changed the owner of this token: that is compared by itself. */
const isShown = (asset: Asset, balances: Compared['balances']) =>
  balances.some((one) => assetKey(one.asset) === assetKey(asset));

/** A right that an event of a further run names. */
interface ClaimedRight {
  readonly kind: 'operator' | 'erc721' | 'permit2' | 'right';
  /** The contract that has it. */
  readonly at: Hex;
  readonly token: Hex;
  readonly owner: Hex;
  readonly spender: Hex;
  readonly id?: bigint;
}

const isSameRight = (shown: Approval, { kind, token, owner, spender }: ClaimedRight) =>
  shown.kind === kind && shown.token === token && shown.owner === owner && shown.spender === spender;

/** How much of a right there is: 1 for one without an amount. @returns undefined where the contract does not answer */
async function rightIn(
  probes: Probes,
  when: 'before' | 'after',
  { kind, at, token, owner, spender, id }: ClaimedRight,
): Promise<bigint | undefined> {
  switch (kind) {
    case 'operator':
      return probes.word(when, at, SELECTOR.isApprovedForAll, owner, spender);
    case 'erc721':
      return (await probes.address(when, at, SELECTOR.getApproved, id!)) === spender ? 1n : 0n;
    case 'permit2':
      return probes.word(when, at, SELECTOR.permit2Allowance, owner, token, spender);
    case 'right':
      // Contracts answer of rights in ways of their own; the first run named none.
      return when === 'after' ? 1n : 0n;
  }
}

/** What the events of a run name of users: balances, tokens of collections that leave them, allowances and other rights. */
function claimedIn({ outcomes }: Ended, users: readonly Hex[]) {
  const balances = new Map<string, Pick<BalanceChange, 'account' | 'asset'>>();
  const ids = new Map<string, { readonly account: Hex; readonly asset: TokenOfCollection }>();
  const allowances = new Map<string, { readonly token: Hex; readonly owner: Hex; readonly spender: Hex }>();
  const rights = new Map<string, ClaimedRight>();
  const addRight = (right: ClaimedRight) => {
    if (users.includes(right.owner)) rights.set(Object.values(right).join(' '), right);
  };
  for (const log of outcomes.flatMap(({ logs }) => logs.map(logInHex))) {
    const claim = claimOf(log);
    if (typeof claim !== 'object') continue;
    const { address } = log;
    switch (claim.claim) {
      case 'transfer':
        if (claim.mayBeId && users.includes(claim.from)) {
          const asset = { kind: 'erc721', address, id: toQuantity(claim.number) } as const;
          ids.set(assetKey(asset), { account: claim.from, asset });
        } else if (!claim.mayBeId) addBalances(claim, { kind: 'erc20', address });
        break;
      case 'multi':
        for (const id of claim.ids) addBalances(claim, { kind: claim.kind, address, id: toQuantity(id) });
        break;
      case 'allowance': {
        const { owner, spender } = claim;
        allowances.set(`${address} ${owner} ${spender}`, { token: address, owner, spender });
        break;
      }
      case 'operator':
        addRight({ kind: 'operator', at: address, token: address, owner: claim.owner, spender: claim.spender });
        break;
      case 'token': {
        const { owner, spender, id } = claim;
        addRight({ kind: 'erc721', at: address, token: address, owner, spender, id });
        break;
      }
      case 'permit2': {
        const { token, owner, spender } = claim;
        addRight({ kind: 'permit2', at: address, token, owner, spender });
        break;
      }
      case 'right': {
        const { owner = address, spender, told } = claim;
        if (told !== false && told !== 0n) addRight({ kind: 'right', at: address, token: address, owner, spender });
      }
    }
  }
  return { balances, ids, allowances, rights: rights.values() };

  function addBalances({ from, to }: { readonly from: Hex; readonly to: Hex }, asset: Asset): void {
    for (const account of [from, to])
      if (users.includes(account)) balances.set(`${account} ${assetKey(asset)}`, { account, asset });
  }
}
