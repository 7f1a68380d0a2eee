import { RLP } from '@ethereumjs/rlp';
import { bigIntToMinimalBytes, bytesToBigInt } from '../../../primitives/bytes.js';
import type { Key, PageStore } from '../../../store/page-store.js';
import type { BridgedBlocks } from '../layer-one/rollup-abi.js';
import type { L1Entry, L1Journal, SentBlock } from '../layer-one/simulated-l1.js';
import { withChecksum, withoutChecksum } from '../records/checkpoint-codec.js';

/** A block with transactions that were sent, by its number; or the messages of a finalization, by its last block. */
const KEY = /^l1-(sent|messages)-(\d+)$/;
type Kind = 'sent' | 'messages';
const keyOf = (kind: Kind, number: number) => `l1-${kind}-${number}`;

const int = (value: number | bigint) => bigIntToMinimalBytes(BigInt(value));
const number = (bytes: Uint8Array) => Number(bytesToBigInt(bytes));

/** Whether an entry of the table `blocks` is of layer 1. */
export function isL1Key(key: Key): boolean {
  return typeof key === 'string' && KEY.test(key);
}

type SentItems = [timestamp: Uint8Array, transactions: Uint8Array[]];
type BridgedItems = [messages: Uint8Array[], blocks: Uint8Array[], anchored: Uint8Array, rollingHash: Uint8Array];

/** Layer 1 in the store of a devnet. */
export class StoredL1 implements L1Journal {
  readonly sent = new Map<number, SentBlock>();
  readonly bridged = new Map<number, BridgedBlocks>();

  /** @param put - writes an entry with the chain; deletes it without a value */
  private constructor(private readonly put: (key: string, value: Uint8Array | undefined) => void) {}

  /**
   * @param put - as the constructor takes it
   * @throws PlumblineError `STORE_CORRUPT`
   */
  static async open(store: PageStore, put: (key: string, value: Uint8Array | undefined) => void): Promise<StoredL1> {
    const stored = new StoredL1(put);
    const keys = (await store.keys('blocks')).filter(isL1Key);
    const values = await store.getMany('blocks', keys);
    for (const [i, key] of keys.entries()) {
      const [, kind, at] = KEY.exec(String(key))!;
      const items = RLP.decode(withoutChecksum('blocks', key, values[i]));
      if (kind === 'sent') {
        const [timestamp, transactions] = items as SentItems;
        stored.sent.set(Number(at), { timestamp: number(timestamp), transactions });
      } else {
        const [messages, blocks, anchored, rollingHash] = items as BridgedItems;
        const last = { number: bytesToBigInt(anchored), rollingHash };
        stored.bridged.set(Number(at), { messages, messagingBlocks: blocks.map(number), anchored: last });
      }
    }
    return stored;
  }

  save(at: number, { timestamp, transactions }: SentBlock): void {
    this.write(keyOf('sent', at), [int(timestamp), [...transactions]]);
  }

  saveBridged(last: number, { messages, messagingBlocks, anchored }: BridgedBlocks): void {
    this.bridged.set(last, { messages, messagingBlocks, anchored });
    const items = [[...messages], messagingBlocks.map(int), int(anchored.number), anchored.rollingHash];
    this.write(keyOf('messages', last), items);
  }

  private write(key: string, items: Parameters<typeof RLP.encode>[0]): void {
    this.put(key, withChecksum(key, RLP.encode(items)));
  }

  remove(sent: readonly number[]): void {
    for (const at of sent) this.put(keyOf('sent', at), undefined);
  }

  keysOf(entries: readonly L1Entry[], from: number): readonly string[] {
    return entries.slice(from).flatMap((entry, i) => {
      if (!('last' in entry)) return [keyOf('sent', from + i + 1)];
      return this.bridged.has(entry.last) ? [keyOf('messages', entry.last)] : [];
    });
  }
}
