import type { LineaProofJson } from '../../accumulator/proof-shape.js';
import { isPlumblineError, PlumblineError } from '../../errors.js';
import { StateTrie } from '../../ethereum/state-trie.js';
import type { AccountChange } from '../../evm/state-overlay.js';
import { keccak256 } from '../../kernel/keccak.js';
import { bytesToKey, equalBytes } from '../../primitives/bytes.js';
import { loadWorldState } from '../../state/load-world-state.js';
import type { PageSource } from '../../state/page-format.js';
import { openPagedState, type PagedState } from '../../state/paged-state.js';
import type { DevnetFinality } from './layer-one/finality.js';
import { applyStored } from './mining/block-execution.js';
import type { BlockRecord } from './records/block-record.js';
import { type Checkpoint, damagedEntry, decodeSegment } from './records/checkpoint-codec.js';
import type { Ledger } from './records/ledger.js';
import type { DevnetSettings } from './settings.js';
import type { DevnetState } from './state/devnet-state.js';
import { FlatState } from './state/flat-state.js';
import { sealGenesis } from './state/genesis.js';
import { anotherGenesis, storeCorrupt } from './storage/devnet-store.js';
import type { StoredDevnet } from './storage/find-stored.js';

/** A sampled check hashes one of this many nodes. */
const SAMPLE = 64;
/** Number of short steps between two pauses. */
const STEPS_PER_PAUSE = 16;

/**
 * Loads the state of a stored devnet: a checkpoint, then the changes of each later block, which must give the roots of
 * its record. If the checkpoint is damagedEntry, the state is rebuilt by applying all blocks to the genesis accounts. If a
 * block is damagedEntry too, loading fails.
 *
 * States before the checkpoint are no longer provable, whatever `heldFinalizations` says. The checkpoint is of a
 * finalized block, so the newest finalized block is always provable. Balances, code and slots of all earlier blocks
 * stay readable: they follow from the changes in the block records.
 */
export class CheckpointLoader {
  private paged: PagedState | undefined;
  private readonly stopping = new AbortController();
  private steps = 0;
  /** Resolves when the requested proofs are done. */
  private proving: Promise<unknown> = Promise.resolve();

  constructor(
    private readonly settings: DevnetSettings,
    private readonly found: StoredDevnet,
    private readonly chain: { readonly state: DevnetState; readonly ledger: Ledger; readonly finality: DevnetFinality },
  ) {}

  /** Prepares proofs from pages, before the state is loaded. Damaged pages are left to `load`. */
  async openPages(): Promise<void> {
    const { block } = this.checkpoint;
    try {
      const paged = await openPagedState(
        this.settings.zk!.hasher,
        this.pagesOfState(() => Promise.resolve()),
      );
      if (paged.block === block && equalBytes(paged.root, await this.rootOf(block))) this.paged = paged;
    } catch (error) {
      if (!isPlumblineError(error, 'STORE_CORRUPT')) throw error;
    }
  }

  /**
   * Proves the state of the checkpoint's block from its pages. The proof leads to the recorded root.
   *
   * @returns undefined for another block or for damagedEntry pages: the loaded state must answer
   */
  async prove(
    block: number,
    address: Uint8Array,
    storageKeys: readonly Uint8Array[],
  ): Promise<LineaProofJson | undefined> {
    if (block !== this.paged?.block) return undefined;
    const proving = this.paged.prove(address, storageKeys);
    this.proving = Promise.allSettled([this.proving, proving]);
    try {
      return await proving;
    } catch (error) {
      if (isPlumblineError(error, 'STORE_CORRUPT')) return undefined;
      throw error;
    }
  }

  /** @throws PlumblineError `STORE_CORRUPT` if the state cannot be rebuilt from the blocks either; `ABORTED` */
  async load(): Promise<void> {
    const { state, finality } = this.chain;
    try {
      await this.fromCheckpoint();
    } catch (error) {
      // After an abort the store may have been cleared or replaced, so its data may look damagedEntry.
      this.throwIfAborted();
      if (!isPlumblineError(error, 'STORE_CORRUPT')) throw error;
      if (this.found.history.changesTo > 0) throw error;
      await this.fromGenesis();
      this.settings.health?.repaired(error.details);
    }
    state.releaseBefore(finality.oldestHeld);
    this.report(1);
  }

  /** Yields the thread now and then. @throws PlumblineError `ABORTED` */
  async yieldThread(): Promise<void> {
    this.throwIfAborted();
    if (++this.steps % STEPS_PER_PAUSE === 0) await this.pause();
  }

  abort(): void {
    this.stopping.abort();
  }

  private get checkpoint(): Checkpoint {
    return this.found.checkpoint!;
  }

