import { useSignal } from '@preact/signals';
import { AskForm } from '../proofs/ask-form.js';
import { PasteForm } from '../proofs/paste-form.js';
import { ProofReport } from '../proofs/report.js';
import { examined } from '../proofs/state.js';
import { Choice } from '../ui/field.js';
import { Empty, Panel } from '../ui/panel.js';

const SOURCES = [
  { value: 'ask', label: 'Ask the node' },
  { value: 'paste', label: 'Paste an answer' },
] as const;

export function ProofsView() {
  const source = useSignal<'ask' | 'paste'>('ask');
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
          <AskForm />
        </div>
        <div hidden={source.value !== 'paste'}>
          <PasteForm />
        </div>
      </Panel>
      <p class="hidden" aria-live="polite">
        {shown !== undefined && (shown.verdict.verified ? 'Verified' : `Refused: ${shown.verdict.message}`)}
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
