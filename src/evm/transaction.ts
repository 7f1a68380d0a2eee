import type { EVMResult, Log as EvmLog, PrecompileFunc } from '@ethereumjs/evm';
import { Address, Account as EvmAccount, KECCAK256_RLP } from '@ethereumjs/util';
import { PlumblineError } from '../errors.js';
import { bytesToHex, hexToBytes } from '../primitives/hex.js';
import { applyAuthorizations } from './authorization.js';
import { REFUND_QUOTIENT } from './gas-schedule.js';
import type { Machine } from './machine.js';
import { type Admission, admit } from './transaction-checks.js';
import type { RunOptions, TransactionMessage, TransactionOutcome } from './transaction-message.js';

/**
 * Runs one transaction to its end and leaves what it did in the machine's state: gas is bought and returned, the
 * coinbase paid, selfdestructs and empty accounts removed. A run that throws leaves the state as it was.
 *
 * @throws PlumblineError `TRANSACTION_REJECTED` or `INSUFFICIENT_FUNDS` for a transaction that may not run at all,
 *   `STEP_BUDGET_EXCEEDED`, `ABORTED`, and whatever reading the state throws. A revert is an outcome, not an error.
 */
export async function runTransaction(
  machine: Machine,
  message: TransactionMessage,
  options: RunOptions = {},
): Promise<TransactionOutcome> {
  throwIfAborted(options.signal);
  const { state } = machine;
  const mark = state.mark();
  state.beginTransaction();
  await prefetch(machine, message);
  const admission = await admit(machine, message, options);
  const stopCounting = countSteps(machine, options);
  try {
    return await execute(machine, message, admission, options);
  } catch (error) {
    state.rollback(mark);
    await machine.recover();
    throw error;
  } finally {
    stopCounting();
  }
}

/** Runs a transaction and takes everything back that it did. Same errors as `runTransaction`. */
export async function simulateTransaction(
  machine: Machine,
  message: TransactionMessage,
  options: RunOptions = {},
): Promise<TransactionOutcome> {
  const mark = machine.state.mark();
  try {
    return await runTransaction(machine, message, options);
  } finally {
    machine.state.rollback(mark);
  }
}

/** Asks for what every run needs in one go; the reads after it find it in the cache. */
async function prefetch(machine: Machine, message: TransactionMessage): Promise<void> {
  const { state, block } = machine;
  const reads: Promise<unknown>[] = [state.account(message.from), state.account(block.coinbase)];
  if (message.to !== undefined) {
    reads.push(state.account(message.to).then((account) => account && state.code(account.codeHash)));
  }
  for (const { address, storageKeys } of message.accessList ?? []) {
    reads.push(state.account(address));
    for (const key of storageKeys) reads.push(state.slot(address, key));
  }
  await Promise.all(reads);
}

async function execute(
  machine: Machine,
  message: TransactionMessage,
  admission: Admission,
  options: RunOptions,
): Promise<TransactionOutcome> {
  const { evm } = machine;
  const { sender, price, prepayment } = admission;
  const from = new Address(message.from);
  const baseFee = options.baseFeePerGas ?? machine.block.baseFeePerGas;
  warm(machine, message);
  const paid = new EvmAccount(sender.nonce + 1n, sender.balance - prepayment, KECCAK256_RLP, sender.codeHash);
  await evm.journal.putAccount(from, paid);
  const authorizationRefund = await applyAuthorizations(machine, message.authorizationList ?? []);
  const result = await evm.runCall({
    block: machine.blockForEvm(baseFee),
    gasPrice: price,
    origin: from,
    caller: from,
    gasLimit: message.gasLimit - admission.intrinsicGas,
    value: message.value,
    data: message.data,
    createdAddresses: new Set(),
    selfdestruct: new Map(),
    // The nonce has to be up before authorizations are looked at, so it was raised above.
    skipNonceIncrement: true,
    ...(message.to !== undefined && { to: new Address(message.to) }),
  });
  const gas = settleGas(admission, result, authorizationRefund);
  if (prepayment > 0n) await credit(machine, from, (message.gasLimit - gas.gasUsed) * price);
  if (prepayment > 0n && price > baseFee) {
    await credit(machine, new Address(machine.block.coinbase), gas.gasUsed * (price - baseFee));
  }
  await removeDestroyed(machine, result);
  await evm.journal.cleanup();
  return outcomeOf(message, result, gas, price);
}

