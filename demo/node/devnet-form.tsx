import { change, settings } from '../state/settings.js';
import { Field } from '../ui/field.js';

export function DevnetForm() {
  const { scheme, mining } = settings.value;
  return (
    <div class="fields">
      <Field label="Hash of the zk state" hint="Each has a chain of its own.">
        {(ids) => (
          <select {...ids} value={scheme} onChange={(e) => change({ scheme: e.currentTarget.value as typeof scheme })}>
            <option value="poseidon2">poseidon2, as the network today</option>
            <option value="mimc">mimc, as before</option>
          </select>
        )}
      </Field>
      <Field label="Blocks" hint="By hand: “Mine a block” above.">
        {(ids) => (
          <select {...ids} value={mining} onChange={(e) => change({ mining: e.currentTarget.value as typeof mining })}>
            <option value="auto">one for each transaction</option>
            <option value="manual">by hand</option>
          </select>
        )}
      </Field>
    </div>
  );
}
