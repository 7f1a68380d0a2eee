import { useSignal } from '@preact/signals';
import type { HashScheme } from 'plumbline-l2/verify';
import { running } from '../state/session.js';
import { useAction } from '../ui/action.js';
import { Failure } from '../ui/failure.js';
import { Field } from '../ui/field.js';
import { examinePasted, newestRoot, type PasteFormFields } from './paste.js';

/** Checks an answer from elsewhere against a root that the visitor names; no node is needed. */
export function PasteForm() {
  const form = useSignal<PasteFormFields>({ text: '', root: '', scheme: 'poseidon2' });
  const action = useAction();
  const set = (part: Partial<PasteFormFields>) => {
    form.value = { ...form.value, ...part };
  };
  const { text, root, scheme } = form.value;
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        void action.run(() => examinePasted(form.value));
      }}
    >
      <div class="fields">
        <Field label="Answer of linea_getProof" hint="The “result”, or the whole response." wide>
          {(ids) => (
            <textarea
              {...ids}
              class="mono"
              rows={8}
              spellcheck={false}
              value={text}
              placeholder='{"accountProof":{"key":"0x…","leafIndex":…'
              onInput={(e) => set({ text: e.currentTarget.value })}
            />
          )}
        </Field>
        <Field label="State root" hint="From layer 1: what the answer is checked against." wide>
          {(ids) => (
            <input
              {...ids}
              class="mono"
              autocomplete="off"
              spellcheck={false}
              value={root}
              onInput={(e) => set({ root: e.currentTarget.value })}
            />
          )}
        </Field>
        <Field label="Hash of the state">
          {(ids) => (
            <select {...ids} value={scheme} onChange={(e) => set({ scheme: e.currentTarget.value as HashScheme })}>
              <option value="poseidon2">poseidon2</option>
              <option value="mimc">mimc, of older states</option>
            </select>
          )}
        </Field>
      </div>
      <div class="actions">
        <button type="submit" class="primary" disabled={action.busy.value}>
          Verify what was pasted
        </button>
        <button
          type="button"
          disabled={running.value?.layerOne === undefined || action.busy.value}
          onClick={() => action.run(async () => set({ root: await newestRoot() }))}
        >
          Take the newest root
        </button>
      </div>
      <Failure error={action.error.value} />
    </form>
  );
}
