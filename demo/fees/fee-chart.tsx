import { Amount } from '../ui/amount.js';
import { type Part, share } from './breakdown.js';

/** A share that is not nothing is not shown as nothing. */
function shareText(percent: number): string {
  return percent < 0.1 ? '< 0.1 %' : `${percent.toFixed(1)} %`;
}

const WIDTH = 600;
const HEIGHT = 28;
const GAP = 3;

/** The total fee as one bar, cut into its parts; the list below says the same in words. */
export function FeeChart({ parts }: { readonly parts: readonly Part[] }) {
  const total = parts.reduce((sum, { wei }) => sum + wei, 0n);
  const label = parts.map(({ name, wei }) => `${name} ${share(wei, total)} %`).join(', ');
  let x = 0;
  return (
    <figure class="chart">
      <svg viewBox={`0 0 ${WIDTH} ${HEIGHT}`} preserveAspectRatio="none" role="img" aria-label={label}>
        {parts.map(({ name, wei }, i) => {
          const width = (WIDTH * share(wei, total)) / 100;
          const rect = (
            <rect key={name} class={`part part-${i}`} x={x} width={Math.max(2, width - GAP)} height={HEIGHT} />
          );
          x += width;
          return rect;
        })}
      </svg>
      <figcaption>
        <ul class="chart-legend">
          {parts.map(({ name, wei, note }, i) => (
            <li key={name}>
              <svg class="swatch" viewBox="0 0 10 10" aria-hidden="true">
                <rect class={`part part-${i}`} width="10" height="10" rx="2" />
              </svg>
              <span class="chart-name">{name}</span>
              <span class="chart-share figure">{shareText(share(wei, total))}</span>
              <span class="chart-value figure">
                <Amount value={wei} decimals={9} unit="gwei" />
              </span>
              <span class="chart-note">{note}</span>
            </li>
          ))}
        </ul>
      </figcaption>
    </figure>
  );
}
