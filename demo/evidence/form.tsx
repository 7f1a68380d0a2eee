import { useSignal } from '@preact/signals';
import { DEV_ACCOUNTS } from 'plumbline-l2';
import { running } from '../state/session.js';
import { useAction } from '../ui/action.js';
import { Failure } from '../ui/failure.js';
import { Field } from '../ui/field.js';
import { LIES, type LieName } from './lies.js';
import { readBalance, readLie } from './read.js';
import { stage } from './state.js';

/** Reads a balance with its evidence, or has a server lie first. */
export function EvidenceForm() {
  const account = useSignal<string>(DEV_ACCOUNTS[0]!.address);
  const lie = useSignal<LieName>('root');
  const action = useAction();
  const blocked = running.value === undefined || action.busy.value;
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        void action.run(() => readBalance(account.value));
      }}
    >
      <Field label="Balance of the account" hint="One of the devnet’s own; any other address works too." wide>
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
        <button type="submit" class="primary" disabled={blocked}>
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
        <button type="button" disabled={blocked} onClick={() => action.run(() => readLie(account.value, lie.value))}>
          Read it with this lie
        </button>
      </div>
      <p class="hint" role="status">
        {action.busy.value && stage.value}
      </p>
      <Failure error={action.error.value} />
    </form>
  );
}
