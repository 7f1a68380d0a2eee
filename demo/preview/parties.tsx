import type { BalanceChange, Hex } from 'plumbline-l2';
import { shortHex } from '../lib/format.js';
import { Copy } from '../ui/copyable.js';
import { type Names, roughEther, ZERO } from './names.js';
import type { Shown } from './state.js';

interface PartiesProps {
  readonly of: Shown;
  readonly names: Names;
}

interface Line {
  readonly text: string;
  readonly sign: 'plus' | 'minus' | 'none';
  readonly note?: string | undefined;
}

/** What each account has more and less afterwards, by its balances and not by what contracts say. */
export function Parties({ of, names }: PartiesProps) {
  const parties = linesByAccount(of, names);
  if (parties.length === 0) return <p class="hint">No account has more or less afterwards, apart from fees.</p>;
  return (
    <ul class="parties">
      {parties.map(([account, lines]) => (
        <li key={account} class={account === names.you ? 'party party-you' : 'party'}>
          <Party address={account} names={names} />
          <ul>
            {lines.map(({ text, sign, note }, i) => (
              <li key={i} class={`sum sum-${sign}`}>
                {text}
                {note !== undefined && <span class="sum-note"> {note}</span>}
              </li>
            ))}
          </ul>
        </li>
      ))}
    </ul>
  );
}

function Party({ address, names }: { readonly address: Hex; readonly names: Names }) {
  const name = names.Account(address);
  return (
    <p class="party-name" title={address}>
      {name} {!name.includes(shortHex(address)) && <code>{shortHex(address)}</code>}
      <Copy text={address} name={`the address of ${name}`} />
    </p>
  );
}

function linesByAccount({ answer }: Shown, names: Names): [Hex, Line[]][] {
  const { balances, fees, users } = answer.result;
  const parties = new Map<Hex, Line[]>(users.map((user) => [user, []]));
  const add = (account: Hex, line: Line) => parties.set(account, [...(parties.get(account) ?? []), line]);
  for (const one of balances) {
    if (!('account' in one)) {
      const [before, after] = [one.ownerBefore, one.ownerAfter];
      const text = names.asset(one.asset);
      if (before !== null && before !== ZERO && before !== after) add(before, { text: `− ${text}`, sign: 'minus' });
      if (after !== null && after !== ZERO && before !== after) add(after, { text: `+ ${text}`, sign: 'plus' });
      continue;
    }
    const fee = feeIn(one, fees);
    for (const line of balanceLines(one, fee, names)) add(one.account, line);
  }
  for (const one of balances) {
    const fee = 'account' in one ? feeIn(one, fees) : 0n;
    if ('account' in one && fee > 0n)
      add(one.account, { text: `− ${roughEther(fee)}`, sign: 'minus', note: 'for gas' });
  }
  return [...parties].filter(([, lines]) => lines.length > 0);
}

/** What the account paid for gas, as part of this balance. */
function feeIn({ asset, account }: BalanceChange, fees: Readonly<Record<Hex, Hex>>): bigint {
  return asset.kind === 'native' ? BigInt(fees[account] ?? 0n) : 0n;
}

function balanceLines({ asset, change, told }: BalanceChange, fee: bigint, names: Names): Line[] {
  const lines: Line[] = [];
  const net = BigInt(change ?? told) + fee;
  const note = change === null ? 'as the contract says' : undefined;
  const amount = (value: bigint) => names.amount(asset, value);
  if (net > 0n) lines.push({ text: `+ ${amount(net)}`, sign: 'plus', note });
  if (net < 0n) lines.push({ text: `− ${amount(-net)}`, sign: 'minus', note });
  if (net === 0n && BigInt(told) + fee !== 0n)
    lines.push({
      text: `± ${amount(0n)}`,
      sign: 'none',
      note: `and not ${amount(BigInt(told) + fee)}, as the contract says`,
    });
  return lines;
}
