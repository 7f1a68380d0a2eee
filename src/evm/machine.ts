/**
 * Runs of the EVM kernel. A `Machine` is one state and block with a kernel that was configured for them. `runToEnd` goes on with a
 * transaction until it is done: whenever the kernel returns, it is handed what it waits for, read at once, or the answer of a precompile.
 */

import { invalidParameter, PlumblineError } from '../errors.js';
import { EMPTY_CODE_HASH } from '../ethereum/constants.js';
import {
  type EvmEnvironment,
  type EvmKernel,
  FLAGS,
  RUN_STATUS,
  returnEvmKernel,
  type TraceRecord,
  takeEvmKernel,
  WANTED,
  type Want,
} from '../kernel/evm.js';
import type { readTrace } from '../kernel/evm-trace.js';
import type { Hardfork, Network } from '../networks/network.js';
import { bigIntToBytes, concatBytes, equalBytes, padStart } from '../primitives/bytes.js';
import type { AccessListEntry } from '../primitives/call-request.js';
import { bytesToHex } from '../primitives/hex.js';
import { monotonicMs } from '../scheduling/clock.js';
import { loadOnce } from '../scheduling/load-once.js';
import type { BlockContext } from './block-context.js';
import { delegateOf, isDelegation, type Rules, rulesAt } from './common.js';
import { activePrecompiles } from './precompile-ids.js';
import type { RunBudget, RunCounts } from './run-budget.js';
import type { StateOverlay } from './state-overlay.js';
import type { StateReader } from './state-reader.js';

/** Without blobs the blob base fee stays at its minimum, 1 wei (docs/spec/json-rpc.md 1.2). */
const MIN_BLOB_BASE_FEE = 1n;

/** Forks of the kernel by index. Forks that are not in the list execute like the one before them. */
const KERNEL_FORKS: Partial<Record<Hardfork, number>> = {
  chainstart: 0,
  homestead: 1,
  tangerineWhistle: 2,
  spuriousDragon: 3,
  byzantium: 4,
  constantinople: 5,
  petersburg: 6,
  istanbul: 7,
  muirGlacier: 7,
  berlin: 8,
  london: 9,
  arrowGlacier: 9,
  grayGlacier: 9,
  paris: 10,
  shanghai: 11,
  cancun: 12,
  prague: 13,
  amsterdam: 15,
};
const OSAKA = 14;

/** A precompile moved to another address. */
interface MovedPrecompile {
  /** 20 bytes. */
  readonly from: Uint8Array;
  /** 20 bytes. */
  readonly to: Uint8Array;
}

/** What follows a run as it goes. */
export interface Tracing {
  /** What is recorded: of `FLAGS`. */
  readonly flags: number;
  /** Reads the kernel's record. */
  readonly read: typeof readTrace;
  /** Takes a record, in order. It must not be kept, unless it is one of a step. @throws PlumblineError to end the run */
  take(record: TraceRecord): void;
}

/** Differences between a machine and its network. */
export interface MachineOptions {
  readonly moved?: readonly MovedPrecompile[];
  /** Addresses (20 bytes each) that are ordinary accounts, even if the rules have a precompile there. */
  readonly removed?: readonly Uint8Array[];
  /** Add a log for each transfer of ether (ERC-7528). */
  readonly traceTransfers?: boolean | undefined;
  readonly tracing?: Tracing | undefined;
  /** A signature that does not exist yet: the precompile that recovers signers takes it for valid. */
  readonly supposed?: SupposedSignature | undefined;
}

/** A signature of a digest (32 bytes) that a signer (20 bytes) has not given: `DUMMY_SIGNATURE` stands for it. */
export interface SupposedSignature {
  /** Undefined in a run that only finds out what is read, where the digest hangs on guesses: any. */
  readonly digest: Uint8Array | undefined;
  readonly signer: Uint8Array;
}

/** r and s of a supposed signature, 32 bytes each, and its v. */
export const DUMMY_SIGNATURE = { r: new Uint8Array(32).fill(0x11), s: new Uint8Array(32).fill(0x22), v: 27 } as const;

