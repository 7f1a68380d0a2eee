import { isPlumblineError, messageOf } from '../../../errors.js';
import { headerHash } from '../../../ethereum/header.js';
import { loadSignerRecovery } from '../../../ethereum/signer.js';
import { parseSignedTransaction, type SignedTransaction } from '../../../ethereum/transaction.js';
import { contextOfHeader } from '../../../evm/block-context.js';
import { type Rules, rulesAt } from '../../../evm/common.js';
import type { Network } from '../../../networks/network.js';
import { equalBytes } from '../../../primitives/bytes.js';
import { nextTurn } from '../../../scheduling/turns.js';
import { executeBlock, receiptsOf } from '../mining/block-execution.js';
import { type BlockRecord, blockWithHash } from '../records/block-record.js';
import type { Ledger } from '../records/ledger.js';
import type { DevnetState } from '../state/devnet-state.js';
import { BlockCheck, invalidBlock } from './import-checks.js';
import { type BlockPiece, type DecodedBlock, decodeBlock, splitBlocks } from './import-decode.js';

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
  await check.body(ledger);
  const transactions = decoded.transactions.map((raw, index) => parse(raw, network.chainId, rules, check, index));
  const context = contextOfHeader(header, ledger.blockHash, network);
  try {
    const plan = { context, transactions, uncles, withdrawals };
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
