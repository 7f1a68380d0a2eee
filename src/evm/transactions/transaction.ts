import { EVMError, type EVMResult, type Log as EvmLog } from '@ethereumjs/evm';
import { Address, Account as EvmAccount, KECCAK256_RLP } from '@ethereumjs/util';
import { bytesToHex, hexToBytes } from '../../primitives/hex.js';
import { RunCounts } from '../interpreter/counters.js';
import type { Machine } from '../interpreter/machine.js';
import { touchedBy } from '../state/touched.js';
import { applyAuthorizations } from './authorization.js';
import { refundQuotient } from './gas-schedule.js';
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
  options.steps?.throwIfAborted();
  const { state, instruments } = machine;
  const mark = state.mark();
  state.beginTransaction();
  await prefetch(machine, message);
  const admission = await admit(machine, message, options);
  const counts = options.counting ? new RunCounts() : undefined;
  instruments.steps = options.steps;
  instruments.counts = counts;
  instruments.path = options.path;
  try {
    const outcome = await execute(machine, message, admission, options);
    return counts === undefined ? outcome : { ...outcome, counts: counts.read() };
  } catch (error) {
    state.rollback(mark);
    await machine.recover();
    throw error;
  } finally {
    instruments.steps = undefined;
    instruments.counts = undefined;
    instruments.path = undefined;
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
  const { sender, price, prepayment, blobFee } = admission;
  const from = new Address(message.from);
  const baseFee = options.baseFeePerGas ?? machine.block.baseFeePerGas;
  if (options.reportTouched) evm.journal.startReportingAccessList();
  warm(machine, message);
  const created = new Set<`0x${string}`>();
  const paid = new EvmAccount(
    BigInt.asUintN(64, sender.nonce + 1n),
    sender.balance - prepayment - blobFee,
    KECCAK256_RLP,
    sender.codeHash,
  );
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
    createdAddresses: created,
    selfdestruct: new Map(),
    // The nonce has to be up before authorizations are looked at, so it was raised above.
    skipNonceIncrement: true,
    ...(message.to !== undefined && { to: new Address(message.to) }),
    ...(message.blobVersionedHashes !== undefined && {
      blobVersionedHashes: message.blobVersionedHashes.map((hash) => bytesToHex(hash)),
    }),
  });
  const gas = settleGas(machine, admission, result, authorizationRefund);
  if (prepayment > 0n) await credit(machine, from, (message.gasLimit - gas.gasUsed) * price);
  // Before empty accounts were cleared, being paid nothing was enough for the coinbase to exist.
  if ((prepayment > 0n && price > baseFee) || !machine.rules.spuriousDragon) {
    await credit(machine, new Address(machine.block.coinbase), gas.gasUsed * (price - baseFee));
  }
  await removeDestroyed(machine, result);
  const touched = options.reportTouched ? touchedBy(evm, created) : undefined;
  await evm.journal.cleanup();
  return { ...outcomeOf(message, result, gas, price), ...(touched !== undefined && { touched }) };
}

/** Addresses and slots that are warm from the start (EIP-2929, EIP-2930, EIP-3651). */
function warm(machine: Machine, message: TransactionMessage): void {
  const { journal } = machine.evm;
  journal.addAlwaysWarmAddress(bytesToHex(message.from));
  if (message.to !== undefined) journal.addAlwaysWarmAddress(bytesToHex(message.to));
  if (machine.rules.shanghai) journal.addAlwaysWarmAddress(bytesToHex(machine.block.coinbase));
  for (const address of machine.precompileAddresses) journal.addAlwaysWarmAddress(address);
  for (const { address, storageKeys } of message.accessList ?? []) {
    journal.addAlwaysWarmAddress(bytesToHex(address));
    for (const key of storageKeys) journal.addAlwaysWarmSlot(bytesToHex(address), bytesToHex(key));
  }
}

/** Refunds, as far as they go (EIP-3529), and the data floor (EIP-7623). */
function settleGas(machine: Machine, admission: Admission, { execResult }: EVMResult, authorizationRefund: bigint) {
  const used = admission.intrinsicGas + execResult.executionGasUsed;
  const refund = (execResult.gasRefund ?? 0n) + authorizationRefund;
  const cap = used / refundQuotient(machine.rules);
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
  const opcode = exception === EVMError.errorMessages.INVALID_OPCODE ? execResult.runState?.opCode : undefined;
  return {
    succeeded,
    exception,
    ...(opcode !== undefined && { opcode }),
    ...gas,
    effectiveGasPrice,
    returnData: returned ? execResult.returnValue : new Uint8Array(0),
    logs: logs.map(([address, topics, data]) => ({ address, topics, data })),
    createdAddress: succeeded && message.to === undefined ? createdAddress?.bytes : undefined,
  };
}
