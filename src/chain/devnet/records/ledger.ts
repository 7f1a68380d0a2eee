import { RLP } from '@ethereumjs/rlp';
import { messageOf, PlumblineError } from '../../../errors.js';
import { parseSignedTransaction } from '../../../ethereum/transaction.js';
import type { AccountChange } from '../../../evm/state-overlay.js';
import { bigIntToMinimalBytes, bytesToBigInt, bytesToKey, copyBytes, isZeroBytes } from '../../../primitives/bytes.js';
import type { Block, IncludedTransaction, TransactionReceipt } from '../../block.js';
import { editItems, editsFromItems } from '../../state-edits.js';
import type { Pruned } from './block-record.js';
import { damagedEntry, withChecksum, withoutChecksum } from './checkpoint-codec.js';
import { Packer } from './packing.js';
import { decodeChanges, encodeChanges } from './record-parts.js';
import { readContents, type StoredBlock, storedBloom, storedTransactionHashes } from './stored-block.js';

/** Number of newest blocks and transactions that are held as objects. */
const RECENT_ITEMS = 256;
/** Number of older blocks and transactions that are held as objects after a read. */
const UNPACKED_ITEMS = 256;
const HASH_BYTES = 32;
/** Bloom of a block without logs. */
const EMPTY_BLOOM = new Uint8Array(256);
const ANY_TRANSACTION = { anyChain: true, blobs: true, frontier: true };
/** More than the transactions that fit in any block. */
const MAX_TRANSACTIONS = 2 ** 20;

/** The fields of the newest block that the next block depends on. */
export interface HeadSummary {
  readonly number: number;
  /** Seconds. */
  readonly timestamp: number;
  /** 32 bytes. */
  readonly hash: Uint8Array;
}

/** The blocks before those of a ledger. */
export interface BlocksBefore {
  /** Number of the first block of the ledger. */
  readonly first: number;
  /** Hash of an earlier block, 32 bytes. */
  hashOf(number: number): Promise<Uint8Array>;
}

/**
 * The sealed blocks of the devnet and their receipts, by number and by hash. Older blocks are packed. Stored blocks
 * stay encoded until they are read.
 */
export class Ledger {
  private readonly recent = new HeldBlocks();
  private readonly unpacked = new HeldBlocks();
  private readonly packed = new Map<number, Uint8Array>();
  /** Blooms of the packed blocks that have logs. They are not in the packed bytes. */
  private readonly blooms = new Map<number, Uint8Array>();
  private readonly stored = new Map<number, Uint8Array>();
  /** Hashes of the pruned blocks from 1 on, concatenated. Separate arrays would take six times the memory. */
  private prunedHashes = new Uint8Array(0);
  private prunedTo = 0;
  private newest: Block | undefined;
  private newestSummary: HeadSummary | undefined;
  private readonly packer = new Packer();
  private length: number;
  private readonly byHash = new Map<string, number>();
  /** For each transaction: block number times `MAX_TRANSACTIONS`, plus the index in the block. */
  private readonly transactionIndexes = new Map<string, number>();

  /** @param before - left out by a chain that begins with block 0 */
  constructor(
    private readonly chainId: number,
    private readonly before?: BlocksBefore,
  ) {
    this.length = this.first;
  }

  /** Number of its first block. */
  get first(): number {
    return this.before?.first ?? 0;
  }

  append(block: Block, receipts: readonly TransactionReceipt[]): void {
    const number = this.length++;
    this.newest = block;
    this.newestSummary = undefined;
    this.recent.set(number, { block, receipts, transactionCount: receipts.length });
    this.byHash.set(bytesToKey(block.hash), number);
    for (const { transaction, index } of receipts) {
      this.transactionIndexes.set(bytesToKey(transaction.hash), number * MAX_TRANSACTIONS + index);
    }
    while (this.recent.items > RECENT_ITEMS && this.recent.size > 1) this.packOldest();
  }

