import type { LineaProofJson } from '../../accumulator/proof-shape.js';
import { isPlumblineError, PlumblineError } from '../../errors.js';
import { schemeAt } from '../../networks/network.js';
import { loadWorldState } from '../../state/load-world-state.js';
import { openWorldState } from '../../state/open-world-state.js';
import { openPagedState, type PagedState, storedState } from '../../state/paged-state.js';
import type { WorldState } from '../../state/world-state.js';
import { ReplicaStore } from './replica-store.js';
import type { FollowerSettings } from './settings.js';

/**
 * The state of a replica, in memory while it follows and in the store. Only states that layer 1 confirmed are proved: those in
 * memory, and the newest confirmed one in the store.
 */
export class ReplicaState {
  private held: WorldState | undefined;
  /** Blocks that can be proved, oldest first. The newest one is also in the store. */
  private provable: readonly number[] = [];
  private paged: Promise<PagedState> | undefined;
  /** Increased whenever the confirmed pages in the store change. */
  private version = 0;
  /** Number of blocks since the last commit. */
  private waiting = 0;
  private disowned = false;

  private constructor(
    private readonly settings: FollowerSettings,
    private readonly store: ReplicaStore,
  ) {}

  /**
   * The stored state can be proved only after `adopt`.
   *
   * @throws PlumblineError `STORE_CORRUPT`, also for the store of another chain; `STORE_TOO_NEW`; errors of the store
   */
  static async open(settings: FollowerSettings): Promise<ReplicaState> {
    const { chainId, rollup } = settings.network;
    const scheme = schemeAt(settings.network, Number.MAX_SAFE_INTEGER);
    const store = await ReplicaStore.open(settings.store, `${chainId} ${rollup.address.toLowerCase()} ${scheme}`);
    // Throws now if the stored state cannot be read.
    await storedState(store.confirmed);
    return new ReplicaState(settings, store);
  }

  /** Newest block whose root layer 1 has confirmed. */
  get confirmed(): number | undefined {
    return this.provable.at(-1);
  }

  /** Newest block in memory. */
  get head(): number | undefined {
    return this.held?.head;
  }

  isProvable(block: number): boolean {
    return this.provable.includes(block);
  }

  /** As `ZkFollower.prove`. */
  async prove(block: number, address: Uint8Array, storageKeys: readonly Uint8Array[]): Promise<LineaProofJson> {
    for (;;) {
      const { held, version } = this;
      if (!this.isProvable(block)) throw notProvable(String(block));
      if (held?.oldest !== undefined && held.oldest <= block) return held.prove(block, address, storageKeys);
      try {
        this.paged ??= openPagedState(this.settings.hasher, this.store.confirmed);
        const paged = await this.paged;
        if (paged.block === block) return await paged.prove(address, storageKeys);
        // A commit that seemed to fail was done.
        if (version === this.version) this.provable = [paged.block];
      } catch (error) {
        this.paged = undefined;
        // The pages may be of two states, if another one was confirmed, or blocks were discarded, while they were read.
        if (version === this.version || !isPlumblineError(error, 'STORE_CORRUPT')) throw error;
      }
    }
  }

  /** Allows proofs of the stored confirmed state. @param stored - result of `storedConfirmed` */
  adopt({ block }: { readonly block: number }): void {
    if (this.disowned || this.provable.length > 0) return;
    this.provable = [block];
    this.pagesChanged();
  }

  /** The state in memory, loaded from the store if necessary. The store must have been compared with layer 1 before. */
  async load(signal: AbortSignal): Promise<WorldState> {
    if (this.held !== undefined) return this.held;
    const { hasher } = this.settings;
    const tries = await this.settings.tries();
    const confirmed = await this.storedConfirmed();
    this.provable = confirmed === undefined ? [] : [confirmed.block];
    const stored = await storedState(this.store.newest);
    this.held =
      stored === undefined
        ? openWorldState(hasher, tries, { pages: true })
        : await loadWorldState(hasher, tries, this.store.newest, { signal });
    return this.held;
  }

  /** The newest state in the store that layer 1 confirmed. */
  storedConfirmed(): ReturnType<typeof storedState> {
    return storedState(this.store.confirmed);
  }

  /** Called after each block. @param confirmed - whether its root is on layer 1: then it is stored, and can be proved */
  async applied(state: WorldState, confirmed: boolean): Promise<void> {
    this.waiting++;
    if (confirmed || this.waiting >= (this.settings.commitBlocks ?? 32)) await this.commit(state, confirmed);
    const oldest = state.head! - (this.settings.heldBlocks ?? 256);
    state.releaseBefore(this.provable.find((block) => block >= oldest) ?? state.head!);
    const newest = this.confirmed;
    this.provable = this.provable.filter((block) => block >= state.oldest! || block === newest);
  }

  /** Stores the blocks since the last commit, if `state` is still the one in memory. */
  async keep(state: WorldState): Promise<void> {
    if (this.held === state && this.waiting > 0) await this.commit(state, false);
  }

  /** Discards blocks after the newest state that layer 1 confirmed. */
  async discardUnconfirmed(): Promise<void> {
    this.drop();
    await this.store.goBack();
    this.pagesChanged();
  }

  /** Refuses proofs from now on, because the store was written for another layer 1. */
  disown(): void {
    this.disowned = true;
    this.provable = [];
    this.pagesChanged();
  }

  /** After an error the state in memory is dropped, and loaded again when it is needed. */
  private async commit(state: WorldState, confirms: boolean): Promise<void> {
    try {
      await this.store.commit(state.takePages(), confirms);
    } catch (error) {
      this.drop();
      throw error;
    }
    this.waiting = 0;
    if (!confirms) return;
    this.provable = [...this.provable, state.head!];
    this.pagesChanged();
  }

  /** Drops the state in memory. The store is not changed. */
  private drop(): void {
    this.held = undefined;
    this.waiting = 0;
    this.provable = this.provable.slice(-1);
    this.pagesChanged();
  }

  private pagesChanged(): void {
    this.version++;
    this.paged = undefined;
  }
}

/** @param block - as the caller named it */
export function notProvable(block: string): PlumblineError<'BLOCK_NOT_PROVABLE'> {
  return new PlumblineError(
    'BLOCK_NOT_PROVABLE',
    `block ${block} cannot be proved: layer 1 has no root of it, or its state is not held`,
    { block },
  );
}
