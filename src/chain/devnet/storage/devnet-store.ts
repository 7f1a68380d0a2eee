import { RLP } from '@ethereumjs/rlp';
import { isPlumblineError, messageOf, PlumblineError } from '../../../errors.js';
import type { AccountChange } from '../../../evm/state-overlay.js';
import { concatBytes, equalBytes } from '../../../primitives/bytes.js';
import { encodedList, encodeRlp } from '../../../primitives/rlp-list.js';
import { nextTurn } from '../../../scheduling/turns.js';
import type { Commit, Key, PageStore, Table } from '../../../store/page-store.js';
import type { StoreRepair } from '../../../store/store-status.js';
import { editFromItems, editItems, type StateEdit } from '../../state-edits.js';
import {
  type BlockRecord,
  decodeBlockRecord,
  decodeRecordChanges,
  encodeBlockRecord,
} from '../records/block-record.js';
import { checksumInTurns, withoutChecksum } from '../records/checkpoint-codec.js';
import { encodingOf, loadForRecord, partAt, partsOf } from '../records/record-parts.js';
import { readStoredBlock, type StoredBlock } from '../records/stored-block.js';

const HEAD = 'devnet-head';
/** Edits of the state that are not in a block yet. */
const EDITS = 'devnet-edits';
const NO_HASH = new Uint8Array(0);
/** Blocks read in one transaction. */
const BATCH = 64;

/** Receives the decoded part of a block, and its number. */
type BlockConsumer<Read> = (read: Read, number: number) => Promise<void> | void;

/** Changes to the stored chain in one commit. */
export interface ChainChange {
  /** Encoded records of consecutive blocks. The last one becomes the head. */
  readonly blocks: readonly { readonly number: number; readonly value: Uint8Array }[];
  readonly head: number;
  /** Edits pending after the head. */
  readonly edits: readonly StateEdit[];
  /** First and last block to delete first; none if the last is smaller. */
  readonly deleteFrom: number;
  readonly deleteTo: number;
  /** Other entries of the table `blocks`, by key; those without a value are deleted. */
  readonly entries?: ReadonlyMap<string, Uint8Array | undefined>;
  /** Deleted in the same commit. */
  readonly alsoDelete?: NonNullable<Commit['deletes']>;
}

/** The stored blocks of a devnet. Each block is one atomic commit, head pointer included. */
export class DevnetStore {
  /** Length in bytes of the newest record that was written or read. */
  lastBytes = 0;
  /** The head pointer or the edits are damaged and must be written again. */
  needsRepair = false;

  /** @param first - number of the first block; the key of a block is its distance from it */
  constructor(
    private readonly store: PageStore,
    private readonly chainId: number,
    private readonly first = 0,
  ) {}

  /** Commits a change atomically. */
  async write({ blocks, head, edits, deleteFrom, deleteTo, entries = new Map(), alsoDelete = [] }: ChainChange) {
    const removed: { table: 'blocks'; key: Key }[] = Array.from(
      { length: Math.max(0, deleteTo + 1 - deleteFrom) },
      (_, i) => ({
        table: 'blocks' as const,
        key: deleteFrom + i - this.first,
      }),
    );
    const puts: { table: 'blocks'; key: Key; value: Uint8Array }[] = blocks.map(({ number, value }) => ({
      table: 'blocks' as const,
      key: number - this.first,
      value,
    }));
    for (const [key, value] of entries)
      if (value === undefined) removed.push({ table: 'blocks', key });
      else puts.push({ table: 'blocks', key, value });
    const items: Uint8Array[] = [];
    for (const item of editItems(edits)) {
      await nextTurn();
      items.push(encodeRlp(item));
    }
    const meta = [
      await entryOf(HEAD, new TextEncoder().encode(String(head))),
      await entryOf(EDITS, encodedList(items)),
    ];
    await this.store.commit({ deletes: [...removed, ...alsoDelete], puts: [...puts, ...meta] });
  }

  /** Writes the first block. */
  async writeGenesis(genesis: BlockRecord): Promise<void> {
    const value = encodeBlockRecord(genesis);
    const { first } = this;
    await this.write({ blocks: [{ number: first, value }], head: first, edits: [], deleteFrom: 0, deleteTo: -1 });
  }

