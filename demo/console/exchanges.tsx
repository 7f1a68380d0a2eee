import { formatMs, pretty } from '../lib/format.js';
import { Failure } from '../ui/failure.js';
import { Known } from '../ui/known.js';
import { Empty, Panel } from '../ui/panel.js';
import { clearHistory, draft, type Exchange, history } from './state.js';

const NEWEST_OPEN = 1;

function Answer({ of }: { readonly of: Exchange }) {
  if (of.error !== undefined) return <Failure error={of.error} />;
  if (of.result === undefined) return <p class="hint">Sent before this page was loaded; its answer was not kept.</p>;
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, and the keyboard has to be able to scroll it.
    <pre tabIndex={0}>{pretty(of.result)}</pre>
  );
}

/** What was asked, newest first, with answers, how they are known, and a button to ask again. */
export function Exchanges() {
  const { length } = history.value;
  return (
    <Panel
      title="History"
      aside={
        length > 0 && (
          <button type="button" class="button-small" onClick={clearHistory}>
            Clear
          </button>
        )
      }
    >
      <p class="hidden" aria-live="polite">
        {history.value[0] !== undefined && `${history.value[0].method} answered`}
      </p>
      {length === 0 && <Empty>Nothing has been sent yet.</Empty>}
      <ol class="exchanges">
        {history.value.map((exchange, i) => (
          <li key={exchange.id}>
            <details class="exchange" open={i < NEWEST_OPEN}>
              <summary>
                <span class="exchange-method mono">{exchange.method}</span>
                <span class="exchange-marks">
                  {exchange.error !== undefined && <span class="pill pill-bad">error</span>}
                  {exchange.known !== undefined && <Known of={exchange.known} />}
                  <span class="soft figure">{formatMs(exchange.ms)}</span>
                </span>
              </summary>
              {exchange.params.trim() !== '' && <p class="exchange-params mono">{exchange.params}</p>}
              <Answer of={exchange} />
              <button
                type="button"
                class="button-small"
                onClick={() => {
                  draft.value = { method: exchange.method, params: exchange.params };
                }}
              >
                Edit and send again
              </button>
            </details>
          </li>
        ))}
      </ol>
    </Panel>
  );
}
