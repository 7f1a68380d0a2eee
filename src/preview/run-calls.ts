import { createdAddress } from '../ethereum/encode-transaction.js';
import type { BlockContext } from '../evm/block-context.js';
import { FREE_RUN, type SimulationRules } from '../evm/call.js';
import type { SupposedSignature } from '../evm/machine.js';
import { precompileOverrides } from '../evm/overrides.js';
import type { RunBudget } from '../evm/run-budget.js';
import type { SpeculativeRun } from '../evm/simulation.js';
import { type AccountChange, StateOverlay } from '../evm/state-overlay.js';
import type { StateReader } from '../evm/state-reader.js';
import { callTracer } from '../evm/tracing/call-tracer.js';
import { type AnswerSize, traceTransaction } from '../evm/tracing/trace-transaction.js';
import type { CallFrame } from '../evm/tracing/tracer.js';
import type { TransactionMessage, TransactionOutcome } from '../evm/transaction-message.js';
import type { Network } from '../networks/network.js';
import type { StateOverrides } from '../primitives/call-request.js';
import type { Hex } from '../primitives/hex.js';
import type { ErrorSignature } from './custom-errors.js';
import type { KnownNames } from './preview.js';

/** Where calls are previewed. */
export interface PreviewBase {
  readonly network: SimulationRules & Pick<Network, 'slotSeconds' | 'messageService'>;
  /** Context of the block that the calls would be in. */
  readonly block: BlockContext;
  /** The state before it. */
  readonly state: StateReader;
  readonly overrides?: StateOverrides | undefined;
  readonly budget: RunBudget;
  /** Accounts whose balances are shown besides those of the senders. */
  readonly watch?: readonly Hex[] | undefined;
  /** Errors of contracts that may occur. */
  readonly errors?: readonly ErrorSignature[] | undefined;
  /** Tokens and addresses that the caller knows. */
  readonly known?: KnownNames | undefined;
  /** Whose assets and rights count, in place of the senders, of accounts of authorizations and of `watch`. */
  readonly users?: readonly Hex[] | undefined;
  /** A signature that the calls suppose to be given. */
  readonly supposed?: SupposedSignature | undefined;
  /** The calls run without a fee, and funds and nonces are not checked: who will send them is not known. */
  readonly isFree?: boolean | undefined;
  /** Of a preview whose outcome does not count: nothing is paid, and funds and nonces are not checked. */
  readonly speculativeRun?: SpeculativeRun | undefined;
}

/** Gives the transaction of the call with this index, on the state that the calls before it left. */
export type MessageOf = (index: number, state: StateReader) => Promise<TransactionMessage>;

/** A call that ran. */
export interface Ran {
  readonly message: TransactionMessage;
  readonly outcome: TransactionOutcome;
  readonly tree: CallFrame;
  readonly before: StateReader;
  readonly after: StateOverlay;
  readonly changes: readonly AccountChange[];
}

/**
 * Runs calls in order, each on the state that the one before left.
 *
 * @param on - context and state, and the size of what is shown, which grows
 * @param ran - where each call is added when it has run
 * @throws PlumblineError as `previewCalls`
 */
export async function runCalls(
  { network, budget, overrides = [], speculativeRun, supposed, isFree }: PreviewBase,
  { block, state, size }: { readonly block: BlockContext; readonly state: StateReader; readonly size: AnswerSize },
  count: number,
  messageOf: MessageOf,
  ran: Ran[] = [],
): Promise<Ran[]> {
  const machine = { ...precompileOverrides(overrides), supposed };
  for (let i = 0; i < count; i++) {
    const before = ran.at(-1)?.after ?? state;
    const after = new StateOverlay(before);
    const message = await messageOf(i, before);
    const place = { network, block, state: after, isKept: true, machine, size };
    const { from, nonce, to } = message;
    speculativeRun?.begin(to === undefined ? createdAddress({ from, nonce }) : undefined);
    const run = speculativeRun === undefined && isFree !== true ? { budget } : { budget, ...FREE_RUN };
    const { outcome, result } = await traceTransaction(place, callTracer({ withLog: true }), message, run);
    speculativeRun?.ended(outcome.succeeded);
    ran.push({ message, outcome, tree: result as CallFrame, before, after, changes: await after.changes() });
  }
  return ran;
}

/** Of an outcome. */
export const statusOf = ({ succeeded, exception }: TransactionOutcome) =>
  succeeded ? 'success' : exception === 'revert' ? 'reverted' : 'halted';

/** Instructions that read what a simulation could get wrong, by opcode. */
const READS: readonly (readonly [name: string, opcode: number])[] = [
  ['BALANCE', 0x31],
  ['GASPRICE', 0x3a],
  ['BLOCKHASH', 0x40],
  ['COINBASE', 0x41],
  ['TIMESTAMP', 0x42],
  ['NUMBER', 0x43],
  ['DIFFICULTY', 0x44],
  ['GASLIMIT', 0x45],
  ['SELFBALANCE', 0x47],
  ['BASEFEE', 0x48],
  ['BLOBBASEFEE', 0x4a],
  ['SLOTNUM', 0x4b],
  ['GAS', 0x5a],
];

/** Names of the instructions of a run's record. DIFFICULTY is PREVRANDAO since Paris. */
export function environmentReads(record: bigint): string[] {
  if (record === 0n) return [];
  return READS.filter(([, opcode]) => (record >> BigInt(opcode & 63)) & 1n).map(([name]) => name);
}
