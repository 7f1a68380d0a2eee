import { useSignal } from '@preact/signals';
import type { AnswerReport } from 'plumbline-l2';
import { offline, proxied, startProxy, stopProxy } from '../state/offline.js';
import { useAction } from '../ui/action.js';
import { Facts } from '../ui/facts.js';
import { Failure } from '../ui/failure.js';
import { Panel } from '../ui/panel.js';

const ESTIMATE = {
  from: '0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266',
  to: '0x70997970c51812dc3a010c7d01b50e0d17dc79c8',
  value: '0xde0b6b3a7640000',
};

interface Fetched {
  readonly result: Record<string, string>;
  /** As the worker says in a header; answers of others have none. */
  readonly class: AnswerReport['class'];
}

/** Asks with a plain `fetch`, as code does that only knows an RPC URL. @throws Error unless the service worker answers */
async function fetchEstimate(): Promise<Fetched> {
  const body = { jsonrpc: '2.0', id: 1, method: 'linea_estimateGas', params: [ESTIMATE] };
  const response = await fetch('/rpc', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  const kind = response.headers.get('plumbline-answers');
  if (kind === null) throw new Error('That was answered, but not by the service worker.');
  const answer = (await response.json()) as {
    result?: Record<string, string>;
    error?: { code: number; message: string };
  };
  if (answer.result === undefined) throw Object.assign(new Error(answer.error?.message), { code: answer.error?.code });
  return { result: answer.result, class: kind as Fetched['class'] };
}

/** The RPC proxy: a service worker that answers requests of this page in place of a server. */
export function ProxyPanel() {
  const action = useAction();
  const answer = useSignal<Fetched | undefined>(undefined);
  return (
    <Panel
      title="A plain fetch, answered here"
      intro="A service worker can answer POST /rpc of this page with a devnet of its own: code that only knows an RPC URL needs no change."
    >
      <div class="actions">
        <button
          type="button"
          disabled={action.busy.value || offline.value === 'unsupported'}
          onClick={() =>
            action.run(async () => {
              answer.value = undefined;
              await startProxy();
              answer.value = await fetchEstimate();
            })
          }
        >
          {proxied.value ? 'Ask for an estimate' : 'Start it and ask for an estimate'}
        </button>
        {proxied.value && (
          <button
            type="button"
            disabled={action.busy.value}
            onClick={() =>
              action.run(async () => {
                await stopProxy();
                answer.value = undefined;
              })
            }
          >
            Switch it off
          </button>
        )}
      </div>
      <Failure error={action.error.value} />
      {answer.value !== undefined && (
        <div role="status">
          <p class="verdict verdict-good">Answered by the service worker.</p>
          <Facts
            of={Object.entries(answer.value.result).map(([name, value]) => ({
              name,
              value,
              known: { class: answer.value!.class },
            }))}
          />
        </div>
      )}
    </Panel>
  );
}
