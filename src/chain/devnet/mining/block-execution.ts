import { isPlumblineError, PlumblineError } from '../../../errors.js';
import { GAS_PER_BLOB } from '../../../ethereum/base-fee.js';
import { BlockAccesses, type BlockAccessList, blockAccessListHash } from '../../../ethereum/block-access-list.js';
import { createdAddress } from '../../../ethereum/encode-transaction.js';
import type { BlockHeader } from '../../../ethereum/header.js';
import { orderedTrieRoot, type Withdrawal } from '../../../ethereum/ordered-trie.js';
import { encodeReceipt, logsBloom } from '../../../ethereum/receipt.js';
import type { SignedTransaction } from '../../../ethereum/transaction.js';
import { BlockStep } from '../../../evm/accesses.js';
import type { BlockContext } from '../../../evm/block-context.js';
import type { Rules } from '../../../evm/common.js';
import { Machine } from '../../../evm/machine.js';
import { RunBudget, type RunLimits } from '../../../evm/run-budget.js';
import { type AccountChange, StateOverlay } from '../../../evm/state-overlay.js';
import type { StateReader } from '../../../evm/state-reader.js';
import {
  collectRequests,
  credit,
  payWithdrawals,
  requestsHash,
  requireQueues,
  runSystemCalls,
} from '../../../evm/system-calls.js';
import { runTransaction } from '../../../evm/transaction.js';
import { requireTypeInForce } from '../../../evm/transaction-checks.js';
import type { TransactionOutcome } from '../../../evm/transaction-message.js';
import type { Network } from '../../../networks/network.js';
import { equalBytes, ZERO_WORD } from '../../../primitives/bytes.js';
import { bytesToHex, hexToBytes } from '../../../primitives/hex.js';
import type { Block, TransactionReceipt } from '../../block.js';
import { applyEdits, type StateEdit } from '../../state-edits.js';
import type { BlockRecord } from '../records/block-record.js';
import type { BlockState } from '../state/devnet-state.js';
import type { PrefetchRun } from '../state/flat-state.js';

/** Input of a block's execution. */
export interface BlockPlan {
  /** Context of the block after the newest one in the state. */
  readonly context: BlockContext;
  /** In order of execution. */
  readonly transactions: readonly SignedTransaction[];
  /** Changes to the state before the first transaction. They count as changes of this block. */
  readonly edits?: readonly StateEdit[] | undefined;
  readonly uncles?: readonly BlockHeader[];
  readonly withdrawals?: readonly Withdrawal[] | undefined;
  /** Checks that the queues of requests are deployed, from Amsterdam on. Own blocks do without, as a fork of a network may have to. */
  readonly needsQueues?: boolean;
  /** Ends the execution early. Left out, only gas ends it; a long run yields the thread to other requests in any case. */
  readonly limits?: RunLimits | undefined;
}

/** A transaction that ran. */
export interface Executed {
  readonly transaction: SignedTransaction;
  readonly outcome: TransactionOutcome;
  /** Gas of this transaction and all before it in the block. */
  readonly cumulativeGasUsed: bigint;
  /** Before Byzantium only: state root after the transaction, 32 bytes. */
  readonly stateRoot: Uint8Array | undefined;
}

/** Result of a block's execution. It is not yet applied to the state. */
export interface BlockExecution {
  readonly rules: Rules;
  readonly context: BlockContext;
  readonly executed: readonly Executed[];
  readonly changes: readonly AccountChange[];
  /** What the header counts: from Amsterdam on the larger sum of both kinds of gas, before refunds (EIP-7778, EIP-8037). */
  readonly gasUsed: bigint;
  readonly blobGasUsed: bigint;
  readonly logsBloom: Uint8Array;
  readonly receiptsRoot: Uint8Array;
  /** From Prague on, 32 bytes. */
  readonly requestsHash: Uint8Array | undefined;
  /** From Amsterdam on (EIP-7928). */
  readonly accessList: BlockAccessList | undefined;
}

/**
 * Executes a block on the newest state: system calls, transactions, requests, withdrawals and rewards.
 *
 * @param refused - called for a transaction that may not run. The transaction is left out, unless this throws
 */
export async function executeBlock(
  network: Network,
  state: BlockState,
  plan: BlockPlan,
  refused: (error: unknown, transaction: SignedTransaction, index: number) => void,
): Promise<BlockExecution> {
  const prefetchRun: PrefetchRun = async (guesses, limits) => {
    const roots = { rootOf: async () => ZERO_WORD };
    const { executed } = await executeOver(guesses, network, roots, { ...plan, limits }, () => {});
    return executed.every(({ outcome }) => outcome.succeeded);
  };
  const reading = { ...plan.limits, prefetchRun };
  const before = plan.context.number - 1;
  // An account without nonce, balance and code is of this chain, so that all its slots are known.
  const usedSlots = (address: Uint8Array) => state.flat.usedSlots(address, before);
  return executeOver(state.flat.at(before, reading), network, state, plan, refused, usedSlots);
}

