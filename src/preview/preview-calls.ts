import { authorityOf } from '../evm/authority.js';
import type { BlockContext } from '../evm/block-context.js';
import { FREE_RUN } from '../evm/call.js';
import { rulesAt } from '../evm/common.js';
import { placedPrecompiles } from '../evm/machine.js';
import { precompileOverrides, withOverrides } from '../evm/overrides.js';
import { StateOverlay } from '../evm/state-overlay.js';
import { ReadCache, type StateReader } from '../evm/state-reader.js';
import { traceTransaction } from '../evm/tracing/trace-transaction.js';
import type { Tracer } from '../evm/tracing/tracer.js';
import { FLAGS, type TraceRecord } from '../kernel/evm.js';
import { bytesToHex, type Hex, hexToBytes } from '../primitives/hex.js';
import { toQuantity } from '../primitives/quantity.js';
import { approvalsOf, unnamedOf, warnOfApprovals } from './approvals.js';
import { balancesOf, withTrueWrapping } from './balances.js';
import { beaconUpgrades, contractsOf, hasOtherCode, warnOfChanges, warnOfNoCode } from './contracts.js';
import { customErrors, revertOf } from './custom-errors.js';
import { failedPermits } from './failed-permits.js';
import { compareFurtherRuns } from './further-runs.js';
import { warnOfLookAlikes } from './look-alikes.js';
import { warnOfLosses, warnOfReceivers } from './losses.js';
import type {
  Approval,
  Asset,
  BalanceChange,
  KnownNames,
  OwnerChange,
  PreviewedCall,
  PreviewedChanges,
  PreviewWarning,
  TokenName,
  Transfer,
  Warn,
} from './preview.js';
import { openProbes, type Probes, tokenName } from './probes.js';
import { environmentReads, type MessageOf, type PreviewBase, type Ran, runCalls, statusOf } from './run-calls.js';
import { assetKey, transfersOf } from './transfers.js';
import { type CodeRun, codeRuns, type Inspection } from './tree-items.js';

/**
 * Runs calls in order, each on the state that the one before left, and says what they change. Nothing is kept. A call that
 * reverts is a result, and the next one runs all the same.
 *
 * @throws PlumblineError `TRANSACTION_REJECTED` and `INSUFFICIENT_FUNDS` for a call that could not be sent,
 *   `GAS_BUDGET_EXCEEDED`, `ANSWER_TOO_LARGE`, `PREVIEW_TOO_LARGE`, `ABORTED`, and errors of reading the state
 * @source docs/spec/preview.md 7 to 9
 */
export async function previewCalls(base: PreviewBase, count: number, messageOf: MessageOf): Promise<PreviewedChanges> {
  const { network, block, budget, overrides = [] } = base;
  const state = ReadCache.over(withOverrides(base.state, overrides));
  const size = { characters: 0 };
  const ran = await runCalls(base, { block, state, size }, count, messageOf);
  const probes = openProbes({
    network,
    block,
    before: state,
    after: ran.at(-1)?.after ?? state,
    budget,
    as: askedAs(ran),
  });
  const grow = (characters: number) => {
    size.characters += characters;
    budget.requireRoom(size.characters);
  };
  try {
    return await inspect(base, ran, state, { probes, pause: budget.pause, grow });
  } finally {
    probes.close();
  }
}

/** Contracts are asked as by the first call: with its sender, its gas and its price. */
function askedAs([first]: readonly Ran[]) {
  if (first === undefined) return undefined;
  const { message, outcome } = first;
  return { from: message.from, gas: message.gasLimit, price: outcome.effectiveGasPrice };
}

