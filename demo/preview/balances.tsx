import type { Asset, Hex } from 'plumbline-l2';
import type { Names } from './names.js';
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
  const { balances } = of.answer.result;
  const show = (asset: Asset, value: Hex | null | undefined) =>
    value === null || value === undefined ? 'no answer' : names.amount(asset, BigInt(value));
  const label = actual === undefined ? 'Balances before and after' : 'Balances as previewed and as they are';
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, and the keyboard has to be able to scroll it.
    <section class="table-frame" tabIndex={0} aria-label={label}>
      <table class="table table-cards">
        <thead>
          <tr>
            <th scope="col">Account</th>
            <th scope="col" class="end">
              Before
            </th>
            <th scope="col" class="end">
              After
            </th>
            {actual !== undefined && (
              <th scope="col" class="end">
                Actual
              </th>
            )}
          </tr>
        </thead>
        <tbody>
          {balances.map((one, i) => {
            const isOwner = !('account' in one);
            const owner = (address: Hex | null) => (address === null ? 'no account' : names.account(address));
            return (
              <tr key={i}>
                <th scope="row">{isOwner ? `${names.asset(one.asset)}, owner` : names.Account(one.account)}</th>
                <td class="end" data-label="Before">
                  {isOwner ? owner(one.ownerBefore) : show(one.asset, one.before)}
                </td>
                <td class="end" data-label="After">
                  {isOwner ? owner(one.ownerAfter) : show(one.asset, one.after)}
                </td>
                {actual !== undefined && (
                  <td class="end" data-label="Actual">
                    {actual[i] === undefined ? '–' : show(one.asset, actual[i])}
                  </td>
                )}
              </tr>
            );
          })}
        </tbody>
      </table>
    </section>
  );
}