/**
 * The access list of a block of this chain. It is not stored: the block is executed again, on the state before it.
 *
 * @param context - of the block's own execution
 * @throws PlumblineError `STATE_NOT_HELD`; `STATE_MISMATCH` for a list that does not have the hash in the header
 */
export async function accessListOf(
  network: Network,
  state: BlockState,
  block: Block,
  context: BlockContext,
  limits: RunLimits,
): Promise<BlockAccessList> {
  const { header, transactions, edits, withdrawals } = block;
  if (header.number === 0) return [];
  // A devnet may have changed its chain id since.
  const own = transactions.find(({ chainId }) => chainId !== undefined)?.chainId;
  const rules = own === undefined ? network : { ...network, chainId: Number(own) };
  const plan = { context, transactions, edits, withdrawals, limits };
  const { accessList = [] } = await executeBlock(rules, state, plan, (error) => {
    throw error;
  });
  const [actual, expected] = [blockAccessListHash(accessList), header.blockAccessListHash!];
  if (equalBytes(actual, expected)) return accessList;
  const what = `the access list of block ${header.number}`;
  const details = { what, expected: bytesToHex(expected), actual: bytesToHex(actual) };
  throw new PlumblineError('STATE_MISMATCH', `${what} is another one when it is run again`, details);
}

/** @param usedSlots - as `applyEdits` takes it */
async function executeOver(
  reader: StateReader,
  network: Network,
  roots: Pick<BlockState, 'rootOf'>,
  plan: BlockPlan,
  refused: (error: unknown, transaction: SignedTransaction, index: number) => void,
  usedSlots?: (address: Uint8Array) => readonly Uint8Array[],
): Promise<BlockExecution> {
  const overlay = new StateOverlay(reader);
  const { edits = [] } = plan;
  const machine = Machine.open(network, plan.context, overlay);
  const first = machine.rules.amsterdam ? new BlockStep(overlay) : undefined;
  if (first !== undefined) await touchEdited(first, overlay, edits);
  await applyEdits(overlay, edits, usedSlots);
  try {
    return await executeOn(machine, network, roots, plan, refused, first);
  } finally {
    machine.close();
  }
}

/** Edits are changes before the first transaction, so that the list of the block is complete. */
async function touchEdited(step: BlockStep, overlay: StateOverlay, edits: readonly StateEdit[]): Promise<void> {
  for (const edit of edits) {
    const slots = edit.kind === 'slot' ? [{ key: edit.key, before: await overlay.slot(edit.address, edit.key) }] : [];
    await step.touch(edit.address, slots);
  }
}

/** @param first - from Amsterdam on: the step before the transactions, with the edits */
async function executeOn(
  machine: Machine,
  network: Network,
  roots: Pick<BlockState, 'rootOf'>,
  plan: BlockPlan,
  refused: (error: unknown, transaction: SignedTransaction, index: number) => void,
  first: BlockStep | undefined,
): Promise<BlockExecution> {
  const { context, uncles = [], withdrawals = [] } = plan;
  const { rules, state: overlay } = machine;
  const accesses = new BlockAccesses();
  await runSystemCalls(machine, undefined, first);
  await first?.end(accesses, 0);
  const budget = new RunBudget(plan.limits);
  await budget.pause();
  const executed: Executed[] = [];
  let cumulativeGasUsed = 0n;
  let executionGas = 0n;
  let stateGas = 0n;
  let blobGasUsed = 0n;
  for (const [index, transaction] of plan.transactions.entries()) {
    try {
      checkPlace(transaction, rules, blobGasUsed);
      // An impersonated sender did not sign, and may be a contract.
      const leniency = { contractSender: transaction.impersonated === true };
      const outcome = await runTransaction(machine, transaction, {
        gasAvailable: context.gasLimit - executionGas,
        stateGasAvailable: rules.amsterdam ? context.gasLimit - stateGas : undefined,
        leniency,
        budget,
        accesses: rules.amsterdam ? { of: accesses, index: executed.length + 1 } : undefined,
      });
      cumulativeGasUsed += outcome.gasUsed;
      executionGas += outcome.executionGas;
      stateGas += outcome.stateGas;
      blobGasUsed += blobGasOf(transaction);
      const stateRoot = rules.byzantium ? undefined : await roots.rootOf(await overlay.changes());
      executed.push({ transaction, outcome, cumulativeGasUsed, stateRoot });
    } catch (error) {
      refused(error, transaction, index);
    }
  }
  const logs = executed.flatMap(({ outcome }) => outcome.logs);
  const deposits = network.depositContract === undefined ? undefined : hexToBytes(network.depositContract, 20);
  const last = rules.amsterdam ? new BlockStep(overlay) : undefined;
  await payWithdrawals(overlay, withdrawals, last);
  if (rules.amsterdam && plan.needsQueues === true) await requireQueues(machine);
  const requests = rules.prague ? await collectRequests(machine, logs, deposits, undefined, last) : undefined;
  await last?.end(accesses, executed.length + 1);
  if (network.blockRewards === true && !rules.paris) await payRewards(overlay, rules, context, uncles);
  const receipts = executed.map(({ transaction, outcome, cumulativeGasUsed, stateRoot }) => {
    const { succeeded, logs } = outcome;
    return encodeReceipt({ type: transaction.type, succeeded, stateRoot, cumulativeGasUsed, logs });
  });
  return {
    rules,
    context,
    executed,
    changes: await overlay.changes(),
    gasUsed: executionGas > stateGas ? executionGas : stateGas,
    blobGasUsed,
    logsBloom: logsBloom(logs),
    receiptsRoot: orderedTrieRoot(receipts),
    requestsHash: requests && requestsHash(requests),
    accessList: rules.amsterdam ? accesses.list() : undefined,
  };
}

