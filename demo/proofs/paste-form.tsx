import type { HashScheme } from 'plumbline-l2/verify';
import { running } from '../state/session.js';
import type { Action } from '../ui/action.js';
import { Field } from '../ui/field.js';
import { Form } from '../ui/form.js';
import { examinePasted, newestRoot } from './paste.js';
import { type PasteFormFields, pasteForm } from './state.js';

/** Checks an answer from elsewhere against a root that the visitor names; no node is needed. */
export function PasteForm({ action }: { readonly action: Action }) {
  const set = (part: Partial<PasteFormFields>) => {
    pasteForm.value = { ...pasteForm.value, ...part };
  };
  const { text, root, scheme } = pasteForm.value;
  return (
    <Form action={action} submit={() => examinePasted()}>
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
            <textarea
              {...ids}
              class="mono"
              rows={2}
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
        <button type="submit" class="primary" aria-disabled={action.busy.value}>
          Verify what was pasted
        </button>
        <button
          type="button"
          disabled={running.value?.layerOne === undefined}
          aria-disabled={action.busy.value}
          onClick={() => action.run(async () => set({ root: await newestRoot() }))}
        >
          Take the newest root
        </button>
      </div>
    </Form>
  );
}
