import type { ExplainedEstimate } from 'plumbline-l2';
import { groups } from '../lib/format.js';

const WIDTH = 600;
const TOP = 34;
const AXIS = 52;
const HEIGHT = 76;
const PAD = 8;

/** The search for the gas limit: each limit it tried, where that was, and whether the transaction succeeded with it. */
export function GasChart({ estimate }: { readonly estimate: ExplainedEstimate }) {
  const { probes, gasUsed } = estimate.evidence.gas;
  const answer = Number(estimate.gasLimit);
  const used = Number(gasUsed);
  const tried = probes.map(({ gasLimit, succeeded }) => ({ limit: Number(gasLimit), succeeded }));
  // The first try is the network's own limit, far to the right of all others, so the scale is logarithmic.
  const low = Math.log(Math.min(used, answer, ...tried.map(({ limit }) => limit)) * 0.98);
  const most = Math.max(answer, ...tried.map(({ limit }) => limit));
  const high = Math.log(most * 1.02);
  const x = (gas: number) => PAD + ((Math.log(gas) - low) / Math.max(1e-9, high - low)) * (WIDTH - 2 * PAD);
  const failed = tried.filter(({ succeeded }) => !succeeded).length;
  const label = `${tried.length} limits tried, ${failed} of them too low; the answer is ${answer} gas, of which ${used} are used`;
  return (
    <figure class="chart">
      <svg class="gas" viewBox={`0 0 ${WIDTH} ${HEIGHT}`} role="img" aria-label={label}>
        <line class="gas-axis" x1={PAD} x2={WIDTH - PAD} y1={AXIS} y2={AXIS} />
        {tried.map(({ limit, succeeded }, i) => (
          <circle
            key={i}
            class={succeeded ? 'gas-try gas-good' : 'gas-try gas-bad'}
            cx={x(limit)}
            cy={AXIS}
            r={succeeded ? 5 : 4}
          >
            <title>{`${groups(limit)} gas: ${succeeded ? 'succeeds' : 'too low'}`}</title>
          </circle>
        ))}
        <path class="gas-answer" d={`M${x(answer)} ${TOP - 12}v${AXIS - TOP + 5}`} />
        <text class="gas-label" x={x(answer) + 6} y={TOP - 4}>
          {groups(answer)}
        </text>
        {most > answer * 1.5 && (
          <text class="gas-label gas-end" x={WIDTH - PAD} y={TOP - 4}>
            {groups(most)}
          </text>
        )}
        <circle class="gas-answer-dot" cx={x(answer)} cy={AXIS} r="7" />
      </svg>
      <figcaption class="hint">
        {tried.length === 1
          ? 'The first limit that was tried decides.'
          : `${tried.length} limits were tried, on a logarithmic scale: ${failed > 0 ? 'hollow dots were too low, ' : ''}the ring is the answer.`}
      </figcaption>
    </figure>
  );
}
