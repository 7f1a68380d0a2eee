import type { Asset, Hex } from 'plumbline-l2';
import { Table } from '../ui/table.js';
import { type Names, ZERO } from './names.js';
import type { Actual } from './send.js';
import type { Shown } from './state.js';

interface BalancesProps {
  readonly of: Shown;
  readonly names: Names;
  /** Balances of the chain after the calls were sent, in the order of those of the preview. */
  readonly actual?: readonly Actual[] | undefined;
}

/** Balances before and after, as contracts answer; and as they are once the calls were sent. */
export function Balances({ of, names, actual }: BalancesProps) {
  const show = (asset: Asset, value: Hex | null | undefined) =>
    value === null || value === undefined ? 'no answer' : names.amount(asset, BigInt(value));
  const owner = (address: Hex | null) => (address === null || address === ZERO ? 'no account' : names.account(address));
  const rows = of.answer.result.balances.map((one, i) => {
    const now = actual?.[i] === undefined ? '–' : show(one.asset, actual[i]);
    const row =
      'account' in one
        ? [names.Account(one.account), show(one.asset, one.before), show(one.asset, one.after)]
        : [`${names.asset(one.asset)}, owner`, owner(one.ownerBefore), owner(one.ownerAfter)];
    return actual === undefined ? row : [...row, now];
  });
  return (
    <Table
      label={actual === undefined ? 'Balances before and after' : 'Balances as previewed and as they are'}
      columns={['Account', 'Before', 'After', ...(actual === undefined ? [] : ['Actual'])]}
      rows={rows}
      cards
    />
  );
}
