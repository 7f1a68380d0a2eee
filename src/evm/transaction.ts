import { EMPTY_CODE_HASH, MAX_NONCE } from '../ethereum/constants.js';
import { jsonLength, type Log } from '../ethereum/receipt.js';
import { type EvmKernel, type EvmLog, type EvmResult, exceptionText } from '../kernel/evm.js';
import { keccak256 } from '../kernel/keccak.js';
import { compareBytes, equalBytes, isZeroBytes } from '../primitives/bytes.js';
import type { AccessListEntry, Authorization } from '../primitives/call-request.js';
import { hexToBytes } from '../primitives/hex.js';
import { accessesOf } from './accesses.js';
import { authorityOf } from './authority.js';
import { delegationTo, isDelegation } from './common.js';
import { handInCertain, type Machine, runToEnd } from './machine.js';
import { AuthorityPrices } from './resource-prices.js';
import { RunBudget, RunCounts } from './run-budget.js';
import { type Admission, admit, EXISTING_AUTHORITY_REFUND, refundQuotient } from './transaction-checks.js';
import type { RunOptions, TransactionMessage, TransactionOutcome } from './transaction-message.js';

/**
 * Runs one transaction and applies it to the machine's state: gas is bought and refunded, the coinbase is paid,
 * destroyed and empty accounts are removed. A run that throws leaves the state unchanged.
 *
 * @throws PlumblineError `TRANSACTION_REJECTED` or `INSUFFICIENT_FUNDS` for a transaction that may not run,
 *   `GAS_BUDGET_EXCEEDED`, `ANSWER_TOO_LARGE`, `ABORTED`, `KERNEL_UNAVAILABLE`, and errors of reading the state. A revert is an outcome,
 *   not an error.
 */
export function runTransaction(
  machine: Machine,
  message: TransactionMessage,
  options: RunOptions = {},
): Promise<TransactionOutcome> {
  return run(machine, message, options, true);
}

/** Runs a transaction and leaves the state as it was. Errors as in `runTransaction`. */
export function simulateTransaction(
  machine: Machine,
  message: TransactionMessage,
  options: RunOptions = {},
): Promise<TransactionOutcome> {
  return run(machine, message, options, false);
}

async function run(
  machine: Machine,
  message: TransactionMessage,
  options: RunOptions,
  isKept: boolean,
): Promise<TransactionOutcome> {
  options.budget?.throwIfAborted();
  // Where there is nothing to wait for, nothing is awaited: a short run is half waits otherwise.
  const entered = machine.enter();
  const kernel = entered instanceof Promise ? await entered : entered;
  const { from, to, accessList } = message;
  const certain = { accounts: [from, machine.block.coinbase], recipient: to, accessList };
  const reading = handInCertain(kernel, machine.state, certain);
  if (reading !== undefined) await reading;
  const admission = await admit(machine, message, options);
  const { price: gasPrice } = admission;
  const { baseFeePerGas: baseFee } = options;
  machine.begin(kernel, { origin: from, gasPrice, blobHashes: message.blobVersionedHashes ?? [], baseFee });
  try {
    const outcome = await execute(machine, kernel, message, admission, options);
    if (isKept || options.onChanges !== undefined || options.accesses !== undefined) kernel.finish();
    if (options.onChanges !== undefined) await options.onChanges(kernel.changes());
    const { accesses } = options;
    if (accesses !== undefined) accesses.of.add(accesses.index, await accessesOf(kernel, machine.state));
    if (isKept) machine.commit(kernel);
    else kernel.rollback();
    return outcome;
  } catch (error) {
    kernel.rollback();
    throw error;
  }
}