/** What of the environment differs between the transactions of a block. */
type TransactionEnvironment = Pick<EvmEnvironment, 'origin' | 'gasPrice' | 'blobHashes'> & {
  /** Wei; that of the block if left out. */
  readonly baseFee?: bigint | undefined;
};

/** Address of a precompile, and the number of its standard address. */
export type PlacedPrecompile = readonly [address: Uint8Array, id: number];

/**
 * Executes on one state and one block, one run at a time. What a run reads stays in its kernel for the next one. The
 * kernel is taken for the first run.
 */
export class Machine {
  private kernel: EvmKernel | undefined;
  /** Version of the state that the kernel holds a part of. */
  private heldVersion = -1;

  private constructor(
    readonly rules: Rules,
    readonly block: BlockContext,
    readonly state: StateOverlay,
    private readonly placed: readonly PlacedPrecompile[],
    private readonly flags: number,
    private readonly tracing: Tracing | undefined,
    readonly supposed: SupposedSignature | undefined,
  ) {}

  /** @throws PlumblineError `INVALID_PARAMETER` when a precompile is moved from an address that has none */
  static open(
    network: Pick<Network, 'forks' | 'chainId'>,
    block: BlockContext,
    state: StateOverlay,
    options: MachineOptions = {},
  ): Machine {
    const rules = rulesAt(network, block.number, block.timestamp);
    const { traceTransfers, tracing, supposed } = options;
    const flags = (traceTransfers === true ? FLAGS.transfers : 0) | (tracing?.flags ?? 0);
    return new Machine(rules, block, state, placedPrecompiles(rules, options), flags, tracing, supposed);
  }

  /** The kernel of this machine, with nothing of another state. @throws PlumblineError `KERNEL_UNAVAILABLE` */
  enter(): EvmKernel | Promise<EvmKernel> {
    if (this.kernel !== undefined) {
      if (!this.kernel.isBroken) return this.renewed(this.kernel);
      returnEvmKernel(this.kernel);
      this.kernel = undefined;
    }
    const taken = takeEvmKernel(this.configuration, this.source);
    return taken instanceof Promise ? taken.then((kernel) => this.taken(kernel)) : this.taken(taken);
  }

  private taken(kernel: EvmKernel): EvmKernel {
    this.kernel = kernel;
    this.configure(kernel);
    this.heldVersion = this.state.version;
    return kernel;
  }

  private renewed(kernel: EvmKernel): EvmKernel {
    if (this.heldVersion !== this.state.version) {
      kernel.forget();
      this.heldVersion = this.state.version;
    }
    return kernel;
  }

  /** Starts a transaction. */
  begin(kernel: EvmKernel, { baseFee, origin, gasPrice, blobHashes }: TransactionEnvironment): void {
    const { number, timestamp, gasLimit, coinbase, prevRandao, difficulty, blobBaseFee, baseFeePerGas } = this.block;
    const { slotNumber = 0n } = this.block;
    kernel.begin({
      number,
      timestamp,
      slotNumber,
      gasLimit,
      chainId: this.rules.chainId,
      coinbase,
      random: this.rules.paris ? prevRandao : bigIntToBytes(difficulty ?? 0n, 32),
      baseFee: baseFee ?? baseFeePerGas,
      blobBaseFee: blobBaseFee ?? MIN_BLOB_BASE_FEE,
      origin,
      gasPrice,
      blobHashes,
    });
  }

  /** Hands over what the last run recorded. */
  takeTrace(kernel: EvmKernel): void {
    if (this.tracing !== undefined) kernel.takeTrace(this.tracing.read, this.tracing.take);
  }

  /** Ends a transaction: what it wrote is in the state afterwards. */
  commit(kernel: EvmKernel): void {
    this.state.write(kernel.changes());
    kernel.commit();
    this.heldVersion = this.state.version;
  }

