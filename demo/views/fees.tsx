import { EstimatedCall } from '../fees/call-form.js';
import { Overrides } from '../fees/overrides.js';
import { EstimateResult } from '../fees/result.js';
import { estimate, fields, fill, shown } from '../fees/state.js';
import { formatUnits } from '../lib/format.js';
import { useLink } from '../state/link.js';
import { running } from '../state/session.js';
import { useAction } from '../ui/action.js';
import { Form, Outcome } from '../ui/form.js';
import { Empty, Panel } from '../ui/panel.js';

export function FeesView() {
  const action = useAction(() => fields.value);
  const linked = useLink('fees', fill, () => action.run(estimate));
  const ready = running.value !== undefined;
  return (
    <>
      <div class="view-head">
        <h1>Fees</h1>
        <p>What a transaction will cost: executed, sized and priced in this page, by the method wallets call.</p>
      </div>
      <div class="columns columns-form">
        <Panel title="Transaction">
          <Form action={action} submit={estimate}>
            <EstimatedCall />
            <Overrides />
            <div class="actions">
              <button type="submit" class="primary" disabled={!ready} aria-disabled={action.busy.value}>
                {action.busy.value ? 'Estimating…' : 'Estimate'}
              </button>
            </div>
          </Form>
          <Outcome action={action} linked={linked.value} />
        </Panel>
        <div aria-busy={action.busy.value}>
          <p class="hidden" aria-live="polite">
            {shown.value !== undefined &&
              `Costs at most ${formatUnits(BigInt(shown.value.answer.result.evidence.totalFee), 18)} ETH`}
          </p>
          {shown.value === undefined ? (
            <Panel title="Estimate">
              <Empty>{ready ? 'Nothing has been estimated yet.' : 'The estimate needs a running node.'}</Empty>
            </Panel>
          ) : (
            <EstimateResult of={shown.value} />
          )}
        </div>
      </div>
    </>
  );
}
