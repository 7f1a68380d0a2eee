import { PlumblineError } from '../../errors.js';
import { bytesToKey } from '../../primitives/bytes.js';
import type { Block, IncludedTransaction, TransactionReceipt } from '../chain.js';
import { Packer } from './packing.js';

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
    this.items += 1 + held.receipts.length;
  }

  delete(number: number): void {
    const held = this.blocks.get(number);
    if (held === undefined) return;
    this.blocks.delete(number);
    this.items -= 1 + held.receipts.length;
  }
}

/** The sealed blocks of the devnet with their receipts, by number and by hash; older ones are packed. */
export class Ledger {
  private readonly recent = new HeldBlocks();
  private readonly unpacked = new HeldBlocks();
  private readonly packed = new Map<number, Uint8Array>();
  /** Hashes of the blocks from 1 on that have lost their bodies, end to end: one array each would take six times as much. */
  private prunedHashes = new Uint8Array(0);
  private prunedTo = 0;
  private newest: Block | undefined;
  private readonly packer = new Packer();
  private length = 0;
  private readonly byHash = new Map<string, number>();
  /** Block number times `PLACES`, and the index within the block, of each transaction. */
  private readonly places = new Map<string, number>();

  append(block: Block, receipts: readonly TransactionReceipt[]): void {
    const number = this.length++;
    this.newest = block;
    this.recent.set(number, { block, receipts });
    this.byHash.set(bytesToKey(block.hash), number);
    for (const { transaction, index } of receipts) {
      this.places.set(bytesToKey(transaction.hash), number * PLACES + index);
    }
    while (this.recent.items > RECENT_ITEMS && this.recent.size > 1) this.packOldest();
  }

  /** A stored block that has lost its body; only blocks after genesis that all have lost theirs come before it. */
  appendPruned(block: Block): void {
    this.newest = block;
    this.byHash.set(bytesToKey(block.hash), this.length++);
    this.notePruned(block.hash);
  }

  /** Lets go of the bodies of blocks from 1 to this one. */
  prune(to: number): void {
    for (let number = this.pruned + 1; number <= to; number++) {
      const { block } = this.held(number)!;
      for (const { hash } of block.transactions) this.places.delete(bytesToKey(hash));
      for (const blocks of [this.recent, this.unpacked, this.packed]) blocks.delete(number);
      this.notePruned(block.hash);
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
      const { block } = this.held(last)!;
      this.byHash.delete(bytesToKey(block.hash));
      for (const { hash } of block.transactions) this.places.delete(bytesToKey(hash));
      this.recent.delete(last);
      this.unpacked.delete(last);
      this.packed.delete(last);
      this.length = last;
    }
    this.newest = this.held(number)!.block;
  }

  get head(): Block {
    return this.newest!;
  }

  /** @throws PlumblineError `BLOCK_PRUNED` */
  blockByNumber(number: number): Block | undefined {
    if (number >= 1 && number <= this.pruned) {
      const details = { block: number, from: this.pruned + 1 };
      throw new PlumblineError('BLOCK_PRUNED', `of block ${number} nothing but the header is held`, details);
    }
    return number === this.length - 1 ? this.newest : this.held(number)?.block;
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
    const packed = this.packed.get(number);
    if (ready !== undefined || packed === undefined) return ready;
    const held = this.unpack(packed);
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
    return { block, receipts };
  }
}
