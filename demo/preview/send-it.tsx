import { about, groups } from '../lib/format.js';
import { isStale } from '../state/link.js';
import { running } from '../state/session.js';
import { useAction } from '../ui/action.js';
import { Facts } from '../ui/facts.js';
import { Failure } from '../ui/failure.js';
import { Verdict } from '../ui/verdict.js';
import { Balances } from './balances.js';
import type { Names } from './names.js';
import { send, sent } from './send.js';
import { fields, type Shown } from './state.js';

const ether = (wei: bigint) => `${about(wei, 18)} ETH`;

/** Sends what was previewed, and shows what it did beside what the preview said. Only on the devnet of the page. */
export function SendIt({ of, names }: { readonly of: Shown; readonly names: Names }) {
  const action = useAction();
  const { calls, fees } = of.answer.result;
  const now = running.value;
  if (now?.settings.kind !== 'devnet' || now.node !== of.node) return null;
  if (calls.some(({ status, fee }) => status !== 'success' || fee === undefined)) return null;
  const done = sent.value?.of === of ? sent.value : undefined;
  return (
    <div class="send">
      <h3>Was the preview right?</h3>
      <p class="hint">Sends it on the devnet of this page, and reads the balances again.</p>
      <div class="actions">
        <button
          type="button"
          disabled={isStale(of.question, fields.value)}
          aria-disabled={action.busy.value || done !== undefined}
          onClick={() => done === undefined && void action.run(() => send(of))}
        >
          {done === undefined ? 'Send it and compare' : 'Sent'}
        </button>
      </div>
      <Failure error={action.error.value} />
      <div role="status">
        {done !== undefined && (
          <>
            <Verdict tone={done.succeeded && done.equal ? 'good' : 'bad'}>
              {!done.succeeded && 'It failed. '}
              {done.equal
                ? `Every balance is as previewed; ${groups(done.gasUsed.reduce((sum, gas) => sum + gas, 0n))} gas used.`
                : 'Some balances are not as previewed: the chain has gone on since.'}
            </Verdict>
            <Facts
              label="Fee as previewed and as it is"
              of={[
                { name: 'Paid for gas', value: ether(done.paid) },
                { name: 'Previewed', value: ether(Object.values(fees).reduce((sum, wei) => sum + BigInt(wei), 0n)) },
              ]}
            />
            <Balances of={of} names={names} actual={done.actual} />
          </>
        )}
      </div>
    </div>
  );
}
