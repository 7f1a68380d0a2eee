import { PlumblineError } from '../../errors.js';
import { type EvmKernel, RUN_STATUS } from '../../kernel/evm.js';
import { loadOnce } from '../../scheduling/load-once.js';
import type { RunCounts } from './counters.js';
import { handInWanted } from './handing-in.js';
import type { Machine } from './machine.js';
import type { RunBudget } from './run-budget.js';

const loadPrecompiles = loadOnce(() => import('../precompiles/precompiles.js'));

/**
 * Runs the started transaction of a kernel to its end. Whenever the kernel returns, it gets what it waits for, and the
 * thread is yielded from time to time.
 *
 * @param counts - receives the calls of precompiles
 * @throws PlumblineError `GAS_BUDGET_EXCEEDED`, `ABORTED`, `EXECUTION_FAILED` without memory, and errors of reading the
 *   state. The caller must roll the kernel back
 */
export async function runToEnd(
  machine: Machine,
  kernel: EvmKernel,
  budget: RunBudget,
  counts: RunCounts | undefined,
): Promise<void> {
  for (;;) {
    // Also before the first slice: many short runs hold the thread as long as a long one.
    const pause = budget.pause();
    if (pause !== undefined) await pause;
    const began = performance.now();
    const status = kernel.run(budget.nextSlice);
    budget.spend(kernel.spent);
    machine.takeTrace(kernel);
    switch (status) {
      case RUN_STATUS.done:
        return;
      case RUN_STATUS.slice:
        budget.measured(performance.now() - began);
        break;
      case RUN_STATUS.traceFull:
        break;
      case RUN_STATUS.wants:
        await handInWanted(machine, kernel);
        break;
      case RUN_STATUS.precompile:
        await answerPrecompile(machine, kernel, budget, counts);
        break;
      default: {
        const reason = 'the execution needs more memory than there is';
        throw new PlumblineError('EXECUTION_FAILED', reason, { reason });
      }
    }
  }
}

async function answerPrecompile(
  { rules }: Machine,
  kernel: EvmKernel,
  budget: RunBudget,
  counts: RunCounts | undefined,
): Promise<void> {
  const { id, gas, input } = kernel.precompileCall();
  const { runPrecompile, PRECOMPILE_LINES } = await loadPrecompiles();
  const running = runPrecompile(id, input, gas, rules, budget.pause);
  const result = running instanceof Promise ? await running : running;
  if (counts !== undefined) PRECOMPILE_LINES.get(id)?.(counts, input, result.succeeded);
  kernel.answerPrecompile(result.succeeded, result.gasUsed, result.output);
}
