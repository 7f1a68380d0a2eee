import { NETWORKS, type NetworkName } from 'plumbline-l2';
import { change, type Level, networkLabel, settings } from '../state/settings.js';
import { Field } from '../ui/field.js';
import { Endpoints } from './endpoints.js';

const LEVELS: readonly { readonly value: Level; readonly label: string }[] = [
  { value: 'auto', label: 'by two endpoints where there are' },
  { value: 'plain', label: 'by one endpoint (plain)' },
  { value: 'linked', label: 'by two that agree (linked)' },
  { value: 'sealed', label: 'by the validators’ seal (sealed)' },
];

/** The devnet that `npm start` runs serves its own RPC beside this page. */
function useThisServer(): void {
  change({
    network: 'devnet',
    endpoints: [{ address: `${location.origin}/`, key: '' }],
    layerOne: [{ address: `${location.origin}/l1`, key: '' }],
    trieLogs: [{ address: '', key: '' }],
    level: 'plain',
  });
}

export function LightForm() {
  const { network, level, endpoints, layerOne, trieLogs } = settings.value;
  return (
    <>
      <div class="fields">
        <Field label="Network">
          {(ids) => (
            <select
              {...ids}
              value={network}
              onChange={(e) => change({ network: e.currentTarget.value as NetworkName })}
            >
              {(Object.keys(NETWORKS) as NetworkName[]).map((name) => (
                <option key={name} value={name}>
                  {networkLabel(name)}
                </option>
              ))}
            </select>
          )}
        </Field>
        <Field label="The head is vouched for">
          {(ids) => (
            <select {...ids} value={level} onChange={(e) => change({ level: e.currentTarget.value as Level })}>
              {LEVELS.map(({ value, label }) => (
                <option key={value} value={value}>
                  {label}
                </option>
              ))}
            </select>
          )}
        </Field>
      </div>
      <h3>Endpoints of the network</h3>
      <p class="hint">
        They supply data and are not trusted. Keys stay in the memory of this page and are kept nowhere.
      </p>
      <Endpoints name="Endpoint" of={endpoints} most={4} onChange={(fields) => change({ endpoints: fields })} />
      <h3>Layer 1</h3>
      <p class="hint">Without it nothing counts as finalized, and there are no zk proofs.</p>
      <Endpoints name="Layer-1 endpoint" of={layerOne} most={1} onChange={(fields) => change({ layerOne: fields })} />
      <h3>Trie logs</h3>
      <p class="hint">
        Optional: a Besu node with the Shomei plugin. The page then builds the whole zk state and proves from it, which
        is for small networks.
      </p>
      <Endpoints name="Trie-log endpoint" of={trieLogs} most={1} onChange={(fields) => change({ trieLogs: fields })} />
      <p class="actions">
        <button type="button" class="button-small" onClick={useThisServer}>
          Fill in the devnet of this server
        </button>
      </p>
    </>
  );
}
