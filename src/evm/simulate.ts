import { RLP } from '@ethereumjs/rlp';
import { isPlumblineError, type SimulationRule, type TransactionRule } from '../errors.js';
import { blobBaseFee, GAS_PER_BLOB, nextExcessBlobGas } from '../ethereum/base-fee.js';
import { BlockAccesses, blockAccessListHash } from '../ethereum/block-access-list.js';
import { EMPTY_UNCLES_HASH } from '../ethereum/constants.js';
import { createdAddress, encodeTransaction } from '../ethereum/encode-transaction.js';
import { type BlockHeader, headerFields, headerHash } from '../ethereum/header.js';
import { orderedTrieRoot, type Withdrawal, withdrawalFields, withdrawalsRoot } from '../ethereum/ordered-trie.js';
import { encodeReceipt, jsonLength, logBytes, logsBloom, type Receipt } from '../ethereum/receipt.js';
import type { SignedTransaction } from '../ethereum/transaction.js';
import { keccak256 } from '../kernel/keccak.js';
import { ZERO_ADDRESS, ZERO_WORD } from '../primitives/bytes.js';
import type { AccountOverride, StateOverrides } from '../primitives/call-request.js';
import { bytesToHex, hexToBytes } from '../primitives/hex.js';
import { encodeRlp } from '../primitives/rlp-list.js';
import { BlockStep } from './accesses.js';
import { type BlockContext, nextBlockBaseFee, nextSlotNumber } from './block-context.js';
import { type Rules, rulesAt, TRANSACTION_GAS_CAP } from './common.js';
import { Machine } from './machine.js';
import { precompileOverrides } from './overrides.js';
import { RunBudget } from './run-budget.js';
import type {
  BlockCall,
  BlockRequest,
  SimulatedBlock,
  SimulationBase,
  SimulationOptions,
  SpeculativeRun,
} from './simulation.js';
import { type PlannedBlock, planBlocks, simulationRefused } from './simulation.js';
import { StateOverlay } from './state-overlay.js';
import { NO_ACCOUNT, ReadCache, type StateReader } from './state-reader.js';
import { collectRequests, payWithdrawals, requestsHash, runSystemCalls } from './system-calls.js';
import { isTransferLog, runTransaction } from './transaction.js';
import type { RunOptions, TransactionMessage, TransactionOutcome } from './transaction-message.js';

type Item = Uint8Array | Item[];

/**
 * Simulates blocks on top of a block of the chain. Each uses the state and the header of the one before it, and is
 * sealed with roots and hash like a real block.
 *
 * @param speculativeRun - of a simulation whose outcome does not count
 * @throws PlumblineError `SIMULATION_REFUSED` for blocks out of order, too many blocks, invalid overrides, and calls
 *   that may not run; `EXECUTION_FAILED` when a system call fails; `GAS_BUDGET_EXCEEDED`, `ABORTED`, and errors of
 *   reading the state. A call that reverts or fails is a result.
 * @source ethereum/execution-apis@033ca6e6 tests/eth_simulateV1;
 *   ethereum/go-ethereum@02b73d4ea7 internal/ethapi/simulate.go
 */
export async function simulateBlocks(
  base: SimulationBase,
  requests: readonly BlockRequest[],
  options: SimulationOptions,
  speculativeRun?: SpeculativeRun,
): Promise<SimulatedBlock[]> {
  const planned = planBlocks(requests, base.header, base.network.slotSeconds);
  const simulation = new Simulation(base, options, speculativeRun);
  for (const block of planned) await simulation.add(block);
  return simulation.blocks;
}

class Simulation {
  readonly blocks: SimulatedBlock[] = [];
  private state: StateReader;
  private gasLeft: bigint;
  /** Bytes of return data and logs of all calls until now, as JSON. */
  private answerBytes = 0;
  private readonly budget: RunBudget;

  constructor(
    private readonly base: SimulationBase,
    private readonly options: SimulationOptions,
    private readonly speculativeRun: SpeculativeRun | undefined,
  ) {
    this.state = base.state;
    this.gasLeft = base.network.rpcGasCap;
    this.budget = new RunBudget(options);
  }