  /** Appends a stored block. Before a block without body there must be no block with one, except genesis. */
  appendStored(block: StoredBlock): void {
    const number = this.length++;
    const { timestamp, hash, contents } = block;
    this.newest = undefined;
    this.newestSummary = { number, timestamp, hash };
    this.byHash.set(bytesToKey(hash), number);
    if (block.pruned === 'body') {
      this.addPrunedHash(hash);
      return;
    }
    this.stored.set(number, contents);
    for (const [index, transaction] of block.transactionHashes.entries()) {
      this.transactionIndexes.set(bytesToKey(transaction), number * MAX_TRANSACTIONS + index);
    }
  }

  /** Removes the bodies of blocks 1 to `to`. */
  prune(to: number): void {
    for (let number = this.pruned + 1; number <= to; number++) {
      const { hash } = this.held(number)!.block;
      this.remove(number);
      this.addPrunedHash(hash);
    }
  }

  private addPrunedHash(hash: Uint8Array): void {
    const at = this.prunedTo++ * HASH_BYTES;
    if (at === this.prunedHashes.length) {
      const larger = new Uint8Array(2 * at + 64 * HASH_BYTES);
      larger.set(this.prunedHashes);
      this.prunedHashes = larger;
    }
    this.prunedHashes.set(hash, at);
  }

  /** Newest block without body; 0 if there is none. */
  get pruned(): number {
    return this.prunedTo;
  }

  /** Removes the blocks after this one, which must have its body. */
  truncate(number: number): void {
    while (this.length > number + 1) {
      const last = this.length - 1;
      this.byHash.delete(bytesToKey(this.held(last)!.block.hash));
      this.remove(last);
      this.length = last;
    }
    this.newest = this.held(number)!.block;
    this.newestSummary = undefined;
  }

  /** Removes a block, except for its hash. */
  private remove(number: number): void {
    const stored = this.stored.get(number);
    const hashes =
      stored === undefined
        ? this.held(number)!.block.transactions.map(({ hash }) => hash)
        : storedTransactionHashes(stored);
    for (const hash of hashes) this.transactionIndexes.delete(bytesToKey(hash));
    for (const blocks of [this.recent, this.unpacked, this.packed, this.blooms, this.stored]) blocks.delete(number);
  }

  get head(): Block {
    this.newest ??= this.loadHead();
    return this.newest;
  }

  /** Of the newest block, without decoding it. */
  get headSummary(): HeadSummary {
    const { newestSummary } = this;
    if (newestSummary !== undefined) return newestSummary;
    const { header, hash } = this.newest!;
    return { number: header.number, timestamp: header.timestamp, hash };
  }

  /** Moves a stored head to the blocks held as objects, so that there is only one object for it. */
  private loadHead(): Block {
    const number = this.length - 1;
    const held = this.held(number)!;
    this.unpacked.delete(number);
    this.stored.delete(number);
    this.recent.set(number, held);
    return held.block;
  }

  /** @throws PlumblineError `BLOCK_PRUNED` */
  private requireBody(number: number): void {
    if (number < 1 || number > this.pruned) return;
    const details = { block: number, from: this.pruned + 1 };
    throw new PlumblineError(
      'BLOCK_PRUNED',
      `block ${number} is pruned: only its header is held; the oldest full block is ${details.from}`,
      details,
    );
  }

  /** Bloom of a block, 256 bytes. The block is not unpacked. @throws PlumblineError `BLOCK_PRUNED` */
  bloomOf(number: number): Uint8Array | undefined {
    this.requireBody(number);
    if (this.packed.has(number)) return this.blooms.get(number) ?? EMPTY_BLOOM;
    const stored = this.stored.get(number);
    return stored === undefined ? this.held(number)?.block.header.logsBloom : storedBloom(stored);
  }

  /** @throws PlumblineError `BLOCK_PRUNED` */
  blockByNumber(number: number): Block | undefined {
    this.requireBody(number);
    return number === this.length - 1 ? this.head : this.held(number)?.block;
  }

