import { useSignal } from '@preact/signals';
import { type EndpointProvider, endpointProviders, NETWORKS, type NetworkName } from 'plumbline-l2';
import { useEffect } from 'preact/hooks';
import { KEY_MARK } from '../state/secrets.js';
import { change, isLayerOne, type Level, networkLabel, settings } from '../state/settings.js';
import { Field } from '../ui/field.js';
import { Endpoints } from './endpoints.js';

const LEVELS: readonly { readonly value: Level; readonly label: string }[] = [
  { value: 'auto', label: 'as well as the servers here allow' },
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

/** What a rollup has beside its own endpoints. */
function RollupFields() {
  const { layerOne, trieLogs } = settings.value;
  return (
    <>
      <h3>Layer 1</h3>
      <p class="hint">Without it nothing counts as finalized, and there are no zk proofs.</p>
      <Endpoints name="Layer-1 endpoint" of={layerOne} most={1} onChange={(fields) => change({ layerOne: fields })} />
      <h3>Trie logs</h3>
      <p class="hint">
        Optional: a Besu node with the Shomei plugin. The page then builds the whole zk state and proves from it, which
        is for small networks.
      </p>
      <Endpoints name="Trie-log endpoint" of={trieLogs} most={1} onChange={(fields) => change({ trieLogs: fields })} />
    </>
  );
}

/** What a layer 1 has: servers of its beacon chain, and where to begin. */
function ConsensusFields() {
  const { layerOne, checkpoint } = settings.value;
  return (
    <>
      <h3>Consensus servers</h3>
      <p class="hint">
        Beacon nodes that serve light clients. The signatures of validators say which block is the newest, and which is
        final; nothing of the servers is believed. Without them the endpoints of the network say it.
      </p>
      <Endpoints name="Consensus server" of={layerOne} most={4} onChange={(fields) => change({ layerOne: fields })} />
      <Field
        label="Trusted beacon block, root"
        hint="Of a finalized block of the last two weeks, from a source that you trust. Empty: two servers must name the same one."
        wide
      >
        {(ids) => (
          <input
            {...ids}
            class="mono"
            autocomplete="off"
            spellcheck={false}
            placeholder="0x"
            value={checkpoint}
            onInput={(event) => change({ checkpoint: event.currentTarget.value.trim() })}
          />
        )}
      </Field>
    </>
  );
}

export function LightForm() {
  const { network, level, endpoints } = settings.value;
  const providers = useSignal<readonly EndpointProvider[]>([]);
  useEffect(() => {
    void endpointProviders().then((all) => {
      providers.value = all;
    });
  }, []);
  const offered = providers.value.flatMap(({ operator, urls }) => {
    const address = urls[network]?.value.replace('KEY', KEY_MARK);
    return address === undefined ? [] : [{ operator, address }];
  });
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
        They supply data and are not trusted. Keys stay in the memory of this page and are kept nowhere. None is a
        default, since who answers sees what you ask.
        {offered.length > 0 &&
          ` The field suggests endpoints of ${offered.length} operators. Nobody of this project has tried them.`}
      </p>
      <Endpoints
        name="Endpoint"
        of={endpoints}
        most={4}
        offered={offered}
        onChange={(fields) => change({ endpoints: fields })}
      />
      {isLayerOne(network) ? <ConsensusFields /> : <RollupFields />}
      <p class="actions">
        <button type="button" class="button-small" onClick={useThisServer}>
          Fill in the devnet of this server
        </button>
      </p>
    </>
  );
}
