import { useSignal, useSignalEffect } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { formatUnits, groups } from '../lib/format.js';
import { useAction } from '../ui/action.js';
import { Failure } from '../ui/failure.js';
import { Known } from '../ui/known.js';
import { Panel } from '../ui/panel.js';
import type { Compared } from './compare.js';
import { act } from './state.js';

const inEther = (wei: bigint) => `${formatUnits(wei, 18)} ETH`;

/** Eight decimals are enough for a fee. */
function shortFee(wei: bigint): string {
  return inEther((wei / 10n ** 10n) * 10n ** 10n);
}

/** Two clients of one server, side by side, once they are in sight. */
export function ComparePanel() {
  const shown = useSignal<Compared | undefined>(undefined);
  const lies = useSignal(true);
  const inSight = useSignal(false);
  const action = useAction();
  const place = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const observer = new IntersectionObserver(([entry]) => {
      if (entry?.isIntersecting === true) inSight.value = true;
    });
    observer.observe(place.current!);
    return () => observer.disconnect();
  }, []);
  useSignalEffect(() => {
    const now = act.value;
    const wanted = lies.value;
    if (!inSight.value || now.name !== 'checked' || shown.peek()?.lies === wanted) return;
    void action.run(async () => {
      const { compare } = await import('./compare.js');
      shown.value = await compare(now.node, wanted);
    });
  });
  const now = shown.value;
  return (
    <Panel
      title="One server, two clients"
      intro="Both ask the same server for a balance and for the cost of a transfer. It lies to both."
    >
      <div ref={place} class="compare" aria-live="polite" aria-busy={action.busy.value}>
        <Believed of={now?.believed} lies={now?.lies ?? true} />
        <Verified of={now} />
      </div>
      <Failure error={action.error.value} />
      <div class="actions">
        <button
          type="button"
          disabled={action.busy.value}
          onClick={() => {
            lies.value = !lies.value;
          }}
        >
          {lies.value ? 'Let this server tell the truth' : 'Let this server lie'}
        </button>
      </div>
    </Panel>
  );
}

const BALANCE = 'Account 1 holds';
const FEE = 'Sending 1 TEST costs at most';

function Believed({ of, lies }: { readonly of: Compared['believed'] | undefined; readonly lies: boolean }) {
  return (
    <div class="compare-client">
      <h3>A client that believes the server</h3>
      <dl>
        <dt>{BALANCE}</dt>
        <dd class={lies && of !== undefined ? 'is-false' : ''}>{of === undefined ? '…' : inEther(of.balance)}</dd>
        <dt>{FEE}</dt>
        <dd class={lies && of !== undefined ? 'is-false' : ''}>{of === undefined ? '…' : shortFee(of.fee)}</dd>
      </dl>
      <p class="compare-note">
        {of !== undefined && (lies ? 'Both are false. It cannot tell.' : 'Both are right. It cannot tell.')}
      </p>
    </div>
  );
}

function Verified({ of }: { readonly of: Compared | undefined }) {
  return (
    <div class="compare-client is-plumbline">
      <h3>plumbline</h3>
      <dl>
        <dt>{BALANCE}</dt>
        <dd>{of === undefined ? '…' : <Balance of={of} />}</dd>
        <dt>{FEE}</dt>
        <dd>{of === undefined ? '…' : <Fee of={of} />}</dd>
      </dl>
    </div>
  );
}

function Balance({ of: { believed, verified } }: { readonly of: Compared }) {
  if (verified.balance !== undefined) {
    return (
      <>
        {inEther(verified.balance)} <Known of={verified.knownBalance} />
      </>
    );
  }
  return (
    <>
      <span class="bad">Refused: {inEther(believed.balance)} is false.</span>
      <span class="compare-note">
        The proof does not lead from this balance to the root on layer 1 (<code>{verified.refused}</code>). No balance
        is shown.
      </span>
    </>
  );
}

function Fee({ of: { believed, verified } }: { readonly of: Compared }) {
  const times = Number((believed.fee + verified.fee / 2n) / verified.fee);
  return (
    <>
      {shortFee(verified.fee)} <Known of={verified.knownFee} />
      <span class="compare-note">
        Executed and priced here, from state that was proved; the server is not asked for a fee.
        {times > 1 && ` What it says is ${groups(times)} times too high.`}
      </span>
    </>
  );
}
