import { useSignal, useSignalEffect } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { TOKEN_SYMBOL } from '../lib/accounts.js';
import { about, groups } from '../lib/format.js';
import { useAction } from '../ui/action.js';
import { Failure } from '../ui/failure.js';
import { Known } from '../ui/known.js';
import { Panel } from '../ui/panel.js';
import type { Compared } from './compare.js';
import { act } from './state.js';

const inEther = (wei: bigint) => `${about(wei, 18)} ETH`;

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
      title="Believed, and verified"
      intro={`Two clients ask the same server for a balance and for the cost of a transfer. ${lies.value ? 'It lies to both.' : 'It tells both the truth.'}`}
    >
      <div ref={place} class="compare" aria-live="polite" aria-busy={action.busy.value}>
        <Believed of={now} />
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
const FEE = `Sending 1 ${TOKEN_SYMBOL} costs at most`;

function Believed({ of }: { readonly of: Compared | undefined }) {
  const lies = of?.lies === true;
  const amount = (shown: string, truth: string) => (
    <dd>
      {shown}
      {lies && (
        <span class="compare-note">
          <b class="bad">False.</b> In truth it is {truth}. This client cannot tell.
        </span>
      )}
    </dd>
  );
  return (
    <div class="compare-client">
      <h3>A client that believes the server</h3>
      <dl>
        <dt>{BALANCE}</dt>
        {of === undefined ? <dd>…</dd> : amount(inEther(of.believed.balance), inEther(of.truth.balance))}
        <dt>{FEE}</dt>
        {of === undefined ? <dd>…</dd> : amount(inEther(of.believed.fee), inEther(of.truth.fee))}
      </dl>
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
      {inEther(verified.fee)} <Known of={verified.knownFee} />
      <span class="compare-note">
        {times > 1 && `The server’s ${inEther(believed.fee)} is false: ${groups(times)} times too high. `}
        The transfer was executed and priced here, from state that was proved.
      </span>
    </>
  );
}