async function execute(
  machine: Machine,
  kernel: EvmKernel,
  message: TransactionMessage,
  admission: Admission,
  options: RunOptions,
): Promise<TransactionOutcome> {
  const { sender, price, prepayment, blobFee } = admission;
  const { from, to, value, data } = message;
  const { coinbase } = machine.block;
  const baseFee = options.baseFeePerGas ?? machine.block.baseFeePerGas;
  const counts = options.counting ? new RunCounts() : undefined;
  warm(machine, kernel, message);
  kernel.writeAccount(from, BigInt.asUintN(64, sender.nonce + 1n), sender.balance - prepayment - blobFee);
  const { execution, reservoir } = admission.split;
  kernel.start({ caller: from, to, value, data, gas: execution - admission.intrinsicGas, stateGas: reservoir });
  // Authorizations need the raised nonce.
  const authorizationRefund =
    message.authorizationList === undefined ? 0n : await applyAuthorizations(machine, kernel, message);
  const budget = options.budget ?? new RunBudget();
  await runToEnd(machine, kernel, budget, counts);
  const { logs, bytes } = kernel.outcomeSize();
  budget.requireRoom(jsonLength(logs, bytes));

  const result = kernel.result();
  const gas = settleGas(machine, message, admission, result, authorizationRefund);
  const { gasUsed } = gas;
  counts?.add('BLOCK_KECCAK', result.keccakBlocks);
  const { succeeded } = result;
  const exception = exceptionText(result.exception);
  // Written out: to spread what may be left out takes a fifth of the time of a small run.
  const outcome: TransactionOutcome = {
    succeeded,
    exception,
    opcode: exception === 'invalid opcode' ? result.opcode : undefined,
    gasUsed,
    gasUsedBeforeRefund: gas.gasUsedBeforeRefund,
    executionGas: gas.executionGas,
    stateGas: gas.stateGas,
    authorizationRefund,
    effectiveGasPrice: price,
    returnData: succeeded || exception === 'revert' ? kernel.returned() : new Uint8Array(0),
    logs: succeeded ? kernel.logs().map(logOf) : [],
    createdAddress: succeeded && to === undefined ? result.createdAddress : undefined,
    spareGas: result.spareGas >= 0n ? result.spareGas : undefined,
    environment: result.environment,
    counts: counts?.read(),
    touched: options.reportTouched ? (machine.rules.berlin ? touchedBy(kernel) : []) : undefined,
  };
  if (prepayment > 0n) credit(kernel, from, (message.gasLimit - gasUsed) * price);
  // Before Spurious Dragon a payment of zero created the coinbase account.
  if ((prepayment > 0n && price > baseFee) || !machine.rules.spuriousDragon) {
    credit(kernel, coinbase, gasUsed * (price - baseFee));
  }
  kernel.note(coinbase);
  return outcome;
}

/** Addresses and slots that are warm from the start, besides precompiles (EIP-2929, EIP-2930, EIP-3651). */
function warm({ rules, block }: Machine, kernel: EvmKernel, message: TransactionMessage): void {
  kernel.warmAddress(message.from);
  if (message.to !== undefined) kernel.warmAddress(message.to);
  if (rules.shanghai) kernel.warmAddress(block.coinbase);
  for (const { address, storageKeys } of message.accessList ?? []) {
    kernel.warmAddress(address);
    for (const key of storageKeys) kernel.warmSlot(address, key);
  }
}

type SettledGas = Pick<TransactionOutcome, 'gasUsed' | 'gasUsedBeforeRefund' | 'executionGas' | 'stateGas'>;

/** Applies refunds up to their limit (EIP-3529), and the data floor (EIP-7623). */
function settleGas(
  { rules }: Machine,
  { gasLimit }: TransactionMessage,
  { floorGas }: Admission,
  { gasLeft, stateGasLeft, stateGasUsed, refund: executionRefund }: EvmResult,
  authorizationRefund: bigint,
): SettledGas {
  const used = gasLimit - gasLeft - stateGasLeft;
  const refund = executionRefund + authorizationRefund;
  const cap = used / refundQuotient(rules);
  const charged = used - (refund < cap ? refund : cap);
  const floored = (gas: bigint) => (gas > floorGas ? gas : floorGas);
  const gasUsed = floored(charged);
  return {
    gasUsed,
    gasUsedBeforeRefund: floored(used),
    executionGas: rules.amsterdam ? floored(used - stateGasUsed) : gasUsed,
    stateGas: stateGasUsed,
  };
}