  private async fromCheckpoint(): Promise<void> {
    const { state, ledger, finality } = this.chain;
    const { blocks, checkpoints } = this.found;
    const { block, blockHash } = this.checkpoint;
    const held = ledger.blockByNumber(block)!;
    if (!equalBytes(held.hash, blockHash)) throw storeCorrupt(`the checkpoint belongs to another block ${block}`);
    await this.pause();
    const flat = new FlatState();
    const take = async (pieces: Iterable<readonly AccountChange[]>, number: number) => {
      let count = 0;
      for (const piece of pieces) {
        this.throwIfAborted();
        if (count++ > 0) await this.pause();
        flat.apply(number, piece);
      }
      await this.yieldThread();
    };
    const { changesTo, changes } = this.found.history;
    await blocks.changes(0, 0, take);
    flat.apply(changesTo, changes);
    flat.forgetBefore(changesTo);
    await blocks.changes(changesTo + 1, block, take);
    this.report(0.1);
    const { trie, names } = await this.loadTrie(held.header.stateRoot);
    this.report(0.3);
    const { hasher, kernel } = this.settings.zk!;
    const { check = 'sampled' } = this.settings;
    const { signal } = this.stopping;
    const onProgress = (loaded: number, total: number) => this.report(0.3 + (0.6 * loaded) / total);
    const zk = await loadWorldState(
      hasher,
      kernel,
      this.pagesOfState(() => this.pause()),
      { check, signal, onProgress },
    );
    if (zk.head !== block || !equalBytes(zk.root(), await this.rootOf(block))) {
      throw damagedEntry('state', 'state', `is not the state after block ${block}`);
    }
    state.start(block, held.header.stateRoot, trie, zk, flat);
    checkpoints.resume(this.checkpoint, names);
    const finalized = finality.newest;
    await blocks.each(block + 1, this.found.head!, async (record) => {
      await this.apply(record);
      const { number } = record.block.header;
      checkpoints.countReplayed(ledger.blockByNumber(number)!, state, number === finalized, blocks.lastBytes);
    });
    checkpoints.startWriting();
  }

  /**
   * Rebuilds the state by applying all blocks to the genesis accounts. Writes a checkpoint at the newest finalized
   * block.
   */
  private async fromGenesis(): Promise<void> {
    const { state, ledger, finality } = this.chain;
    const { blocks, checkpoints, head } = this.found;
    await state.reset();
    checkpoints.discard();
    const genesis = await sealGenesis(this.settings, state);
    const start = ledger.blockByNumber(0)!;
    const sameRoot = equalBytes(genesis.zkRoot, this.found.genesis!.zkRoot);
    if (!equalBytes(genesis.block.hash, start.hash) || !sameRoot) throw anotherGenesis();
    const finalized = finality.newest;
    const keep = async (number: number) => {
      state.releaseBefore(Math.min(number, finality.oldestHeld));
      if (number === finalized) await checkpoints.afterBlock(ledger.blockByNumber(number)!, state, finalized, 0);
    };
    await keep(0);
    await blocks.each(1, head!, async (record) => {
      await this.apply(record);
      await keep(record.block.header.number);
      this.report(record.block.header.number / head!);
    });
  }

  /** Zk state root in the record of a block, 32 bytes. */
  private async rootOf(block: number): Promise<Uint8Array> {
    const { genesis, blocks } = this.found;
    return (block === 0 ? genesis! : await blocks.block(block)).zkRoot;
  }

  private async apply(record: BlockRecord): Promise<void> {
    this.throwIfAborted();
    await applyStored(this.chain.state, record);
  }

  private async loadTrie(root: Uint8Array): Promise<{ trie: StateTrie; names: Set<string> }> {
    const nodes = new Map<string, Uint8Array>();
    for (const { number } of this.checkpoint.segments) {
      this.throwIfAborted();
      decodeSegment(number, await this.found.pages.get('trie', number), nodes);
      await this.pause();
    }
    let i = Math.floor(Math.random() * SAMPLE);
    for (const [name, node] of nodes) {
      if (this.settings.check !== 'full' && ++i % SAMPLE !== 0) continue;
      if (bytesToKey(keccak256(node)) !== name) throw damagedEntry('trie', 'a node', 'does not match its hash');
    }
    const trie = StateTrie.restore(nodes, root);
    if (trie === undefined) throw damagedEntry('trie', 'the root', 'is missing');
    return { trie, names: new Set(nodes.keys()) };
  }

  /** @param before - awaited before each read */
  private pagesOfState(before: () => Promise<void>): PageSource {
    const { pages } = this.found;
    return {
      async getMany(keys) {
        await before();
        return pages.getMany('state', keys);
      },
    };
  }

  /** Yields the thread, and waits for requested proofs. */
  private async pause(): Promise<void> {
    await new Promise((resolve) => setTimeout(resolve, 0));
    await this.proving;
  }

  private throwIfAborted(): void {
    if (this.stopping.signal.aborted) throw new PlumblineError('ABORTED', 'loading the devnet was aborted', {});
  }

  private report(fraction: number): void {
    this.settings.onProgress?.('state', fraction);
  }
}
