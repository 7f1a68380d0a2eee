import { EvidenceForm } from '../evidence/form.js';
import { EvidenceReport, verdictText } from '../evidence/report.js';
import { shown } from '../evidence/state.js';
import { running } from '../state/session.js';
import { settings } from '../state/settings.js';
import { Empty, Panel } from '../ui/panel.js';

export function EvidenceView() {
  const now = shown.value;
  const { kind, here } = running.value?.settings ?? settings.value;
  const own = kind === 'devnet';
  return (
    <>
      <div class="view-head">
        <h1>Evidence</h1>
        <p>
          How a page knows a balance on layer 2 without believing any server: from one block of layer 1 that you trust,
          check by check.
        </p>
      </div>
      <Panel
        title="Question"
        intro={`A second node, a light node, starts in this page. It knows no chain: it asks a beacon server, a layer-1 server and a layer-2 server, and checks every answer. ${own ? 'The devnet of this page plays the three, so nothing leaves your browser.' : 'The devnet of the server that this page is from plays the three. If it has fewer than four blocks, the missing ones are mined first.'}`}
      >
        {own || here === true ? (
          <EvidenceForm />
        ) : (
          <Empty>
            This needs the devnet of this page, with its simulated layer 1. <a href="#node">Start it</a>.
          </Empty>
        )}
      </Panel>
      <p class="hidden" aria-live="polite">
        {now !== undefined && verdictText(now.reading, now.refusal)}
      </p>
      {now === undefined ? (
        <Panel title="From layer 1 to a balance">
          <Empty>Nothing has been read yet.</Empty>
        </Panel>
      ) : (
        <EvidenceReport {...now} />
      )}
    </>
  );
}
