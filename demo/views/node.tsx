import { ChainPanel } from '../node/chain.js';
import { DevnetForm } from '../node/devnet-form.js';
import { KeptPanel } from '../node/kept.js';
import { LatestPanel } from '../node/latest.js';
import { LegendPanel } from '../node/legend.js';
import { LightForm } from '../node/light-form.js';
import { ProxyPanel } from '../node/proxy.js';
import { StoragePanel } from '../node/storage.js';
import { TimingsPanel } from '../node/timings.js';
import { phase, startNode, stopNode } from '../state/session.js';
import { change, settings } from '../state/settings.js';
import { Choice } from '../ui/field.js';
import { Panel } from '../ui/panel.js';

const KINDS = [
  { value: 'devnet', label: 'Devnet', hint: 'A chain of its own, in this page. Nothing else is needed.' },
  { value: 'light', label: 'Light node', hint: 'A public network, over endpoints that you do not have to trust.' },
] as const;

/** Chooses the node of this page and starts it. */
export function NodeView() {
  const { kind, keep } = settings.value;
  const active = phase.value.name === 'opening' || phase.value.name === 'open';
  return (
    <>
      <div class="view-head">
        <h1>Node</h1>
        <p>Which chain this page is a node of, how the node is, and what it keeps.</p>
      </div>
      <ChainPanel />
      <Panel title="Choose a node" intro="Starting another one ends the one that runs.">
        <form
          onSubmit={(event) => {
            event.preventDefault();
            void startNode(settings.value);
          }}
        >
          <Choice
            legend="Kind"
            name="node"
            value={kind}
            options={KINDS}
            cards
            onChange={(value) => change({ kind: value })}
          />
          {kind === 'devnet' ? <DevnetForm /> : <LightForm />}
          <label class="check-box">
            <input type="checkbox" checked={keep} onChange={(e) => change({ keep: e.currentTarget.checked })} />
            Keep it in this browser
          </label>
          <div class="actions">
            <button type="submit" class="primary">
              {active ? 'Start with these settings' : 'Start'}
            </button>
            {active && (
              <button type="button" onClick={() => void stopNode()}>
                Stop the node
              </button>
            )}
          </div>
        </form>
      </Panel>
      <div class="columns">
        <TimingsPanel />
        <div class="stack">
          <StoragePanel />
          <LatestPanel />
        </div>
      </div>
      <KeptPanel />
      <ProxyPanel />
      <LegendPanel />
    </>
  );
}
