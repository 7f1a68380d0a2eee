import { about, groups } from '../lib/format.js';
import { Amount } from '../ui/amount.js';
import { Facts } from '../ui/facts.js';
import type { Shown } from './state.js';

/** The fee, call by call: gas limit, price and the most that is paid. */
export function Cost({ of }: { readonly of: Shown }) {
  const { calls, fees } = of.answer.result;
  const paid = Object.values(fees).reduce((sum, wei) => sum + BigInt(wei), 0n);
  const eth = (wei: bigint) => <Amount value={wei} decimals={18} unit="ETH" />;
  const total = calls.reduce((sum, { fee }) => sum + BigInt(fee?.total ?? 0n), 0n);
  const isKnown = calls.every(({ fee }) => fee !== undefined);
  return (
    <Facts
      label="Cost"
      of={[
        isKnown
          ? { name: 'At most', value: eth(total) }
          : { name: 'At most', value: 'not known: a call that fails has no estimate', prose: true },
        { name: 'In this run', value: eth(paid) },
        ...calls.map(({ fee, feeError, gasUsed, tree }, i) => ({
          name: calls.length === 1 ? 'How' : `Call ${i + 1}`,
          value:
            fee === undefined
              ? (feeError ?? `${groups(BigInt(gasUsed))} gas used`)
              : `${groups(BigInt(tree.gas))} gas × ${about(BigInt(fee.total) / BigInt(tree.gas), 9)} gwei; ${groups(BigInt(gasUsed))} gas used`,
        })),
      ]}
    />
  );
}
