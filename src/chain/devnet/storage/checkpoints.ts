import { equalBytes } from '../../../primitives/bytes.js';
import type { Commit, Key, PageStore, Table } from '../../../store/page-store.js';
import type { Block } from '../../block.js';
import {
  CHECKPOINT_KEY,
  type Checkpoint,
  decodeCheckpoint,
  encodeCheckpoint,
  encodeSegment,
} from '../records/checkpoint-codec.js';
import type { DevnetState } from '../state/devnet-state.js';

/** When the state is written, and how much unused data the store may hold. */
export interface CheckpointOptions {
  /** A checkpoint is due after this many blocks. Default 32. */
  readonly everyBlocks?: number;
  /** Or after this many bytes of block records. Default 4 MiB. */
  readonly everyBytes?: number;
  /** Unused trie nodes may take this many bytes more than the trie itself. Default 1 MiB. */
  readonly slackBytes?: number;
  /**
   * On closing, a devnet writes its newest finalized state if its trie has this many bytes, so that it can prove from
   * it at once when it is opened again. A smaller state loads as fast without that, and more states stay provable. Default 2
   * MiB.
   */
  readonly lazyBytes?: number;
}

/** Nodes in one segment, about 150 bytes each. */
const SEGMENT_NODES = 8192;

/** A state prepared for writing: collected when its block is the newest, written when it is final. */
interface PreparedCheckpoint {
  readonly checkpoint: Checkpoint;
  readonly segments: ReadonlyMap<number, Uint8Array>;
  readonly removedSegments: readonly number[];
  /** Names of the nodes in `segments`. */
  readonly nodeNames: readonly string[];
  /** The segments replace all earlier ones. */
  readonly replacesAll: boolean;
}

/** The checkpoint in a store. @throws PlumblineError `STORE_CORRUPT`; `STORE_TOO_NEW` */
export async function storedCheckpoint(store: PageStore): Promise<Checkpoint | undefined> {
  const bytes = await store.get('meta', CHECKPOINT_KEY);
  return bytes && decodeCheckpoint(bytes);
}

/**
 * Writes the state of the devnet at intervals, so that opening applies only the blocks since. Block records are written
 * with each block and are enough to rebuild the state; a late or lost checkpoint only costs time.
 *
 * Pages of the zk state are replaced where they changed. Nodes of the ordinary trie are appended in segments. When more
 * than half of them may be unused, the trie is rewritten and the earlier segments are deleted.
 *
 * At most one checkpoint is prepared or being written. It is written when its block is final: its state and all later
 * ones can be proved after reopening.
 */
export class Checkpoints {
  /** Pages of the zk state that are not stored yet; undefined for a page to delete. */
  private readonly unwrittenPages = new Map<string, Uint8Array | undefined>();
  private savedNodes = new Set<string>();
  private stored: Checkpoint | undefined;
  private prepared: PreparedCheckpoint | undefined;
  private writing: Promise<void> | undefined;
  /** Written by a commit that failed and may have succeeded: what the store has is to be read. No other is made until then. */
  private unsure: PreparedCheckpoint | undefined;
  private readonly everyBlocks: number;
  private readonly everyBytes: number;
  private readonly slackBytes: number;
  private readonly lazyBytes: number;
  private blocks = 0;
  private bytes = 0;
  private nextSegment = 0;
  /** Stored segments, even if their checkpoint was reverted. */
  private segments: Checkpoint['segments'] = [];
  /** The stored state cannot be used; the next checkpoint clears its tables. */
  private stale = true;
  /** Writing the newest checkpoint failed. It will be retried. */
  private hasFailed = false;

  constructor(
    private readonly store: PageStore,
    private readonly genesis: Uint8Array,
    { everyBlocks = 32, everyBytes = 4 * 2 ** 20, slackBytes = 2 ** 20, lazyBytes = 2 ** 21 }: CheckpointOptions = {},
  ) {
    this.lazyBytes = lazyBytes;
    this.everyBlocks = everyBlocks;
    this.everyBytes = everyBytes;
    this.slackBytes = slackBytes;
  }

  /** Block of the stored state; 0 if only genesis. */
  get block(): number {
    return this.stored?.block ?? 0;
  }

