import { useLink } from '../state/link.js';
import { running } from '../state/session.js';
import { useAction } from '../ui/action.js';
import { Field } from '../ui/field.js';
import { Form, Outcome } from '../ui/form.js';
import { OFFERED, textOf } from './methods.js';
import { draft, fill, history, paramsField, sendDraft } from './state.js';

/** Chosen from the list, a method brings its example along, unless parameters were typed already. */
function choose(method: string): void {
  const offered = OFFERED.find((one) => one.method === method);
  const before = OFFERED.find((one) => one.method === draft.value.method);
  const untouched = draft.value.params === '' || (before !== undefined && draft.value.params === textOf(before.params));
  const params = untouched ? (offered === undefined ? '' : textOf(offered.params)) : draft.value.params;
  draft.value = { method, params };
}

/** Up and down in an empty line of a shell; here with Alt, because arrows move in the text. */
function recall(step: number): void {
  const requests = history.value.filter(({ method, params }, i, all) => {
    return all.findIndex((other) => other.method === method && other.params === params) === i;
  });
  if (requests.length === 0) return;
  const at = requests.findIndex(({ method, params }) => method === draft.value.method && params === draft.value.params);
  const next = requests[Math.min(requests.length - 1, Math.max(0, at + step))]!;
  draft.value = { method: next.method, params: next.params };
}

export function ConsoleForm() {
  const action = useAction(() => draft.value);
  const linked = useLink(
    'console',
    fill,
    () => action.run(sendDraft),
    async () => {
      if (history.value.length === 0) await action.run(sendDraft);
    },
  );
  const send = () => void action.run(sendDraft);
  const devnet = running.value?.settings.kind === 'devnet';
  const offered = OFFERED.filter((one) => devnet || one.devnet !== true);
  return (
    <Form
      action={action}
      submit={sendDraft}
      onKeyDown={(event) => {
        if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) {
          event.preventDefault();
          send();
        } else if (event.altKey && (event.key === 'ArrowUp' || event.key === 'ArrowDown')) {
          event.preventDefault();
          recall(event.key === 'ArrowUp' ? 1 : -1);
        }
      }}
    >
      <datalist id="methods">
        {offered.map(({ method }) => (
          <option key={method} value={method} />
        ))}
      </datalist>
      <div class="fields">
        <Field label="Method" wide>
          {(ids) => (
            <input
              {...ids}
              class="mono"
              list="methods"
              autocomplete="off"
              spellcheck={false}
              value={draft.value.method}
              onInput={(e) => choose(e.currentTarget.value)}
            />
          )}
        </Field>
        <Field label="Parameters" hint="A JSON array. Ctrl+Enter sends; Alt+↑ and Alt+↓ go through the history." wide>
          {(ids) => (
            <textarea
              {...ids}
              class="mono"
              rows={5}
              ref={paramsField}
              spellcheck={false}
              value={draft.value.params}
              onInput={(e) => {
                draft.value = { ...draft.value, params: e.currentTarget.value };
              }}
            />
          )}
        </Field>
      </div>
      <div class="actions">
        <button type="submit" class="primary" disabled={running.value === undefined} aria-disabled={action.busy.value}>
          {action.busy.value ? 'Asking…' : 'Send'}
        </button>
        <button
          type="button"
          onClick={() => {
            draft.value = { method: draft.value.method, params: '' };
            choose(draft.value.method);
          }}
        >
          Example parameters
        </button>
      </div>
      <Outcome action={action} linked={linked.value} />
    </Form>
  );
}
