import { PlumblineError } from '../../errors.js';
import { UnknownNodeError } from '../../ethereum/patricia-trie.js';
import type { TrieProof } from '../../ethereum/state-trie.js';
import { RunBudget } from '../../evm/run-budget.js';
import { type AccountChange, trieWrites } from '../../evm/state-overlay.js';
import { equalBytes, isZeroBytes, ZERO_WORD } from '../../primitives/bytes.js';
import { nextTurn } from '../../scheduling/turns.js';
import type { ImaginedRoots } from '../chain.js';
import { brokenLink } from '../devnet/mining/block-execution.js';
import type { BlockState, StateRoots } from '../devnet/state/devnet-state.js';
import { FlatState } from '../devnet/state/flat-state.js';
import { keyBelow, MAX_FETCHED } from '../light/state/proved-roots.js';
import type { NetworkState } from './network-state.js';

/** A stored block whose changes are not in the trie yet. */
interface Waiting {
  readonly block: number;
  readonly changes: readonly AccountChange[];
  readonly stateRoot: Uint8Array;
}

/**
 * The state of a fork: what its own blocks wrote, over the state of the network. State roots follow from the proofs of what is
 * written. Where a removed value leaves a branch with one child that no proof shows, the root is not known, and that of all later
 * blocks is not either: 32 zero bytes in their headers.
 */
export class ForkState implements BlockState {
  readonly flat: FlatState;
  /** Roots of the blocks whose trie is held; undefined for those that are not known. */
  private readonly roots = new Map<number, Uint8Array | undefined>();
  private waiting: Waiting[] = [];
  private catching: Promise<void> | undefined;
  /** Number of the block of the network. */
  private readonly origin: number;

  constructor(private readonly network: NetworkState) {
    const { number, stateRoot } = network.block.header;
    this.origin = number;
    this.roots.set(number, stateRoot);
    this.flat = new FlatState((reading) => network.reader(reading));
  }

  /** @throws PlumblineError of the network where it has to be asked for nodes; then nothing changes */
  async apply(block: number, changes: readonly AccountChange[]): Promise<StateRoots> {
    await this.catchUp();
    const root = await this.rootWith(block, changes);
    this.applyFlat(block, changes);
    return { stateRoot: root ?? ZERO_WORD, zkRoot: ZERO_WORD };
  }

  /** Takes over a stored block. Its root is calculated again when a root is needed. */
  replay(block: number, changes: readonly AccountChange[], stateRoot: Uint8Array): void {
    this.waiting.push({ block, changes, stateRoot });
    this.applyFlat(block, changes);
  }

  /** A fork has no zk state. */
  expectRoot(): void {}

  /** A fork has no zk state. */
  root(): Uint8Array {
    return ZERO_WORD;
  }

  /** All blocks of the fork can be gone back to: what is not known of a trie is calculated again. */
  holds(): boolean {
    return true;
  }

  releaseBefore(block: number): void {
    for (const number of [...this.roots.keys()]) if (number > this.origin && number < block) this.release(number);
  }

  revertTo(block: number): void {
    this.waiting = this.waiting.filter((stored) => stored.block <= block);
    for (const number of [...this.roots.keys()]) if (number > block) this.release(number);
    const newest = this.roots.get([...this.roots.keys()].reduce((most, number) => Math.max(most, number)));
    if (newest !== undefined) this.network.trie.revertTo(newest);
    this.flat.revertTo(block);
  }

  async rootOf(changes: readonly AccountChange[]): Promise<Uint8Array> {
    const { trie } = this.network;
    await this.catchUp();
    const held = trie.write([]);
    try {
      return (await this.written((writes) => trie.write(writes), changes)) ?? ZERO_WORD;
    } finally {
      trie.revertTo(held);
    }
  }

  /** State roots of simulated blocks on top of `block`. */
  async rootsAfter(block: number): Promise<ImaginedRoots> {
    await this.catchUp();
    const root = this.roots.get(block);
    if (root === undefined) return async () => undefined;
    const write = this.network.trie.fork(root);
    let isKnown = true;
    return async (changes) => {
      const after = isKnown ? await this.written(write, changes) : undefined;
      isKnown = after !== undefined;
      return after;
    };
  }

