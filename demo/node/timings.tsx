import { formatBytes, formatMs } from '../lib/format.js';
import { log } from '../state/requests.js';
import { openingTimes } from '../state/session.js';
import { Empty, Panel } from '../ui/panel.js';

const LABELS: Readonly<Record<string, string>> = {
  worker: 'worker script',
  kernels: 'kernels',
  dictionary: 'dictionary',
  store: 'store',
  genesis: 'first state',
  blocks: 'blocks',
  state: 'zk state',
  ready: 'wiring',
};

interface Bar {
  readonly name: string;
  readonly ms: number;
  readonly note?: string;
}

/** Bars on one scale; the text beside each says what it shows. */
function Bars({ bars, label }: { readonly bars: readonly Bar[]; readonly label: string }) {
  const longest = Math.max(1, ...bars.map(({ ms }) => ms));
  return (
    <ul class="bars" aria-label={label}>
      {bars.map(({ name, ms, note }) => (
        <li key={name}>
          <span class="bars-name">{name}</span>
          <span class="bars-value figure">
            {formatMs(ms)}
            {note !== undefined && <span class="bars-note"> {note}</span>}
          </span>
          <svg class="bars-bar" viewBox="0 0 100 4" preserveAspectRatio="none" aria-hidden="true">
            <rect class="bars-track" width="100" height="4" />
            <rect class="bars-fill" width={Math.max(0.5, (100 * ms) / longest)} height="4" />
          </svg>
        </li>
      ))}
    </ul>
  );
}

function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[(sorted.length - 1) >> 1] ?? 0;
}

/** The methods that took longest, by the median of their answers. */
function methodBars(): Bar[] {
  const times = new Map<string, number[]>();
  for (const { method, ms, error, quiet } of log.value) {
    if (error === undefined && !quiet) times.set(method, [...(times.get(method) ?? []), ms]);
  }
  return [...times]
    .map(([name, all]) => ({ name, ms: median(all), note: `× ${all.length}` }))
    .sort((a, b) => b.ms - a.ms)
    .slice(0, 6);
}

/** What the browser measured of this page: navigation to first paint, and bytes that came over the network. */
function pageFacts(): string {
  const paint = performance.getEntriesByName('first-contentful-paint')[0]?.startTime;
  const resources = performance.getEntriesByType('resource') as PerformanceResourceTiming[];
  const bytes = resources.reduce((sum, { transferSize }) => sum + transferSize, 0);
  const painted = paint === undefined ? '' : `First paint ${formatMs(paint)} after navigation. `;
  return `${painted}The page has fetched ${formatBytes(bytes)}; what its worker fetched is not counted.`;
}

export function TimingsPanel() {
  const opening = openingTimes.value.map(({ stage, ms }) => ({ name: LABELS[stage] ?? stage, ms }));
  const methods = methodBars();
  const total = openingTimes.value.reduce((sum, { ms }) => sum + ms, 0);
  return (
    <Panel title="Timings" intro={opening.length > 0 ? pageFacts() : undefined}>
      {opening.length === 0 ? (
        <Empty>Nothing has been timed yet.</Empty>
      ) : (
        <>
          <h3>Start of the node, {formatMs(total)}</h3>
          <Bars bars={opening} label="Time of each stage of the start" />
          <h3>Answers, median by method</h3>
          {methods.length === 0 ? (
            <p class="hint">Nothing has been asked yet.</p>
          ) : (
            <Bars bars={methods} label="Median time of answers" />
          )}
        </>
      )}
    </Panel>
  );
}