  /**
   * The edits that were pending when the devnet was last open.
   *
   * @param onRepair - called if they are damaged; they are then dropped, and must be written again
   * @throws PlumblineError `STORE_CORRUPT` if they are damaged and there is no `onRepair`
   */
  async edits(onRepair?: (repair: StoreRepair) => void): Promise<StateEdit[]> {
    try {
      const bytes = await this.store.get('meta', EDITS);
      return bytes === undefined ? [] : await decodeEdits(contentOf(EDITS, bytes));
    } catch (error) {
      if (onRepair === undefined || !isPlumblineError(error, 'STORE_CORRUPT')) throw error;
      onRepair(error.details);
      this.needsRepair = true;
      return [];
    }
  }

  /**
   * Number of the newest stored block; undefined if the store holds no devnet. Head pointer and blocks are written
   * together, so the blocks show whether the pointer is damaged, missing or behind.
   *
   * @param onRepair - called if the pointer is wrong
   * @throws PlumblineError `STORE_CORRUPT` when blocks are missing
   */
  async head(onRepair: (repair: StoreRepair) => void = () => {}): Promise<number | undefined> {
    const pointer = await this.pointer();
    const { first } = this;
    const numbers = (await this.store.keys('blocks')).flatMap((key) => (typeof key === 'number' ? [first + key] : []));
    const last = numbers.at(-1);
    if (last === undefined) {
      if (pointer === undefined) return undefined;
      throw storeCorrupt(`all ${pointer === 'damaged' ? '' : `${pointer + 1 - first} `}blocks are missing`);
    }
    const end = typeof pointer === 'number' ? Math.max(pointer, last) : last;
    if (numbers.length !== end + 1 - first) {
      const missing = numbers.findIndex((number, index) => number !== first + index);
      throw storeCorrupt(`block ${first + (missing < 0 ? numbers.length : missing)} is missing`);
    }
    if (pointer !== end) {
      const reason = pointer === undefined ? 'was missing' : pointer === 'damaged' ? 'was damaged' : `was ${pointer}`;
      onRepair({ table: 'meta', reason: `the head pointer ${reason}` });
      this.needsRepair = true;
    }
    return end;
  }

  /**
   * Checks that the store still holds this chain.
   *
   * @param from - newest block that is both stored and on the chain
   * @param hash - of that block, 32 bytes
   * @param to - the stored head must be in the range `from` to `to`
   * @throws PlumblineError `STORE_UNAVAILABLE` if it does not
   */
  async requireChain(from: number, hash: Uint8Array | undefined, to: number): Promise<void> {
    const pointer = await this.pointer();
    const isNear = typeof pointer === 'number' && pointer >= from && pointer <= to;
    if (isNear && hash !== undefined && equalBytes((await this.hashAt(from)) ?? NO_HASH, hash)) return;
    const reason = 'the store no longer holds this chain';
    throw new PlumblineError('STORE_UNAVAILABLE', `store is not available: ${reason}`, { reason });
  }

  /** Hash of a stored block; undefined if it is missing or damaged. */
  private async hashAt(number: number): Promise<Uint8Array | undefined> {
    const bytes = await this.store.get('blocks', number - this.first);
    if (bytes !== undefined) await loadForRecord(bytes);
    try {
      return bytes && readStoredBlock(bytes, this.chainId, 'sampled').hash;
    } catch (error) {
      if (isPlumblineError(error, 'STORE_CORRUPT')) return undefined;
      throw error;
    }
  }

  /**
   * Reads stored blocks in order.
   *
   * @throws PlumblineError `STORE_CORRUPT` when a block is missing or cannot be decoded
   */
  each(
    from: number,
    to: number,
    consume: BlockConsumer<BlockRecord>,
    onProgress?: (fraction: number) => void,
  ): Promise<void> {
    return this.scan(from, to, (bytes) => decodeBlockRecord(bytes, this.chainId), consume, onProgress);
  }

  /** Like `each`, but decodes only what opening needs. @param check - `full` decodes each record in full */
  open(
    from: number,
    to: number,
    check: 'sampled' | 'full',
    consume: BlockConsumer<StoredBlock>,
    onProgress?: (fraction: number) => void,
  ): Promise<void> {
    return this.scan(from, to, (bytes) => readStoredBlock(bytes, this.chainId, check), consume, onProgress);
  }

  /** Like `each`, but decodes only the state changes, in chunks. */
  changes(from: number, to: number, consume: BlockConsumer<Iterable<readonly AccountChange[]>>): Promise<void> {
    return this.scan(from, to, decodeRecordChanges, consume);
  }