  /** Block of the state that the store may have. */
  get newestPossible(): number {
    return Math.max(this.block, this.unsure?.checkpoint.block ?? 0);
  }

  /** Resolves when no checkpoint is being written. */
  async settled(): Promise<void> {
    await this.writing;
    await this.readBack();
  }

  /** Continues from a stored checkpoint that was loaded. @param savedNodes - names of the trie nodes in its segments */
  resume(checkpoint: Checkpoint, savedNodes: Set<string>): void {
    this.stored = checkpoint;
    this.segments = checkpoint.segments;
    this.savedNodes = savedNodes;
    this.stale = false;
    this.blocks = 0;
    this.bytes = 0;
    this.nextSegment = Math.max(-1, ...checkpoint.segments.map(({ number }) => number)) + 1;
  }

  /**
   * Called instead of `afterBlock` for each block after the checkpoint that is applied while the devnet opens. It makes
   * the next checkpoint due as if the devnet had stayed open. Nothing is written yet.
   *
   * @param isFinal - this is the newest finalized block
   */
  countReplayed(block: Block, state: DevnetState, isFinal: boolean, bytes: number): void {
    this.blocks++;
    this.bytes += bytes;
    if (isFinal && this.isDue) this.prepare(block, state);
  }

  /** Starts to write the checkpoint that was prepared while the devnet opened. */
  startWriting(): void {
    if (this.prepared !== undefined) this.startWrite(this.prepared);
  }

  /** Discards the stored checkpoint, which could not be loaded. */
  discard(): void {
    this.stored = undefined;
    this.prepared = undefined;
    this.segments = [];
    this.savedNodes = new Set();
    this.unwrittenPages.clear();
    this.nextSegment = 0;
    this.stale = true;
  }

  /**
   * Called after each block, with the state after it. It does not wait for a checkpoint that is being written, unless
   * twice the interval has passed.
   *
   * @param finalized - number of the newest finalized block
   * @param bytes - length of the block's record
   */
  async afterBlock(block: Block, state: DevnetState, finalized: number, bytes: number): Promise<void> {
    this.blocks++;
    this.bytes += bytes;
    const full = this.blocks >= 2 * this.everyBlocks || this.bytes >= 2 * this.everyBytes;
    if (full) await this.writing;
    if (this.writing !== undefined) return;
    await this.readBack();
    if (this.unsure !== undefined) return;
    const first = this.stored === undefined && !this.hasFailed;
    if (this.prepared === undefined && (first || this.isDue)) this.prepare(block, state);
    if (this.prepared !== undefined && this.prepared.checkpoint.block <= finalized) {
      this.startWrite(this.prepared);
      if (full) await this.writing;
    }
  }

  private get isDue(): boolean {
    return this.blocks >= this.everyBlocks || this.bytes >= this.everyBytes;
  }

  private startWrite(prepared: PreparedCheckpoint): void {
    this.writing = this.write(prepared).finally(() => {
      this.writing = undefined;
    });
  }

  /** Entries to delete in a revert: a checkpoint of a block after this one. */
  async beforeRevert(block: number): Promise<{ readonly table: Table; readonly key: Key }[]> {
    await this.settled();
    // Its pages stay in `unwrittenPages`: each is unchanged, or is collected again.
    if (this.prepared !== undefined && this.prepared.checkpoint.block > block) this.prepared = undefined;
    if (this.newestPossible <= block) return [];
    this.stored = undefined;
    return [{ table: 'meta', key: CHECKPOINT_KEY }];
  }

  /**
   * Writes a checkpoint of the newest finalized block, if the state is large enough. Reverts the zk state to that
   * block.
   */
  async finish(finalized: Block, state: DevnetState): Promise<void> {
    await this.settled();
    if (this.unsure !== undefined || this.stored?.block === finalized.header.number) return;
    if (this.stored !== undefined && this.stored.baseBytes < this.lazyBytes) return;
    state.zk.revertTo(finalized.header.number);
    this.prepare(finalized, state);
    if (this.prepared !== undefined) await this.write(this.prepared);
  }

