import { PreviewForm } from '../preview/form.js';
import { PreviewReport, verdictText } from '../preview/report.js';
import { SignatureReport, signatureVerdict } from '../preview/signature-report.js';
import { shown, shownSignature } from '../preview/state.js';
import { running } from '../state/session.js';
import { Empty, Panel } from '../ui/panel.js';
import '../styles/preview.css';

export function PreviewView() {
  const now = shown.value;
  const signature = shownSignature.value;
  return (
    <>
      <div class="view-head">
        <h1>Preview</h1>
        <p>
          See what a transaction does, or what a signature allows, before you sign it. It runs here, in this page: no
          server is sent it, and no server can lie about what it does.
        </p>
      </div>
      <div class="columns columns-form">
        <Panel title="Before signing">
          <PreviewForm />
        </Panel>
        <div>
          <p class="hidden" aria-live="polite">
            {now !== undefined && verdictText(now)}
            {signature !== undefined && signatureVerdict(signature.answer.result)}
          </p>
          {signature !== undefined && <SignatureReport of={signature} />}
          {signature !== undefined ? null : now === undefined ? (
            <Panel title="What it does">
              <Empty>
                {running.value === undefined ? 'The preview needs a running node.' : 'Nothing has been previewed yet.'}
              </Empty>
            </Panel>
          ) : (
            <PreviewReport of={now} />
          )}
        </div>
      </div>
    </>
  );
}