  /** Hash of a block, pruned or not. */
  hashOf(number: number): Uint8Array | undefined {
    if (number < 1 || number > this.prunedTo) return this.held(number)?.block.hash;
    return this.prunedHashes.slice((number - 1) * HASH_BYTES, number * HASH_BYTES);
  }

  /** Hash of a block, for BLOCKHASH. */
  readonly blockHash = async (number: number): Promise<Uint8Array> => {
    if (number < this.first) return this.before!.hashOf(number);
    const hash = this.hashOf(number);
    if (hash === undefined)
      throw new PlumblineError('BLOCK_NOT_FOUND', `block ${number} is not held`, { block: String(number) });
    return hash;
  };

  /** Number of the block with this hash, pruned or not. */
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

  /** Receipts of a block from this ledger, in transaction order. @throws PlumblineError `BLOCK_PRUNED` */
  receiptsOf(block: Block): TransactionReceipt[] {
    const number = this.numberOf(block.hash);
    if (number === undefined) return [];
    this.requireBody(number);
    return [...this.held(number)!.receipts];
  }

  receipt(hash: Uint8Array): TransactionReceipt | undefined {
    const position = this.transactionIndexes.get(bytesToKey(hash));
    return position === undefined
      ? undefined
      : this.held(Math.floor(position / MAX_TRANSACTIONS))!.receipts[position % MAX_TRANSACTIONS];
  }

  private held(number: number): HeldBlock | undefined {
    const ready = this.recent.get(number) ?? this.unpacked.get(number);
    const [packed, stored] = [this.packed.get(number), this.stored.get(number)];
    if (ready !== undefined || (packed === undefined && stored === undefined)) return ready;
    const held = packed === undefined ? readContents(stored!, this.chainId) : this.unpack(number, packed);
    this.unpacked.set(number, held);
    while (this.unpacked.items > UNPACKED_ITEMS && this.unpacked.size > 1) this.unpacked.delete(this.unpacked.oldest);
    return held;
  }

  private packOldest(): void {
    const { oldest } = this.recent;
    const { block, receipts } = this.recent.get(oldest)!;
    // Receipts do not repeat the block.
    const bare = receipts.map(({ transaction: _, block: __, ...receipt }) => receipt);
    this.recent.delete(oldest);
    const { logsBloom } = block.header;
    // A copy: the header of a block that was stored is a view of all its bytes.
    if (!isZeroBytes(logsBloom)) this.blooms.set(oldest, copyBytes(logsBloom));
    const { edits = [], ...unedited } = block;
    const transactions = block.transactions.map(({ raw, from, impersonated = false }) => [raw, from, impersonated]);
    const bloomless = { ...unedited, transactions, header: { ...block.header, logsBloom: EMPTY_BLOOM } };
    this.packed.set(oldest, this.packer.pack([bloomless, bare, editItems(edits)]));
  }

  private unpack(number: number, packed: Uint8Array): HeldBlock {
    type Packed = [
      Omit<Block, 'transactions'> & {
        readonly transactions: [raw: Uint8Array, from: Uint8Array, impersonated: boolean][];
      },
      Omit<TransactionReceipt, 'transaction' | 'block'>[],
      Uint8Array[][],
    ];
    const [bloomless, bare, edits] = this.packer.unpack(packed) as Packed;
    const transactions = bloomless.transactions.map(([raw, from, impersonated]) =>
      parseSignedTransaction(raw, this.chainId, {
        ...ANY_TRANSACTION,
        ...(impersonated ? { impersonated: from } : { sender: from }),
      }),
    );
    const block: Block = {
      ...bloomless,
      transactions,
      ...(edits.length > 0 && { edits: editsFromItems(edits) }),
      header: { ...bloomless.header, logsBloom: this.bloomOf(number)! },
    };
    const receipts = bare.map((receipt) => ({
      ...receipt,
      transaction: block.transactions[receipt.index]!,
      block,
    }));
    return { block, receipts, transactionCount: receipts.length };
  }
}

