import { useSignal } from '@preact/signals';
import { ask } from '../state/requests.js';
import { running } from '../state/session.js';
import { download } from '../state/storage.js';
import { useAction } from '../ui/action.js';
import { Failure } from '../ui/failure.js';
import { Field } from '../ui/field.js';
import { Panel } from '../ui/panel.js';

/** What the running node keeps: deleted, and for a devnet saved as a file and read back. */
export function KeptPanel() {
  const action = useAction();
  const done = useSignal('');
  /** Asked once more before anything is deleted. */
  const sure = useSignal(false);
  const now = running.value;
  if (now === undefined || !now.settings.keep) return null;
  const { node, settings } = now;
  const act = (work: () => Promise<string>) =>
    action.run(async () => {
      done.value = '';
      done.value = await work();
      // The status line and the figures look again.
      await ask('eth_blockNumber');
    });
  return (
    <Panel
      title="What is kept"
      intro="The chain of this node, its proofs and its headers stay in this browser until they are deleted."
    >
      {settings.kind === 'devnet' && (
        <div class="fields">
          <Field label="Load a chain from a file" hint="It is checked whole before anything is changed.">
            {(ids) => (
              <input
                {...ids}
                type="file"
                disabled={action.busy.value}
                onChange={(event) => {
                  const input = event.currentTarget;
                  const [file] = input.files ?? [];
                  if (file === undefined) return;
                  void act(async () => {
                    const { head } = await node.importChain(new Uint8Array(await file.arrayBuffer()));
                    return `Loaded: the head is block ${head}.`;
                  }).finally(() => {
                    input.value = '';
                  });
                }}
              />
            )}
          </Field>
        </div>
      )}
      <div class="actions">
        {settings.kind === 'devnet' && (
          <button
            type="button"
            disabled={action.busy.value}
            onClick={() =>
              act(async () => {
                download(await node.exportChain(), `plumbline-${settings.scheme}.chain`);
                return 'Saved.';
              })
            }
          >
            Save the chain as a file
          </button>
        )}
        <button
          type="button"
          class="danger"
          disabled={action.busy.value}
          aria-expanded={sure.value}
          onClick={() => {
            sure.value = !sure.value;
          }}
        >
          Delete what this node keeps…
        </button>
      </div>
      {/* Elsewhere than the button before, so that a second click in haste deletes nothing. */}
      {sure.value && (
        <div class="actions">
          <button
            type="button"
            class="danger"
            onClick={() => {
              sure.value = false;
              void act(async () => {
                await node.clear();
                return 'Deleted: the node has begun anew.';
              });
            }}
          >
            Delete it for good
          </button>
          <button
            type="button"
            onClick={() => {
              sure.value = false;
            }}
          >
            Leave it
          </button>
        </div>
      )}
      <p class="hint" role="status">
        {done.value}
      </p>
      <Failure error={action.error.value} />
    </Panel>
  );
}
