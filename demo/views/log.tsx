import { useSignal } from '@preact/signals';
import type { AnswerClass } from 'plumbline-l2';
import { OFFERED, type Offered } from '../console/methods.js';
import { LogTable } from '../log/table.js';
import { useLink } from '../state/link.js';
import { ask, clearLog, log } from '../state/requests.js';
import { Field } from '../ui/field.js';
import { Empty, Panel } from '../ui/panel.js';

type Filter = AnswerClass | 'all' | 'error';

export function LogView() {
  const filter = useSignal<Filter>('all');
  const quiet = useSignal(false);
  // A log that has nothing in it shows an estimate.
  useLink(
    'log',
    () => false,
    async () => {},
    async () => {
      const [{ method, params }] = OFFERED as [Offered];
      if (log.value.every((entry) => entry.quiet)) await ask(method, params).catch(() => {});
    },
  );
  const own = log.value.filter((entry) => quiet.value || !entry.quiet);
  const shown = own.filter(({ known, error }) => {
    if (filter.value === 'all') return true;
    return filter.value === 'error' ? error !== undefined : known?.class === filter.value;
  });
  return (
    <>
      <div class="view-head">
        <h1>Log</h1>
        <p>Every answer of the node: what was asked, how the answer is known, and how long it took.</p>
      </div>
      <Panel
        title="Answers"
        aside={
          <button type="button" class="button-small" aria-disabled={log.value.length === 0} onClick={clearLog}>
            Clear
          </button>
        }
      >
        <div class="filters">
          <Field label="Show">
            {(ids) => (
              <select
                {...ids}
                value={filter.value}
                onChange={(e) => {
                  filter.value = e.currentTarget.value as Filter;
                }}
              >
                <option value="all">all answers</option>
                <option value="proved">checked (proved)</option>
                <option value="computed">computed here</option>
                <option value="held">this page’s own (held)</option>
                <option value="forwarded">one server’s word (forwarded)</option>
                <option value="error">errors</option>
              </select>
            )}
          </Field>
          <label class="check-box">
            <input
              type="checkbox"
              checked={quiet.value}
              onChange={(e) => {
                quiet.value = e.currentTarget.checked;
              }}
            />
            Also what this page asks for its status line
          </label>
        </div>
        {shown.length === 0 ? (
          <Empty>
            {own.length === 0
              ? 'Nothing has been asked yet. Estimate a fee or ask for a proof.'
              : 'No answer is of this kind.'}
          </Empty>
        ) : (
          <LogTable of={shown} />
        )}
      </Panel>
    </>
  );
}
