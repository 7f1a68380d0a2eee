import { DEV_ACCOUNTS } from 'plumbline-l2';
import type { ComponentChildren } from 'preact';
import type { CallForm } from '../lib/calls.js';
import { running } from '../state/session.js';
import { Choice, Field } from './field.js';

const KINDS = [
  { value: 'token', label: 'Token transfer' },
  { value: 'ether', label: 'Ether transfer' },
  { value: 'custom', label: 'Any call' },
] as const;

/** Accounts that the devnet offers; any other address may be typed too. */
function Accounts({ id }: { readonly id: string }) {
  return (
    <datalist id={id}>
      {running.value?.settings.kind === 'devnet' &&
        DEV_ACCOUNTS.map(({ address }, i) => (
          <option key={address} value={address}>
            dev account {i}
          </option>
        ))}
    </datalist>
  );
}

interface CallFieldsProps {
  /** Where they are: the list of accounts is `VIEW-accounts`. */
  readonly view: string;
  readonly of: CallForm & { readonly hasToken: boolean };
  readonly set: (part: Partial<CallForm>) => void;
  /** More fields, beside the amount. */
  readonly children?: ComponentChildren;
}

/** What a call is made of. */
export function CallFields({ view, of, set, children }: CallFieldsProps) {
  const { kind, from, to, amount, data, hasToken } = of;
  const list = `${view}-accounts`;
  const address = { list, autocomplete: 'off', spellcheck: false, class: 'mono' } as const;
  return (
    <>
      <Choice
        legend="Kind"
        name={`${view}-kind`}
        value={kind}
        options={KINDS.filter(({ value }) => hasToken || value !== 'token')}
        onChange={(value) => set({ kind: value })}
      />
      <Accounts id={list} />
      <div class="fields">
        <Field label="From" wide>
          {(ids) => <input {...ids} {...address} value={from} onInput={(e) => set({ from: e.currentTarget.value })} />}
        </Field>
        <Field label={kind === 'custom' ? 'To (empty creates a contract)' : 'To'} name="To" wide>
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
        {children}
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