/** What calls that ran changed. @param before - the state before them */
async function inspect(
  base: PreviewBase,
  ran: readonly Ran[],
  before: StateReader,
  inspection: Inspection,
): Promise<PreviewedChanges> {
  const { network, block, watch = [], errors = [], overrides = [], known = {} } = base;
  const { probes } = inspection;
  const after = ran.at(-1)?.after ?? before;
  const senders = ran.map(({ message }) => bytesToHex(message.from));
  const users = [...new Set(base.users ?? [...senders, ...(await authoritiesOf(ran)), ...watch])];
  const trees = ran.map(({ tree }) => tree);

  const warnings = new Map<string, PreviewWarning>();
  const warn: Warn = (warning) => void warnings.set(JSON.stringify(warning), warning);
  const claimed: Transfer[][] = [];
  for (const tree of trees) claimed.push(await transfersOf(tree, inspection, warn));
  const transfers = await withTrueWrapping(claimed, probes);
  const approvals: Approval[][] = [];
  for (const tree of trees) approvals.push(await approvalsOf(tree, inspection));
  const permits = await failedPermits(trees, { users, now: Number(block.timestamp), warn }, inspection);
  for (const [i, rights] of permits.entries()) approvals[i]!.push(...rights);
  const written = writtenBy(ran);
  const allTransfers = joined(transfers);
  const moved = new Set(allTransfers.map(({ asset }) => assetKey(asset)));
  const unnamed = await unnamedOf(trees, written, { users, told: joined(approvals), moved, warn }, inspection);
  // Which of the calls made them is not known: they are listed with the last one.
  approvals.at(-1)?.push(...unnamed.approvals);
  const places = await placesOfBalances(ran, allTransfers, { written, before, known }, inspection);
  const costs = costsOf(ran, block);
  const balances = await balancesOf(allTransfers, { before, after, probes, users, costs, written: places, warn });
  for (const { asset, account, change } of unnamed.taken)
    warn({ code: 'silent-change', severity: 'danger', asset, account, told: '0', change: String(change) });
  const allApprovals = joined(approvals);
  const own = new Set(base.users ?? [...senders, ...watch]);
  const called = new Set(ran.flatMap(({ message: { to } }) => (to === undefined ? [] : [bytesToHex(to)])));
  const stood = (address: Hex) => hasOtherCode(before, hexToBytes(address));
  await warnOfApprovals(allApprovals, allTransfers, { own, users, called, stood }, warn);

  const rules = rulesAt(network, block.number, block.timestamp);
  const ground = { last: after, chainId: network.chainId, destroysAll: !rules.cancun };
  const reasons = customErrors(errors);
  const holds = new Set([...users, ...gainedFrom(balances, users)]);
  const beacons = await beaconUpgrades(trees, inspection);
  const calls: PreviewedCall[] = [];
  for (const [i, one] of ran.entries()) {
    const { outcome, tree } = one;
    const contracts = [...(await contractsOf(one, ground)), ...(i === ran.length - 1 ? beacons : [])];
    warnOfChanges(contracts, holds, warn);
    const call: PreviewedCall = {
      status: statusOf(outcome),
      gasUsed: toQuantity(outcome.gasUsed),
      transfers: transfers[i]!,
      approvals: approvals[i]!,
      contracts,
      tree,
    };
    calls.push(outcome.succeeded ? call : { ...call, revert: revertOf(outcome, reasons) });
  }
  await warnOfDelegateWrites(base, ran, users, warn);
  const trusted = new Set<Hex>([
    ...knownAddresses(known),
    ...(network.messageService === undefined ? [] : [lowerCase(network.messageService)]),
  ]);
  const { pause } = inspection;
  const losses = { ran, transfers, balances, users, costs, before, probes, known: trusted, pause, warn };
  await warnOfLosses(losses);
  await warnOfReceivers(losses);
  const tokens = await tokensOf(allApprovals, balances, probes);
  const parties = [...called, ...allApprovals.map(({ spender }) => spender), ...allTransfers.map(({ to }) => to)];
  if (known.tokens !== undefined || known.addresses !== undefined)
    warnOfLookAlikes(assetsOf(balances, users), tokens, parties, known, warn);
  const precompiles = placedPrecompiles(rules, precompileOverrides(overrides));
  for (const one of ran) await warnOfNoCode(one, precompiles, warn);
  await compareFurtherRuns({
    base,
    before,
    ran,
    balances,
    approvals: allApprovals,
    users,
    own,
    as: askedAs(ran),
    warn,
  });
  return {
    calls,
    balances,
    tokens,
    warnings: [...warnings.values()].sort((a, b) => rankOf(a) - rankOf(b)),
    users,
    fees: feesOf(ran),
    environmentReads: environmentReads(ran.reduce((all, { outcome }) => all | (outcome.environment ?? 0n), 0n)),
  };
}

const RANKS = { danger: 0, warning: 1, note: 2 } as const;
/** What is lost for nothing comes first. */
const LOSSES: readonly PreviewWarning['code'][] = ['nothing-back', 'loses-all'];

