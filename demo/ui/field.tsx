import type { ComponentChildren } from 'preact';
import { useId } from 'preact/hooks';
import { useWrong } from './form.js';

interface FieldProps {
  readonly label: string;
  readonly hint?: ComponentChildren;
  readonly wide?: boolean;
  /** What errors call it, where that is not the label. */
  readonly name?: string;
  /** The control, given the ids that tie label, hint and error to it. */
  readonly children: (ids: FieldIds) => ComponentChildren;
}

export interface FieldIds {
  readonly id: string;
  readonly 'aria-describedby'?: string;
  readonly 'aria-invalid'?: true;
}

/** A control with its label above and, where it helps, a hint below. */
export function Field({ label, name = label, hint, wide = false, children }: FieldProps) {
  const wrong = useWrong(name);
  const id = useId();
  const [hintId, wrongId] = [`${id}-hint`, `${id}-wrong`];
  const texts = [wrong !== undefined && wrongId, hint !== undefined && hintId].filter(Boolean).join(' ');
  return (
    <div class={wide ? 'field field-wide' : 'field'}>
      <label for={id}>{label}</label>
      {children({
        id,
        ...(texts !== '' && { 'aria-describedby': texts }),
        ...(wrong !== undefined && { 'aria-invalid': true }),
      })}
      {wrong !== undefined && (
        <p class="field-wrong" id={wrongId} role="alert">
          {wrong}
        </p>
      )}
      {hint !== undefined && (
        <p class="hint" id={hintId}>
          {hint}
        </p>
      )}
    </div>
  );
}

interface ChoiceProps<Value extends string> {
  readonly legend: string;
  readonly name: string;
  readonly value: Value;
  readonly options: readonly { readonly value: Value; readonly label: string; readonly hint?: string }[];
  readonly onChange: (value: Value) => void;
  /** Large cards with a hint each rather than a row of words. */
  readonly cards?: boolean;
}

/** One of a few: a group of radio buttons. */
export function Choice<Value extends string>({ legend, name, value, options, onChange, cards }: ChoiceProps<Value>) {
  return (
    <fieldset class={cards === true ? 'choice choice-cards' : 'choice'}>
      <legend>{legend}</legend>
      <div class="choice-options">
        {options.map((option) => (
          <label key={option.value}>
            <input
              type="radio"
              name={name}
              value={option.value}
              checked={option.value === value}
              onChange={() => onChange(option.value)}
            />
            <span class="choice-label">
              {option.label}
              {option.hint !== undefined && <span class="choice-hint">{option.hint}</span>}
            </span>
          </label>
        ))}
      </div>
    </fieldset>
  );
}