/** @param address - of an account that the kernel holds */
function credit(kernel: EvmKernel, address: Uint8Array, amount: bigint): void {
  const { nonce, balance } = kernel.account(address) ?? { nonce: 0n, balance: 0n };
  kernel.writeAccount(address, nonce, balance + amount);
}

/**
 * Accounts and slots that a run touched and that were not warm from the start, in ascending order (EIP-2929). A creation
 * warms the new address, also where it fails, so the address is left out unless one of its slots was touched.
 */
function touchedBy(kernel: EvmKernel): AccessListEntry[] {
  return kernel
    .touched()
    .sort((a, b) => compareBytes(a.address, b.address))
    .map(({ address, keys }) => ({ address, storageKeys: keys.sort(compareBytes) }));
}

/**
 * Sets the code of each authority with a valid authorization, and skips the others. The code stays set if the
 * transaction itself fails.
 *
 * @param kernel - with a transaction that has started
 * @returns gas to refund
 * @source EIP-7702; docs/spec/amsterdam.md 4
 */
async function applyAuthorizations(machine: Machine, kernel: EvmKernel, message: TransactionMessage): Promise<bigint> {
  const list: readonly Authorization[] = message.authorizationList ?? [];
  let refund = 0n;
  if (list.length === 0) return refund;
  const prices = machine.rules.amsterdam ? new AuthorityPrices(message) : undefined;
  /** Delegations that this list has set; the state does not know their code. */
  const set: Uint8Array[] = [];
  const isOpen = async (codeHash: Uint8Array) =>
    equalBytes(codeHash, EMPTY_CODE_HASH) ||
    set.some((hash) => equalBytes(hash, codeHash)) ||
    isDelegation(await machine.state.code(codeHash));
  for (const authorization of list) {
    if (authorization.chainId !== 0n && authorization.chainId !== BigInt(machine.rules.chainId)) continue;
    if (authorization.nonce >= MAX_NONCE) continue;
    const authority = await authorityOf(authorization);
    if (authority === undefined) continue;
    kernel.warmAddress(authority);
    kernel.note(authority);
    await handInCertain(kernel, machine.state, { accounts: [authority] });
    const account = kernel.account(authority);
    if (!(await isOpen(account?.codeHash ?? EMPTY_CODE_HASH))) continue;
    if ((account?.nonce ?? 0n) !== authorization.nonce) continue;
    if (prices !== undefined) {
      const price = prices.of(authority, account, authorization.address);
      if (!kernel.payAuthorization(price.execution, price.state)) break;
    } else if (account !== undefined) refund += EXISTING_AUTHORITY_REFUND;
    kernel.writeAccount(authority, authorization.nonce + 1n, account?.balance ?? 0n);
    let codeHash = EMPTY_CODE_HASH;
    if (!isZeroBytes(authorization.address)) {
      const code = delegationTo(authorization.address);
      codeHash = keccak256(code);
      kernel.addCode(codeHash, code);
      set.push(codeHash);
    }
    kernel.writeCode(authority, codeHash);
  }
  return refund;
}

/** Address of the logs that stand for ether transfers, 20 bytes (ERC-7528). They are recognized by this object. */
const ETHER_ADDRESS = hexToBytes('0xeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeee', 20);

/** A log of the kernel. */
function logOf({ address, topics, data, isTransfer }: EvmLog): Log {
  return { address: isTransfer ? ETHER_ADDRESS : address, topics, data };
}

/**
 * Whether a log was added for a transfer of ether, and not by a contract.
 *
 * @source ERC-7528; ethereum/execution-apis@033ca6e6 tests/eth_simulateV1, `traceTransfers`
 */
export function isTransferLog(log: Log): boolean {
  return log.address === ETHER_ADDRESS;
}