  private async scan<Read>(
    from: number,
    to: number,
    read: (bytes: Uint8Array) => Read,
    consume: BlockConsumer<Read>,
    onProgress: (fraction: number) => void = () => {},
  ): Promise<void> {
    for (let first = from; first <= to; first += BATCH) {
      const keys = Array.from({ length: Math.min(BATCH, to + 1 - first) }, (_, i) => first + i - this.first);
      for (const [i, bytes] of (await this.store.getMany('blocks', keys)).entries()) {
        if (bytes === undefined) throw storeCorrupt(`block ${first + i} is missing`);
        this.lastBytes = bytes.length;
        await nextTurn();
        await loadForRecord(bytes);
        const done = consume(
          readBlock(first + i, () => read(bytes)),
          first + i,
        );
        if (done !== undefined) await done;
      }
      onProgress(Math.min(1, (first + BATCH - from) / (to + 1 - from)));
    }
  }

  /** A stored block. @throws PlumblineError `STORE_CORRUPT` */
  async block(number: number): Promise<BlockRecord> {
    const found: BlockRecord[] = [];
    await this.each(number, number, (record) => {
      found.push(record);
    });
    return found[0]!;
  }

  async close(): Promise<void> {
    await this.store.close();
  }

  private async pointer(): Promise<number | 'damaged' | undefined> {
    const bytes = await this.store.get('meta', HEAD);
    if (bytes === undefined) return undefined;
    try {
      const head = Number(new TextDecoder().decode(contentOf(HEAD, bytes)));
      return Number.isSafeInteger(head) ? head : 'damaged';
    } catch (error) {
      if (isPlumblineError(error, 'STORE_CORRUPT')) return 'damaged';
      throw error;
    }
  }
}

/** @throws PlumblineError `STORE_CORRUPT` with the block number */
function readBlock<Read>(number: number, read: () => Read): Read {
  try {
    return read();
  } catch (error) {
    if (!isPlumblineError(error, 'STORE_CORRUPT')) throw error;
    throw storeCorrupt(`block ${number}: ${error.details.reason}`, error);
  }
}

/** @throws PlumblineError `STORE_CORRUPT` if the bytes are not a list of edits */
async function decodeEdits(bytes: Uint8Array): Promise<StateEdit[]> {
  const edits: StateEdit[] = [];
  try {
    for (const part of partsOf(bytes, partAt(bytes, 0))) {
      await nextTurn();
      edits.push(editFromItems(RLP.decode(encodingOf(bytes, part))));
    }
    return edits;
  } catch (cause) {
    const reason = messageOf(cause);
    const text = `the stored edits of the state do not decode: ${reason}`;
    throw new PlumblineError('STORE_CORRUPT', text, { table: 'meta', reason }, { cause });
  }
}

async function entryOf(key: string, content: Uint8Array) {
  return { table: 'meta', key, value: concatBytes(content, await checksumInTurns(key, content)) } as const;
}

/** Content of an entry of `meta`. Entries of earlier versions have no checksum. */
function contentOf(key: string, bytes: Uint8Array): Uint8Array {
  const hasChecksum = key === HEAD ? !isDigits(bytes) : !isOneItem(bytes);
  return hasChecksum ? withoutChecksum('meta', key, bytes) : bytes;
}

function isOneItem(bytes: Uint8Array): boolean {
  try {
    return partAt(bytes, 0).to === bytes.length;
  } catch {
    return false;
  }
}

function isDigits(bytes: Uint8Array): boolean {
  return bytes.length > 0 && bytes.every((byte) => byte >= 0x30 && byte <= 0x39);
}

/**
 * Tables that only a devnet uses. Its budget limits them, and an exported chain contains them. An exported file names a table by its
 * place in this list, so a new one goes to the end.
 */
export const DEVNET_TABLES: readonly Table[] = ['blocks', 'state', 'trie'];

export function storeCorrupt(reason: string, cause?: unknown): PlumblineError<'STORE_CORRUPT'> {
  const details = { table: 'blocks', reason };
  return new PlumblineError('STORE_CORRUPT', `the stored devnet is damaged: ${reason}`, details, { cause });
}

/** Error for a stored chain with another genesis, chain id or hash scheme. */
export function anotherGenesis(): PlumblineError<'STORE_CORRUPT'> {
  return storeCorrupt(
    'it began from another genesis, chain id or hash scheme; open it with its own settings, or use another store name',
  );
}

/** Error for a devnet that is not stored, or not completely. */
export function notStoredError(reason: string): PlumblineError<'STORE_UNAVAILABLE'> {
  return new PlumblineError('STORE_UNAVAILABLE', `the devnet is not stored: ${reason}`, { reason });
}