/** @throws PlumblineError `TRANSACTION_REJECTED` if the block cannot hold the transaction, whatever the state */
function checkPlace(transaction: SignedTransaction, rules: Rules, blobGasUsed: bigint): void {
  requireTypeInForce(transaction, rules);
  if (transaction.type === 0 && transaction.chainId !== undefined && !rules.spuriousDragon) {
    const reason =
      'signatures with a chain id (EIP-155) are valid from Spurious Dragon on; sign without one, or use a later fork';
    throw new PlumblineError('TRANSACTION_REJECTED', reason, { rule: 'signature', reason });
  }
  const limit = GAS_PER_BLOB * BigInt(rules.blobs?.max ?? 0);
  if (blobGasUsed + blobGasOf(transaction) > limit) {
    const reason = `the block's blobs would use ${blobGasUsed + blobGasOf(transaction)} blob gas, above its limit of ${limit}`;
    throw new PlumblineError('TRANSACTION_REJECTED', reason, { rule: 'block-gas-limit', reason });
  }
}

export function blobGasOf({ blobVersionedHashes }: SignedTransaction): bigint {
  return GAS_PER_BLOB * BigInt(blobVersionedHashes?.length ?? 0);
}

/** Whether an error says that a transaction may not run, in its place or at all. */
export function isRefusal(error: unknown): boolean {
  return isPlumblineError(error, 'TRANSACTION_REJECTED') || isPlumblineError(error, 'INSUFFICIENT_FUNDS');
}

/** Receipts of a block built from `execution`. */
export function receiptsOf(block: Block, { executed, context }: BlockExecution): TransactionReceipt[] {
  let firstLogIndex = 0;
  return executed.map(({ transaction, outcome, cumulativeGasUsed, stateRoot }, index) => {
    const receipt: TransactionReceipt = {
      transaction,
      block,
      index,
      succeeded: outcome.succeeded,
      ...(stateRoot !== undefined && { stateRoot }),
      gasUsed: outcome.gasUsed,
      cumulativeGasUsed,
      effectiveGasPrice: outcome.effectiveGasPrice,
      ...(transaction.blobVersionedHashes !== undefined && {
        blobGasUsed: blobGasOf(transaction),
        blobGasPrice: context.blobBaseFee ?? 1n,
      }),
      contractAddress: transaction.to === undefined ? createdAddress(transaction) : undefined,
      logs: outcome.logs,
      firstLogIndex,
    };
    firstLogIndex += outcome.logs.length;
    return receipt;
  });
}

const ETHER = 10n ** 18n;
/**
 * An uncle's miner gets one eighth less for each block of distance. The including miner gets 1/32 of the reward for
 * each uncle.
 */
const UNCLE_DEPTH = 8n;
const INCLUSION_QUOTIENT = 32n;

/** Wei that a block pays its miner before Paris. @source EIP-649, EIP-1234 */
export function blockReward(rules: Pick<Rules, 'byzantium' | 'constantinople'>): bigint {
  if (rules.constantinople) return 2n * ETHER;
  return rules.byzantium ? 3n * ETHER : 5n * ETHER;
}

/** Pays the miners of a block and of its uncles (yellow paper 11.3). */
async function payRewards(
  state: StateOverlay,
  rules: Rules,
  { number, coinbase }: BlockContext,
  uncles: readonly BlockHeader[],
): Promise<void> {
  const reward = blockReward(rules);
  for (const uncle of uncles) {
    await credit(state, uncle.miner, (reward * (UNCLE_DEPTH + BigInt(uncle.number - number))) / UNCLE_DEPTH);
  }
  await credit(state, coinbase, reward + BigInt(uncles.length) * (reward / INCLUSION_QUOTIENT));
}

/** Applies a stored block, which must give the roots of its record. @throws PlumblineError `STORE_CORRUPT` */
export async function applyStored(state: BlockState, { block, changes, zkRoot }: BlockRecord): Promise<void> {
  const { number, stateRoot } = block.header;
  const roots = await state.apply(number, changes);
  if (!equalBytes(roots.zkRoot, zkRoot) || !equalBytes(roots.stateRoot, stateRoot)) throw brokenLink(number);
}

/** @param number - of the block that does not follow */
export function brokenLink(number: number): PlumblineError<'STORE_CORRUPT'> {
  const reason = `block ${number} does not follow from the one before it`;
  const details = { table: 'blocks', reason };
  return new PlumblineError('STORE_CORRUPT', `the stored devnet is damaged: ${reason}`, details);
}
