import { type AccountChange, StateOverlay } from '../../../evm/state/state-overlay.js';
import type { StateReader } from '../../../evm/state/state-reader.js';
import { applyEdits, type StateEdit } from '../../state-edits.js';

/** Edits of the state that the next block will begin with. The newest state has them at once. */
export class PendingEdits {
  private edits: readonly StateEdit[] = [];
  /** The newest state with the edits; undefined if there are none. */
  private edited: StateOverlay | undefined;

  /**
   * @param sealed - the state after the newest block
   * @param usedSlots - of that state, as `applyEdits` takes it
   */
  constructor(
    private readonly sealed: () => StateReader,
    private readonly usedSlots: (address: Uint8Array) => readonly Uint8Array[],
  ) {}

  get list(): readonly StateEdit[] {
    return this.edits;
  }

  /** The state after the newest block, with the edits. */
  get state(): StateReader {
    return this.edited ?? this.sealed();
  }

  /** What the edits have changed. */
  async changes(): Promise<readonly AccountChange[]> {
    return this.edited?.changes() ?? [];
  }

  clear(): void {
    this.edits = [];
    this.edited = undefined;
  }

  /**
   * Puts edits in the place of these, on the state as it is now.
   *
   * @param save - stores them. If it fails, nothing has changed
   */
  async replace(edits: readonly StateEdit[], save?: () => Promise<unknown>): Promise<void> {
    const edited = edits.length === 0 ? undefined : new StateOverlay(this.sealed());
    if (edited !== undefined) await applyEdits(edited, edits, this.usedSlots);
    await save?.();
    this.edits = edits;
    this.edited = edited;
  }
}
