import { formatMs } from '../lib/format.js';
import { log } from '../state/requests.js';
import { Known } from '../ui/known.js';
import { Empty, Panel } from '../ui/panel.js';

const SHOWN = 6;

/** The newest answers; the log has them all. */
export function LatestPanel() {
  const latest = log.value.filter(({ quiet }) => !quiet).slice(0, SHOWN);
  return (
    <Panel title="Latest answers" aside={<a href="#log">All of them</a>}>
      {latest.length === 0 ? (
        <Empty>
          Nothing has been asked yet. <a href="#fees">Estimate a fee</a> or <a href="#proofs">check a proof</a>.
        </Empty>
      ) : (
        <ul class="latest">
          {latest.map(({ id, method, known, ms, error }) => (
            <li key={id}>
              <span class="mono">{method}</span>
              <span class="exchange-marks">
                {error !== undefined && <span class="pill pill-bad">error</span>}
                {known !== undefined && <Known of={known} />}
                <span class="soft figure">{formatMs(ms)}</span>
              </span>
            </li>
          ))}
        </ul>
      )}
    </Panel>
  );
}