/** Order of warnings: by severity, and losses before the rest. */
const rankOf = ({ severity, code }: PreviewWarning) => 2 * RANKS[severity] + (LOSSES.includes(code) ? 0 : 1);

const lowerCase = (address: Hex) => address.toLowerCase() as Hex;
const knownAddresses = ({ tokens = [], addresses = [] }: KnownNames) => [
  ...tokens.map(({ address }) => address),
  ...addresses,
];

/** Contracts of which a user has more of an asset than before. */
function gainedFrom(balances: readonly (BalanceChange | OwnerChange)[], users: readonly Hex[]): Hex[] {
  return balances.flatMap((one) =>
    'account' in one && 'address' in one.asset && users.includes(one.account) && BigInt(one.change ?? 0n) > 0n
      ? [one.asset.address]
      : [],
  );
}

/** Assets of users. */
function assetsOf(balances: readonly (BalanceChange | OwnerChange)[], users: readonly Hex[]): Asset[] {
  const theirs = balances.filter((one) => !('account' in one) || users.includes(one.account));
  return [...new Map(theirs.map(({ asset }) => [assetKey(asset), asset])).values()];
}

/** Most contracts that are asked for balances besides those of transfers and those that were written. */
const MAX_PLACES = 32;

/**
 * Contracts in which a balance may lie besides the assets of transfers: those that were written, those that called one of them, those
 * that hold what was transferred, and tokens that the caller knows.
 *
 * @source docs/spec/preview.md 8.7, "Silent losses in other contracts"
 */
async function placesOfBalances(
  ran: readonly Ran[],
  transfers: readonly Transfer[],
  {
    written,
    before,
    known,
  }: { readonly written: readonly Hex[]; readonly before: StateReader; readonly known: KnownNames },
  { pause }: Inspection,
): Promise<Hex[]> {
  const others = new Set<Hex>();
  const passed = new Set<CodeRun>();
  const isWritten = new Set(written);
  for (const { tree } of ran) {
    for (const { executing, parent } of codeRuns(tree)) {
      const paused = pause();
      if (paused !== undefined) await paused;
      if (!isWritten.has(executing)) continue;
      for (let above = parent; above !== undefined && !passed.has(above); above = above.parent) {
        passed.add(above);
        if (others.size < MAX_PLACES) others.add(above.executing);
      }
    }
  }
  for (const { asset, from, to } of transfers)
    if ('address' in asset)
      for (const one of [from, to])
        if (others.size < MAX_PLACES && !others.has(one) && (await hasOtherCode(before, hexToBytes(one))))
          others.add(one);
  for (const { address } of (known.tokens ?? []).slice(0, MAX_PLACES)) others.add(address);
  return [...new Set([...written, ...others])];
}

/**
 * Warns if an account of a user ran code of others as its own, and that wrote a slot of it. Which code wrote is only known from the
 * instructions: the call runs once more, and its instructions that name a slot are recorded.
 *
 * @source docs/spec/preview.md 8.8
 */
async function warnOfDelegateWrites(
  base: PreviewBase,
  ran: readonly Ran[],
  users: readonly Hex[],
  warn: Warn,
): Promise<void> {
  const { network, block, budget, overrides = [], speculativeRun, supposed, isFree } = base;
  const run = isFree === true ? { budget, ...FREE_RUN } : { budget };
  for (const { tree, message, before, changes } of ran) {
    const changed = new Set(
      changes.flatMap(({ address, slots }) => slots.map(({ key }) => `${bytesToHex(address)} ${bytesToHex(key)}`)),
    );
    const own = new Map<Hex, Hex>();
    const foreign = new Set<Hex>();
    for (const { frame, executing, parent, borrowed } of codeRuns(tree)) {
      if (borrowed === 0 || !users.includes(executing) || frame.to === undefined) continue;
      // A proxy hands on all that it gets.
      if (borrowed === 1 && frame.input === parent?.frame.input) own.set(executing, frame.to);
      else foreign.add(executing);
    }
    const isTouched = [...foreign].some((account) => [...changed].some((one) => one.startsWith(account)));
    if (!isTouched || speculativeRun !== undefined) continue;
    const place = {
      network,
      block,
      state: new StateOverlay(before),
      isKept: false,
      machine: { ...precompileOverrides(overrides), supposed },
    };
    const { result } = await traceTransaction(place, slotWriteTracer(), message, run);
    for (const { account, code, slot, borrowed } of result as SlotWrite[])
      if (borrowed > 0 && foreign.has(account) && own.get(account) !== code && changed.has(`${account} ${slot}`))
        warn({ code: 'delegate-write', severity: 'danger', account, slot: toQuantity(BigInt(slot)), target: code });
  }
}

