import { type EVM, EVMError, type EVMResult, type Log as EvmLog } from '@ethereumjs/evm';
import { Address, Account as EvmAccount, KECCAK256_RLP } from '@ethereumjs/util';
import { RunCounts } from '../../../src/evm/run-budget.js';
import { type Admission, admit, refundQuotient } from '../../../src/evm/transaction-checks.js';
import type { RunOptions, TransactionMessage, TransactionOutcome } from '../../../src/evm/transaction-message.js';
import type { AccessListEntry } from '../../../src/primitives/call-request.js';
import { bytesToHex, hexToBytes } from '../../../src/primitives/hex.js';
import { applyAuthorizations } from './authorization.js';
import type { GasPath } from './gas-path.js';
import type { OracleMachine as Machine } from './machine.js';

/** Options of one run. */
export interface OracleOptions extends RunOptions {
  /** Receives what determines the gas need of the run. */
  readonly path?: GasPath | undefined;
}

/**
 * Runs one transaction and applies it to the machine's state: gas is bought and refunded, the coinbase is paid,
 * destroyed and empty accounts are removed. A run that throws leaves the state unchanged.
 *
 * @throws PlumblineError `TRANSACTION_REJECTED` or `INSUFFICIENT_FUNDS` for a transaction that may not run,
 *   `STEP_BUDGET_EXCEEDED`, `ABORTED`, and errors of reading the state. A revert is an outcome, not an error.
 */
export async function oracleTransaction(
  machine: Machine,
  message: TransactionMessage,
  options: OracleOptions = {},
): Promise<TransactionOutcome> {
  const { state, instruments } = machine;
  const start = state.rollbackPoint();
  state.beginTransaction();
  await prefetch(machine, message);
  const admission = await admit(machine, message, options);
  const counts = options.counting ? new RunCounts() : undefined;
  instruments.counts = counts;
  instruments.path = options.path;
  try {
    const outcome = await execute(machine, message, admission, options);
    return counts === undefined ? outcome : { ...outcome, counts: counts.read() };
  } catch (error) {
    state.rollback(start);
    await machine.recover();
    throw error;
  } finally {
    instruments.counts = undefined;
    instruments.path = undefined;
  }
}

/** Runs a transaction and undoes its changes. Errors as in `oracleTransaction`. */
export async function oracleSimulation(
  machine: Machine,
  message: TransactionMessage,
  options: OracleOptions = {},
): Promise<TransactionOutcome> {
  const start = machine.state.rollbackPoint();
  try {
    return await oracleTransaction(machine, message, options);
  } finally {
    machine.state.rollback(start);
  }
}

/** Reads what every run needs at once. Later reads are served from the cache. */
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
  options: OracleOptions,
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
    // Authorizations need the raised nonce, so it was raised above.
    skipNonceIncrement: true,
    ...(message.to !== undefined && { to: new Address(message.to) }),
    ...(message.blobVersionedHashes !== undefined && {
      blobVersionedHashes: message.blobVersionedHashes.map((hash) => bytesToHex(hash)),
    }),
  });
  const gas = settleGas(machine, admission, result, authorizationRefund);
  if (prepayment > 0n) await credit(machine, from, (message.gasLimit - gas.gasUsed) * price);
  // Before Spurious Dragon a payment of zero created the coinbase account.
  if ((prepayment > 0n && price > baseFee) || !machine.rules.spuriousDragon) {
    await credit(machine, new Address(machine.block.coinbase), gas.gasUsed * (price - baseFee));
  }
  await removeDestroyed(machine, result);
  const touched = options.reportTouched ? touchedBy(evm) : undefined;
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

/** Applies refunds up to their limit (EIP-3529), and the data floor (EIP-7623). */
function settleGas(machine: Machine, admission: Admission, { execResult }: EVMResult, authorizationRefund: bigint) {
  const used = admission.intrinsicGas + execResult.executionGasUsed;
  const refund = (execResult.gasRefund ?? 0n) + authorizationRefund;
  const cap = used / refundQuotient(machine.rules);
  const charged = used - (refund < cap ? refund : cap);
  const { floorGas } = admission;
  return {
    gasUsed: charged > floorGas ? charged : floorGas,
    gasUsedBeforeRefund: used > floorGas ? used : floorGas,
    executionGas: charged > floorGas ? charged : floorGas,
    stateGas: 0n,
    authorizationRefund,
  };
}

async function credit(machine: Machine, address: Address, amount: bigint): Promise<void> {
  const { evm } = machine;
  const account = (await evm.stateManager.getAccount(address)) ?? new EvmAccount();
  account.balance += amount;
  await evm.journal.putAccount(address, account);
}

/** From Cancun on, only contracts created in the same transaction are removed (EIP-6780). */
async function removeDestroyed(machine: Machine, { execResult }: EVMResult): Promise<void> {
  for (const address of execResult.selfdestruct?.keys() ?? []) {
    if (machine.rules.cancun && execResult.createdAddresses?.has(address) !== true) continue;
    await machine.evm.journal.deleteAccount(new Address(hexToBytes(address)));
  }
}

/**
 * Accounts and slots that a run touched and that were not warm from the start, in ascending order. The journal must
 * have reported since the run began, and must not be cleaned up yet.
 */
function touchedBy(evm: EVM): AccessListEntry[] {
  const entries = [...(evm.journal.accessList ?? [])].sort(([a], [b]) => (a < b ? -1 : 1));
  return entries.map(([address, slots]) => ({
    address: hexToBytes(`0x${address}`, 20),
    storageKeys: [...slots].sort().map((slot) => hexToBytes(`0x${slot}`, 32)),
  }));
}

function outcomeOf(
  message: TransactionMessage,
  { execResult, createdAddress }: EVMResult,
  gas: Pick<
    TransactionOutcome,
    'gasUsed' | 'gasUsedBeforeRefund' | 'executionGas' | 'stateGas' | 'authorizationRefund'
  >,
  effectiveGasPrice: bigint,
): TransactionOutcome {
  // For a bad jump the interpreter adds the place, after "at".
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
