import { formatMs, pretty } from '../lib/format.js';
import { question } from '../state/link.js';
import { Copy } from '../ui/copyable.js';
import { Failure } from '../ui/failure.js';
import { Known } from '../ui/known.js';
import { Long } from '../ui/long.js';
import { Empty, Panel } from '../ui/panel.js';
import { CopyLink } from '../ui/question.js';
import { decoded } from './decoded.js';
import { clearHistory, draft, type Exchange, history, paramsField } from './state.js';

const NEWEST_OPEN = 1;

function Answer({ of }: { readonly of: Exchange }) {
  if (of.error !== undefined) return <Failure error={of.error} />;
  if (of.result === undefined) return <p class="hint">Sent before this page was loaded; its answer was not kept.</p>;
  const [text, units] = [pretty(of.result), decoded(of.method, of.result)];
  return (
    <>
      {units !== undefined && <p class="exchange-decoded">{units}</p>}
      <p class="exchange-known">
        {of.known !== undefined && <Known of={of.known} />} <Copy text={text} name="the answer" />
      </p>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, and the keyboard has to be able to scroll it. */}
      <pre tabIndex={0}>{text}</pre>
    </>
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
          <button
            type="button"
            class="button-small"
            onClick={() => {
              clearHistory();
              paramsField.current?.focus();
            }}
          >
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
                  <span class="soft figure">{formatMs(exchange.ms)}</span>
                </span>
              </summary>
              {exchange.params.trim() !== '' && (
                <div class="exchange-params">
                  <Long name="Parameters" text={exchange.params} />
                </div>
              )}
              <Answer of={exchange} />
              <div class="actions">
                <button
                  type="button"
                  class="button-small"
                  onClick={() => {
                    draft.value = { method: exchange.method, params: exchange.params };
                    paramsField.current?.focus();
                  }}
                >
                  Edit and send again
                </button>
                <CopyLink
                  to={question('console', { method: exchange.method, params: exchange.params })}
                  name="this call"
                />
              </div>
            </details>
          </li>
        ))}
      </ol>
    </Panel>
  );
}
