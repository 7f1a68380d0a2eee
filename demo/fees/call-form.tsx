import { GAS_SEARCHES } from 'plumbline-l2';
import { CallFields } from '../ui/call-fields.js';
import { Field } from '../ui/field.js';
import { form, type Search, search, shownForm } from './state.js';

/** The call that is estimated, and how its gas limit is found. */
export function EstimatedCall() {
  return (
    <CallFields
      view="fees"
      of={shownForm.value}
      set={(part) => {
        form.value = { ...form.value, ...part };
      }}
    >
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
    </CallFields>
  );
}
