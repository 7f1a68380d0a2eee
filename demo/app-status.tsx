import type { OpenProgress } from 'plumbline-l2';
import { groups } from './lib/format.js';
import { behind, endpointStatus, phase, running, startNode, storeStatus } from './state/session.js';
import { filled, networkLabel, settings } from './state/settings.js';
import { finalized, head, type Tagged } from './state/status.js';
import { view } from './state/view.js';
import { Failure } from './ui/failure.js';
import { Known, KnownLater } from './ui/known.js';
import { Progress, ProgressBar } from './ui/progress.js';

/** What is under way while a node opens, in words. */
const STAGES: Readonly<Record<OpenProgress['stage'] | 'worker', string>> = {
  worker: 'loading the node',
  kernels: 'loading the WebAssembly kernels',
  dictionary: 'loading the compression dictionary',
  store: 'opening the store',
  genesis: 'building the first state',
  blocks: 'applying blocks',
  state: 'loading the zk state',
  ready: 'ready',
  'layer-one': 'following the consensus of layer 1',
  sync: 'building the zk state',
};

function labelBehind({ stage, block, target }: OpenProgress): string {
  if (stage === 'layer-one') return 'The consensus of layer 1 is being followed';
  if (stage !== 'sync') return 'The zk state goes on loading';
  return `Building the zk state: block ${groups(block!)} of ${groups(target!)}`;
}

function networkName(): string {
  const { kind, network } = running.value?.settings ?? settings.value;
  return kind === 'devnet' ? 'devnet' : networkLabel(network);
}

function nodeName(): string {
  const { kind, trieLogs, here } = running.value?.settings ?? settings.value;
  if (kind === 'devnet') return 'a devnet in this page';
  if (here === true) return 'a light node of the devnet of this server';
  return `a ${filled(trieLogs).length > 0 ? 'replica' : 'light node'} of ${networkName()}`;
}

type Answering = 'waiting' | 'failed' | 'open';

/** How an open node stands with its endpoints: one that answers rightly is needed before it counts as running. */
function standing(): Answering {
  if (running.value?.settings.kind === 'devnet') return 'open';
  const ready = head.value.kind === 'block' || endpointStatus.value?.ready;
  if (ready === undefined) return 'waiting';
  return ready ? 'open' : 'failed';
}

const OPEN_WORDS: Readonly<Record<Answering, string>> = {
  open: 'Running',
  waiting: 'Waiting for an endpoint',
  failed: 'No endpoint answers',
};
const OPEN_CLASSES: Readonly<Record<Answering, string>> = { open: 'open', waiting: 'opening', failed: 'failed' };

/** One line of words on the node, for eyes and for screen readers. */
function statusText(): string {
  const now = phase.value;
  switch (now.name) {
    case 'idle':
      return 'No node is running.';
    case 'opening':
      return `Starting: ${STAGES[now.progress.stage]}`;
    case 'open':
      return `${OPEN_WORDS[standing()]}: ${nodeName()}`;
    case 'failed':
      return now.ran ? 'The node has stopped.' : 'The node did not start.';
  }
}

function Tag({ name, of }: { readonly name: string; readonly of: Tagged }) {
  if (of.kind === 'loading') {
    return (
      <span class="tag tag-empty">
        {name} … <KnownLater />
      </span>
    );
  }
  if (of.kind === 'error') return <span class="tag tag-empty">{name} unknown</span>;
  return (
    <span class="tag">
      {name} <b>{of.block.number}</b>
      <Known of={of.block.known} />
    </span>
  );
}

/** What has become of what is kept, when it is not as it was asked for. */
function StoreNotice() {
  const status = storeStatus.value;
  if (status === undefined || (status.mode === 'durable' && status.repaired === undefined)) return null;
  const { mode, reason, message, since, repaired = [] } = status;
  return (
    <div class="notice notice-refused" role="alert">
      <p class="notice-title">
        {mode === 'memory' ? 'This node goes on in memory' : 'What was kept has been repaired'}
        {reason !== undefined && <code class="notice-code">{reason}</code>}
      </p>
      {message !== undefined && <p class="notice-text">{message}</p>}
      {repaired.map(({ table, reason: why }) => (
        <p key={table} class="notice-text">
          {table}: {why}
        </p>
      ))}
      {mode === 'memory' && (
        <p class="notice-advice">
          {since === undefined ? 'What it learns now' : `What it has from block ${since} on`} ends with this page,
          unless the browser takes it after all.
        </p>
      )}
    </div>
  );
}

/** Which endpoints do not answer rightly, and why. */
function EndpointNotice() {
  const failed = endpointStatus.value?.endpoints.filter(({ answers }) => !answers) ?? [];
  if (failed.length === 0) return null;
  return (
    <div class="notice notice-refused" role="alert">
      <p class="notice-title">
        {standing() === 'failed' ? 'No endpoint answers rightly' : 'An endpoint does not answer rightly'}
      </p>
      {failed.map(({ role, endpoint, problem }) => (
        <p key={`${role} ${endpoint}`} class="notice-text">
          {role} {endpoint}: {problem?.reason}
        </p>
      ))}
    </div>
  );
}

/**
 * Under the header: how the node is, how far it is, and what went wrong with it. The first view is about something else: there
 * only what went wrong is seen.
 */
export function StatusBar() {
  const now = phase.value;
  const goingOn = behind.value;
  const seen = view.value !== 'start';
  return (
    <section class="status" aria-label="State of the node">
      <div class={seen ? 'status-line' : 'hidden'}>
        <p role="status" class={`status-text status-${now.name === 'open' ? OPEN_CLASSES[standing()] : now.name}`}>
          <span class="dot" aria-hidden="true" />
          {statusText()}
        </p>
        {seen && (now.name === 'open' || now.name === 'opening') && (
          <div class="tags">
            <Tag name="head" of={head.value} />
            <Tag name="finalized" of={finalized.value} />
          </div>
        )}
        {seen && (running.value?.settings ?? settings.value).here === true && (
          <a class="button button-small" href="./">
            Use a devnet in this page
          </a>
        )}
        {seen && now.name === 'idle' && view.value !== 'node' && (
          <a class="button button-small" href="#node">
            Choose a node
          </a>
        )}
        {seen && now.name === 'opening' && (
          <ProgressBar
            label={STAGES[now.progress.stage]}
            fraction={now.progress.fraction === 0 ? undefined : now.progress.fraction}
          />
        )}
      </div>
      {seen && goingOn !== undefined && <Progress label={labelBehind(goingOn)} fraction={goingOn.fraction} />}
      <StoreNotice />
      {now.name === 'open' && <EndpointNotice />}
      {now.name === 'failed' && (
        <>
          <Failure error={now.error} />
          <p class="actions">
            <button type="button" onClick={() => void startNode(settings.value)}>
              {now.ran ? 'Start it again' : 'Try again'}
            </button>
          </p>
        </>
      )}
    </section>
  );
}
