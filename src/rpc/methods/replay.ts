import type { Block, TransactionReceipt } from '../../chain/block.js';
import { applyEdits } from '../../chain/state-edits.js';
import { PlumblineError } from '../../errors.js';
import type { BlockContext } from '../../evm/block-context.js';
import { Machine } from '../../evm/machine.js';
import { RunBudget } from '../../evm/run-budget.js';
import { StateOverlay } from '../../evm/state-overlay.js';
import { runSystemCalls } from '../../evm/system-calls.js';
import { runTransaction } from '../../evm/transaction.js';
import type { RunOptions, TransactionOutcome } from '../../evm/transaction-message.js';
import type { Network } from '../../networks/network.js';
import { equalBytes } from '../../primitives/bytes.js';
import type { MethodCallOptions } from '../method.js';
import { withBody } from '../resolve-block.js';
import type { RpcContext } from './context.js';

/** A block that is run again. */
export interface Replay {
  readonly block: Block;
  /** With the chain id of the block, which a devnet may have changed since. */
  readonly network: Network;
  readonly context: BlockContext;
  /** The state after the transactions that ran so far. */
  readonly state: StateOverlay;
  /** Runs the block's next transaction, plainly or as `run` does. @throws PlumblineError `STATE_MISMATCH` */
  next(call: MethodCallOptions, run?: ReplayedRun): Promise<void>;
}

/** Runs one transaction and keeps what it writes. `firstLogIndex`: number of logs of the block before it. */
export type ReplayedRun = (
  transaction: Block['transactions'][number],
  options: RunOptions,
  firstLogIndex: number,
) => Promise<TransactionOutcome>;

/**
 * Opens a block to run its transactions again, on the state after its parent and the system calls. Each one has to end as
 * its receipt says.
 *
 * @throws PlumblineError `BLOCK_INCOMPLETE` for genesis, and without the parent
 * @source docs/spec/preview.md 5.2
 */
export async function openReplay(rpc: RpcContext, found: Block, call: MethodCallOptions): Promise<Replay> {
  const { chain, maxAnswerBytes } = rpc;
  if (found.header.number === 0) throw incomplete(found, 'genesis is not traceable');
  const [block, receipts, parent] = await Promise.all([
    withBody(rpc, found, call),
    chain.receipts(found, call),
    chain.block({ hash: found.header.parentHash }, call),
  ]);
  if (parent === undefined) {
    throw incomplete(found, `the state before block ${found.header.number} cannot be had: its parent is not known`);
  }
  const state = new StateOverlay(await chain.stateBefore(found, parent, call));
  await applyEdits(state, block.edits ?? []);
  const context = chain.contextOf(block);
  const own = block.transactions.find(({ chainId }) => chainId !== undefined)?.chainId;
  const network = own === undefined ? chain.network : { ...chain.network, chainId: Number(own) };
  const onMachine = async <T>(run: (machine: Machine) => Promise<T>): Promise<T> => {
    const machine = await Machine.open(network, context, state);
    try {
      return await run(machine);
    } finally {
      machine.close();
    }
  };
  await onMachine((machine) => runSystemCalls(machine));
  let index = 0;
  let logs = 0;
  return {
    block,
    network,
    context,
    state,
    async next({ signal, gas }, run) {
      const transaction = block.transactions[index]!;
      const leniency = { contractSender: transaction.impersonated === true };
      const options = { leniency, budget: new RunBudget({ signal, gas, maxAnswerBytes }) };
      const outcome = await (run?.(transaction, options, logs) ??
        onMachine((machine) => runTransaction(machine, transaction, options)));
      requireSame(outcome, receipts[index]!, block.header.number);
      index++;
      logs += outcome.logs.length;
    },
  };
}

function incomplete({ header }: Block, reason: string): PlumblineError<'BLOCK_INCOMPLETE'> {
  return new PlumblineError('BLOCK_INCOMPLETE', reason, { block: header.number, reason });
}

/** Changes of the state by a devnet's developer methods are not transactions, so such a block may not run again. */
function requireSame(outcome: TransactionOutcome, receipt: TransactionReceipt, block: number): void {
  const same =
    outcome.succeeded === receipt.succeeded &&
    outcome.gasUsed === receipt.gasUsed &&
    outcome.logs.length === receipt.logs.length &&
    outcome.logs.every((log, i) => {
      const other = receipt.logs[i]!;
      return (
        equalBytes(log.address, other.address) &&
        equalBytes(log.data, other.data) &&
        log.topics.length === other.topics.length &&
        log.topics.every((topic, at) => equalBytes(topic, other.topics[at]!))
      );
    });
  if (same) return;
  const what = `transaction ${receipt.index} of block ${block}`;
  const details = { what, expected: `gas ${receipt.gasUsed}`, actual: `gas ${outcome.gasUsed}` };
  throw new PlumblineError('STATE_MISMATCH', `${what} does not end as its receipt says when it is run again`, details);
}