/** A block with its receipts. */
interface HeldBlock {
  readonly block: Block;
  readonly receipts: readonly TransactionReceipt[];
  readonly transactionCount: number;
}

/** Blocks by number, with the count of blocks and transactions. */
class HeldBlocks {
  private readonly blocks = new Map<number, HeldBlock>();
  items = 0;

  get size(): number {
    return this.blocks.size;
  }

  /** Number of the block that was added first. */
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

/** The history that was pruned to keep a devnet within its storage budget. */
export interface PrunedHistory {
  /** Newest block without state changes; blocks 1 to this one have lost them. 0 if there is none. */
  readonly changesTo: number;
  /** Newest block without body. */
  readonly bodiesTo: number;
  /** State changes of blocks 1 to `changesTo`, merged into one list. */
  readonly changes: readonly AccountChange[];
}

const NOTHING_PRUNED: PrunedHistory = { changesTo: 0, bodiesTo: 0, changes: [] };

/** Key in table `blocks`. */
export const HISTORY_KEY = 'pruned';

const int = (value: number) => bigIntToMinimalBytes(BigInt(value));
const number = (bytes: Uint8Array) => Number(bytesToBigInt(bytes));

/** The parts that were pruned from a block; undefined if none were. */
export function prunedAt({ changesTo, bodiesTo }: PrunedHistory, number: number): Pruned | undefined {
  if (number === 0 || number > changesTo) return undefined;
  return number > bodiesTo ? 'changes' : 'body';
}

export function encodeHistory({ changesTo, bodiesTo, changes }: PrunedHistory): Uint8Array {
  return withChecksum(HISTORY_KEY, RLP.encode([int(changesTo), int(bodiesTo), encodeChanges(changes)]));
}

/**
 * @param bytes - undefined if nothing was pruned.
 * @throws PlumblineError `STORE_CORRUPT`
 */
export function decodeHistory(bytes: Uint8Array | undefined): PrunedHistory {
  if (bytes === undefined) return NOTHING_PRUNED;
  const content = withoutChecksum('blocks', HISTORY_KEY, bytes);
  try {
    const [changesTo, bodiesTo, changes] = RLP.decode(content) as [Uint8Array, Uint8Array, Uint8Array];
    return { changesTo: number(changesTo), bodiesTo: number(bodiesTo), changes: decodeChanges(changes) };
  } catch (cause) {
    throw damagedEntry('blocks', HISTORY_KEY, `does not decode: ${messageOf(cause)}`);
  }
}

/** Merges the changes of consecutive blocks. The result gives the state after the last one only. */
export class MergedChanges {
  private readonly accounts = new Map<string, AccountChange>();

  constructor(changes: readonly AccountChange[] = []) {
    this.add(changes);
  }

  add(changes: readonly AccountChange[]): void {
    for (const change of changes) {
      const key = bytesToKey(change.address);
      const before = this.accounts.get(key);
      this.accounts.set(key, before === undefined ? change : merged(before, change));
    }
  }

  get changes(): AccountChange[] {
    // An account that was created and destroyed leaves no change.
    return [...this.accounts.values()].filter(({ before, after }) => before !== undefined || after !== undefined);
  }
}

function merged(first: AccountChange, second: AccountChange): AccountChange {
  const destroyed = first.destroyed || second.destroyed;
  const slots = new Map(second.destroyed ? [] : first.slots.map((slot) => [bytesToKey(slot.key), slot]));
  for (const slot of second.slots) {
    const key = bytesToKey(slot.key);
    // If the storage was cleared, zero slots are not listed.
    if (destroyed && isZeroBytes(slot.after)) slots.delete(key);
    else slots.set(key, { ...slot, before: slots.get(key)?.before ?? slot.before });
  }
  return {
    address: first.address,
    before: first.before,
    after: second.after,
    destroyed,
    code: second.after === undefined ? undefined : (second.code ?? first.code),
    slots: [...slots.values()],
  };
}
