import { RLP } from '@ethereumjs/rlp';
import { isPlumblineError, messageOf, PlumblineError } from '../../errors.js';
import { ELASTICITY, GAS_PER_BLOB, nextExcessBlobGas } from '../../ethereum/base-fee.js';
import { blockAccessListHash, countAccessItems, maxAccessItems } from '../../ethereum/block-access-list.js';
import { EMPTY_UNCLES_HASH, MAX_EXTRA_DATA } from '../../ethereum/constants.js';
import { type BlockHeader, headerFields, headerFromFields, headerHash } from '../../ethereum/header.js';
import {
  orderedTrieRoot,
  type Withdrawal,
  withdrawalFields,
  withdrawalFromFields,
  withdrawalsRoot,
} from '../../ethereum/ordered-trie.js';
import { loadSignerRecovery } from '../../ethereum/signer.js';
import { parseSignedTransaction, type SignedTransaction } from '../../ethereum/transaction.js';
import { contextOfHeader, nextBlockBaseFee } from '../../evm/block-context.js';
import { type Rules, rulesAt } from '../../evm/common.js';
import { keccak256 } from '../../kernel/keccak.js';
import type { Network } from '../../networks/network.js';
import { equalBytes, isZeroBytes, plainBytes } from '../../primitives/bytes.js';
import { bytesToHex } from '../../primitives/hex.js';
import { nextTurn } from '../../scheduling/turns.js';
import type { Block } from '../block.js';
import { type BlockExecution, executeBlock, receiptsOf } from './mining/block-execution.js';
import { type BlockRecord, blockWithHash } from './records/block-record.js';
import type { Ledger } from './records/ledger.js';
import type { DevnetState } from './state/devnet-state.js';

/**
 * Checks one block of a file, executes it and applies it to the state. An invalid block leaves the state as it was.
 *
 * @returns undefined if the chain holds the block already
 * @throws PlumblineError `BLOCK_INVALID` with the block and what differs
 */
async function importBlock(
  network: Network,
  ledger: Ledger,
  state: DevnetState,
  piece: BlockPiece,
): Promise<BlockRecord | undefined> {
  const parent = ledger.head;
  const decoded = read(piece, parent.header.number);
  const { header, uncles, withdrawals = [] } = decoded;
  const rules = rulesAt(network, header.number, header.timestamp);
  if (isHeld(ledger, decoded)) return undefined;
  const check = new BlockCheck(decoded, parent, rules);
  check.header();
  check.body(ledger);
  const transactions = decoded.transactions.map((raw, index) => parse(raw, network.chainId, rules, check, index));
  const context = contextOfHeader(header, ledger.blockHash, network);
  try {
    const plan = { context, transactions, uncles, withdrawals, needsQueues: true };
    const execution = await executeBlock(network, state, plan, (error, _transaction, index) => {
      throw refusedTransaction(check, index, error);
    });
    check.execution(execution);
    const { changes } = execution;
    const { stateRoot, zkRoot } = await state.apply(header.number, changes);
    check.same('stateRoot', stateRoot, header.stateRoot);
    const block = blockWithHash({ header, transactions, uncles, withdrawals });
    const receipts = receiptsOf(block, execution);
    return { block, receipts, changes, zkRoot, imported: true, ...(uncles.length > 0 && { uncles }) };
  } catch (error) {
    state.revertTo(parent.header.number, parent.header.stateRoot);
    if (isPlumblineError(error, 'EXECUTION_FAILED')) {
      throw check.invalid('execution', 'system calls that succeed', error.message, error);
    }
    throw error;
  }
}

function read(piece: BlockPiece, head: number): DecodedBlock {
  const rlp = (actual: string, cause?: unknown) =>
    invalidBlock(head + 1, head, { what: 'RLP', expected: 'a block', actual }, cause);
  if ('problem' in piece) throw rlp(piece.problem);
  try {
    return decodeBlock(piece.bytes);
  } catch (cause) {
    throw rlp(messageOf(cause), cause);
  }
}

/** A file may begin with the genesis block, or with blocks that were imported before. */
function isHeld(ledger: Ledger, { header }: DecodedBlock): boolean {
  const held = ledger.hashOf(header.number);
  return held !== undefined && equalBytes(held, headerHash(header));
}

function parse(raw: Uint8Array, chainId: number, rules: Rules, check: BlockCheck, index: number): SignedTransaction {
  try {
    return parseSignedTransaction(raw, chainId, { blobs: true, frontier: !rules.homestead });
  } catch (error) {
    throw refusedTransaction(check, index, error);
  }
}

function refusedTransaction(check: BlockCheck, index: number, error: unknown): unknown {
  const refused = isPlumblineError(error, 'TRANSACTION_REJECTED') || isPlumblineError(error, 'INSUFFICIENT_FUNDS');
  if (!refused) return error;
  return check.invalid(`transaction ${index}`, 'one that may run', error.message, error);
}

/** Result of an import. */
export interface ImportResult {
  /** Number of new blocks. */
  readonly imported: number;
  /** Number of the newest block. */
  readonly head: number;
}

