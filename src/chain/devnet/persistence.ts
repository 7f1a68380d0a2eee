import { PlumblineError } from '../../errors.js';
import type { Commit, PageStore } from '../../store/page-store.js';
import { type BlockRecord, decodeBlockRecord, encodeBlockRecord } from './block-record.js';
import { decodeEdits, encodeEdits, type StateEdit } from './edits.js';

const HEAD = 'devnet-head';
/** Edits of the state that no block holds yet. */
const EDITS = 'devnet-edits';
/** Blocks read in one transaction. */
const BATCH = 64;

/** Where a devnet keeps its blocks: one atomic commit each, head pointer included. */
export class DevnetStore {
  /** Length of the newest record that was written or read. */
  lastBytes = 0;

  constructor(
    private readonly store: PageStore,
    private readonly chainId: number,
  ) {}

  /** Keeps a block. @param edits - that wait after it */
  async save(record: BlockRecord, edits: readonly StateEdit[] = []): Promise<void> {
    const number = record.block.header.number;
    const value = encodeBlockRecord(record);
    this.lastBytes = value.length;
    const block = { table: 'blocks', key: number, value } as const;
    await this.store.commit({ puts: [block, headPointer(number), editsEntry(edits)] });
  }

  /** Keeps the edits that wait for the next block. */
  async saveEdits(edits: readonly StateEdit[]): Promise<void> {
    await this.store.commit({ puts: [editsEntry(edits)] });
  }

  /** Goes back from block `head` to an earlier one, with the edits that waited then, in one commit with other deletions. */
  async truncate(
    number: number,
    head: number,
    edits: readonly StateEdit[],
    alsoDelete: NonNullable<Commit['deletes']> = [],
  ): Promise<void> {
    const blocks = Array.from({ length: head - number }, (_, i) => ({
      table: 'blocks' as const,
      key: number + 1 + i,
    }));
    await this.store.commit({ deletes: [...blocks, ...alsoDelete], puts: [headPointer(number), editsEntry(edits)] });
  }

  /** The edits that waited for a block when the devnet was last open. @throws PlumblineError `STORE_CORRUPT` */
  async edits(): Promise<StateEdit[]> {
    const bytes = await this.store.get('meta', EDITS);
    return bytes === undefined ? [] : decodeEdits(bytes);
  }

  /** Number of the newest stored block; undefined for a store that holds no devnet yet. @throws PlumblineError `STORE_CORRUPT` */
  async head(): Promise<number | undefined> {
    const pointer = await this.store.get('meta', HEAD);
    if (pointer === undefined) return undefined;
    const head = Number(new TextDecoder().decode(pointer));
    if (!Number.isSafeInteger(head)) throw corrupt('the head pointer is not a block number');
    return head;
  }

  /**
   * Hands stored blocks to `take`, in order.
   *
   * @throws PlumblineError `STORE_CORRUPT` when one is missing or does not decode
   */
  async each(
    from: number,
    to: number,
    take: (record: BlockRecord) => Promise<void> | void,
    onProgress: (fraction: number) => void = () => {},
  ): Promise<void> {
    for (let first = from; first <= to; first += BATCH) {
      const numbers = Array.from({ length: Math.min(BATCH, to + 1 - first) }, (_, i) => first + i);
      for (const [i, bytes] of (await this.store.getMany('blocks', numbers)).entries()) {
        if (bytes === undefined) throw corrupt(`block ${first + i} is missing`);
        this.lastBytes = bytes.length;
        await take(decodeBlockRecord(bytes, this.chainId));
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
}

function headPointer(number: number) {
  return { table: 'meta', key: HEAD, value: new TextEncoder().encode(String(number)) } as const;
}

function editsEntry(edits: readonly StateEdit[]) {
  return { table: 'meta', key: EDITS, value: encodeEdits(edits) } as const;
}

/** An error about the blocks of a devnet. */
export function corrupt(reason: string): PlumblineError<'STORE_CORRUPT'> {
  return new PlumblineError('STORE_CORRUPT', `the stored devnet is damaged: ${reason}`, { table: 'blocks', reason });
}
