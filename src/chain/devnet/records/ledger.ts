import { PlumblineError } from '../../../errors.js';
import { bytesToKey } from '../../../primitives/bytes.js';
import type { Block, IncludedTransaction, TransactionReceipt } from '../../chain.js';
import { Packer } from './packing.js';
import { hashesOfKept, readKept, type StoredBlock } from './stored-block.js';

/** Newest blocks stay as they are as long as they and their transactions are not more than this many. */
const RECENT_ITEMS = 256;
/** So do older ones that have been read. */
const UNPACKED_ITEMS = 256;
const HASH_BYTES = 32;
/** Above the number of transactions that fit any block. */
const PLACES = 2 ** 20;

interface HeldBlock {
  readonly block: Block;
  readonly receipts: readonly TransactionReceipt[];
  readonly transactionCount: number;
}

/** The newest block, as far as the one after it has to know it. */
export interface Tip {
  readonly number: number;
  /** Seconds. */
  readonly timestamp: number;
  /** 32 bytes. */
  readonly hash: Uint8Array;
}

/** Blocks by number, and how many they and their transactions are. */
class HeldBlocks {
  private readonly blocks = new Map<number, HeldBlock>();
  items = 0;

  get size(): number {
    return this.blocks.size;
  }

  /** Number of the one that came first. */
  get oldest(): number {
    return this.blocks.keys().next().value!;
  }

  get(number: number): HeldBlock | undefined {
    return this.blocks.get(number);
  }

  set(number: number, held: HeldBlock): void {
    this.blocks.set(number, held);
    this.items += 1 + held.transactionCount;
  }

  delete(number: number): void {
    const held = this.blocks.get(number);
    if (held === undefined) return;
    this.blocks.delete(number);
    this.items -= 1 + held.transactionCount;
  }
}

/**
 * The sealed blocks of the devnet with their receipts, by number and by hash; older ones are packed, and those that were
 * stored are as they were read until somebody asks for them.
 */
export class Ledger {
  private readonly recent = new HeldBlocks();
  private readonly unpacked = new HeldBlocks();
  private readonly packed = new Map<number, Uint8Array>();
  private readonly kept = new Map<number, Uint8Array>();
  /** Hashes of the blocks from 1 on that have lost their bodies, end to end: one array each would take six times as much. */
  private prunedHashes = new Uint8Array(0);
  private prunedTo = 0;
  private newest: Block | undefined;
  private newestTip: Tip | undefined;
  private readonly packer = new Packer();
  private length = 0;
  private readonly byHash = new Map<string, number>();
  /** Block number times `PLACES`, and the index within the block, of each transaction. */
  private readonly places = new Map<string, number>();

  /** @param chainId - of the blocks */
  constructor(private readonly chainId: number) {}

  append(block: Block, receipts: readonly TransactionReceipt[]): void {
    const number = this.length++;
    this.newest = block;
    this.newestTip = undefined;
    this.recent.set(number, { block, receipts, transactionCount: receipts.length });
    this.byHash.set(bytesToKey(block.hash), number);
    for (const { transaction, index } of receipts) {
      this.places.set(bytesToKey(transaction.hash), number * PLACES + index);
    }
    while (this.recent.items > RECENT_ITEMS && this.recent.size > 1) this.packOldest();
  }

  /** A stored block. Of those that have lost their bodies only such ones come before it, and genesis. */
  appendStored(stored: StoredBlock): void {
    const number = this.length++;
    const { timestamp, hash, kept } = stored;
    this.newest = undefined;
    this.newestTip = { number, timestamp, hash };
    this.byHash.set(bytesToKey(hash), number);
    if (stored.pruned === 'body') {
      this.notePruned(hash);
      return;
    }
    this.kept.set(number, kept);
    for (const [index, transaction] of stored.transactionHashes.entries()) {
      this.places.set(bytesToKey(transaction), number * PLACES + index);
    }
  }

  /** Lets go of the bodies of blocks from 1 to this one. */
  prune(to: number): void {
    for (let number = this.pruned + 1; number <= to; number++) {
      const { hash } = this.held(number)!.block;
      this.forget(number);
      this.notePruned(hash);
    }
  }

  private notePruned(hash: Uint8Array): void {
    const at = this.prunedTo++ * HASH_BYTES;
    if (at === this.prunedHashes.length) {
      const larger = new Uint8Array(2 * at + 64 * HASH_BYTES);
      larger.set(this.prunedHashes);
      this.prunedHashes = larger;
    }
    this.prunedHashes.set(hash, at);
  }

  /** Newest block that has lost its body; 0 for none. */
  get pruned(): number {
    return this.prunedTo;
  }

