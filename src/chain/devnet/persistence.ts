import { PlumblineError } from '../../errors.js';
import { equalBytes } from '../../primitives/bytes.js';
import type { PageStore } from '../../store/page-store.js';
import { type BlockRecord, decodeBlockRecord, encodeBlockRecord } from './block-record.js';
import { decodeEdits, encodeEdits, type StateEdit } from './edits.js';

const HEAD = 'devnet-head';
/** Edits of the state that no block holds yet. */
const EDITS = 'devnet-edits';
/** Blocks read in one transaction. */
const BATCH = 64;

/** Where a devnet keeps its blocks: one atomic commit each, head pointer included. */
export class DevnetStore {
  constructor(
    private readonly store: PageStore,
    private readonly chainId: number,
  ) {}

  /** Keeps a block. @param edits - that wait after it */
  async save(record: BlockRecord, edits: readonly StateEdit[] = []): Promise<void> {
    const number = record.block.header.number;
    const block = { table: 'blocks', key: number, value: encodeBlockRecord(record) } as const;
    await this.store.commit({ puts: [block, headPointer(number), editsEntry(edits)] });
  }

  /** Keeps the edits that wait for the next block. */
  async saveEdits(edits: readonly StateEdit[]): Promise<void> {
    await this.store.commit({ puts: [editsEntry(edits)] });
  }

  /** Goes back from block `head` to an earlier one, with the edits that waited then. */
  async truncate(number: number, head: number, edits: readonly StateEdit[]): Promise<void> {
    const deletes = Array.from({ length: head - number }, (_, i) => ({
      table: 'blocks' as const,
      key: number + 1 + i,
    }));
    await this.store.commit({ deletes, puts: [headPointer(number), editsEntry(edits)] });
  }

  /** The edits that waited for a block when the devnet was last open. @throws PlumblineError `STORE_CORRUPT` */
  async edits(): Promise<StateEdit[]> {
    const bytes = await this.store.get('meta', EDITS);
    return bytes === undefined ? [] : decodeEdits(bytes);
  }

  /**
   * Hands the stored blocks after genesis to `replay`, in order.
   *
   * @returns false for a store that holds no devnet yet
   * @throws PlumblineError `STORE_CORRUPT` when a block is missing, does not decode, or the stored genesis is another one
   */
  async restore(
    genesis: BlockRecord,
    replay: (record: BlockRecord) => Promise<void>,
    onProgress: (fraction: number) => void = () => {},
  ): Promise<boolean> {
    const pointer = await this.store.get('meta', HEAD);
    if (pointer === undefined) return false;
    const head = Number(new TextDecoder().decode(pointer));
    if (!Number.isSafeInteger(head)) throw corrupt('the head pointer is not a block number');
    for (let first = 0; first <= head; first += BATCH) {
      const numbers = Array.from({ length: Math.min(BATCH, head + 1 - first) }, (_, i) => first + i);
      for (const [i, bytes] of (await this.store.getMany('blocks', numbers)).entries()) {
        if (bytes === undefined) throw corrupt(`block ${first + i} is missing`);
        const record = decodeBlockRecord(bytes, this.chainId);
        if (first + i > 0) await replay(record);
        else if (!equalBytes(record.block.hash, genesis.block.hash)) throw corrupt('it began from another genesis');
      }
      onProgress(Math.min(1, (first + BATCH) / (head + 1)));
    }
    return true;
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

function corrupt(reason: string): PlumblineError<'STORE_CORRUPT'> {
  return new PlumblineError('STORE_CORRUPT', `the stored devnet is damaged: ${reason}`, { table: 'blocks', reason });
}