  async add(planned: PlannedBlock): Promise<void> {
    await this.budget.pause();
    const { network } = this.base;
    const rules = rulesAt(network, planned.number, planned.timestamp);
    const context = this.contextOf(planned, rules);
    const state = new StateOverlay(new ReadCache(this.state));
    const machine = await this.open(planned, context, state);
    try {
      await this.seal(planned, machine, rules);
    } finally {
      machine.close();
    }
    this.state = state;
  }

  /** Executes a block and adds it. */
  private async seal(planned: PlannedBlock, machine: Machine, rules: Rules): Promise<void> {
    const { network } = this.base;
    const { block: context, state } = machine;
    const accesses = rules.amsterdam ? new BlockAccesses() : undefined;
    // Without the overrides: they are as if they had been there before.
    const first = accesses && new BlockStep(state);
    await runSystemCalls(machine, this.budget, first);
    if (accesses !== undefined) await first?.end(accesses, 0);
    const run: RunCall[] = [];
    let executionGas = 0n;
    let stateGas = 0n;
    for (const call of planned.calls) {
      const { gasLimit } = context;
      const isSplit = rules.amsterdam && this.options.validation;
      const inBlock = roomOf(gasLimit - executionGas, gasLimit - stateGas, isSplit);
      const left: GasLeft = { inBlock, inSimulation: this.gasLeft };
      const done = await this.run(machine, call, left, accesses && { of: accesses, index: run.length + 1 });
      if (done === undefined) continue;
      executionGas += done.outcome.executionGas;
      stateGas += done.outcome.stateGas;
      this.gasLeft -= done.outcome.gasUsed;
      this.answerBytes += answerLength(done);
      this.budget.requireRoom(this.answerBytes);
      run.push(done);
    }
    const logs = run.flatMap(logsOf);
    const deposits = network.depositContract === undefined ? undefined : hexToBytes(network.depositContract, 20);
    const last = accesses && new BlockStep(state);
    const { withdrawals = [] } = planned.overrides;
    await payWithdrawals(state, withdrawals, last);
    const requests = rules.prague ? await collectRequests(machine, logs, deposits, this.budget, last) : undefined;
    if (accesses !== undefined) await last?.end(accesses, run.length + 1);
    const transactions = run.map(({ transaction }) => transaction);
    const header: BlockHeader = {
      ...this.headerOf(context, rules, withdrawals),
      stateRoot: await this.base.stateRoot(await state.changes()),
      transactionsRoot: orderedTrieRoot(transactions.map(({ raw }) => raw)),
      receiptsRoot: orderedTrieRoot(receiptsOf(run).map(encodeReceipt)),
      logsBloom: logsBloom(logs),
      gasUsed: executionGas > stateGas ? executionGas : stateGas,
      ...(rules.cancun && { blobGasUsed: blobGasOf(transactions) }),
      ...(requests !== undefined && { requestsHash: requestsHash(requests) }),
      ...(accesses !== undefined && {
        blockAccessListHash: blockAccessListHash(accesses.list()),
        slotNumber: context.slotNumber!,
      }),
    };
    const calls = run.map(({ outcome }) => ({ outcome, logs: outcome.logs }));
    const size = encodeRlp(itemsOf(header, transactions, withdrawals)).length;
    this.blocks.push({ header, hash: headerHash(header), transactions, withdrawals, size, calls });
  }

  /** @returns undefined for a call that is refused in a speculative run */
  private async run(
    machine: Machine,
    call: BlockCall,
    left: GasLeft,
    accesses: RunOptions['accesses'],
  ): Promise<RunCall | undefined> {
    const { speculativeRun, budget } = this;
    const options = { validation: this.options.validation, budget, accesses };
    if (speculativeRun === undefined) return runCall(machine, call, left, options);
    const { from = ZERO_ADDRESS } = call;
    const nonce = call.nonce ?? (await machine.state.account(from))?.nonce ?? 0n;
    speculativeRun.begin(call.to === undefined ? createdAddress({ from, nonce }) : undefined);
    let done: RunCall | undefined;
    try {
      const { gas = left.inBlock } = call;
      const most = speculativeRun.gas;
      done = await runCall(machine, { ...call, gas: gas < most ? gas : most }, left, { ...options, validation: false });
    } catch (error) {
      if (!isPlumblineError(error, 'SIMULATION_REFUSED')) throw error;
    }
    speculativeRun.ended(done?.outcome.succeeded ?? false);
    return done;
  }

