import type { RunBudget } from '../evm/run-budget.js';
import type { StateReader } from '../evm/state-reader.js';
import { type Hex, hexToBytes } from '../primitives/hex.js';
import { toQuantity } from '../primitives/quantity.js';
import { hasOtherCode } from './contracts.js';
import type { Asset, BalanceChange, OwnerChange, Severity, Transfer, Warn } from './preview.js';
import { type Probes, SELECTOR } from './probes.js';
import type { Ran } from './run-calls.js';
import { assetKey, ZERO } from './transfers.js';
import { type CodeRun, codeRuns } from './tree-items.js';

/*
 * What users lose, and what they get for it.
 *
 * docs/spec/preview.md 8.7
 */

/** What losses are worked out from. */
export interface LossSources {
  readonly ran: readonly Ran[];
  /** By call. */
  readonly transfers: readonly (readonly Transfer[])[];
  readonly balances: readonly (BalanceChange | OwnerChange)[];
  readonly users: readonly Hex[];
  /** Wei that accounts paid for gas. */
  readonly costs: ReadonlyMap<Hex, bigint>;
  readonly before: StateReader;
  readonly probes: Probes;
  /** Addresses that the caller knows. */
  readonly known: ReadonlySet<Hex>;
  readonly pause: RunBudget['pause'];
  readonly warn: Warn;
}

/** A plain transfer: what a call's own selector names goes to the receiver that stands in the call, and nothing else of the user's. */
interface PlainTransfer {
  readonly receiver: Hex;
  /** The token may go to a contract that cannot send it on: it is not asked. */
  readonly unchecked: boolean;
}

/** Functions that transfer, by selector: the position of the receiver, and whether a contract that receives is asked. */
const TRANSFERS: Readonly<Record<Hex, readonly [receiver: number, asks: boolean]>> = {
  '0xa9059cbb': [0, false], // transfer(address,uint256)
  '0x23b872dd': [1, false], // transferFrom(address,address,uint256)
  '0x42842e0e': [1, true], // safeTransferFrom(address,address,uint256)
  '0xb88d4fde': [1, true], // safeTransferFrom(address,address,uint256,bytes)
  '0xf242432a': [1, true], // safeTransferFrom(address,address,uint256,uint256,bytes)
  '0x2eb2c2d6': [1, true], // safeBatchTransferFrom(address,address,uint256[],uint256[],bytes)
  '0x095bcdb6': [0, false], // transfer(address,uint256,uint256), ERC-6909
  '0xfe99049a': [1, false], // transferFrom(address,address,uint256,uint256), ERC-6909
};

function plainTransferOf(
  { tree }: Ran,
  transfers: readonly Transfer[],
  users: readonly Hex[],
): PlainTransfer | undefined {
  const { to, input } = carriedOut(tree, users);
  const theirs = transfers.filter(({ from, to: other }) => users.includes(from) || users.includes(other));
  if (to === undefined || tree.type !== 'CALL' || theirs.length === 0) return undefined;
  if (input === '0x')
    return theirs.every(({ asset }) => asset.kind === 'native') ? { receiver: to, unchecked: false } : undefined;
  const [at, asks] = TRANSFERS[input.slice(0, 10) as Hex] ?? [];
  if (at === undefined) return undefined;
  const receiver: Hex = `0x${input.slice(10 + 64 * at + 24, 10 + 64 * (at + 1))}`;
  const isPlain = theirs.every(
    ({ asset, from, to: other }) =>
      'address' in asset && asset.address === to && users.includes(from) && other === receiver,
  );
  return isPlain ? { receiver, unchecked: asks === false } : undefined;
}

const EXEC_TRANSACTION = '0x6a761202';

