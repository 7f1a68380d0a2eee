import { PlumblineError } from '../../errors.js';
import { equalBytes } from '../../primitives/bytes.js';
import type { PageStore } from '../../store/page-store.js';
import { type BlockRecord, decodeBlockRecord, encodeBlockRecord } from './block-record.js';

const HEAD = 'devnet-head';
/** Blocks read in one transaction. */
const BATCH = 64;

/** Where a devnet keeps its blocks: one atomic commit each, head pointer included. */
export class DevnetStore {
  constructor(
    private readonly store: PageStore,
    private readonly chainId: number,
  ) {}

  async save(record: BlockRecord): Promise<void> {
    const number = record.block.header.number;
    await this.store.commit({
      puts: [
        { table: 'blocks', key: number, value: encodeBlockRecord(record) },
        { table: 'meta', key: HEAD, value: new TextEncoder().encode(String(number)) },
      ],
    });
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

function corrupt(reason: string): PlumblineError<'STORE_CORRUPT'> {
  return new PlumblineError('STORE_CORRUPT', `the stored devnet is damaged: ${reason}`, { table: 'blocks', reason });
}
