import { running } from '../state/session.js';
import { settings } from '../state/settings.js';
import { Empty, Panel } from '../ui/panel.js';
import { WithdrawForm } from '../withdraw/form.js';
import { Messages, rangeText } from '../withdraw/list.js';
import { missingText, NotFound, verdictText, WithdrawReport } from '../withdraw/report.js';
import { followed, listed, previewed } from '../withdraw/state.js';
import { stepsOf } from '../withdraw/steps.js';
import { Way } from '../withdraw/way.js';
import '../styles/preview.css';
import '../styles/withdraw.css';

export function WithdrawView() {
  const now = followed.value;
  const list = listed.value;
  const { kind, layerOne } = running.value?.settings ?? settings.value;
  const hasLayerOne = kind === 'devnet' || layerOne.some(({ address }) => address.trim() !== '');
  return (
    <>
      <div class="view-head">
        <h1>Withdraw</h1>
        <p>
          What leaves layer 2 waits on layer 1 until somebody claims it. Follow it step by step, each with its check,
          and see what the claim does before it is signed.
        </p>
      </div>
      <Panel
        title="Withdrawal"
        intro={
          kind === 'devnet' ? (
            'The devnet of this page has both layers, so all of it happens in your browser.'
          ) : (
            <>
              To send one and claim it, start <a href="#node">the devnet of this page</a>.
            </>
          )
        }
      >
        {hasLayerOne ? (
          <WithdrawForm />
        ) : (
          <Empty>
            This needs an endpoint of layer 1. <a href="#node">Name one</a>.
          </Empty>
        )}
      </Panel>
      <p class="hidden" aria-live="polite">
        {list !== undefined && rangeText(list.list)}
        {now !== undefined &&
          ('of' in now ? verdictText(now.of, stepsOf(now.of, previewed.value)) : missingText(now.missing))}
      </p>
      {list !== undefined && <Messages of={list} />}
      {now === undefined ? (
        list === undefined && (
          <Panel
            title="From layer 2 to layer 1"
            intro="Nothing was sent yet. These are the steps, and how each is checked."
          >
            <Way steps={stepsOf(undefined)} />
          </Panel>
        )
      ) : 'of' in now ? (
        <WithdrawReport {...now} />
      ) : (
        <NotFound {...now} />
      )}
    </>
  );
}