/** The call that a Safe of a user is told to make (`execTransaction`), if it is no DELEGATECALL; the call itself otherwise. */
function carriedOut(
  { to, input }: Ran['tree'],
  users: readonly Hex[],
): { readonly to: Hex | undefined; readonly input: Hex } {
  if (to === undefined || !users.includes(to) || !input.startsWith(EXEC_TRANSACTION)) return { to, input };
  const word = (byte: number) => input.slice(10 + 2 * byte, 10 + 2 * byte + 64);
  const number = (byte: number) => Number(BigInt(`0x${word(byte) || '0'}`));
  const at = number(2 * 32);
  if (number(3 * 32) !== 0 || !Number.isSafeInteger(at)) return { to, input };
  const start = 10 + 2 * (at + 32);
  return { to: `0x${word(0).slice(24)}`, input: `0x${input.slice(start, start + 2 * number(at))}` };
}

interface Loss {
  readonly account: Hex;
  readonly asset: Asset;
  readonly amount: bigint;
}

/** By account and asset: what the transfers of one call add up to. Ether counts as it is told, without fees. */
function sumsOf(transfers: readonly Transfer[], users: readonly Hex[]) {
  const sums = new Map<string, Loss>();
  const add = (account: Hex, asset: Asset, amount: bigint) => {
    if (!users.includes(account)) return;
    const key = `${account} ${assetKey(asset)}`;
    sums.set(key, { account, asset, amount: (sums.get(key)?.amount ?? 0n) + amount });
  };
  for (const { asset, from, to, amount } of transfers) {
    add(from, asset, -BigInt(amount));
    add(to, asset, BigInt(amount));
  }
  return sums;
}

/** Warns of what users lose: all of an asset, or something for nothing. */
export async function warnOfLosses(sources: LossSources): Promise<void> {
  const { ran, transfers, users, warn } = sources;
  const plain = ran.map((one, i) => plainTransferOf(one, transfers[i]!, users));
  const changes = changesOf(sources);
  const byPlain = sumsOf(transfers.filter((_, i) => plain[i] !== undefined).flat(), users);
  await warnOfAll(sources, changes, byPlain);

  const isGain = ({ amount }: Loss) => amount > 0n;
  const silentGain = changes.some(({ change, told }) => change > told && change > 0n);
  const told = new Set<string>();
  let gained = silentGain;
  for (const [i, list] of transfers.entries()) {
    const flows = flowsOf(list);
    const sums = [...sumsOf(list, users).values()];
    const losses = sums.filter(({ amount }) => amount < 0n);
    gained ||= sums.some(isGain);
    if (plain[i] !== undefined) continue;
    for (const account of users) {
      const gains = sums.filter((one) => one.account === account && isGain(one));
      const own = losses.filter((one) => one.account === account);
      if (own.length === 0) {
        if (gains.length > 0) await warnOfDebt(ran[i]!, flows, gains, sources);
        continue;
      }
      const givers = giversOf(account, gains, flows);
      for (const loss of own) {
        await sources.pause();
        const end = await endOf(loss, flows, sources);
        if (end === 'user' || ((gains.length > 0 || silentGain) && end === 'code')) continue;
        told.add(`${account} ${assetKey(loss.asset)}`);
        const severity: Severity = end === 'known' || isTrade(loss, givers, flows) ? 'warning' : 'danger';
        warn({ code: 'nothing-back', severity, account, asset: loss.asset, amount: toQuantity(-loss.amount) });
      }
    }
  }
  // What no transfer tells.
  if (gained) return;
  for (const { account, asset, change, told: sum } of changes) {
    if (change >= sum || change >= 0n || told.has(`${account} ${assetKey(asset)}`)) continue;
    warn({ code: 'nothing-back', severity: 'danger', account, asset, amount: toQuantity(-change) });
  }
}

/** Balances of users that changed, without fees. Tokens of a collection are told by their owners. */
function changesOf({ balances, users, costs }: LossSources) {
  const changes: (Loss & { readonly before: bigint; readonly change: bigint; readonly told: bigint })[] = [];
  for (const one of balances) {
    if (!('account' in one) || !users.includes(one.account) || one.change === null) continue;
    const fee = one.asset.kind === 'native' ? (costs.get(one.account) ?? 0n) : 0n;
    const change = BigInt(one.change) + fee;
    const { account, asset } = one;
    changes.push({ account, asset, amount: change, before: BigInt(one.before!), change, told: BigInt(one.told) + fee });
  }
  return changes;
}