  /** Forgets the blocks after this one, which has its body. */
  truncate(number: number): void {
    while (this.length > number + 1) {
      const last = this.length - 1;
      this.byHash.delete(bytesToKey(this.held(last)!.block.hash));
      this.forget(last);
      this.length = last;
    }
    this.newest = this.held(number)!.block;
    this.newestTip = undefined;
  }

  /** Lets go of a block, but for its hash. */
  private forget(number: number): void {
    const kept = this.kept.get(number);
    const hashes =
      kept === undefined ? this.held(number)!.block.transactions.map(({ hash }) => hash) : hashesOfKept(kept);
    for (const hash of hashes) this.places.delete(bytesToKey(hash));
    for (const blocks of [this.recent, this.unpacked, this.packed, this.kept]) blocks.delete(number);
  }

  get head(): Block {
    this.newest ??= this.takeHead();
    return this.newest;
  }

  /** Of the newest block; it is not decoded for that. */
  get tip(): Tip {
    const { newestTip } = this;
    if (newestTip !== undefined) return newestTip;
    const { header, hash } = this.newest!;
    return { number: header.number, timestamp: header.timestamp, hash };
  }

  /** A stored head becomes one that is held as it is: there is one object for it. */
  private takeHead(): Block {
    const number = this.length - 1;
    const held = this.held(number)!;
    this.unpacked.delete(number);
    this.kept.delete(number);
    this.recent.set(number, held);
    return held.block;
  }

  /** @throws PlumblineError `BLOCK_PRUNED` */
  blockByNumber(number: number): Block | undefined {
    if (number >= 1 && number <= this.pruned) {
      const details = { block: number, from: this.pruned + 1 };
      throw new PlumblineError('BLOCK_PRUNED', `of block ${number} nothing but the header is held`, details);
    }
    return number === this.length - 1 ? this.head : this.held(number)?.block;
  }

  /** Hash of a block, be it pruned. */
  hashOf(number: number): Uint8Array | undefined {
    if (number < 1 || number > this.prunedTo) return this.held(number)?.block.hash;
    return this.prunedHashes.slice((number - 1) * HASH_BYTES, number * HASH_BYTES);
  }

  /** Hash of a block, for BLOCKHASH. */
  readonly blockHash = async (number: number): Promise<Uint8Array> => {
    const hash = this.hashOf(number);
    if (hash === undefined)
      throw new PlumblineError('BLOCK_NOT_FOUND', `block ${number} is not held`, { block: String(number) });
    return hash;
  };

  /** Number of the block of this hash, be it pruned. */
  numberOf(hash: Uint8Array): number | undefined {
    return this.byHash.get(bytesToKey(hash));
  }

  /** @throws PlumblineError `BLOCK_PRUNED` */
  blockByHash(hash: Uint8Array): Block | undefined {
    const number = this.numberOf(hash);
    return number === undefined ? undefined : this.blockByNumber(number);
  }

  transaction(hash: Uint8Array): IncludedTransaction | undefined {
    return this.receipt(hash);
  }

  /** Of a block this ledger gave, in the order of its transactions. */
  receiptsOf(block: Block): TransactionReceipt[] {
    const number = this.byHash.get(bytesToKey(block.hash));
    return number === undefined ? [] : [...this.held(number)!.receipts];
  }

  receipt(hash: Uint8Array): TransactionReceipt | undefined {
    const place = this.places.get(bytesToKey(hash));
    return place === undefined ? undefined : this.held(Math.floor(place / PLACES))!.receipts[place % PLACES];
  }

  private held(number: number): HeldBlock | undefined {
    const ready = this.recent.get(number) ?? this.unpacked.get(number);
    const [packed, kept] = [this.packed.get(number), this.kept.get(number)];
    if (ready !== undefined || (packed === undefined && kept === undefined)) return ready;
    const held = packed === undefined ? readKept(kept!, this.chainId) : this.unpack(packed);
    this.unpacked.set(number, held);
    while (this.unpacked.items > UNPACKED_ITEMS && this.unpacked.size > 1) this.unpacked.delete(this.unpacked.oldest);
    return held;
  }

  private packOldest(): void {
    const { oldest } = this.recent;
    const { block, receipts } = this.recent.get(oldest)!;
    // The block stands once, not again in each receipt.
    const bare = receipts.map(({ transaction: _, block: __, ...receipt }) => receipt);
    this.recent.delete(oldest);
    this.packed.set(oldest, this.packer.pack([block, bare]));
  }

  private unpack(packed: Uint8Array): HeldBlock {
    const [block, bare] = this.packer.unpack(packed) as [Block, Omit<TransactionReceipt, 'transaction' | 'block'>[]];
    const receipts = bare.map((receipt) => ({
      ...receipt,
      transaction: block.transactions[receipt.index]!,
      block,
    }));
    return { block, receipts, transactionCount: receipts.length };
  }
}
