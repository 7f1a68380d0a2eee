import type { ComponentChildren } from 'preact';
import { capital } from '../lib/accounts.js';
import { explain } from '../lib/explain.js';
import { formatAge, groups, shortHex } from '../lib/format.js';
import { LEVELS, levelWord } from '../lib/trust.js';
import { ask, type Knowledge } from '../state/requests.js';
import { phase, running } from '../state/session.js';
import { finalized, head, refreshStatus, type Tagged } from '../state/status.js';
import { useAction } from '../ui/action.js';
import { Failure } from '../ui/failure.js';
import { Known } from '../ui/known.js';
import { Empty, Panel } from '../ui/panel.js';

interface CardProps {
  readonly label: string;
  readonly value: ComponentChildren;
  readonly note?: ComponentChildren;
  readonly known?: Knowledge | undefined;
}

function Card({ label, value, note, known }: CardProps) {
  return (
    <div class="card">
      <dt class="card-label">{label}</dt>
      <dd class="card-body">
        <span class="card-value">{value}</span>
        {known !== undefined && <Known of={known} />}
        {note !== undefined && <span class="card-note">{note}</span>}
      </dd>
    </div>
  );
}

interface BlockCardProps {
  readonly label: string;
  readonly of: Tagged;
  /** Why it cannot be known, where that is no error. */
  readonly reason?: string | undefined;
}

function BlockCard({ label, of, reason }: BlockCardProps) {
  if (of.kind === 'loading') return <Card label={label} value={<span class="skeleton">0000</span>} />;
  if (of.kind === 'error') {
    const { title, message } = explain(of.error);
    const text = title.toLowerCase() === message.toLowerCase() ? title : `${title}: ${message}`;
    return <Card label={label} value="unknown" note={reason ?? text} />;
  }
  const { number, hash, timestamp, known } = of.block;
  return (
    <Card
      label={label}
      value={groups(number)}
      known={known}
      note={
        <>
          <code title={hash}>{shortHex(hash, 8)}</code> {formatAge(timestamp)}
        </>
      }
    />
  );
}

/** What stands behind the head: the level of the newest answer about it, in words. */
function TrustCard() {
  const now = head.value;
  if (now.kind === 'loading') return <Card label="Trust in the head" value={<span class="skeleton">own</span>} />;
  const level = now.kind === 'block' ? now.block.known?.level : undefined;
  if (level === undefined) return <Card label="Trust in the head" value="unknown" />;
  const words = <span class="card-words">{capital(levelWord(level))}</span>;
  return <Card label="Trust in the head" value={words} note={`${LEVELS[level]} (level “${level}”)`} />;
}

/** Where the chain stands, and on a devnet the button that moves it. */
export function ChainPanel() {
  const mining = useAction();
  const now = running.value;
  if (now === undefined) {
    return (
      <Panel title="Chain">
        {phase.value.name === 'opening' ? (
          <Empty>The node is starting.</Empty>
        ) : (
          <Empty>No node is running. Choose one below: a devnet needs nothing, a light node needs an endpoint.</Empty>
        )}
      </Panel>
    );
  }
  const { info } = now.node;
  return (
    <Panel title="Chain">
      <dl class="cards">
        <BlockCard label="Head" of={head.value} />
        <BlockCard
          label="Finalized on layer 1"
          of={finalized.value}
          reason={now.layerOne === undefined ? 'No endpoint of layer 1 is named.' : undefined}
        />
        <TrustCard />
        <Card
          label="Network"
          value={info.networkName}
          note={`chain id ${info.chainId}, zk state ${info.hashScheme}, kernels ${info.kernelBuild}`}
        />
      </dl>
      <div class="actions">
        {now.settings.kind === 'devnet' && (
          <button
            type="button"
            class="primary"
            disabled={mining.busy.value}
            onClick={() => mining.run(async () => void (await ask('evm_mine')))}
          >
            Mine a block
          </button>
        )}
        <button type="button" onClick={() => void refreshStatus()}>
          Look again
        </button>
      </div>
      {now.settings.kind === 'devnet' && (
        <p class="hint">A block is final on the simulated layer 1 two blocks later.</p>
      )}
      <Failure error={mining.error.value} />
    </Panel>
  );
}