  /**
   * Proofs under the state root of a block.
   *
   * @throws PlumblineError `METHOD_NOT_ENABLED` where the root is not known; `STATE_NOT_HELD`; of the network
   */
  async prove(
    block: number,
    address: Uint8Array,
    keys: readonly Uint8Array[],
    signal?: AbortSignal,
  ): Promise<TrieProof> {
    await this.catchUp();
    const root = this.roots.get(block);
    if (root !== undefined) return this.network.prove(root, address, keys, signal);
    if (this.roots.has(block)) {
      const reason = `the state root of block ${block} of this fork is not known: a value was removed whose neighbour no proof shows`;
      throw new PlumblineError('METHOD_NOT_ENABLED', reason, { method: 'eth_getProof', reason });
    }
    const reason = `the state trie of block ${block} is no longer held; ask for a newer block`;
    throw new PlumblineError('STATE_NOT_HELD', reason, { block });
  }

  private applyFlat(block: number, changes: readonly AccountChange[]): void {
    this.flat.apply(block, changes);
    for (const { address, after } of changes) if (after !== undefined) this.network.noteHolder(address, after.codeHash);
  }

  /** Writes stored blocks to the trie. @throws PlumblineError `STORE_CORRUPT`; of the network */
  private async catchUp(): Promise<void> {
    if (this.waiting.length > 0)
      this.catching ??= this.writeWaiting().finally(() => {
        this.catching = undefined;
      });
    // Also one that a revert has left nothing to write: it may still be at work.
    await this.catching;
  }

  private async writeWaiting(): Promise<void> {
    for (let next = this.waiting[0]; next !== undefined; next = this.waiting[0]) {
      await nextTurn();
      const { block, changes, stateRoot } = next;
      const isMarked = isZeroBytes(stateRoot);
      // A revert may remove the block at any moment of this.
      const isThere = () => this.waiting[0] === next;
      let root: Uint8Array | undefined;
      try {
        if (!isMarked && isThere()) root = await this.rootWith(block, changes, isThere);
      } catch (error) {
        if (isThere()) throw error;
      }
      if (!isThere()) continue;
      if (isMarked) this.roots.set(block, undefined);
      else if (root === undefined || !equalBytes(root, stateRoot)) throw brokenLink(block);
      this.waiting = this.waiting.filter((stored) => stored !== next);
    }
  }

  /**
   * Writes the changes of a block to the trie.
   *
   * @param isThere - false once the block was reverted: then nothing is written
   * @returns the root; undefined where it is not known
   */
  private async rootWith(
    block: number,
    changes: readonly AccountChange[],
    isThere = () => true,
  ): Promise<Uint8Array | undefined> {
    const { trie } = this.network;
    const write = (writes: ReturnType<typeof trieWrites>) => {
      if (!isThere()) throw brokenLink(block);
      return trie.write(writes);
    };
    const isKnown = this.roots.get(block - 1) !== undefined;
    const root = isKnown ? await this.written(write, changes) : undefined;
    if (!isThere()) return undefined;
    if (root !== undefined) trie.hold(root);
    this.roots.set(block, root);
    return root;
  }

  private async written(
    write: (writes: ReturnType<typeof trieWrites>) => Uint8Array,
    changes: readonly AccountChange[],
  ): Promise<Uint8Array | undefined> {
    const writes = trieWrites(changes);
    const { pause } = new RunBudget();
    let fetched = 0;
    try {
      return await this.network.complete(
        () => write(writes),
        async (missing) => {
          if (fetched++ === 0) {
            await this.fetchPaths(changes);
            return true;
          }
          const below = fetched <= MAX_FETCHED ? await keyBelow(missing, { pause }) : undefined;
          if (below !== undefined) await this.network.fetch(below);
          return below !== undefined;
        },
      );
    } catch (error) {
      if (error instanceof UnknownNodeError) return undefined;
      throw error;
    }
  }

  /** Most of them are kept: what is written was read before. */
  private async fetchPaths(changes: readonly AccountChange[]): Promise<void> {
    const { block } = this.network;
    await Promise.all(
      changes.map(({ address, slots }) =>
        this.network.prove(
          block.header.stateRoot,
          address,
          slots.map(({ key }) => key),
        ),
      ),
    );
  }

  private release(block: number): void {
    const root = this.roots.get(block);
    if (root !== undefined) this.network.trie.release(root);
    this.roots.delete(block);
  }
}
