import { RLP } from '@ethereumjs/rlp';
import { type BlockHeader, headerFields, headerFromFields } from '../../../ethereum/header.js';
import { type Withdrawal, withdrawalFields, withdrawalFromFields } from '../../../ethereum/withdrawal.js';
import { equalBytes, plainBytes } from '../../../primitives/bytes.js';

type Item = Uint8Array | Item[];

/** A block decoded from RLP. Its transactions stay encoded, as the block carries them. */
export interface DecodedBlock {
  readonly header: BlockHeader;
  readonly transactions: readonly Uint8Array[];
  readonly uncles: readonly BlockHeader[];
  /** Undefined before Shanghai. */
  readonly withdrawals: readonly Withdrawal[] | undefined;
  /** Length of the RLP in bytes. */
  readonly size: number;
}

/**
 * One item of a file of concatenated blocks: the block's bytes, or the reason why it cannot be read. `end` is an offset
 * into the file.
 */
export type BlockPiece =
  | { readonly bytes: Uint8Array; readonly end: number }
  | { readonly problem: string; readonly end: number };

/** Splits concatenated RLP lists without decoding them. It ends after a problem. */
export function* splitBlocks(file: Uint8Array): Generator<BlockPiece> {
  const bytes = plainBytes(file);
  for (let at = 0; at < bytes.length; ) {
    const length = listLength(bytes, at);
    if (typeof length === 'string' || at + length > bytes.length) {
      const problem = typeof length === 'string' ? length : `the RLP ends ${at + length - bytes.length} bytes early`;
      yield { problem, end: at };
      return;
    }
    const end = at + length;
    yield { bytes: bytes.subarray(at, end), end };
    at = end;
  }
}

/**
 * Number of the first block without proof of work: the block after total difficulty has reached `terminal`.
 *
 * @param genesis - difficulty of the genesis block
 * @returns undefined if the total is not reached, or if a block before it cannot be decoded
 */
export function findParisBlock(bytes: Uint8Array, genesis: bigint, terminal: bigint): number | undefined {
  let total = genesis;
  let next = 1;
  for (const piece of splitBlocks(bytes)) {
    if (total >= terminal) break;
    if ('problem' in piece) return undefined;
    try {
      const { difficulty, number } = decodeBlock(piece.bytes).header;
      if (number > 0) total += difficulty;
      next = number + 1;
    } catch {
      return undefined;
    }
  }
  return total >= terminal ? next : undefined;
}

const SHORT_LIST = 0xc0;
const LONG_LIST = 0xf7;

/** Length in bytes of the list at an offset, prefix included; a message if no list begins there. */
function listLength(bytes: Uint8Array, at: number): number | string {
  const prefix = bytes[at]!;
  if (prefix < SHORT_LIST) return `no RLP list begins at byte ${at}`;
  if (prefix <= LONG_LIST) return 1 + prefix - SHORT_LIST;
  const digits = prefix - LONG_LIST;
  if (at + 1 + digits > bytes.length) return 'the RLP ends within a length';
  let length = 0;
  for (let i = 1; i <= digits; i++) length = length * 256 + bytes[at + i]!;
  return 1 + digits + length;
}

/** @throws Error or PlumblineError if the bytes are not a block in its canonical encoding */
export function decodeBlock(bytes: Uint8Array): DecodedBlock {
  const items = RLP.decode(bytes) as Item[];
  if (items.length !== 3 && items.length !== 4) throw new Error(`a block has 3 or 4 members, got ${items.length}`);
  const header = headerFromFields(leaves(items[0], 'header'));
  const transactions = list(items[1], 'transactions');
  const uncles = list(items[2], 'uncles').map((uncle) => headerFromFields(leaves(uncle, 'uncle')));
  const withdrawals =
    items.length === 3
      ? undefined
      : list(items[3], 'withdrawals').map((item) => withdrawalFromFields(leaves(item, 'withdrawal')));
  // With leading zeros in integers, two encodings would have the same block hash.
  const members: Item[] = [headerFields(header), transactions, uncles.map(headerFields)];
  if (withdrawals !== undefined) members.push(withdrawals.map(withdrawalFields));
  if (!equalBytes(RLP.encode(members), bytes))
    throw new Error('the block is not encoded canonically: remove leading zeros from its integers');
  return {
    header,
    transactions: transactions.map((item) => (Array.isArray(item) ? RLP.encode(item) : item)),
    uncles,
    withdrawals,
    size: bytes.length,
  };
}

function list(item: Item | undefined, what: string): Item[] {
  if (!Array.isArray(item)) throw new Error(`${what} must be an RLP list`);
  return item;
}

function leaves(item: Item | undefined, what: string): Uint8Array[] {
  const items = list(item, what);
  if (items.some((entry) => Array.isArray(entry))) throw new Error(`${what} must not contain RLP lists`);
  return items as Uint8Array[];
}