/**
 * Imports concatenated RLP blocks in order. Each import is atomic: the block is appended, stored and finalized, or
 * nothing changes. The import ends at the first invalid block; the blocks before it stay.
 *
 * @param append - makes a block the head
 * @param onProgress - called with the share of the bytes that is done, 0 to 1
 * @throws PlumblineError `BLOCK_INVALID` with the block, what differs, and the head
 */
export async function importChain(
  parts: { readonly network: Network; readonly ledger: Ledger; readonly state: DevnetState },
  bytes: Uint8Array,
  append: (record: BlockRecord) => Promise<void>,
  onProgress: (fraction: number) => void = () => {},
): Promise<ImportResult> {
  const { network, ledger, state } = parts;
  let imported = 0;
  await loadSignerRecovery();
  for (const piece of splitBlocks(bytes)) {
    await nextTurn();
    const record = await importBlock(network, ledger, state, piece);
    if (record !== undefined) {
      await append(record);
      imported++;
    }
    onProgress(piece.end / bytes.length);
  }
  return { imported, head: ledger.head.header.number };
}

const MIN_GAS_LIMIT = 5_000n;
const GAS_LIMIT_DENOMINATOR = 1_024n;
const MAX_UNCLES = 2;
const UNCLE_GENERATIONS = 6;
/** From Osaka on: 10 MiB, less 2 MiB for the beacon block around it (EIP-7934). */
const MAX_BLOCK_BYTES = 8_388_608;

type Value = Uint8Array | bigint | number | boolean | string | undefined;

/** Compares a block with what follows from its parent, and throws where they differ. */
class BlockCheck {
  constructor(
    private readonly decoded: DecodedBlock,
    private readonly parent: Block,
    private readonly rules: Rules,
  ) {}

  /**
   * Checks the header against its parent and the rules in force. Proof of work is not checked.
   *
   * @throws PlumblineError `BLOCK_INVALID`, as every check here
   */
  header(): void {
    const { header, size } = this.decoded;
    const { rules, parent } = this;
    const before = parent.header;
    this.same('parentHash', parent.hash, header.parentHash);
    this.same('number', before.number + 1, header.number);
    this.holds('timestamp', `above ${before.timestamp}`, header.timestamp, header.timestamp > before.timestamp);
    this.holds(
      'extraData',
      `at most ${MAX_EXTRA_DATA} bytes`,
      header.extraData,
      header.extraData.length <= MAX_EXTRA_DATA,
    );
    this.holds('gasUsed', `at most ${header.gasLimit}`, header.gasUsed, header.gasUsed <= header.gasLimit);
    this.gasLimit();
    this.members();
    this.same('baseFeePerGas', nextBlockBaseFee(before, rules), header.baseFeePerGas);
    if (rules.paris) {
      this.same('difficulty', 0n, header.difficulty);
      this.same('nonce', new Uint8Array(8), header.nonce);
      this.same('sha3Uncles', EMPTY_UNCLES_HASH, header.sha3Uncles);
    } else this.holds('difficulty', 'above zero', header.difficulty, header.difficulty > 0n);
    if (rules.cancun) this.blobGas();
    if (rules.osaka) this.holds('size', `at most ${MAX_BLOCK_BYTES} bytes`, size, size <= MAX_BLOCK_BYTES);
  }

  /** Checks transactions, uncles and withdrawals against the roots in the header. */
  body(ledger: Ledger): void {
    const { header, transactions, uncles, withdrawals } = this.decoded;
    this.same('transactionsRoot', orderedTrieRoot(transactions), header.transactionsRoot);
    this.same('sha3Uncles', keccak256(RLP.encode(uncles.map(headerFields))), header.sha3Uncles);
    this.same('withdrawals', this.rules.shanghai, withdrawals !== undefined);
    if (withdrawals !== undefined) {
      this.same('withdrawalsRoot', withdrawalsRoot(withdrawals), header.withdrawalsRoot);
    }
    this.holds('uncles', `at most ${MAX_UNCLES}`, uncles.length, uncles.length <= MAX_UNCLES);
    this.uncles(ledger);
  }

  /** Checks the result of the execution against the header. */
  execution({ gasUsed, blobGasUsed, receiptsRoot, logsBloom, requestsHash, accessList }: BlockExecution): void {
    const { header } = this.decoded;
    this.same('gasUsed', gasUsed, header.gasUsed);
    this.same('receiptsRoot', receiptsRoot, header.receiptsRoot);
    this.same('logsBloom', logsBloom, header.logsBloom);
    if (this.rules.cancun) this.same('blobGasUsed', blobGasUsed, header.blobGasUsed);
    this.same('requestsHash', requestsHash, header.requestsHash);
    if (accessList === undefined) return;
    const [items, most] = [countAccessItems(accessList), maxAccessItems(header.gasLimit)];
    this.holds('length of the access list', `at most ${most}`, items, items <= most);
    this.same('blockAccessListHash', blockAccessListHash(accessList), header.blockAccessListHash);
  }