/** Addresses and slots that are warm from the start (EIP-2929, EIP-2930, EIP-3651). */
function warm(machine: Machine, message: TransactionMessage): void {
  const { journal, precompiles } = machine.evm;
  journal.addAlwaysWarmAddress(bytesToHex(message.from));
  if (message.to !== undefined) journal.addAlwaysWarmAddress(bytesToHex(message.to));
  if (machine.rules.shanghai) journal.addAlwaysWarmAddress(bytesToHex(machine.block.coinbase));
  // The map holds undefined where a precompile has been taken away.
  for (const [address, run] of precompiles as Map<string, PrecompileFunc | undefined>) {
    if (run !== undefined) journal.addAlwaysWarmAddress(address);
  }
  for (const { address, storageKeys } of message.accessList ?? []) {
    journal.addAlwaysWarmAddress(bytesToHex(address));
    for (const key of storageKeys) journal.addAlwaysWarmSlot(bytesToHex(address), bytesToHex(key));
  }
}

/** Refunds, at most a fifth of the gas used (EIP-3529), and the data floor (EIP-7623). */
function settleGas(admission: Admission, { execResult }: EVMResult, authorizationRefund: bigint) {
  const used = admission.intrinsicGas + execResult.executionGasUsed;
  const refund = (execResult.gasRefund ?? 0n) + authorizationRefund;
  const cap = used / REFUND_QUOTIENT;
  const charged = used - (refund < cap ? refund : cap);
  const { floorGas } = admission;
  return {
    gasUsed: charged > floorGas ? charged : floorGas,
    gasUsedBeforeRefund: used > floorGas ? used : floorGas,
  };
}

async function credit(machine: Machine, address: Address, amount: bigint): Promise<void> {
  const { evm } = machine;
  const account = (await evm.stateManager.getAccount(address)) ?? new EvmAccount();
  account.balance += amount;
  await evm.journal.putAccount(address, account);
}

/** From Cancun on only contracts created in the same transaction go (EIP-6780). */
async function removeDestroyed(machine: Machine, { execResult }: EVMResult): Promise<void> {
  for (const address of execResult.selfdestruct?.keys() ?? []) {
    if (machine.rules.cancun && execResult.createdAddresses?.has(address) !== true) continue;
    await machine.evm.journal.deleteAccount(new Address(hexToBytes(address)));
  }
}

function outcomeOf(
  message: TransactionMessage,
  { execResult, createdAddress }: EVMResult,
  gas: Pick<TransactionOutcome, 'gasUsed' | 'gasUsedBeforeRefund'>,
  effectiveGasPrice: bigint,
): TransactionOutcome {
  // Of a bad jump the interpreter also tells the place, after "at".
  const exception = execResult.exceptionError?.error.split(' at ')[0];
  const succeeded = exception === undefined;
  const logs: readonly EvmLog[] = succeeded ? (execResult.logs ?? []) : [];
  const returned = succeeded || exception === 'revert';
  return {
    succeeded,
    exception,
    ...gas,
    effectiveGasPrice,
    returnData: returned ? execResult.returnValue : new Uint8Array(0),
    logs: logs.map(([address, topics, data]) => ({ address, topics, data })),
    createdAddress: succeeded && message.to === undefined ? createdAddress?.bytes : undefined,
  };
}

/** @returns a function that ends the count */
function countSteps(machine: Machine, { stepBudget: budget, signal }: RunOptions): () => void {
  if (budget === undefined) return () => {};
  let steps = 0;
  const onStep = () => {
    throwIfAborted(signal);
    if (++steps > budget) throw new PlumblineError('STEP_BUDGET_EXCEEDED', `more than ${budget} steps`, { budget });
  };
  const { events } = machine.evm;
  events.on('step', onStep);
  return () => events.off('step', onStep);
}

function throwIfAborted(signal: AbortSignal | undefined): void {
  if (signal?.aborted) throw new PlumblineError('ABORTED', 'aborted', {}, { cause: signal.reason });
}