  /** The block before the next one. */
  private get parent(): Pick<SimulatedBlock, 'header' | 'hash'> {
    return this.blocks[this.blocks.length - 1] ?? this.base;
  }

  /** @throws PlumblineError `SIMULATION_REFUSED` for invalid overrides */
  private async open(planned: PlannedBlock, context: BlockContext, state: StateOverlay): Promise<Machine> {
    const { stateOverrides } = planned;
    try {
      const precompiles = precompileOverrides(stateOverrides, true);
      // From Amsterdam on each transfer has a log of the protocol (EIP-7708).
      const traceTransfers = this.options.traceTransfers && context.slotNumber === undefined;
      const options = { ...precompiles, traceTransfers };
      const machine = Machine.open(this.base.network, context, state, options);
      await writeOverrides(state, stateOverrides);
      return machine;
    } catch (error) {
      throw isPlumblineError(error, 'INVALID_PARAMETER')
        ? simulationRefused('override', error.details.reason, error)
        : error;
    }
  }

  private contextOf({ number, timestamp, overrides }: PlannedBlock, rules: Rules): BlockContext {
    const { header: parent } = this.parent;
    const { blobs, osaka } = rules;
    if (rules.paris && overrides.difficulty !== undefined)
      throw simulationRefused('parameter', `block ${number}: difficulty override is not allowed after the merge`);
    const blobFee = blobs && blobBaseFee(nextExcessBlobGas(parent, blobs, osaka), blobs);
    const baseFee = this.options.validation ? (nextBlockBaseFee(parent, rules) ?? 0n) : 0n;
    return {
      number,
      timestamp,
      slotNumber: nextSlotNumber(parent, rules),
      gasLimit: overrides.gasLimit ?? parent.gasLimit,
      baseFeePerGas: overrides.baseFeePerGas ?? baseFee,
      coinbase: overrides.feeRecipient ?? parent.miner,
      prevRandao: overrides.prevRandao ?? ZERO_WORD,
      parentBeaconBlockRoot: overrides.parentBeaconBlockRoot ?? ZERO_WORD,
      difficulty: rules.paris ? 0n : (overrides.difficulty ?? parent.difficulty),
      blobBaseFee: overrides.blobBaseFee ?? blobFee,
      blockHash: (wanted) => this.blockHash(wanted),
    };
  }

  private async blockHash(number: number): Promise<Uint8Array> {
    const { header, hash } = this.base;
    if (number < header.number) return this.base.blockHash(number);
    if (number === header.number) return hash;
    return this.blocks[number - header.number - 1]?.hash ?? ZERO_WORD;
  }

  /** Header fields that do not depend on execution. Fields of later forks are set only if the rules have them. */
  private headerOf(context: BlockContext, rules: Rules, withdrawals: readonly Withdrawal[]) {
    const { parent } = this;
    return {
      parentHash: parent.hash,
      sha3Uncles: EMPTY_UNCLES_HASH,
      miner: context.coinbase,
      difficulty: context.difficulty ?? 0n,
      number: context.number,
      gasLimit: context.gasLimit,
      timestamp: context.timestamp,
      extraData: new Uint8Array(0),
      mixHash: context.prevRandao,
      nonce: new Uint8Array(8),
      ...(rules.london && { baseFeePerGas: context.baseFeePerGas }),
      ...(rules.shanghai && { withdrawalsRoot: withdrawalsRoot(withdrawals) }),
      ...(rules.cancun && {
        excessBlobGas: rules.blobs === undefined ? 0n : nextExcessBlobGas(parent.header, rules.blobs, rules.osaka),
        parentBeaconBlockRoot: context.parentBeaconBlockRoot ?? ZERO_WORD,
      }),
    };
  }
}

/** Bytes of the return data and logs of a call as JSON, about. */
function answerLength({ outcome: { logs, returnData } }: RunCall): number {
  return jsonLength(logs.length, returnData.length + logs.reduce((sum, log) => sum + logBytes(log), 0));
}

/** Logs that are part of the block's receipts. */
function logsOf({ outcome }: RunCall) {
  return outcome.logs.filter((log) => !isTransferLog(log));
}

