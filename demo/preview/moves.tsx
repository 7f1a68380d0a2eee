import type { Transfer } from 'plumbline-l2';
import { type Names, ZERO } from './names.js';
import type { Shown } from './state.js';

/** Transfers in order, each an arrow from one account to the other. */
export function Moves({ of, names }: { readonly of: Shown; readonly names: Names }) {
  const { calls } = of.answer.result;
  if (calls.every(({ transfers }) => transfers.length === 0)) return <p class="hint">Nothing is transferred.</p>;
  return (
    <ol class="moves">
      {calls.flatMap(({ transfers }, call) =>
        transfers.map((transfer, i) => (
          <Move
            key={`${call} ${i}`}
            of={transfer}
            names={names}
            call={calls.length > 1 ? call + 1 : undefined}
            isFalse={contradicts(of, transfer)}
          />
        )),
      )}
    </ol>
  );
}

/** Whether balances say that this transfer is not what happens. */
function contradicts({ answer }: Shown, { asset, from, to }: Transfer): boolean {
  return answer.result.warnings.some(
    (warning) =>
      'asset' in warning &&
      JSON.stringify(warning.asset) === JSON.stringify(asset) &&
      (warning.code === 'owner-differs' ||
        (warning.code === 'balance-differs' && (warning.account === from || warning.account === to))),
  );
}

interface MoveProps {
  readonly of: Transfer;
  readonly names: Names;
  /** From 1; undefined where there is one only. */
  readonly call: number | undefined;
  readonly isFalse: boolean;
}

function Move({ of: { from, to, asset, amount }, names, call, isFalse }: MoveProps) {
  const notes = [call !== undefined && `call ${call}`, isFalse && 'the contract says so, the balances do not'];
  return (
    <li class={isFalse ? 'move move-false' : 'move'}>
      <span class="move-end" title={from}>
        {from === ZERO ? 'New tokens' : names.Account(from)}
      </span>
      <span class="move-line">
        <span class="move-amount" title={'address' in asset ? asset.address : undefined}>
          {names.amount(asset, BigInt(amount))}
        </span>
        <span class="move-arrow" aria-hidden="true" />
        <span class="hidden"> to </span>
      </span>
      <span class="move-end" title={to}>
        {to === ZERO ? 'Destroyed' : names.Account(to)}
      </span>
      <span class="move-note">{notes.filter(Boolean).join(': ')}</span>
    </li>
  );
}
