import { isPlumblineError, messageOf, PlumblineError } from '../../../errors.js';
import { nextExcessBlobGas } from '../../../ethereum/base-fee.js';
import { blockAccessListHash, countAccessItems, maxAccessItems } from '../../../ethereum/block-access-list.js';
import { EMPTY_TRIE_ROOT, EMPTY_UNCLES_HASH } from '../../../ethereum/constants.js';
import type { BlockHeader } from '../../../ethereum/header.js';
import { orderedTrieRoot } from '../../../ethereum/ordered-trie.js';
import type { SignedTransaction } from '../../../ethereum/transaction.js';
import { type BlockContext, type PendingOptions, pendingContext } from '../../../evm/block-context.js';
import { defaultPrices, encodeExtraData, parseExtraData } from '../../../fees/prices.js';
import { keccak256 } from '../../../kernel/keccak.js';
import type { Network } from '../../../networks/network.js';
import { ZERO_WORD } from '../../../primitives/bytes.js';
import type { Block } from '../../block.js';
import type { CurrentPrices } from '../../chain.js';
import { type BlockRecord, blockWithHash } from '../records/block-record.js';
import type { Ledger } from '../records/ledger.js';
import type { MakingSettings } from '../settings.js';
import type { BlockState } from '../state/devnet-state.js';
import {
  type BlockExecution,
  type BlockPlan,
  type Executed,
  executeBlock,
  isRefusal,
  receiptsOf,
} from './block-execution.js';

export type { BlockPlan } from './block-execution.js';

/** A sealed block, and transactions that were dropped because they can never run. */
export interface SealedBlock {
  readonly record: BlockRecord;
  /** Its transactions, in order. */
  readonly executed: readonly Executed[];
  readonly dropped: readonly { readonly transaction: SignedTransaction; readonly reason: string }[];
}

/**
 * Executes transactions on the head's state, applies the result to the state and builds the block. Transactions that
 * cannot run, or not yet, are left out.
 */
export async function sealBlock(
  settings: MakingSettings,
  ledger: Ledger,
  state: BlockState,
  plan: BlockPlan,
): Promise<SealedBlock> {
  const dropped: SealedBlock['dropped'][number][] = [];
  const execution = await executeBlock(settings.network, state, plan, (error, transaction) => {
    // It passed admission; earlier transactions of the block may have changed the state since.
    if (!isRefusal(error)) throw error;
    if (!mayRunLater(error)) dropped.push({ transaction, reason: messageOf(error) });
  });
  const { changes, executed } = execution;
  requireShortList(execution);
  const roots = await state.apply(plan.context.number, changes);
  const transactions = executed.map(({ transaction }) => transaction);
  const header: BlockHeader = {
    ...unsignedHeader(settings, ledger, execution),
    stateRoot: roots.stateRoot,
    transactionsRoot: orderedTrieRoot(transactions.map(({ raw }) => raw)),
  };
  const block = blockWithHash({ header, transactions, uncles: [], withdrawals: [] }, plan.edits);
  return {
    record: { block, receipts: receiptsOf(block, execution), changes, zkRoot: roots.zkRoot },
    executed,
    dropped,
  };
}

/** The header without its state and transactions roots. Fields of later forks are set only if the rules have them. */
function unsignedHeader(settings: MakingSettings, ledger: Ledger, execution: BlockExecution) {
  const { rules, context } = execution;
  const parent = ledger.head;
  return {
    parentHash: parent.hash,
    sha3Uncles: EMPTY_UNCLES_HASH,
    miner: context.coinbase,
    receiptsRoot: execution.receiptsRoot,
    logsBloom: execution.logsBloom,
    difficulty: context.difficulty ?? 0n,
    number: context.number,
    gasLimit: context.gasLimit,
    gasUsed: execution.gasUsed,
    timestamp: context.timestamp,
    extraData: settings.prices === undefined ? new Uint8Array(0) : encodeExtraData(settings.prices),
    mixHash: context.prevRandao,
    nonce: new Uint8Array(8),
    ...(rules.london && { baseFeePerGas: context.baseFeePerGas }),
    ...(rules.shanghai && { withdrawalsRoot: EMPTY_TRIE_ROOT }),
    ...(rules.cancun && {
      blobGasUsed: execution.blobGasUsed,
      excessBlobGas: rules.blobs === undefined ? 0n : nextExcessBlobGas(parent.header, rules.blobs, rules.osaka),
      parentBeaconBlockRoot: context.parentBeaconBlockRoot ?? ZERO_WORD,
    }),
    ...(execution.requestsHash !== undefined && { requestsHash: execution.requestsHash }),
    ...(execution.accessList !== undefined && {
      blockAccessListHash: blockAccessListHash(execution.accessList),
      slotNumber: context.slotNumber ?? 0n,
    }),
  };
}

/** @throws PlumblineError `EXECUTION_FAILED` for a block whose gas limit is too low for its access list (EIP-7928) */
function requireShortList({ accessList = [], context: { gasLimit, number } }: BlockExecution): void {
  const [items, most] = [countAccessItems(accessList), maxAccessItems(gasLimit)];
  if (items <= most) return;
  const reason = `block ${number} accesses ${items} accounts and slots, its gas limit of ${gasLimit} allows ${most}; raise the gas limit`;
  throw new PlumblineError('EXECUTION_FAILED', reason, { reason });
}

/** True if the block is full, costs more than the transaction pays, or if an earlier transaction of the sender was left out. */
function mayRunLater(error: unknown): boolean {
  if (!isPlumblineError(error, 'TRANSACTION_REJECTED')) return false;
  const { rule } = error.details;
  return rule === 'block-gas-limit' || rule === 'gas-price' || rule === 'nonce-too-high';
}

/**
 * Prices in a header, else the defaults of the network profile (docs/spec/fees.md 3). Either all headers of a devnet carry
 * prices or none does, so older headers need not be read.
 */
export function currentPrices(network: Network, head: BlockHeader): CurrentPrices {
  const reading = parseExtraData(head.extraData);
  if (reading.status === 'prices') return { prices: reading.prices, sourceBlock: head.number };
  return { prices: defaultPrices(network), sourceBlock: undefined };
}

/**
 * Context of the block after `parent`. The random value of a devnet is the hash of the parent's hash, so that it differs in
 * each block, and can be repeated.
 */
export function contextAfter(parent: Block, network: Network, options: PendingOptions): BlockContext {
  const { prevRandao = keccak256(parent.hash) } = options;
  return pendingContext(parent.header, network, { ...options, prevRandao });
}