function receiptsOf(run: readonly RunCall[]): Receipt[] {
  let cumulativeGasUsed = 0n;
  return run.map((done) => {
    const { transaction, outcome } = done;
    cumulativeGasUsed += outcome.gasUsed;
    return { type: transaction.type, succeeded: outcome.succeeded, cumulativeGasUsed, logs: logsOf(done) };
  });
}

function blobGasOf(transactions: readonly SignedTransaction[]): bigint {
  return GAS_PER_BLOB * BigInt(transactions.reduce((sum, tx) => sum + (tx.blobVersionedHashes?.length ?? 0), 0));
}

/** The items of a block's RLP. */
function itemsOf(
  header: BlockHeader,
  transactions: readonly SignedTransaction[],
  withdrawals: readonly Withdrawal[],
): Item[] {
  const bodies = transactions.map(({ type, raw }) => (type === 0 ? (RLP.decode(raw) as Item) : raw));
  const items: Item[] = [headerFields(header), bodies, []];
  if (header.withdrawalsRoot !== undefined) items.push(withdrawals.map(withdrawalFields));
  return items;
}

const LAST_NONCE = 2n ** 64n - 1n;
const NO_SIGNATURE = { v: 0n, r: 0n, s: 0n };

/**
 * Largest gas limit of the next call in a block that has so much of both kinds of gas left.
 *
 * @param isSplit - the call takes no more execution gas than a transaction may (EIP-8037)
 */
function roomOf(execution: bigint, state: bigint, isSplit: boolean): bigint {
  return execution < state && !(isSplit && execution >= TRANSACTION_GAS_CAP) ? execution : state;
}

/** Gas available to a call. */
export interface GasLeft {
  readonly inBlock: bigint;
  /** Of the limit for all calls of the simulation together. */
  readonly inSimulation: bigint;
}

/** How a call is run. */
export interface RunCallOptions extends Pick<RunOptions, 'budget' | 'accesses'> {
  /** As of `SimulationOptions`. */
  readonly validation: boolean;
}

/** A call as a transaction, and its outcome. */
export interface RunCall {
  readonly transaction: SignedTransaction;
  readonly outcome: TransactionOutcome;
}

/**
 * Runs one call of a simulated block. Defaults: the sender's nonce, all available gas, no price.
 *
 * @throws PlumblineError `SIMULATION_REFUSED` for a call that may not run; `GAS_BUDGET_EXCEEDED`, `ABORTED`, and
 *   errors of reading the state
 */
export async function runCall(
  machine: Machine,
  call: BlockCall,
  gas: GasLeft,
  { validation, ...run }: RunCallOptions,
): Promise<RunCall> {
  const { rules, block, state } = machine;
  const { from = ZERO_ADDRESS, gas: requested = gas.inBlock } = call;
  if (requested > gas.inBlock) {
    throw simulationRefused(
      'block-gas-limit',
      `block gas limit reached: remaining: ${gas.inBlock}, required: ${requested}`,
    );
  }
  if (call.chainId !== undefined && call.chainId !== BigInt(rules.chainId)) {
    throw simulationRefused('parameter', `chainId does not match node's (have=${call.chainId}, want=${rules.chainId})`);
  }
  const held = (await state.account(from))?.nonce ?? 0n;
  const nonce = call.nonce ?? held;
  if (validation) checkNonce(nonce, held);
  const gasLimit = requested < gas.inSimulation ? requested : gas.inSimulation;
  const transaction = transactionOf(call, {
    from,
    nonce,
    gasLimit,
    chainId: BigInt(rules.chainId),
    typed: rules.london,
  });
  const message: TransactionMessage = { ...transaction, accessList: call.accessList };
  const maxPrice = message.gasPrice ?? message.maxFeePerGas ?? 0n;
  const unpriced = maxPrice === 0n && (message.maxPriorityFeePerGas ?? 0n) === 0n;
  const lowPrice = !validation && unpriced;
  // From Amsterdam on the cap also splits the gas, which a valid transaction cannot do without.
  const gasAboveCap = !(rules.amsterdam && validation);
  const leniency = { nonce: 'any', lowPrice, freeBlobs: !validation, contractSender: true, gasAboveCap } as const;
  try {
    return { transaction, outcome: await runTransaction(machine, message, { leniency, ...run }) };
  } catch (error) {
    if (isPlumblineError(error, 'INSUFFICIENT_FUNDS')) throw simulationRefused('funds', error.message, error);
    if (!isPlumblineError(error, 'TRANSACTION_REJECTED')) throw error;
    throw simulationRefused(ruleOf(error.details.rule, message, block.baseFeePerGas), error.message, error);
  }
}

