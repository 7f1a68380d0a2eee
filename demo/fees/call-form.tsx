import { DEV_ACCOUNTS, GAS_SEARCHES } from 'plumbline-l2';
import type { CallForm } from '../lib/calls.js';
import { running } from '../state/session.js';
import { Choice, Field } from '../ui/field.js';
import { form, type Search, search, shownForm } from './state.js';

const KINDS = [
  { value: 'token', label: 'Token transfer' },
  { value: 'ether', label: 'Ether transfer' },
  { value: 'custom', label: 'Any call' },
] as const;

function set(part: Partial<CallForm>): void {
  form.value = { ...form.value, ...part };
}

/** Accounts that the devnet offers; any other address may be typed too. */
function Accounts() {
  return (
    <datalist id="accounts">
      {running.value?.settings.kind === 'devnet' &&
        DEV_ACCOUNTS.map(({ address }, i) => (
          <option key={address} value={address}>
            dev account {i}
          </option>
        ))}
    </datalist>
  );
}

export function CallFields() {
  const { kind, from, to, amount, data, hasToken } = shownForm.value;
  const address = { list: 'accounts', autocomplete: 'off', spellcheck: false, class: 'mono' } as const;
  return (
    <>
      <Choice
        legend="Kind"
        name="kind"
        value={kind}
        options={KINDS.filter(({ value }) => hasToken || value !== 'token')}
        onChange={(value) => set({ kind: value })}
      />
      <Accounts />
      <div class="fields">
        <Field label="From" wide>
          {(ids) => <input {...ids} {...address} value={from} onInput={(e) => set({ from: e.currentTarget.value })} />}
        </Field>
        <Field label={kind === 'custom' ? 'To (empty creates a contract)' : 'To'} wide>
          {(ids) => <input {...ids} {...address} value={to} onInput={(e) => set({ to: e.currentTarget.value })} />}
        </Field>
        <Field label={kind === 'token' ? 'Tokens' : 'Ether'}>
          {(ids) => (
            <input
              {...ids}
              inputmode="decimal"
              autocomplete="off"
              value={amount}
              onInput={(e) => set({ amount: e.currentTarget.value })}
            />
          )}
        </Field>
        <Field label="Gas search" hint="How the gas limit is found.">
          {(ids) => (
            <select
              {...ids}
              value={search.value}
              onChange={(e) => {
                search.value = e.currentTarget.value as Search;
              }}
            >
              <option value="node">network’s own</option>
              {GAS_SEARCHES.map((name) => (
                <option key={name} value={name}>
                  {name}
                </option>
              ))}
            </select>
          )}
        </Field>
        {kind === 'custom' && (
          <Field label="Data" wide>
            {(ids) => (
              <textarea
                {...ids}
                class="mono"
                rows={3}
                spellcheck={false}
                value={data}
                onInput={(e) => set({ data: e.currentTarget.value })}
              />
            )}
          </Field>
        )}
      </div>
    </>
  );
}
