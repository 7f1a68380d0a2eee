import { useLink } from '../state/link.js';
import { running } from '../state/session.js';
import { useAction } from '../ui/action.js';
import { Field } from '../ui/field.js';
import { Form, Outcome } from '../ui/form.js';
import { LIES, type LieName } from './lies.js';
import { firstReading, readBalance, readLie } from './read.js';
import { account, fields, fill, lie, stage } from './state.js';

/** Reads a balance with its evidence, or has a server lie first. */
export function EvidenceForm() {
  const action = useAction(() => fields.value);
  const linked = useLink(
    'evidence',
    fill,
    (params) => action.run(() => (params.has('lie') ? readLie(account.value, lie.value) : readBalance(account.value))),
    () => action.run(() => firstReading(account.value)),
  );
  const stopped = running.value === undefined;
  return (
    <Form action={action} submit={() => readBalance(account.value)}>
      <Field
        label="Balance of the account"
        name="Account"
        hint="One of the devnet’s own; any other address works too."
        wide
      >
        {(ids) => (
          <input
            {...ids}
            class="mono"
            autocomplete="off"
            spellcheck={false}
            value={account.value}
            onInput={(event) => {
              account.value = event.currentTarget.value;
            }}
          />
        )}
      </Field>
      <div class="actions">
        <button type="submit" class="primary" disabled={stopped} aria-disabled={action.busy.value}>
          {action.busy.value ? 'Reading…' : 'Read it and show the evidence'}
        </button>
      </div>
      <div class="forge">
        <Field label="Or let one of the servers lie">
          {(ids) => (
            <select
              {...ids}
              value={lie.value}
              onChange={(event) => {
                lie.value = event.currentTarget.value as LieName;
              }}
            >
              {Object.entries(LIES).map(([name, { text }]) => (
                <option key={name} value={name}>
                  {text}
                </option>
              ))}
            </select>
          )}
        </Field>
        <button
          type="button"
          disabled={stopped}
          aria-disabled={action.busy.value}
          onClick={() => action.run(() => readLie(account.value, lie.value))}
        >
          Read it with this lie
        </button>
      </div>
      <p class="hint" role="status">
        {action.busy.value && stage.value}
      </p>
      <Outcome action={action} linked={linked.value} />
    </Form>
  );
}
