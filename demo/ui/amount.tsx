import { useSignal } from '@preact/signals';
import { formatUnits, roundUnits } from '../lib/format.js';

interface AmountProps {
  /** In the smallest unit. */
  readonly value: bigint;
  readonly decimals: number;
  readonly unit: string;
}

/** An amount in at most six digits. Pressed, it has all of them. */
export function Amount({ value, decimals, unit }: AmountProps) {
  const open = useSignal(false);
  const exact = formatUnits(value, decimals);
  const rounded = roundUnits(value, decimals);
  if (rounded === exact)
    return (
      <span class="amount">
        {exact} {unit}
      </span>
    );
  return (
    <button
      type="button"
      class="amount amount-rounded"
      aria-expanded={open.value}
      title={`Exactly ${exact} ${unit}`}
      onClick={() => {
        open.value = !open.value;
      }}
    >
      {open.value ? exact : `≈ ${rounded}`} {unit}
    </button>
  );
}
