import { useSignal, useSignalEffect } from '@preact/signals';
import { pretty } from '../lib/format.js';
import { type OverrideKind, type OverrideRow, readOverrides } from '../lib/overrides.js';
import { useAction } from '../ui/action.js';
import { Failure } from '../ui/failure.js';
import { Field } from '../ui/field.js';
import { Json } from '../ui/panel.js';
import { addExample, addRow, changeRow, removeRow, rows, shownForm } from './state.js';

const KINDS: readonly { readonly value: OverrideKind; readonly label: string; readonly unit: string }[] = [
  { value: 'balance', label: 'balance', unit: 'Balance in ether' },
  { value: 'nonce', label: 'nonce', unit: 'Nonce' },
  { value: 'code', label: 'code', unit: 'Code in hex' },
  { value: 'slot', label: 'storage slot', unit: 'Value in hex' },
];

function Row({ row, number }: { readonly row: OverrideRow; readonly number: number }) {
  const set = (part: Partial<OverrideRow>) => changeRow(row.id, part);
  const mono = { class: 'mono', autocomplete: 'off', spellcheck: false } as const;
  return (
    <fieldset class="override">
      <legend>Override {number}</legend>
      <div class="fields">
        <Field label="Account" name={`Override ${number}, account`} wide>
          {(ids) => (
            <input
              {...ids}
              {...mono}
              list="fees-accounts"
              value={row.address}
              onInput={(e) => set({ address: e.currentTarget.value })}
            />
          )}
        </Field>
        <Field label="What">
          {(ids) => (
            <select {...ids} value={row.kind} onChange={(e) => set({ kind: e.currentTarget.value as OverrideKind })}>
              {KINDS.map(({ value, label }) => (
                <option key={value} value={value}>
                  {label}
                </option>
              ))}
            </select>
          )}
        </Field>
        {row.kind === 'slot' && (
          <Field label="Slot" name={`Override ${number}, slot`} wide>
            {(ids) => (
              <textarea
                {...ids}
                {...mono}
                rows={2}
                value={row.slot}
                onInput={(e) => set({ slot: e.currentTarget.value })}
              />
            )}
          </Field>
        )}
        <Field
          label={KINDS.find(({ value }) => value === row.kind)!.unit}
          name={`Override ${number}, ${row.kind === 'slot' ? 'value' : row.kind}`}
          wide={row.kind === 'slot' || row.kind === 'code'}
        >
          {(ids) => {
            const value = { ...ids, ...mono, value: row.value };
            return row.kind === 'slot' || row.kind === 'code' ? (
              <textarea {...value} rows={2} onInput={(e) => set({ value: e.currentTarget.value })} />
            ) : (
              <input {...value} onInput={(e) => set({ value: e.currentTarget.value })} />
            );
          }}
        </Field>
      </div>
      <button
        type="button"
        class="button-small"
        onClick={(event) => {
          // The work goes on with the next override, or with the buttons below.
          const fold = event.currentTarget.closest('details')!;
          removeRow(row.id);
          requestAnimationFrame(() => {
            const buttons = fold.querySelectorAll<HTMLElement>('.override > button, .override-actions > button');
            buttons[number - 1]?.focus();
          });
        }}
      >
        Remove override {number}
      </button>
    </fieldset>
  );
}

function preview(): string {
  try {
    return pretty(readOverrides(rows.value));
  } catch (error) {
    return (error as Error).message;
  }
}

/** State that the estimate takes to be otherwise than the chain has it. */
export function Overrides() {
  const { length } = rows.value;
  // Stays open when the last one is removed, with the button to add another.
  const open = useSignal(length > 0);
  // A link brings overrides along.
  useSignalEffect(() => {
    if (rows.value.length > 0) open.value = true;
  });
  const example = useAction(() => shownForm.value);
  return (
    <details
      class="fold"
      open={open.value}
      onToggle={(e) => {
        open.value = e.currentTarget.open;
      }}
    >
      <summary>State overrides{length > 0 && ` (${length})`}</summary>
      <p class="hint">
        The estimate runs on the state of the head with these changes on top. They leave no trace on the chain.
      </p>
      {rows.value.map((row, i) => (
        <Row key={row.id} row={row} number={i + 1} />
      ))}
      <div class="actions override-actions">
        <button type="button" class="button-small" onClick={() => addRow('balance')}>
          Add an override
        </button>
        <button type="button" class="button-small" onClick={() => example.run(async () => addExample())}>
          Give the sender plenty
        </button>
      </div>
      <Failure error={example.error.value} stale={example.isStale()} />
      {length > 0 && <Json summary="As the method takes it" text={preview()} />}
    </details>
  );
}