  /** Gives the kernel back. The machine must not run anything afterwards. */
  close(): void {
    const { kernel, source } = this;
    this.kernel = undefined;
    if (kernel === undefined) return;
    kernel.heldFrom(source);
    returnEvmKernel(kernel);
  }

  /**
   * What all that the kernel holds was read from; undefined once something is written. The next machine over the same reader goes on with
   * what the kernel holds.
   */
  private get source(): StateReader | undefined {
    return this.state.version === 0 ? this.state.source : undefined;
  }

  /** What the kernel is configured for; undefined where precompiles were moved or removed. */
  private get configuration(): string | undefined {
    return this.placed === standardPrecompiles(this.rules) ? this.rules.hardfork : undefined;
  }

  private configure(kernel: EvmKernel): void {
    const { configuration, rules, source } = this;
    kernel.record(this.flags);
    if (configuration !== undefined && kernel.configuration === configuration) {
      // Block hashes depend on the block too.
      if (source !== undefined && kernel.holdsFrom(source)) kernel.forgetHashes();
      else kernel.forget();
      return;
    }
    kernel.configure(KERNEL_FORKS[rules.hardfork] ?? OSAKA);
    kernel.configuration = configuration;
    for (const [address, id] of this.placed) kernel.setPrecompile(address, id);
    // Also where a precompile was moved away or removed: warm are the addresses of the rules.
    for (const [address] of standardPrecompiles(rules)) kernel.warmAlways(address);
  }
}

const standardByFork = new Map<Hardfork, readonly PlacedPrecompile[]>();

function standardPrecompiles(rules: Rules): readonly PlacedPrecompile[] {
  let standard = standardByFork.get(rules.hardfork);
  if (standard === undefined) {
    standard = activePrecompiles(rules).map((id) => [bigIntToBytes(BigInt(id), 20), id]);
    standardByFork.set(rules.hardfork, standard);
  }
  return standard;
}

/** The precompiles of these rules, with those that were moved and without those that were removed. */
export function placedPrecompiles(
  rules: Rules,
  { moved = [], removed = [] }: MachineOptions,
): readonly PlacedPrecompile[] {
  const active = standardPrecompiles(rules);
  if (moved.length === 0 && removed.length === 0) return active;
  const gone = [...removed, ...moved.map(({ from }) => from)];
  const placed = active.filter(([address]) => !gone.some((other) => equalBytes(other, address)));
  for (const { from, to } of moved) {
    const found = active.find(([address]) => equalBytes(address, from));
    if (found === undefined) {
      throw invalidParameter('movePrecompileToAddress', `account ${bytesToHex(from)} is not a precompile`);
    }
    placed.push([to, found[1]]);
  }
  return placed;
}