  /** @throws PlumblineError `BLOCK_INVALID` unless both values are equal */
  same(what: string, expected: Value, actual: Value): void {
    const equal =
      expected instanceof Uint8Array && actual instanceof Uint8Array
        ? equalBytes(expected, actual)
        : expected === actual;
    if (!equal) throw this.invalid(what, show(expected), show(actual));
  }

  invalid(what: string, expected: string, actual: string, cause?: unknown): PlumblineError<'BLOCK_INVALID'> {
    return invalidBlock(this.decoded.header.number, this.parent.header.number, { what, expected, actual }, cause);
  }

  private holds(what: string, expected: string, actual: Value, holds: boolean): void {
    if (!holds) throw this.invalid(what, expected, show(actual));
  }

  /**
   * The limit moves by less than 1/1024 of the parent's. At the first block of London the parent's limit counts twice.
   */
  private gasLimit(): void {
    const { gasLimit } = this.decoded.header;
    const { gasLimit: held, baseFeePerGas } = this.parent.header;
    const base = this.rules.london && baseFeePerGas === undefined ? held * ELASTICITY : held;
    const step = base / GAS_LIMIT_DENOMINATOR;
    const near = gasLimit > base - step && gasLimit < base + step;
    this.holds(
      'gasLimit',
      `nearer than ${step} to ${base}, at least ${MIN_GAS_LIMIT}`,
      gasLimit,
      near && gasLimit >= MIN_GAS_LIMIT,
    );
  }

  /** Header fields that forks added: each is present from its fork on, and absent before. */
  private members(): void {
    const { header } = this.decoded;
    const { london, shanghai, cancun, prague, amsterdam } = this.rules;
    this.same('presence of baseFeePerGas', london, header.baseFeePerGas !== undefined);
    this.same('presence of withdrawalsRoot', shanghai, header.withdrawalsRoot !== undefined);
    this.same('presence of excessBlobGas', cancun, header.excessBlobGas !== undefined);
    this.same('presence of requestsHash', prague, header.requestsHash !== undefined);
    // The slot number is there with it. Any number may be.
    this.same('presence of blockAccessListHash', amsterdam, header.blockAccessListHash !== undefined);
  }

  private blobGas(): void {
    const { blobs, osaka } = this.rules;
    const { excessBlobGas, blobGasUsed = 0n } = this.decoded.header;
    const excess = blobs === undefined ? 0n : nextExcessBlobGas(this.parent.header, blobs, osaka);
    this.same('excessBlobGas', excess, excessBlobGas);
    const limit = GAS_PER_BLOB * BigInt(blobs?.max ?? 0);
    this.holds('blobGasUsed', `at most ${limit}`, blobGasUsed, blobGasUsed <= limit);
  }

  /**
   * Each uncle is 1 to 6 blocks back, has a parent on this chain, is not itself on this chain, and is included once
   * only.
   */
  private uncles(ledger: Ledger): void {
    const { header, uncles } = this.decoded;
    const hashes = new Set<string>();
    for (const [index, uncle] of uncles.entries()) {
      const what = `uncle ${index}`;
      const depth = header.number - uncle.number;
      this.holds(what, `1 to ${UNCLE_GENERATIONS} blocks back`, depth, depth >= 1 && depth <= UNCLE_GENERATIONS);
      this.same(`parent of ${what}`, ledger.hashOf(uncle.number - 1), uncle.parentHash);
      const hash = headerHash(uncle);
      this.holds(what, 'no block of the chain', hash, ledger.blockByHash(hash) === undefined);
      for (let back = 1; back <= UNCLE_GENERATIONS; back++) {
        const known = ledger.blockByNumber(header.number - back)?.uncles ?? [];
        for (const other of known) this.holds(what, 'an uncle of no other block', hash, !equalBytes(other, hash));
      }
      hashes.add(bytesToHex(hash));
    }
    this.same('number of different uncles', uncles.length, hashes.size);
  }
}

/** @param head - number of the newest block; the invalid block does not change it */
function invalidBlock(
  block: number,
  head: number,
  { what, expected, actual }: { what: string; expected: string; actual: string },
  cause?: unknown,
): PlumblineError<'BLOCK_INVALID'> {
  const text = `block ${block} is invalid: ${what} is ${actual}, expected ${expected}`;
  return new PlumblineError('BLOCK_INVALID', text, { block, what, expected, actual, head }, { cause });
}

function show(value: Value): string {
  if (!(value instanceof Uint8Array)) return String(value ?? 'none');
  return isZeroBytes(value) && value.length > 32 ? 'zero' : bytesToHex(value);
}

type Item = Uint8Array | Item[];

/** A block decoded from RLP. Its transactions stay encoded, as the block carries them. */
interface DecodedBlock {
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
type BlockPiece =
  | { readonly bytes: Uint8Array; readonly end: number }
  | { readonly problem: string; readonly end: number };

/** Splits concatenated RLP lists without decoding them. It ends after a problem. */
function* splitBlocks(file: Uint8Array): Generator<BlockPiece> {
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
function decodeBlock(bytes: Uint8Array): DecodedBlock {
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
