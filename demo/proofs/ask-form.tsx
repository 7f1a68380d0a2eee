import { DEV_ACCOUNTS, TEST_TOKEN } from 'plumbline-l2';
import { balanceSlot } from '../lib/balance-slot.js';
import { running } from '../state/session.js';
import type { Action } from '../ui/action.js';
import { Field } from '../ui/field.js';
import { Form } from '../ui/form.js';
import { prove } from './ask.js';
import { type AskFormFields, askForm, tampering } from './state.js';
import { TAMPERINGS, type Tampering } from './tamper.js';

const ABSENT = '0x000000000000000000000000000000000000dead';

/** Questions worth trying on a devnet. */
const EXAMPLES: readonly { readonly name: string; readonly form: () => Partial<AskFormFields> }[] = [
  {
    name: 'Token balance of account 1',
    form: () => ({ address: TEST_TOKEN, keys: balanceSlot(DEV_ACCOUNTS[1]!.address) }),
  },
  { name: 'A slot that is empty', form: () => ({ address: TEST_TOKEN, keys: '0x05' }) },
  { name: 'An account that is absent', form: () => ({ address: ABSENT, keys: '' }) },
  { name: 'A dev account', form: () => ({ address: DEV_ACCOUNTS[0]!.address, keys: '' }) },
];

/** Asks the node for a proof, and checks it or a forged copy of it. */
export function AskForm({ action }: { readonly action: Action }) {
  const set = (part: Partial<AskFormFields>) => {
    askForm.value = { ...askForm.value, ...part };
  };
  const { address, keys, block } = askForm.value;
  const stopped = running.value === undefined;
  const mono = { class: 'mono', autocomplete: 'off', spellcheck: false } as const;
  return (
    <Form action={action} submit={() => prove()}>
      {running.value?.settings.kind === 'devnet' && (
        <fieldset class="examples">
          <legend class="hidden">Examples</legend>
          {EXAMPLES.map(({ name, form: part }) => (
            <button key={name} type="button" class="button-small" onClick={() => set(part())}>
              {name}
            </button>
          ))}
        </fieldset>
      )}
      <div class="fields">
        <Field label="Account" wide>
          {(ids) => (
            <input
              {...ids}
              {...mono}
              list="accounts"
              value={address}
              onInput={(e) => set({ address: e.currentTarget.value })}
            />
          )}
        </Field>
        <Field label="Storage keys" hint="In hex, one a line; none for the account alone." wide>
          {(ids) => (
            <textarea {...ids} {...mono} rows={2} value={keys} onInput={(e) => set({ keys: e.currentTarget.value })} />
          )}
        </Field>
        <Field label="Block" hint="“finalized”, or the number of a block that layer 1 holds a root of.">
          {(ids) => <input {...ids} {...mono} value={block} onInput={(e) => set({ block: e.currentTarget.value })} />}
        </Field>
      </div>
      <div class="actions">
        <button type="submit" class="primary" disabled={stopped} aria-disabled={action.busy.value}>
          {action.busy.value ? 'Proving…' : 'Prove and verify'}
        </button>
      </div>
      <div class="forge">
        <Field label="Or forge a copy first, by changing">
          {(ids) => (
            <select
              {...ids}
              value={tampering.value}
              onChange={(e) => {
                tampering.value = e.currentTarget.value as Tampering;
              }}
            >
              {Object.entries(TAMPERINGS).map(([value, text]) => (
                <option key={value} value={value}>
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
          onClick={() => action.run(() => prove(tampering.value))}
        >
          Verify a forged copy
        </button>
      </div>
    </Form>
  );
}