  private prepare(block: Block, state: DevnetState): void {
    const { puts, deletes } = state.zk.takePages();
    for (const { key, value } of puts) this.unwrittenPages.set(key, value);
    for (const key of deletes) this.unwrittenPages.set(key, undefined);

    const before = this.stale ? [] : this.segments;
    const { stateRoot } = block.header;
    let nodes = state.trie.nodesOf(stateRoot, (name) => !this.stale && this.savedNodes.has(name));
    const held = before.reduce((sum, segment) => sum + segment.bytes, 0);
    const baseBytes = this.stored?.baseBytes ?? 0;
    const replacesAll = held === 0 || held + sizeOf(nodes) > 2 * baseBytes + this.slackBytes;
    if (replacesAll && held > 0) nodes = state.trie.nodesOf(stateRoot, () => false);
    const segments = new Map<number, Uint8Array>();
    for (const part of parts(nodes)) {
      const number = this.nextSegment++;
      segments.set(number, encodeSegment(number, part));
    }
    const added = [...segments].map(([number, { length }]) => ({ number, bytes: length }));
    this.prepared = {
      checkpoint: {
        block: block.header.number,
        blockHash: block.hash,
        genesis: this.genesis,
        segments: replacesAll ? added : [...before, ...added],
        baseBytes: replacesAll ? added.reduce((sum, segment) => sum + segment.bytes, 0) : baseBytes,
      },
      segments,
      removedSegments: replacesAll ? before.map(({ number }) => number) : [],
      nodeNames: [...nodes.keys()],
      replacesAll,
    };
    this.blocks = 0;
    this.bytes = 0;
  }

  private async write(prepared: PreparedCheckpoint): Promise<void> {
    const { checkpoint, segments, removedSegments } = prepared;
    const puts: NonNullable<Commit['puts']>[number][] = [];
    const deletes: NonNullable<Commit['deletes']>[number][] = removedSegments.map((key) => ({ table: 'trie', key }));
    try {
      if (this.stale) {
        for (const table of ['state', 'trie'] as const) {
          for (const key of await this.store.keys(table)) deletes.push({ table, key });
        }
      }
      for (const [key, value] of this.unwrittenPages) {
        if (value === undefined) deletes.push({ table: 'state', key });
        else puts.push({ table: 'state', key, value });
      }
      for (const [key, value] of segments) puts.push({ table: 'trie', key, value });
      puts.push({ table: 'meta', key: CHECKPOINT_KEY, value: encodeCheckpoint(checkpoint) });
      await this.store.commit({ puts, deletes });
      this.written(prepared);
    } catch {
      // The blocks are stored. Only the next opening takes longer.
      this.prepared = undefined;
      this.hasFailed = true;
      this.unsure = prepared;
      await this.readBack();
    }
  }

  /** Reads whether a commit that failed has succeeded all the same. If that cannot be read, it is tried again later. */
  private async readBack(): Promise<void> {
    const { unsure } = this;
    if (unsure === undefined) return;
    try {
      const bytes = await this.store.get('meta', CHECKPOINT_KEY);
      if (this.unsure !== unsure) return;
      this.unsure = undefined;
      if (bytes !== undefined && equalBytes(bytes, encodeCheckpoint(unsure.checkpoint))) this.written(unsure);
    } catch {
      // The store still fails.
    }
  }

  private written({ checkpoint, nodeNames, replacesAll }: PreparedCheckpoint): void {
    this.hasFailed = false;
    this.unwrittenPages.clear();
    if (replacesAll) this.savedNodes = new Set(nodeNames);
    else for (const name of nodeNames) this.savedNodes.add(name);
    this.stored = checkpoint;
    this.segments = checkpoint.segments;
    this.stale = false;
    this.prepared = undefined;
  }
}

function sizeOf(nodes: ReadonlyMap<string, Uint8Array>): number {
  let size = 0;
  for (const node of nodes.values()) size += 36 + node.length;
  return size;
}

function* parts(nodes: ReadonlyMap<string, Uint8Array>): Generator<Map<string, Uint8Array>> {
  let part = new Map<string, Uint8Array>();
  for (const [name, node] of nodes) {
    part.set(name, node);
    if (part.size < SEGMENT_NODES) continue;
    yield part;
    part = new Map();
  }
  if (part.size > 0) yield part;
}