const loadPrecompiles = loadOnce(() => import('./precompiles.js'));

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
    const began = monotonicMs();
    const status = kernel.run(budget.nextSlice);
    budget.spend(kernel.spent);
    machine.takeTrace(kernel);
    switch (status) {
      case RUN_STATUS.done:
        return;
      case RUN_STATUS.slice:
        budget.measured(monotonicMs() - began);
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

const RECOVERY = 1;
const RECOVERY_GAS = 3_000n;

/** Whether the precompile is asked for the signer of exactly this digest, with the dummy. */
function isSupposed(input: Uint8Array, digest = input.subarray(0, 32)): boolean {
  const { v, r, s } = DUMMY_SIGNATURE;
  return equalBytes(input.subarray(0, 128), concatBytes(digest, bigIntToBytes(BigInt(v), 32), r, s));
}

async function answerPrecompile(
  { rules, supposed }: Machine,
  kernel: EvmKernel,
  budget: RunBudget,
  counts: RunCounts | undefined,
): Promise<void> {
  const { id, gas, input } = kernel.precompileCall();
  if (supposed !== undefined && id === RECOVERY && gas >= RECOVERY_GAS && isSupposed(input, supposed.digest)) {
    kernel.answerPrecompile(true, RECOVERY_GAS, padStart(supposed.signer, 32));
    return;
  }
  const { runPrecompile, PRECOMPILE_LINES } = await loadPrecompiles();
  const running = runPrecompile(id, input, gas, rules, budget.pause);
  const result = running instanceof Promise ? await running : running;
  if (counts !== undefined) PRECOMPILE_LINES.get(id)?.(counts, input, result.succeeded);
  kernel.answerPrecompile(result.succeeded, result.gasUsed, result.output);
}

/** Hands something that was read to a kernel. Everything is read first, because a read may fail. */
type HandIn = () => void;

/** What a transaction certainly reads. Addresses have 20 bytes. */
interface CertainReads {
  readonly accounts: readonly Uint8Array[];
  /** Its code is read too. */
  readonly recipient?: Uint8Array | undefined;
  readonly accessList?: readonly AccessListEntry[] | undefined;
}

/** Reads at once what a transaction certainly needs, and hands it in. @returns undefined if the kernel has all of it */
export function handInCertain(kernel: EvmKernel, state: StateReader, certain: CertainReads): Promise<void> | undefined {
  const { accounts, recipient, accessList = [] } = certain;
  const reads: Promise<HandIn>[] = [];
  const add = (address: Uint8Array, withCode: boolean) => {
    if (!kernel.holdsAccount(address)) reads.push(readAccount(kernel, state, address, withCode));
  };
  if (recipient !== undefined) add(recipient, true);
  for (const address of accounts) if (recipient === undefined || !equalBytes(address, recipient)) add(address, false);
  for (const { address, storageKeys } of accessList) {
    add(address, false);
    for (const key of storageKeys) reads.push(readSlot(kernel, state, address, key));
  }
  if (reads.length === 0) return undefined;
  return Promise.all(reads).then((read) => {
    for (const handIn of read) handIn();
  });
}

/** Reads at once everything that a kernel waits for, and hands it in. */
async function handInWanted(machine: Machine, kernel: EvmKernel): Promise<void> {
  const wants = kernel.wants();
  const read =
    wants.length === 1
      ? [await answer(machine, kernel, wants[0]!)]
      : await Promise.all(wants.map((want) => answer(machine, kernel, want)));
  for (const handIn of read) handIn();
}

function answer({ state, block }: Machine, kernel: EvmKernel, { kind, address, key, number }: Want): Promise<HandIn> {
  switch (kind) {
    case WANTED.slot:
      return readSlot(kernel, state, address, key);
    case WANTED.blockHash:
      return block.blockHash(number).then((hash) => () => kernel.loadBlockHash(number, hash));
    case WANTED.code:
      return readCode(kernel, state, key, true);
    default:
      return readAccount(kernel, state, address, kind === WANTED.accountAndCode);
  }
}

async function readSlot(kernel: EvmKernel, state: StateReader, address: Uint8Array, key: Uint8Array): Promise<HandIn> {
  const value = await state.slot(address, key);
  return () => kernel.loadSlot(address, key, value);
}

async function readAccount(
  kernel: EvmKernel,
  state: StateReader,
  address: Uint8Array,
  withCode: boolean,
  followDelegation = true,
): Promise<HandIn> {
  const account = await state.account(address);
  const handIn = () => kernel.loadAccount(address, account);
  if (!withCode || account === undefined || equalBytes(account.codeHash, EMPTY_CODE_HASH)) return handIn;
  const handInCode = await readCode(kernel, state, account.codeHash, followDelegation);
  return () => {
    handInCode();
    handIn();
  };
}

/** @param followDelegation - read the account too that the code delegates to; one level, as execution does (EIP-7702) */
async function readCode(
  kernel: EvmKernel,
  state: StateReader,
  codeHash: Uint8Array,
  followDelegation: boolean,
): Promise<HandIn> {
  if (kernel.hasCode(codeHash)) return () => {};
  const code = await state.code(codeHash);
  const handIn = () => kernel.addCode(codeHash, code);
  if (!followDelegation || !isDelegation(code)) return handIn;
  const handInDelegate = await readAccount(kernel, state, delegateOf(code), true, false);
  return () => {
    handIn();
    handInDelegate();
  };
}
