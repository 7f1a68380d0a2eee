import { transactionMessageOf } from '../../../evm/calls/call.js';
import { RunBudget } from '../../../evm/interpreter/run-budget.js';
import { previewCalls } from '../../../preview/preview-calls.js';
import { ZERO_ADDRESS } from '../../../primitives/bytes.js';
import type { PlannedPreview } from '../../chain.js';
import type { AccessSet } from './access-set.js';
import { GuessingReader } from './guessing-reader.js';
import type { ProvedState } from './proved-state.js';
import { repeatCalls } from './repeat-calls.js';
import { SPECULATIVE_RUN_GAS, type SpeculativeCall } from './speculative-execution.js';

/** Most accounts and slots in the result. */
const MAX_ACCESSES = 512;
/** Most bytes of traces, as JSON: longer ones need memory, and show little that is new. */
const MAX_ANSWER_BYTES = 4 * 2 ** 20;

/**
 * The unknown accounts, slots and code that a preview will probably read: those of its calls, and those of what it asks contracts
 * afterwards.
 *
 * @throws PlumblineError as `executeSpeculatively`
 */
export async function previewSpeculatively(
  state: ProvedState,
  speculative: SpeculativeCall & { readonly preview: PlannedPreview },
): Promise<AccessSet> {
  const { network, overrides, preview } = speculative;
  const { calls, watch, context: block } = preview;
  const senders = calls.map(({ from = ZERO_ADDRESS }) => from);
  const reader = new GuessingReader(state, senders, [block.coinbase], MAX_ACCESSES);
  return repeatCalls(reader, speculative, (limits, speculativeRun) => {
    const budget = new RunBudget({ ...limits, maxAnswerBytes: MAX_ANSWER_BYTES });
    const base = { network, block, state: reader, overrides, watch, budget, speculativeRun };
    return previewCalls(base, calls.length, async (index, before) => {
      const { nonce: _, ...call } = calls[index]!;
      const nonce = (await before.account(call.from ?? ZERO_ADDRESS))?.nonce ?? 0n;
      return transactionMessageOf(call, { gasLimit: SPECULATIVE_RUN_GAS, nonce, price: 0n, free: true });
    });
  });
}
