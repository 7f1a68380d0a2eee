import { bytesToHex } from '../../primitives/hex.js';
import type { KeyHashes } from '../hash-cache.js';
import type { StateTrace } from '../trace.js';
import { requireSame } from '../tries/block-entries.js';
import type { StateTries } from '../tries/state-tries.js';
import type { ZkAccountChange } from '../world-state.js';
import { KernelTracedState } from './kernel-traces-state.js';
import { applyTraced } from './traced-application.js';

/**
 * Writes a block into the tries one operation at a time, and returns its traces. The tries end as after `applyChanges`.
 * After an error the caller must undo what was written.
 *
 * @throws PlumblineError as `WorldState.applyBlock`
 */
export function applyChangesTraced(
  tries: StateTries,
  keys: KeyHashes,
  changes: readonly ZkAccountChange[],
): StateTrace[] {
  checkRecreated(tries, keys, changes);
  const state = new KernelTracedState(tries);
  const traces = applyTraced({ hasher: tries.hasher, keys }, state, changes);
  state.finish();
  return traces;
}

/** An account that is destroyed and recreated without slots keeps its storage root, so its storage must be empty. */
function checkRecreated(tries: StateTries, keys: KeyHashes, changes: readonly ZkAccountChange[]): void {
  for (const { address, after, destroyed, slots } of changes) {
    if (after === undefined || !destroyed || slots.length > 0) continue;
    const storage = tries.held(keys.hashedAddress(address).hkey)?.record.storage;
    const content = storage === undefined || tries.isEmptyStorage(storage) ? 'no slot' : 'slots';
    requireSame(() => `storage of the recreated account ${bytesToHex(address)}`, content, 'no slot');
  }
}
