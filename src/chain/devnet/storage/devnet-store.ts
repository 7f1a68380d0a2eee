import { RLP } from '@ethereumjs/rlp';
import { isPlumblineError, PlumblineError } from '../../../errors.js';
import type { AccountChange } from '../../../evm/state/state-overlay.js';
import { equalBytes } from '../../../primitives/bytes.js';
import type { Commit, PageStore } from '../../../store/page-store.js';
import type { StoreRepair } from '../../../store/store-status.js';
import {
  type BlockRecord,
  decodeBlockRecord,
  decodeRecordChanges,
  encodeBlockRecord,
} from '../records/block-record.js';
import { sealed, unsealed } from '../records/checkpoint-codec.js';
import { decodeEdits, encodeEdits, type StateEdit } from '../records/edits.js';
import { readStoredBlock, type StoredBlock } from '../records/stored-block.js';

const HEAD = 'devnet-head';
/** Edits of the state that no block holds yet. */
const EDITS = 'devnet-edits';
const NO_HASH = new Uint8Array(0);
/** Blocks read in one transaction. */
const BATCH = 64;

/** Gets what was read of a block, and its number. */
type Take<Read> = (read: Read, number: number) => Promise<void> | void;

/** What one commit makes of the stored chain. */
export interface ChainChange {
  /** Encoded records of consecutive blocks, the last one being the head. */
  readonly blocks: readonly { readonly number: number; readonly value: Uint8Array }[];
  readonly head: number;
  /** Edits that wait after the head. */
  readonly edits: readonly StateEdit[];
  /** Blocks that are taken back before, first and last; none when the last is the smaller one. */
  readonly deleteFrom: number;
  readonly deleteTo: number;
  /** Deleted in the same commit. */
  readonly alsoDelete?: NonNullable<Commit['deletes']>;
}

/** Where a devnet keeps its blocks: one atomic commit each, head pointer included. */
export class DevnetStore {
  /** Length of the newest record that was written or read. */
  lastBytes = 0;
  /** The head pointer is to be written again. */
  isDamaged = false;

  constructor(
    private readonly store: PageStore,
    private readonly chainId: number,
  ) {}

  /** Carries a change out, as a whole or not at all. */
  async write({ blocks, head, edits, deleteFrom, deleteTo, alsoDelete = [] }: ChainChange): Promise<void> {
    const gone = Array.from({ length: Math.max(0, deleteTo + 1 - deleteFrom) }, (_, i) => ({
      table: 'blocks' as const,
      key: deleteFrom + i,
    }));
    const puts = blocks.map(({ number, value }) => ({ table: 'blocks' as const, key: number, value }));
    const entries = [entryOf(HEAD, new TextEncoder().encode(String(head))), entryOf(EDITS, encodeEdits(edits))];
    await this.store.commit({ deletes: [...gone, ...alsoDelete], puts: [...puts, ...entries] });
  }

  /** Keeps the first block. */
  async begin(genesis: BlockRecord): Promise<void> {
    const value = encodeBlockRecord(genesis);
    await this.write({ blocks: [{ number: 0, value }], head: 0, edits: [], deleteFrom: 0, deleteTo: -1 });
  }

  /**
   * The edits that waited for a block when the devnet was last open.
   *
   * @param onRepair - told when they are damaged; there are none then, and they are to be written again
   * @throws PlumblineError `STORE_CORRUPT` when they are damaged, and nobody is to be told
   */
  async edits(onRepair?: (repair: StoreRepair) => void): Promise<StateEdit[]> {
    try {
      const bytes = await this.store.get('meta', EDITS);
      return bytes === undefined ? [] : decodeEdits(contentOf(EDITS, bytes));
    } catch (error) {
      if (onRepair === undefined || !isPlumblineError(error, 'STORE_CORRUPT')) throw error;
      onRepair(error.details);
      this.isDamaged = true;
      return [];
    }
  }

  /**
   * Number of the newest stored block; undefined for a store that holds no devnet yet. Head pointer and blocks are written
   * together, so a pointer that is damaged, missing or behind is known from the blocks.
   *
   * @param onRepair - told when it was not the pointer that told
   * @throws PlumblineError `STORE_CORRUPT` when blocks are missing
   */
  async head(onRepair: (repair: StoreRepair) => void = () => {}): Promise<number | undefined> {
    const pointer = await this.pointer();
    const numbers = (await this.store.keys('blocks')).filter((key) => typeof key === 'number');
    const last = numbers.at(-1);
    if (last === undefined) {
      if (pointer === undefined) return undefined;
      throw storeCorrupt(`all ${pointer === 'damaged' ? '' : `${pointer + 1} `}blocks are missing`);
    }
    const end = typeof pointer === 'number' ? Math.max(pointer, last) : last;
    if (numbers.length !== end + 1) {
      const missing = numbers.findIndex((number, index) => number !== index);
      throw storeCorrupt(`block ${missing < 0 ? numbers.length : missing} is missing`);
    }
    if (pointer !== end) {
      const reason = pointer === undefined ? 'was missing' : pointer === 'damaged' ? 'was damaged' : `was ${pointer}`;
      onRepair({ table: 'meta', reason: `the head pointer ${reason}` });
      this.isDamaged = true;
    }
    return end;
  }

