import type { Commit, Key, PageStore, Table } from '../../../store/page-store.js';
import type { Block } from '../../chain.js';
import {
  CHECKPOINT_KEY,
  type Checkpoint,
  decodeCheckpoint,
  encodeCheckpoint,
  encodeSegment,
} from '../records/checkpoint-codec.js';
import type { DevnetState } from '../state/devnet-state.js';

/** How often the state is written, and how much of what is stored may be old. */
export interface CheckpointOptions {
  /** A checkpoint is due after so many blocks. Default 32. */
  readonly everyBlocks?: number;
  /** Or after so many bytes of their records. Default 4 MiB. */
  readonly everyBytes?: number;
  /** Trie nodes that no state needs any more may take this much, and as much again as the trie itself. Default 1 MiB. */
  readonly slackBytes?: number;
  /**
   * A devnet that is closed writes its newest finalized state, so that the next opening proves from it at once, when its
   * trie has this many bytes; a smaller one is loaded as fast, and more states stay provable. Default 2 MiB.
   */
  readonly lazyBytes?: number;
}

/** Nodes of one segment; some 150 bytes each. */
const SEGMENT_NODES = 8192;

/** A state as it is to be written: taken when its block was the newest, written when it is final. */
interface Taken {
  readonly checkpoint: Checkpoint;
  readonly segments: ReadonlyMap<number, Uint8Array>;
  readonly dropped: readonly number[];
  /** Names of the nodes in `segments`. */
  readonly names: readonly string[];
  /** The segments are all there is. */
  readonly anew: boolean;
}

/**
 * Writes the state of the devnet from time to time, so that opening applies only the blocks since. The block records
 * are written with each block and are all it takes to come back; a checkpoint that is late or lost costs time alone.
 *
 * Pages of the zk state are replaced where they changed. Nodes of the ordinary trie are appended in segments; when more
 * than half of what is stored may be old, the trie is written anew and the segments before go.
 *
 * At most one checkpoint waits or is being written. It is of a finalized block when it is written: the state it holds
 * and all later ones can be proved after reopening.
 */
export class Checkpoints {
  /** Pages of the zk state that are not stored yet; undefined for one to delete. */
  private readonly unwritten = new Map<string, Uint8Array | undefined>();
  private saved = new Set<string>();
  private stored: Checkpoint | undefined;
  private taken: Taken | undefined;
  private writing: Promise<void> | undefined;
  private readonly everyBlocks: number;
  private readonly everyBytes: number;
  private readonly slackBytes: number;
  private readonly lazyBytes: number;
  private blocks = 0;
  private bytes = 0;
  private nextSegment = 0;
  /** Segments that are stored, be it that their checkpoint was taken back with its block. */
  private segments: Checkpoint['segments'] = [];
  /** What the tables hold is of no use: they are emptied with the next checkpoint. */
  private stale = true;
  /** The newest checkpoint could not be written. It is tried again. */
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

  /** Block whose state is stored; 0 for none but that of genesis. */
  get block(): number {
    return this.stored?.block ?? 0;
  }

  /** Done when no checkpoint is being written. */
  async settled(): Promise<void> {
    await this.writing;
  }

  /** The stored checkpoint. @throws PlumblineError `STORE_CORRUPT`; `STORE_TOO_NEW` */
  async read(): Promise<Checkpoint | undefined> {
    const bytes = await this.store.get('meta', CHECKPOINT_KEY);
    return bytes === undefined ? undefined : decodeCheckpoint(bytes);
  }

  /** Goes on from a stored checkpoint that has been loaded. @param saved - names of the trie nodes in its segments */
  resume(checkpoint: Checkpoint, saved: Set<string>): void {
    this.stored = checkpoint;
    this.segments = checkpoint.segments;
    this.saved = saved;
    this.stale = false;
    this.blocks = 0;
    this.bytes = 0;
    this.nextSegment = Math.max(-1, ...checkpoint.segments.map(({ number }) => number)) + 1;
  }

  /**
   * Called instead of `afterBlock` for each block after the checkpoint that is applied as the devnet is opened: the next
   * checkpoint comes as if the devnet had never ended, however short its lives are. Nothing is written yet.
   *
   * @param isFinal - it is the newest finalized block
   */
  passed(block: Block, state: DevnetState, isFinal: boolean, bytes: number): void {
    this.blocks++;
    this.bytes += bytes;
    if (isFinal && this.isDue) this.take(block, state);
  }

  /** Begins to write what was taken as the devnet was opened. */
  opened(): void {
    if (this.taken !== undefined) this.begin(this.taken);
  }

  /** What was resumed does not hold; the tables are of no use. */
  restart(): void {
    this.stored = undefined;
    this.taken = undefined;
    this.segments = [];
    this.saved = new Set();
    this.unwritten.clear();
    this.nextSegment = 0;
    this.stale = true;
  }

