import type { ComponentChildren } from 'preact';
import { capital } from '../lib/accounts.js';
import { explain } from '../lib/explain.js';
import { formatAge, groups, shortHex } from '../lib/format.js';
import { LEVELS, levelWord } from '../lib/trust.js';
import { ask } from '../state/requests.js';
import { phase, running } from '../state/session.js';
import { settings } from '../state/settings.js';
import { finalized, head, refreshStatus, type Tagged } from '../state/status.js';
import { useAction } from '../ui/action.js';
import { Failure } from '../ui/failure.js';
import { Known, KnownLater } from '../ui/known.js';
import { Empty, Panel } from '../ui/panel.js';

interface CardProps {
  readonly label: string;
  readonly value: ComponentChildren;
  readonly note?: ComponentChildren;
  readonly known?: ComponentChildren;
}

function Card({ label, value, note, known }: CardProps) {
  return (
    <div class="card">
      <dt class="card-label">{label}</dt>
      <dd class="card-body">
        <span class="card-value">{value}</span>
        {known}
        {note !== undefined && <span class="card-note">{note}</span>}
      </dd>
    </div>
  );
}

/** The place of a text that is not known yet. */
function Later({ text }: { readonly text: string }) {
  return (
    <span class="skeleton" aria-hidden="true">
      {text}
    </span>
  );
}

/** A card with the size that it will have, so that what stands below does not move under the pointer. */
function LaterCard({ label, note }: { readonly label: string; readonly note: string }) {
  return <Card label={label} value={<Later text="devnet" />} note={<Later text={note} />} />;
}

interface BlockCardProps {
  readonly label: string;
  readonly of: Tagged;
  /** Why it cannot be known, where that is no error. */
  readonly reason?: string | undefined;
}

function BlockCard({ label, of, reason }: BlockCardProps) {
  if (of.kind === 'loading') {
    const note = (
      <>
        <code>
          <Later text="0x000000…000000" />
        </code>{' '}
        <Later text="1000 days ago" />
      </>
    );
    return <Card label={label} value={<Later text="0" />} known={<KnownLater />} note={note} />;
  }
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
      known={<Known of={known} />}
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
  if (now.kind === 'loading') return <LaterCard label="Trust in the head" note={`${LEVELS.held} (level “held”)`} />;
  const level = now.kind === 'block' ? now.block.known?.level : undefined;
  if (level === undefined) return <Card label="Trust in the head" value="unknown" />;
  const words = <span class="card-words">{capital(levelWord(level))}</span>;
  return <Card label="Trust in the head" value={words} note={`${LEVELS[level]} (level “${level}”)`} />;
}

function NetworkCard() {
  const info = running.value?.node.info;
  if (info === undefined) return <LaterCard label="Network" note="chain id 59139, zk state poseidon2, kernels simd" />;
  const { networkName, chainId, hashScheme, kernelBuild } = info;
  const note = `chain id ${chainId}, zk state ${hashScheme}, kernels ${kernelBuild}`;
  return <Card label="Network" value={networkName} note={note} />;
}

/** Where the chain stands, and on a devnet the button that moves it. */
export function ChainPanel() {
  const mining = useAction();
  const now = running.value;
  if (now === undefined && phase.value.name !== 'opening') {
    return (
      <Panel title="Chain">
        <Empty>No node is running. Choose one below: a devnet needs nothing, a light node needs an endpoint.</Empty>
      </Panel>
    );
  }
  const { kind } = now?.settings ?? settings.value;
  return (
    <Panel title="Chain">
      <dl class="cards" aria-busy={now === undefined}>
        <BlockCard label="Head" of={head.value} />
        <BlockCard
          label="Finalized on layer 1"
          of={finalized.value}
          reason={now?.layerOne === undefined ? 'No endpoint of layer 1 is named.' : undefined}
        />
        <TrustCard />
        <NetworkCard />
      </dl>
      <div class="actions">
        {kind === 'devnet' && (
          <button
            type="button"
            class="primary"
            disabled={now === undefined || mining.busy.value}
            onClick={() => mining.run(async () => void (await ask('evm_mine')))}
          >
            Mine a block
          </button>
        )}
        <button type="button" disabled={now === undefined} onClick={() => void refreshStatus()}>
          Look again
        </button>
      </div>
      {kind === 'devnet' && <p class="hint">A block is final on the simulated layer 1 two blocks later.</p>}
      <Failure error={mining.error.value} />
    </Panel>
  );
}