/** The items of all lists. `flat` takes ten times as long. */
const joined = <Item>(lists: readonly (readonly Item[])[]): Item[] => ([] as Item[]).concat(...lists);

/** Accounts of the authorizations, valid or not. */
async function authoritiesOf(ran: readonly Ran[]): Promise<Hex[]> {
  const found: Hex[] = [];
  for (const { message } of ran) {
    for (const authorization of message.authorizationList ?? []) {
      const address = await authorityOf(authorization);
      if (address !== undefined) found.push(bytesToHex(address));
    }
  }
  return found;
}

const feeOf = ({ outcome }: Ran) => outcome.gasUsed * outcome.effectiveGasPrice;

/** What each sender paid for gas. */
function feesOf(ran: readonly Ran[]): Record<Hex, Hex> {
  const fees: Record<Hex, Hex> = {};
  for (const one of ran) {
    const from = bytesToHex(one.message.from);
    fees[from] = toQuantity(BigInt(fees[from] ?? 0n) + feeOf(one));
  }
  return fees;
}

/** What accounts paid for gas, less what the coinbase got. */
function costsOf(ran: readonly Ran[], { coinbase, baseFeePerGas }: BlockContext): Map<Hex, bigint> {
  const costs = new Map<Hex, bigint>();
  const add = (account: Hex, wei: bigint) => costs.set(account, (costs.get(account) ?? 0n) + wei);
  for (const one of ran) {
    add(bytesToHex(one.message.from), feeOf(one));
    add(bytesToHex(coinbase), -one.outcome.gasUsed * (one.outcome.effectiveGasPrice - baseFeePerGas));
  }
  return costs;
}

/** Contracts whose storage changed. */
function writtenBy(ran: readonly Ran[]): Hex[] {
  const written = new Set<Hex>();
  for (const { changes } of ran)
    for (const { address, slots } of changes) if (slots.length > 0) written.add(bytesToHex(address));
  return [...written];
}

async function tokensOf(
  approvals: readonly Approval[],
  balances: readonly (BalanceChange | OwnerChange)[],
  probes: Probes,
): Promise<Record<Hex, TokenName>> {
  const tokens: Record<Hex, TokenName> = {};
  const add = async (token: Hex) => {
    tokens[token] ??= await tokenName(probes, token);
  };
  for (const { asset } of balances) if ('address' in asset) await add(asset.address);
  for (const { token } of approvals) await add(token);
  return tokens;
}

/** A slot that code wrote in the account that it ran for. */
interface SlotWrite {
  readonly account: Hex;
  /** The account whose code it is. */
  readonly code: Hex;
  readonly slot: Hex;
  /** How many DELEGATECALLs in a row led to the code: the account's own code has 0, the implementation of a proxy 1. */
  readonly borrowed: number;
}

const [SSTORE, DELEGATECALL, CALLCODE] = [0x55, 0xf4, 0xf2];

/** Which code wrote which slots. Writes that were taken back are listed, too. */
function slotWriteTracer(): Tracer {
  const frames: Omit<SlotWrite, 'slot'>[] = [];
  const found = new Map<string, SlotWrite>();
  return {
    flags: FLAGS.calls | FLAGS.stateSteps,
    take(record: TraceRecord) {
      if (record.kind === 'enter') {
        const { op, depth, callerText, calleeText } = record;
        frames.length = depth;
        const isBorrowed = op === DELEGATECALL || op === CALLCODE;
        const account = isBorrowed ? callerText : calleeText;
        const borrowed = isBorrowed ? (frames.at(-1)?.borrowed ?? 0) + 1 : 0;
        frames.push({ account, code: calleeText, borrowed });
      } else if (record.kind === 'leave') frames.length = record.depth;
      else if (record.op === SSTORE) {
        const write = { ...frames[record.depth]!, slot: bytesToHex(record.stack.at(-1)!) };
        found.set(Object.values(write).join(' '), write);
      }
    },
    result: () => [...found.values()],
  };
}
