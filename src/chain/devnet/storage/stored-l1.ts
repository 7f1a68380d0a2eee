import { RLP } from '@ethereumjs/rlp';
import { bigIntToMinimalBytes, bytesToBigInt } from '../../../primitives/bytes.js';
import type { Key, PageStore } from '../../../store/page-store.js';
import type { L1Journal, SentBlock } from '../layer-one/simulated-l1.js';
import { withChecksum, withoutChecksum } from '../records/checkpoint-codec.js';

const KEY = /^l1-(\d+)$/;
const keyOf = (number: number) => `l1-${number}`;

/** Whether an entry of the table `blocks` is a block of layer 1. */
export function isL1Key(key: Key): boolean {
  return typeof key === 'string' && KEY.test(key);
}

/** Blocks of layer 1 in the store of a devnet. */
export class StoredL1 implements L1Journal {
  private constructor(
    private readonly store: PageStore,
    readonly read: ReadonlyMap<number, SentBlock>,
  ) {}

  /** @throws PlumblineError `STORE_CORRUPT` */
  static async open(store: PageStore): Promise<StoredL1> {
    const keys = (await store.keys('blocks')).filter(isL1Key);
    const values = await store.getMany('blocks', keys);
    const read = new Map<number, SentBlock>();
    for (const [i, key] of keys.entries()) {
      const [timestamp, transactions] = RLP.decode(withoutChecksum('blocks', key, values[i]!)) as [
        Uint8Array,
        Uint8Array[],
      ];
      read.set(Number(KEY.exec(String(key))![1]), { timestamp: Number(bytesToBigInt(timestamp)), transactions });
    }
    return new StoredL1(store, read);
  }

  async save(number: number, { timestamp, transactions }: SentBlock): Promise<void> {
    const key = keyOf(number);
    const content = RLP.encode([bigIntToMinimalBytes(BigInt(timestamp)), [...transactions]]);
    await this.store.commit({ puts: [{ table: 'blocks', key, value: withChecksum(key, content) }] });
  }

  async remove(numbers: readonly number[]): Promise<void> {
    if (numbers.length === 0) return;
    await this.store.commit({ deletes: numbers.map((number) => ({ table: 'blocks' as const, key: keyOf(number) })) });
  }
}
