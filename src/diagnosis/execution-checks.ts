import { isPlumblineError } from '../errors.js';
import { type LineCount, lineCounts } from '../estimate/line-counts.js';
import { callFailureOf } from '../evm/calls/revert-reason.js';
import { Machine } from '../evm/interpreter/machine.js';
import { RunBudget, type RunLimits } from '../evm/interpreter/run-budget.js';
import { StateOverlay } from '../evm/state/state-overlay.js';
import { simulateTransaction } from '../evm/transactions/transaction.js';
import type { TransactionOutcome } from '../evm/transactions/transaction-message.js';
import { UNCOUNTED_MODULES } from '../networks/module-limits.js';
import type { Network } from '../networks/network.js';
import type { Conditions } from './conditions.js';
import { type CompleteTransaction, signedBytes } from './diagnosed-transaction.js';
import type { Finding } from './finding.js';

/** A run in the next block, and what it counts of the limits of the prover, alone in a block. */
export interface CountedRun {
  readonly outcome: TransactionOutcome;
  readonly lines: readonly LineCount[];
}

/**
 * Runs the transaction in the next block, after nothing else. What the other checks judge is left to them: nonce, price, balance,
 * kind of sender.
 *
 * @returns why it cannot run, if so
 */
export async function executed(
  candidate: CompleteTransaction,
  { context, state }: Conditions,
  network: Network,
  limits: RunLimits,
): Promise<CountedRun | string> {
  if (candidate.gasLimit > network.rpcGasCap)
    return `it was not executed: its gas limit is above ${network.rpcGasCap}, the most for a simulated run`;
  const machine = await Machine.open(network, context, new StateOverlay(state));
  const leniency = { nonce: 'any', lowPrice: true, unfunded: true, contractSender: true, gasAboveCap: true } as const;
  try {
    const budget = new RunBudget(limits);
    const outcome = await simulateTransaction(machine, candidate, { leniency, counting: true, budget });
    const { logs, counts = {} } = outcome;
    return { outcome, lines: lineCounts({ signedBytes: signedBytes(candidate).length, logs, counts }, network) };
  } catch (error) {
    if (!isPlumblineError(error, 'TRANSACTION_REJECTED') && !isPlumblineError(error, 'INSUFFICIENT_FUNDS')) throw error;
    return `it was not executed: ${error.message}`;
  } finally {
    machine.close();
  }
}

export function outcomeCheck(outcome: TransactionOutcome): Finding {
  if (outcome.succeeded) return { check: 'execution', outcome: 'ok' };
  return { check: 'execution', outcome: 'fails', reason: callFailureOf(outcome).message };
}

/** The limit that is exceeded most, or that the transaction comes nearest to; and that others cannot be counted. */
export function lineChecks(lines: readonly LineCount[]): readonly Finding[] {
  const share = ({ count, limit }: LineCount) => (count === 0 ? 0 : count / limit);
  const nearest = [...lines].sort((a, b) => share(b) - share(a))[0];
  if (nearest === undefined) return [];
  const { module, count, limit } = nearest;
  const reason = `only the arithmetization of the network counts ${UNCOUNTED_MODULES.length} more modules, such as HUB`;
  return [
    {
      check: 'line-counts',
      outcome: count <= limit ? 'ok' : 'fails',
      found: BigInt(count),
      needed: BigInt(limit),
      reason: module,
    },
    { check: 'uncounted-lines', outcome: 'unknown', reason },
  ];
}
