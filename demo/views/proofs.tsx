import { prove } from '../proofs/ask.js';
import { AskForm } from '../proofs/ask-form.js';
import { examinePasted } from '../proofs/paste.js';
import { PasteForm } from '../proofs/paste-form.js';
import { ProofReport, verdictText } from '../proofs/report.js';
import { examined, fields, fill, source, tampering } from '../proofs/state.js';
import { useLink } from '../state/link.js';
import { useAction } from '../ui/action.js';
import { Choice } from '../ui/field.js';
import { Outcome } from '../ui/form.js';
import { Empty, Panel } from '../ui/panel.js';

const SOURCES = [
  { value: 'ask', label: 'Ask the node' },
  { value: 'paste', label: 'Paste an answer' },
] as const;

export function ProofsView() {
  const action = useAction(() => fields.value);
  const linked = useLink('proofs', fill, (params) =>
    action.run(() => {
      if (source.value === 'paste') return examinePasted();
      return prove(params.has('forge') ? tampering.value : undefined);
    }),
  );
  const shown = examined.value;
  return (
    <>
      <div class="view-head">
        <h1>Proofs</h1>
        <p>Is it so in the state that layer 1 settled? A proof is hashed from its leaf to the root, in this page.</p>
      </div>
      <Panel title="Question">
        <Choice
          legend="Where the proof comes from"
          name="source"
          value={source.value}
          options={SOURCES}
          onChange={(value) => {
            source.value = value;
          }}
        />
        <div hidden={source.value !== 'ask'}>
          <AskForm action={action} />
        </div>
        <div hidden={source.value !== 'paste'}>
          <PasteForm action={action} />
        </div>
        <Outcome action={action} linked={linked.value} />
      </Panel>
      <p class="hidden" aria-live="polite">
        {shown !== undefined && verdictText(shown)}
      </p>
      {shown === undefined ? (
        <Panel title="Verdict">
          <Empty>No proof has been looked at yet.</Empty>
        </Panel>
      ) : (
        <ProofReport of={shown} />
      )}
    </>
  );
}
