import type { LineaProofJson } from '../../accumulator/proof-shape.js';
import { isPlumblineError, PlumblineError } from '../../errors.js';
import { schemeAt } from '../../networks/network.js';
import { loadWorldState } from '../../state/load-world-state.js';
import { openWorldState } from '../../state/open-world-state.js';
import { openPagedState, type PagedState, storedState } from '../../state/pages/open-paged-state.js';
import type { WorldState } from '../../state/world-state.js';
import { ReplicaStore } from './replica-store.js';
import type { FollowerSettings } from './settings.js';

/**
 * The state of a replica, in memory while it is followed, and in the store. Proofs are of states that layer 1 confirmed:
 * those in memory, and the newest one in the store, however far the one in memory has gone beyond it.
 */
export class ReplicaState {
  private held: WorldState | undefined;
  /** Blocks whose root layer 1 holds and whose states are held, oldest first; the newest is in the store, too. */
  private provable: readonly number[] = [];
  private paged: Promise<PagedState> | undefined;
  /** Counts the moments at which the confirmed pages became others. */
  private version = 0;
  /** Blocks since the last commit. */
  private waiting = 0;
  private disowned = false;

  private constructor(
    private readonly settings: FollowerSettings,
    private readonly store: ReplicaStore,
  ) {}

  /**
   * Nothing of what is stored can be proved before it is adopted.
   *
   * @throws PlumblineError `STORE_CORRUPT`, also for the store of another chain; `STORE_TOO_NEW`; errors of the store
   */
  static async open(settings: FollowerSettings): Promise<ReplicaState> {
    const { chainId, rollup } = settings.network;
    const scheme = schemeAt(settings.network, Number.MAX_SAFE_INTEGER);
    const store = await ReplicaStore.open(settings.store, `${chainId} ${rollup.address.toLowerCase()} ${scheme}`);
    // What cannot be read is told now.
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
        // A commit that was thought to have failed has been done.
        if (version === this.version) this.provable = [paged.block];
      } catch (error) {
        this.paged = undefined;
        // Pages of two states, if another one was confirmed while they were read, or an attempt was given up.
        if (version === this.version || !isPlumblineError(error, 'STORE_CORRUPT')) throw error;
      }
    }
  }

  /** Proves the stored state that was confirmed from now on. @param stored - as `storedConfirmed` gave it */
  adopt({ block }: { readonly block: number }): void {
    if (this.disowned || this.provable.length > 0) return;
    this.provable = [block];
    this.turnPage();
  }

  /** The state in memory, read from the store if it is not there. The store has to have been compared with layer 1. */
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

  /** What the store holds that layer 1 confirmed. */
  storedConfirmed(): ReturnType<typeof storedState> {
    return storedState(this.store.confirmed);
  }

  /** Called after each block. @param confirmed - layer 1 holds its root: it is stored, and can be proved from now on */
  async applied(state: WorldState, confirmed: boolean): Promise<void> {
    this.waiting++;
    if (confirmed || this.waiting >= (this.settings.commitBlocks ?? 32)) await this.commit(state, confirmed);
    const oldest = state.head! - (this.settings.heldBlocks ?? 256);
    state.releaseBefore(this.provable.find((block) => block >= oldest) ?? state.head!);
    const newest = this.confirmed;
    this.provable = this.provable.filter((block) => block >= state.oldest! || block === newest);
  }

  /** Stores the blocks since the last commit, if the state is still the one in memory. */
  async keep(state: WorldState): Promise<void> {
    if (this.held === state && this.waiting > 0) await this.commit(state, false);
  }

  /** Goes back to the newest state that layer 1 confirmed. */
  async giveUp(): Promise<void> {
    this.drop();
    await this.store.goBack();
    this.turnPage();
  }

  /** Proves nothing any more: the store turned out to be another layer 1's. */
  disown(): void {
    this.disowned = true;
    this.provable = [];
    this.turnPage();
  }

  /** After an error the state is read anew when it is needed next. */
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
    this.turnPage();
  }

  /** Forgets the state in memory; what is stored stays. */
  private drop(): void {
    this.held = undefined;
    this.waiting = 0;
    this.provable = this.provable.slice(-1);
    this.turnPage();
  }

  private turnPage(): void {
    this.version++;
    this.paged = undefined;
  }
}

/** @param block - as it was named */
export function notProvable(block: string): PlumblineError<'BLOCK_NOT_PROVABLE'> {
  return new PlumblineError('BLOCK_NOT_PROVABLE', `layer 1 holds no root of block ${block}`, { block });
}