/** Checked first: a wrong nonce is reported before a wrong price. */
function checkNonce(nonce: bigint, held: bigint): void {
  if (nonce < held) throw simulationRefused('nonce-too-low', `nonce too low: next nonce ${held}, tx nonce ${nonce}`);
  if (nonce > held) throw simulationRefused('nonce-too-high', `nonce too high: next nonce ${held}, tx nonce ${nonce}`);
  if (nonce === LAST_NONCE) throw simulationRefused('nonce-too-high', `nonce has max value: ${nonce}`);
}

interface FilledCall {
  readonly from: Uint8Array;
  readonly nonce: bigint;
  readonly gasLimit: bigint;
  readonly chainId: bigint;
  /** Whether there are transactions with two prices. */
  readonly typed: boolean;
}

/** A call with a gas price, or before London, is a legacy transaction. Others have the type that their fields need. */
function transactionOf(call: BlockCall, { typed, chainId, ...filled }: FilledCall): SignedTransaction {
  const legacy = call.gasPrice !== undefined || !typed;
  const { authorizationList, blobVersionedHashes } = call;
  const type = legacy ? 0 : authorizationList !== undefined ? 4 : blobVersionedHashes !== undefined ? 3 : 2;
  const tx: Omit<SignedTransaction, 'raw' | 'hash'> = {
    ...filled,
    ...NO_SIGNATURE,
    type,
    to: call.to,
    value: call.value ?? 0n,
    data: call.data ?? new Uint8Array(0),
    gasPrice: legacy ? (call.gasPrice ?? 0n) : undefined,
    maxFeePerGas: legacy ? undefined : (call.maxFeePerGas ?? 0n),
    maxPriorityFeePerGas: legacy ? undefined : (call.maxPriorityFeePerGas ?? 0n),
    chainId: legacy ? undefined : chainId,
    accessList: legacy ? undefined : (call.accessList ?? []),
    authorizationList: type === 4 ? authorizationList : undefined,
    ...(type === 3 && { blobVersionedHashes, maxFeePerBlobGas: call.maxFeePerBlobGas ?? 0n }),
  };
  const raw = encodeTransaction(tx, NO_SIGNATURE);
  return { ...tx, raw, hash: keccak256(raw) };
}

function ruleOf(rule: TransactionRule, message: TransactionMessage, baseFee: bigint): SimulationRule {
  switch (rule) {
    case 'intrinsic-gas':
    case 'init-code':
    case 'nonce-too-high':
      return rule;
    case 'gas-price': {
      const maxPrice = message.gasPrice ?? message.maxFeePerGas ?? 0n;
      if (message.gasPrice === undefined && (message.maxPriorityFeePerGas ?? 0n) > maxPrice) return 'parameter';
      return maxPrice < baseFee ? 'base-fee' : 'parameter';
    }
    default:
      return 'parameter';
  }
}

/**
 * Writes overrides into a state, so that they become changes of the simulated block.
 *
 * @throws PlumblineError `SIMULATION_REFUSED` for an account with both storage forms
 */
export async function writeOverrides(state: StateOverlay, overrides: StateOverrides): Promise<void> {
  for (const override of overrides) await writeOverride(state, override);
}

async function writeOverride(state: StateOverlay, override: AccountOverride): Promise<void> {
  const { address, balance, nonce, code, state: whole, stateDiff } = override;
  if (whole !== undefined && stateDiff !== undefined) {
    throw simulationRefused('override', `account ${bytesToHex(address)} has both 'state' and 'stateDiff'`);
  }
  if ([balance, nonce, code, whole, stateDiff].every((member) => member === undefined)) return;
  const account = (await state.account(address)) ?? NO_ACCOUNT;
  if (whole !== undefined) state.destroy(address);
  state.setAccount(address, {
    nonce: nonce ?? account.nonce,
    balance: balance ?? account.balance,
    codeHash: code === undefined ? account.codeHash : state.addCode(code),
  });
  for (const [key, value] of whole ?? stateDiff ?? []) state.setSlot(address, key, value);
}