const isMost = (loss: bigint, before: bigint) => before > 0n && loss * 10n >= before * 9n;

async function warnOfAll(
  { balances, users, probes, warn }: LossSources,
  changes: ReturnType<typeof changesOf>,
  byPlain: ReturnType<typeof sumsOf>,
): Promise<void> {
  const lost: Loss[] = changes.filter(({ change, before }) => change < 0n && isMost(-change, before));
  const kept = new Set(changes.filter((one) => one.before > 0n && !lost.includes(one)).map(({ account }) => account));
  for (const one of balances) {
    if ('account' in one || one.asset.kind !== 'erc721' || one.ownerBefore === null) continue;
    const account = one.ownerBefore;
    if (!users.includes(account) || one.ownerAfter === account) continue;
    const ask = (when: 'before' | 'after') => probes.word(when, addressOf(one.asset), SELECTOR.balanceOf, account);
    const [before, after] = [await ask('before'), await ask('after')];
    if (before !== undefined && after !== undefined && !isMost(before - after, before)) kept.add(account);
    else lost.push({ account, asset: one.asset, amount: -1n });
  }
  for (const { account, asset, amount } of lost) {
    const isPlain = byPlain.get(`${account} ${assetKey(asset)}`)?.amount === amount;
    const all = kept.has(account) ? {} : ({ assets: 'all' } as const);
    warn({
      code: 'loses-all',
      severity: isPlain ? 'warning' : 'danger',
      account,
      asset,
      amount: toQuantity(-amount),
      ...all,
    });
  }
}

const addressOf = (asset: Asset): Hex => ('address' in asset ? asset.address : ZERO);

/**
 * Where a loss ended, followed through the transfers of the call: at an address that the caller knows, at code that stood before, with
 * another user, or elsewhere. What is burnt ends at its contract.
 */
async function endOf({ account, asset }: Loss, { byAsset }: Flows, { before, users, known }: LossSources) {
  const ends = [...(byAsset.get(assetKey(asset))?.net ?? [])]
    .filter(([to, amount]) => amount > 0n && to !== account)
    .map(([to]) => (to === ZERO ? addressOf(asset) : to));
  if (ends.length > 0 && ends.every((to) => users.includes(to))) return 'user';
  if (ends.length > 0 && ends.every((to) => known.has(to))) return 'known';
  for (const to of ends) if (!(await hasOtherCode(before, hexToBytes(to)))) return 'elsewhere';
  return 'code';
}

/** Who gave an account what it gained. */
function giversOf(account: Hex, gains: readonly Loss[], { moves }: Flows): Set<Hex> {
  const gained = new Set(gains.map(({ asset }) => assetKey(asset)));
  return new Set(moves.flatMap(({ key, from, to }) => (to === account && gained.has(key) ? [from] : [])));
}

/**
 * Whether those who got what was lost gave what was gained, from what they had: a sale between accounts. What it is worth is not known.
 */
function isTrade({ asset }: Loss, givers: ReadonlySet<Hex>, { byAsset }: Flows): boolean {
  const paid = byAsset.get(assetKey(asset))?.receivers;
  return givers.size > 0 && [...givers].every((from) => from !== ZERO && paid?.has(from) === true);
}

