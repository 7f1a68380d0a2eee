import type { StateReader } from '../evm/state-reader.js';
import { type Hex, hexToBytes } from '../primitives/hex.js';
import type { Asset, BalanceChange, OwnerChange, Transfer, Warn } from './preview.js';
import { type Probes, quantityOrNull, SELECTOR } from './probes.js';
import { assetKey, toldBy, ZERO } from './transfers.js';

/** Shares of which the price may fall by this much, of rounding. */
const ROUNDING = 2n;

/** What balances are read from. */
export interface BalanceSources {
  readonly before: StateReader;
  readonly after: StateReader;
  readonly probes: Probes;
  readonly users: readonly Hex[];
  /** Wei that accounts paid for gas; below zero for the coinbase. */
  readonly costs: ReadonlyMap<Hex, bigint>;
  /**
   * Contracts besides the assets of transfers in which a balance may lie: those that were written, and those that read them, or that
   * the caller knows.
   */
  readonly written: readonly Hex[];
  readonly warn: Warn;
}

/**
 * Transfers without the wrapping of contracts whose balances do not agree with it.
 *
 * @source docs/spec/preview.md 8.4
 */
export async function withTrueWrapping(
  calls: readonly (readonly Transfer[])[],
  probes: Probes,
): Promise<readonly (readonly Transfer[])[]> {
  const isWrapping = ({ cause }: Transfer) => cause === 'wrap' || cause === 'unwrap';
  if (!calls.some((transfers) => transfers.some(isWrapping))) return calls;
  const transfers = calls.flat();
  const told = toldBy(transfers);
  const untrue = new Set<string>();
  for (const key of new Set(transfers.filter(isWrapping).map(({ asset }) => assetKey(asset)))) {
    const { asset, sums } = told.get(key)!;
    for (const [account, sum] of sums) {
      if (account === ZERO) continue;
      const { before, after } = await tokenBalance(asset, account, probes);
      if (before === undefined || after === undefined || after - before !== sum) untrue.add(key);
    }
  }
  return calls.map((transfers) => transfers.filter((one) => !(isWrapping(one) && untrue.has(assetKey(one.asset)))));
}

/**
 * Balances before and after, of the accounts of all transfers and of the users, and what of them the transfers do not tell.
 *
 * @source docs/spec/preview.md 8.5
 */
export async function balancesOf(
  transfers: readonly Transfer[],
  sources: BalanceSources,
): Promise<(BalanceChange | OwnerChange)[]> {
  const { users, written, warn, probes } = sources;
  const told = toldBy(transfers);
  const changes: (BalanceChange | OwnerChange)[] = await nativeBalances(told.get('native')?.sums ?? new Map(), sources);
  for (const { asset, sums, lastTo } of told.values()) {
    if (asset.kind === 'erc721') changes.push(await ownerOf(asset, lastTo, sources));
    if (asset.kind !== 'erc20' && asset.kind !== 'erc1155' && asset.kind !== 'erc6909') continue;
    for (const account of new Set([...sums.keys(), ...(asset.kind === 'erc20' ? users : [])])) {
      if (account === ZERO) continue;
      const change = await balanceOf(asset, account, sums.get(account) ?? 0n, sources);
      changes.push(change);
      if (change.change === null) warn({ code: 'balance-unreadable', severity: 'warning', asset, account });
      else if (change.change !== change.told) {
        const code = change.told === '0' ? 'silent-change' : 'balance-differs';
        warn({ ...warningOf(change, change.change, users), code });
      }
      await warnOfWorth(change, sources);
    }
  }
  const assets = new Set<Hex>();
  for (const { asset } of transfers) if ('address' in asset) assets.add(asset.address);
  for (const address of written.filter((one) => !assets.has(one))) {
    for (const account of users) {
      const asset: Asset = { kind: 'erc20', address };
      const { before, after } = await tokenBalance(asset, account, probes);
      if (before === undefined || after === undefined) continue;
      const change = changeOf(asset, account, 0n, before, after);
      await warnOfWorth(change, sources);
      if (before === after) continue;
      changes.push(change);
      warn({ ...warningOf(change, String(after - before), users), code: 'silent-change' });
    }
  }
  return changes;
}

