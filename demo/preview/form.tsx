import { isOwnChain, useLink } from '../state/link.js';
import { running } from '../state/session.js';
import { useAction } from '../ui/action.js';
import { CallFields } from '../ui/call-fields.js';
import { Choice, Field } from '../ui/field.js';
import { Form, Outcome } from '../ui/form.js';
import { EXAMPLES, type ExampleName } from './examples.js';
import {
  choose,
  example,
  fields,
  fill,
  form,
  hasExamples,
  pasted,
  preview,
  shownForm,
  shownSignature,
  signer,
  toSign,
  type Way,
  way,
} from './state.js';

const WAYS = [
  { value: 'example', label: 'Example' },
  { value: 'form', label: 'Build' },
  { value: 'paste', label: 'Paste' },
  { value: 'signature', label: 'Signature' },
] as const satisfies readonly { value: Way; label: string }[];

/** Says which transaction is previewed: an example, one from fields, or one that was copied elsewhere. */
export function PreviewForm() {
  const action = useAction(() => fields.value);
  const linked = useLink('preview', fill, () => action.run(preview));
  const chosen = way.value;
  return (
    <Form action={action} submit={preview}>
      <Choice
        legend="Transaction"
        name="preview-way"
        value={chosen}
        options={WAYS}
        onChange={(value) => {
          choose(value);
          if (value === 'signature' && shownSignature.value === undefined && isOwnChain()) void action.run(preview);
        }}
      />
      {chosen === 'example' && <Examples />}
      {chosen === 'form' && (
        <CallFields
          view="preview"
          of={shownForm.value}
          set={(part) => {
            form.value = { ...form.value, ...part };
          }}
        />
      )}
      {chosen === 'paste' && <Paste />}
      {chosen === 'signature' && <ToSign />}
      <div class="actions">
        <button
          type="submit"
          class="primary"
          disabled={running.value === undefined || (chosen === 'example' && !hasExamples.value)}
          aria-disabled={action.busy.value}
        >
          {action.busy.value ? 'Previewing…' : 'Preview'}
        </button>
      </div>
      <Outcome action={action} linked={linked.value} />
    </Form>
  );
}

function Examples() {
  if (!hasExamples.value)
    return <p class="empty">The examples need a devnet. On this network, build or paste a transaction.</p>;
  return (
    <Choice
      legend="Example"
      name="preview-example"
      cards
      value={example.value}
      options={(Object.keys(EXAMPLES) as ExampleName[]).map((name) => {
        const { label, hint } = EXAMPLES[name];
        return { value: name, label, hint };
      })}
      onChange={(value) => {
        example.value = value;
      }}
    />
  );
}

function Paste() {
  return (
    <Field
      label="Call as JSON, or signed transaction as hex"
      name="Transaction"
      hint="A call as eth_call takes it, a list of calls, or the 0x… of eth_sendRawTransaction. Nothing is sent."
      wide
    >
      {(ids) => (
        <textarea
          {...ids}
          class="mono"
          rows={9}
          spellcheck={false}
          value={pasted.value}
          onInput={(event) => {
            pasted.value = event.currentTarget.value;
          }}
        />
      )}
    </Field>
  );
}

function ToSign() {
  return (
    <div class="fields">
      <Field label="Who signs" wide>
        {(ids) => (
          <input
            {...ids}
            class="mono"
            spellcheck={false}
            value={signer.value}
            onInput={(event) => {
              signer.value = event.currentTarget.value as typeof signer.value;
            }}
          />
        )}
      </Field>
      <Field
        label="To sign"
        hint="Typed data as eth_signTypedData_v4 takes it, a message, an authorization, or calls. Nothing is signed."
        wide
      >
        {(ids) => (
          <textarea
            {...ids}
            class="mono"
            rows={12}
            spellcheck={false}
            value={toSign.value}
            onInput={(event) => {
              toSign.value = event.currentTarget.value;
            }}
          />
        )}
      </Field>
    </div>
  );
}