  /**
   * Called after each block, when the state is that of the block. Returns without waiting for what is being written,
   * unless twice as much has come together meanwhile.
   *
   * @param finalized - number of the newest finalized block
   * @param bytes - of the block's record
   */
  async afterBlock(block: Block, state: DevnetState, finalized: number, bytes: number): Promise<void> {
    this.blocks++;
    this.bytes += bytes;
    const full = this.blocks >= 2 * this.everyBlocks || this.bytes >= 2 * this.everyBytes;
    if (full) await this.writing;
    if (this.writing !== undefined) return;
    const first = this.stored === undefined && !this.hasFailed;
    if (this.taken === undefined && (first || this.isDue)) this.take(block, state);
    if (this.taken !== undefined && this.taken.checkpoint.block <= finalized) {
      this.begin(this.taken);
      if (full) await this.writing;
    }
  }

  private get isDue(): boolean {
    return this.blocks >= this.everyBlocks || this.bytes >= this.everyBytes;
  }

  private begin(taken: Taken): void {
    this.writing = this.write(taken).finally(() => {
      this.writing = undefined;
    });
  }

  /** What has to go when the newest finalized block becomes `block` again: a checkpoint of a later one. */
  async beforeRevert(block: number): Promise<{ readonly table: Table; readonly key: Key }[]> {
    await this.writing;
    // Its pages stay in `unwritten`: each is as it was, or is taken again.
    if (this.taken !== undefined && this.taken.checkpoint.block > block) this.taken = undefined;
    if (this.stored === undefined || this.stored.block <= block) return [];
    this.stored = undefined;
    return [{ table: 'meta', key: CHECKPOINT_KEY }];
  }

  /**
   * Ends with a checkpoint of the newest finalized block, when the state is large enough for that. The zk state is that of
   * this block afterwards.
   */
  async finish(finalized: Block, state: DevnetState): Promise<void> {
    await this.writing;
    if (this.stored?.block === finalized.header.number) return;
    if (this.stored !== undefined && this.stored.baseBytes < this.lazyBytes) return;
    state.zk.revertTo(finalized.header.number);
    this.take(finalized, state);
    if (this.taken !== undefined) await this.write(this.taken);
  }

  private take(block: Block, state: DevnetState): void {
    const { puts, deletes } = state.zk.takePages();
    for (const { key, value } of puts) this.unwritten.set(key, value);
    for (const key of deletes) this.unwritten.set(key, undefined);

    const before = this.stale ? [] : this.segments;
    const { stateRoot } = block.header;
    let fresh = state.trie.nodesOf(stateRoot, (name) => !this.stale && this.saved.has(name));
    const held = before.reduce((sum, segment) => sum + segment.bytes, 0);
    const baseBytes = this.stored?.baseBytes ?? 0;
    const anew = held === 0 || held + sizeOf(fresh) > 2 * baseBytes + this.slackBytes;
    if (anew && held > 0) fresh = state.trie.nodesOf(stateRoot, () => false);
    const segments = new Map<number, Uint8Array>();
    for (const part of parts(fresh)) {
      const number = this.nextSegment++;
      segments.set(number, encodeSegment(number, part));
    }
    const added = [...segments].map(([number, { length }]) => ({ number, bytes: length }));
    this.taken = {
      checkpoint: {
        block: block.header.number,
        blockHash: block.hash,
        genesis: this.genesis,
        segments: anew ? added : [...before, ...added],
        baseBytes: anew ? added.reduce((sum, segment) => sum + segment.bytes, 0) : baseBytes,
      },
      segments,
      dropped: anew ? before.map(({ number }) => number) : [],
      names: [...fresh.keys()],
      anew,
    };
    this.blocks = 0;
    this.bytes = 0;
  }

  private async write(taken: Taken): Promise<void> {
    const { checkpoint, segments, dropped, names, anew } = taken;
    const puts: NonNullable<Commit['puts']>[number][] = [];
    const deletes: NonNullable<Commit['deletes']>[number][] = dropped.map((key) => ({ table: 'trie', key }));
    try {
      if (this.stale) {
        for (const table of ['state', 'trie'] as const) {
          for (const key of await this.store.keys(table)) deletes.push({ table, key });
        }
      }
      for (const [key, value] of this.unwritten) {
        if (value === undefined) deletes.push({ table: 'state', key });
        else puts.push({ table: 'state', key, value });
      }
      for (const [key, value] of segments) puts.push({ table: 'trie', key, value });
      puts.push({ table: 'meta', key: CHECKPOINT_KEY, value: encodeCheckpoint(checkpoint) });
      await this.store.commit({ puts, deletes });
    } catch {
      // The blocks are stored. What is lost is the time that loading would have been shorter by.
      this.hasFailed = true;
      this.taken = undefined;
      return;
    }
    this.hasFailed = false;
    this.unwritten.clear();
    if (anew) this.saved = new Set(names);
    else for (const name of names) this.saved.add(name);
    this.stored = checkpoint;
    this.segments = checkpoint.segments;
    this.stale = false;
    this.taken = undefined;
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
