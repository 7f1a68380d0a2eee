import { isPlumblineError } from '../../errors.js';
import { type BlockHeader, headerHash } from '../../ethereum/header.js';
import { orderedTrieRoot } from '../../ethereum/ordered-trie.js';
import { encodeReceipt, logsBloom } from '../../ethereum/receipt.js';
import type { SignedTransaction } from '../../ethereum/transaction.js';
import { type BlockContext, pendingContext } from '../../evm/block-context.js';
import { Machine } from '../../evm/machine.js';
import { StateOverlay } from '../../evm/state-overlay.js';
import { runSystemCalls } from '../../evm/system-calls.js';
import { runTransaction } from '../../evm/transaction.js';
import type { TransactionOutcome } from '../../evm/transaction-message.js';
import type { Block, TransactionReceipt } from '../chain.js';
import { type BlockRecord, blockBytes } from './block-record.js';
import type { DevnetState } from './devnet-state.js';
import { constantFields } from './genesis-block.js';
import type { Ledger } from './ledger.js';
import type { DevnetSettings } from './options.js';

interface Executed {
  readonly transaction: SignedTransaction;
  readonly outcome: TransactionOutcome;
}

/**
 * Executes transactions on the head's state, takes the result into the state and makes the block of it. Transactions
 * that may not run any more are left out.
 *
 * @param timestamp - seconds; the clock's, and always after the parent's, when left out
 */
export async function sealBlock(
  settings: DevnetSettings,
  ledger: Ledger,
  state: DevnetState,
  transactions: readonly SignedTransaction[],
  timestamp?: number,
): Promise<BlockRecord> {
  const parent = ledger.head;
  const context: BlockContext = {
    ...pendingContext(parent.header, settings.network, { coinbase: settings.coinbase, blockHash: ledger.blockHash }),
    timestamp: Math.max(timestamp ?? settings.now(), parent.header.timestamp + 1),
  };
  const overlay = new StateOverlay(state.flat.at(parent.header.number));
  const executed = await execute(settings, context, overlay, transactions);
  const changes = await overlay.changes();
  const { stateRoot, zkRoot } = await state.apply(context.number, changes);

  let gasUsed = 0n;
  const consensusReceipts = executed.map(({ transaction, outcome }) => {
    gasUsed += outcome.gasUsed;
    const { succeeded, logs } = outcome;
    return { type: transaction.type, succeeded, logs, cumulativeGasUsed: gasUsed };
  });
  const included = executed.map(({ transaction }) => transaction);
  const header: BlockHeader = {
    ...constantFields(settings),
    parentHash: parent.hash,
    stateRoot,
    transactionsRoot: await orderedTrieRoot(included.map(({ raw }) => raw)),
    receiptsRoot: await orderedTrieRoot(consensusReceipts.map(encodeReceipt)),
    logsBloom: logsBloom(consensusReceipts.flatMap(({ logs }) => logs)),
    number: context.number,
    gasLimit: context.gasLimit,
    gasUsed,
    timestamp: context.timestamp,
    baseFeePerGas: context.baseFeePerGas,
  };
  const size = blockBytes(header, included).length;
  const block: Block = { header, hash: headerHash(header), transactions: included, size };
  const cumulative = consensusReceipts.map((receipt) => receipt.cumulativeGasUsed);
  return { block, receipts: receiptsOf(block, executed, cumulative), changes, zkRoot };
}

async function execute(
  settings: DevnetSettings,
  context: BlockContext,
  overlay: StateOverlay,
  transactions: readonly SignedTransaction[],
): Promise<Executed[]> {
  const machine = await Machine.open(settings.network, context, overlay);
  await runSystemCalls(machine);
  const executed: Executed[] = [];
  let gasAvailable = context.gasLimit;
  for (const transaction of transactions) {
    try {
      const outcome = await runTransaction(machine, transaction, { gasAvailable });
      gasAvailable -= outcome.gasUsed;
      executed.push({ transaction, outcome });
    } catch (error) {
      // It was fit when it was admitted; what ran before it may have changed that.
      if (!isPlumblineError(error, 'TRANSACTION_REJECTED') && !isPlumblineError(error, 'INSUFFICIENT_FUNDS'))
        throw error;
    }
  }
  return executed;
}

function receiptsOf(block: Block, executed: readonly Executed[], cumulative: readonly bigint[]): TransactionReceipt[] {
  let firstLogIndex = 0;
  return executed.map(({ transaction, outcome }, index) => {
    const receipt: TransactionReceipt = {
      transaction,
      block,
      index,
      succeeded: outcome.succeeded,
      gasUsed: outcome.gasUsed,
      cumulativeGasUsed: cumulative[index]!,
      effectiveGasPrice: outcome.effectiveGasPrice,
      contractAddress: outcome.createdAddress,
      logs: outcome.logs,
      firstLogIndex,
    };
    firstLogIndex += outcome.logs.length;
    return receipt;
  });
}