/** A mint to a user, while its minter pays somebody else, is debt. */
async function warnOfDebt(
  { tree }: Ran,
  { moves }: Flows,
  gains: readonly Loss[],
  { users, pause, warn }: LossSources,
): Promise<void> {
  const minted = new Set(moves.flatMap(({ key, from, to }) => (from === ZERO ? [`${to} ${key}`] : [])));
  const mints = gains.filter(({ account, asset }) => 'address' in asset && minted.has(`${account} ${assetKey(asset)}`));
  const payments = moves.filter(({ to, amount }) => !users.includes(to) && to !== ZERO && amount > 0n);
  if (mints.length === 0 || payments.length === 0) return;
  const minters = await callersOf(new Set(mints.map(({ asset }) => addressOf(asset))), tree, pause);
  /** Keys of the assets that the minters of a contract paid. */
  const paidBy = new Map<Hex, ReadonlySet<string>>();
  for (const [address, own] of minters) {
    await pause();
    const theirs = payments.filter(({ from, to }) => own.has(from) && !own.has(to));
    paidBy.set(address, new Set(theirs.map(({ key }) => key)));
  }
  for (const { account, asset, amount } of mints) {
    const paid = paidBy.get(addressOf(asset));
    if (paid === undefined || paid.size === 0 || (paid.size === 1 && paid.has(assetKey(asset)))) continue;
    warn({ code: 'nothing-back', severity: 'danger', account, asset, amount: toQuantity(amount) });
  }
}

/** By contract: itself, and all that were above it in a tree when it ran. */
async function callersOf(
  contracts: ReadonlySet<Hex>,
  tree: Ran['tree'],
  pause: LossSources['pause'],
): Promise<Map<Hex, Set<Hex>>> {
  const callers = new Map([...contracts].map((address) => [address, new Set([address])]));
  const seen = new Map<Hex, Set<CodeRun>>([...contracts].map((address) => [address, new Set()]));
  for (const { executing, parent } of codeRuns(tree)) {
    const paused = pause();
    if (paused !== undefined) await paused;
    const own = callers.get(executing);
    const visited = seen.get(executing);
    for (let above = parent; own !== undefined && above !== undefined && !visited!.has(above); above = above.parent) {
      own.add(above.executing);
      visited!.add(above);
    }
  }
  return callers;
}

/** The transfers of a call, and by asset what each address got of it less what it gave, and who got any. */
interface Flows {
  readonly moves: readonly { readonly key: string; readonly from: Hex; readonly to: Hex; readonly amount: bigint }[];
  readonly byAsset: ReadonlyMap<string, { readonly net: Map<Hex, bigint>; readonly receivers: Set<Hex> }>;
}

function flowsOf(transfers: readonly Transfer[]): Flows {
  const moves = transfers.map(({ asset, from, to, amount }) => ({
    key: assetKey(asset),
    from,
    to,
    amount: BigInt(amount),
  }));
  const byAsset = new Map<string, { net: Map<Hex, bigint>; receivers: Set<Hex> }>();
  for (const { key, from, to, amount } of moves) {
    const { net, receivers } = byAsset.get(key) ?? { net: new Map<Hex, bigint>(), receivers: new Set<Hex>() };
    byAsset.set(key, { net, receivers });
    net.set(from, (net.get(from) ?? 0n) - amount);
    net.set(to, (net.get(to) ?? 0n) + amount);
    receivers.add(to);
  }
  return { moves, byAsset };
}

/** Warns of receivers of plain transfers: contracts that were not asked, and accounts that were never used. */
export async function warnOfReceivers({ ran, transfers, users, before, warn }: LossSources): Promise<void> {
  for (const [i, one] of ran.entries()) {
    const plain = plainTransferOf(one, transfers[i]!, users);
    if (plain === undefined || users.includes(plain.receiver)) continue;
    const { receiver, unchecked } = plain;
    const account = await before.account(hexToBytes(receiver));
    const asset = transfers[i]![0]!.asset;
    if (
      account === undefined ||
      (account.nonce === 0n && account.balance === 0n && !(await hasOtherCode(before, hexToBytes(receiver))))
    )
      warn({ code: 'new-recipient', severity: 'note', address: receiver });
    else if (unchecked && (await hasOtherCode(before, hexToBytes(receiver))))
      warn({ code: 'transfer-to-contract-without-receiver', severity: 'warning', asset, address: receiver });
  }
}