/** It is a danger where a user gets less than is told. */
function warningOf({ asset, account, told }: BalanceChange, change: string, users: readonly Hex[]) {
  const isLoss = users.includes(account) && BigInt(change) < BigInt(told);
  return { severity: isLoss ? ('danger' as const) : ('warning' as const), asset, account, told, change };
}

/** Warns if a share of a vault (ERC-4626) is worth less: the balance of a user is the same, and what it stands for is not. */
async function warnOfWorth(change: BalanceChange, { users, probes, warn }: BalanceSources): Promise<void> {
  const { asset, account, before, after } = change;
  if (asset.kind !== 'erc20' || !users.includes(account) || before === null || after === null) return;
  const shares = BigInt(before) < BigInt(after) ? BigInt(before) : BigInt(after);
  if (shares === 0n) return;
  const last = await probes.word('after', asset.address, SELECTOR.convertToAssets, shares);
  if (last === undefined) return;
  const first = await probes.word('before', asset.address, SELECTOR.convertToAssets, shares);
  if (first === undefined || last + ROUNDING >= first) return;
  const less = { told: '0', change: String(last - first), of: 'worth' } as const;
  warn({ code: 'silent-change', severity: 'danger', asset, account, ...less });
}

async function nativeBalances(
  sums: ReadonlyMap<Hex, bigint>,
  { before, after, users, costs }: BalanceSources,
): Promise<BalanceChange[]> {
  const balance = async (state: StateReader, account: Hex) => (await state.account(hexToBytes(account)))?.balance ?? 0n;
  const changes: BalanceChange[] = [];
  for (const account of new Set([...sums.keys(), ...users])) {
    if (account === ZERO) continue;
    const told = (sums.get(account) ?? 0n) - (costs.get(account) ?? 0n);
    const [first, last] = [await balance(before, account), await balance(after, account)];
    changes.push(changeOf({ kind: 'native' }, account, told, first, last));
  }
  return changes;
}

async function balanceOf(asset: Asset, account: Hex, told: bigint, { probes }: BalanceSources): Promise<BalanceChange> {
  const { before, after } = await tokenBalance(asset, account, probes);
  return changeOf(asset, account, told, before, after);
}

function changeOf(asset: Asset, account: Hex, told: bigint, before: bigint | undefined, after: bigint | undefined) {
  return {
    account,
    asset,
    before: quantityOrNull(before),
    after: quantityOrNull(after),
    told: String(told),
    change: before === undefined || after === undefined ? null : String(after - before),
  };
}

/** In a token contract that did not exist before the calls, the balance before is zero. */
async function tokenBalance(asset: Asset, account: Hex, probes: Probes) {
  if (!('address' in asset)) return { before: undefined, after: undefined };
  const ask = (when: 'before' | 'after') =>
    'id' in asset
      ? probes.word(when, asset.address, SELECTOR.balanceOfId, account, asset.id)
      : probes.word(when, asset.address, SELECTOR.balanceOf, account);
  const [before, after] = [await ask('before'), await ask('after')];
  const isNew = before === undefined && !(await probes.hasCode('before', asset.address));
  return { before: isNew ? 0n : before, after };
}

async function ownerOf(
  asset: Extract<Asset, { readonly id: Hex }>,
  lastTo: Hex,
  { probes, warn }: BalanceSources,
): Promise<OwnerChange> {
  const ask = async (when: 'before' | 'after') =>
    (await probes.address(when, asset.address, SELECTOR.ownerOf, asset.id)) ?? null;
  const [ownerBefore, ownerAfter] = [await ask('before'), await ask('after')];
  if ((ownerAfter ?? ZERO) !== lastTo)
    warn({ code: 'owner-differs', severity: 'warning', asset, told: lastTo, after: ownerAfter });
  return { asset, ownerBefore, ownerAfter };
}