  /**
   * Makes sure that the store still is that of the chain.
   *
   * @param from - newest block that is both stored and of the chain
   * @param hash - of that block, 32 bytes
   * @param to - the head is no later block than this one, and none before `from`
   * @throws PlumblineError `STORE_UNAVAILABLE` when it is not
   */
  async expectChain(from: number, hash: Uint8Array | undefined, to: number): Promise<void> {
    const pointer = await this.pointer();
    const isNear = typeof pointer === 'number' && pointer >= from && pointer <= to;
    if (isNear && hash !== undefined && equalBytes((await this.hashAt(from)) ?? NO_HASH, hash)) return;
    const reason = 'the store no longer holds this chain';
    throw new PlumblineError('STORE_UNAVAILABLE', `store is not available: ${reason}`, { reason });
  }

  /** Hash of a stored block; undefined where there is none that can be read. */
  private async hashAt(number: number): Promise<Uint8Array | undefined> {
    const bytes = await this.store.get('blocks', number);
    try {
      return bytes && readStoredBlock(bytes, this.chainId, 'sampled').hash;
    } catch (error) {
      if (isPlumblineError(error, 'STORE_CORRUPT')) return undefined;
      throw error;
    }
  }

  /**
   * Hands stored blocks to `take`, in order.
   *
   * @throws PlumblineError `STORE_CORRUPT` when one is missing or does not decode
   */
  each(from: number, to: number, take: Take<BlockRecord>, onProgress?: (fraction: number) => void): Promise<void> {
    return this.scan(from, to, (bytes) => decodeBlockRecord(bytes, this.chainId), take, onProgress);
  }

  /** As `each`, with what opening needs of them. @param check - `full` decodes all of each nonetheless */
  open(
    from: number,
    to: number,
    check: 'sampled' | 'full',
    take: Take<StoredBlock>,
    onProgress?: (fraction: number) => void,
  ): Promise<void> {
    return this.scan(from, to, (bytes) => readStoredBlock(bytes, this.chainId, check), take, onProgress);
  }

  /** As `each`, with what the blocks changed, in pieces, and nothing else of them. */
  changes(from: number, to: number, take: Take<Iterable<readonly AccountChange[]>>): Promise<void> {
    return this.scan(from, to, decodeRecordChanges, take);
  }

  private async scan<Read>(
    from: number,
    to: number,
    read: (bytes: Uint8Array) => Read,
    take: Take<Read>,
    onProgress: (fraction: number) => void = () => {},
  ): Promise<void> {
    for (let first = from; first <= to; first += BATCH) {
      const numbers = Array.from({ length: Math.min(BATCH, to + 1 - first) }, (_, i) => first + i);
      for (const [i, bytes] of (await this.store.getMany('blocks', numbers)).entries()) {
        if (bytes === undefined) throw storeCorrupt(`block ${first + i} is missing`);
        this.lastBytes = bytes.length;
        const done = take(
          readNamed(first + i, () => read(bytes)),
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

/** What is read of a block. @throws PlumblineError `STORE_CORRUPT` that names it */
function readNamed<Read>(number: number, read: () => Read): Read {
  try {
    return read();
  } catch (error) {
    if (!isPlumblineError(error, 'STORE_CORRUPT')) throw error;
    throw storeCorrupt(`block ${number}: ${error.details.reason}`, error);
  }
}

function entryOf(key: string, content: Uint8Array) {
  return { table: 'meta', key, value: sealed(key, content) } as const;
}

/** An entry of `meta`. Those of earlier versions have no checksum. */
function contentOf(key: string, bytes: Uint8Array): Uint8Array {
  const isSealed = key === HEAD ? !isDigits(bytes) : !isOneItem(bytes);
  return isSealed ? unsealed('meta', key, bytes) : bytes;
}

function isOneItem(bytes: Uint8Array): boolean {
  try {
    return RLP.decode(bytes, true).remainder.length === 0;
  } catch {
    return false;
  }
}

function isDigits(bytes: Uint8Array): boolean {
  return bytes.length > 0 && bytes.every((byte) => byte >= 0x30 && byte <= 0x39);
}

/** An error about the blocks of a devnet. */
export function storeCorrupt(reason: string, cause?: unknown): PlumblineError<'STORE_CORRUPT'> {
  const details = { table: 'blocks', reason };
  return new PlumblineError('STORE_CORRUPT', `the stored devnet is damaged: ${reason}`, details, { cause });
}

/** An error for a devnet that is not stored as a whole. */
export function notStored(reason: string): PlumblineError<'STORE_UNAVAILABLE'> {
  return new PlumblineError('STORE_UNAVAILABLE', `the devnet is not stored: ${reason}`, { reason });
}
