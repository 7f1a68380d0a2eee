/**
 * The EVM in linear memory, seen from outside (assembly/evm.ts). It executes and never calls out: `run` returns with a reason,
 * and the next `run` goes on where it was.
 *
 * First come the exports of the module and the layout of its records, then what a run asks for and answers. `EvmKernel` is one
 * instance. Idle instances are used again, because to configure one takes as long as a small run.
 */

import { bytesToKey } from '../primitives/bytes.js';
import type { Hex } from '../primitives/hex.js';
import { runInNextTask } from '../scheduling/turns.js';
import type { ExportedNumber, KernelBuild, LinearMemory } from './contracts.js';
import { EVM_SOURCE, evmBuild, loadEvmModule } from './evm-module.js';
import { instanceOf } from './instantiate.js';

/** Exports of evm.wasm; see assembly/evm.ts. Integers in records are little-endian, words and addresses big-endian. */
export interface EvmExports {
  readonly memory: LinearMemory;
  /** Operands: address at 0, words at 32, 64 and 96. */
  readonly IO: ExportedNumber;
  /** Block and transaction, at the offsets `ENV`. */
  readonly ENV: ExportedNumber;
  /** Result of the last `run`, at the offsets `RESULT`. */
  readonly RESULT: ExportedNumber;
  /** Records of what the kernel wants, at the offsets `WANT`. */
  readonly WANTS: ExportedNumber;
  configure(fork: number): void;
  record(flags: number): void;
  setMemoryLimit(bytes: number): void;
  setPrecompile(id: number): void;
  warmAlways(): void;
  forget(): void;
  forgetHashes(): void;
  blobHashes(count: number): number;
  codeSpace(length: number): number;
  addCode(): void;
  loadAccount(exists: number, nonce: bigint): void;
  loadSlot(): void;
  loadBlockHash(number: bigint): void;
  begin(): void;
  warmAddress(): void;
  warmSlot(): void;
  readAccount(): number;
  writeAccount(nonce: bigint): void;
  writeCode(): void;
  dataSpace(length: number): number;
  start(create: number, gas: bigint, stateGas: bigint): void;
  payAuthorization(gas: bigint, stateGas: bigint): number;
  note(): void;
  run(slice: bigint): number;
  wantCount(): number;
  outputSpace(length: number): number;
  answerPrecompile(success: number, gasUsed: bigint): void;
  finish(): void;
  changes(): number;
  touched(): number;
  loads(): number;
  changesPointer(): number;
  emptyTrace(): void;
  commit(): void;
  rollback(): void;
}

/**
 * Flags of `record`. All but the first record: calls, instructions, with them the memory and the return data before each, or only
 * the instructions that name an account or a slot.
 */
export const FLAGS = { transfers: 1, calls: 2, steps: 4, memory: 8, returnData: 16, stateSteps: 4 | 32 } as const;

/** Why `run` returned. `memory` is for a trap: there was not enough of it. */
export const RUN_STATUS = { done: 0, slice: 1, wants: 2, precompile: 3, memory: 4, traceFull: 5 } as const;

/** Offsets in `IO`. */
export const IO = { address: 0, key: 32, word: 64, nonce: 96 } as const;

/** Offsets in `ENV`. */
export const ENV = {
  number: 0,
  timestamp: 8,
  gasLimit: 16,
  chainId: 24,
  coinbase: 32,
  random: 64,
  baseFee: 96,
  blobBaseFee: 128,
  origin: 160,
  gasPrice: 192,
  blobCount: 224,
  slotNumber: 232,
} as const;

/** Offsets in `RESULT`. */
export const RESULT = {
  success: 0,
  exception: 4,
  opcode: 8,
  created: 12,
  gasLeft: 16,
  refund: 24,
  returned: 32,
  returnedBytes: 36,
  logs: 40,
  logCount: 48,
  precompile: 52,
  precompileGas: 56,
  input: 64,
  inputBytes: 68,
  keccakBlocks: 72,
  spareGas: 80,
  spent: 88,
  createdAddress: 96,
  traceBytes: 124,
  trace: 128,
  environment: 136,
  reservoir: 144,
  stateUsed: 152,
} as const;

/** Kinds of `WANT` records. */
export const WANTED = { account: 1, accountAndCode: 2, slot: 3, blockHash: 4, code: 5 } as const;

/** Offsets in the record of one thing that the kernel wants, and its length. */
const WANT = { kind: 0, address: 4, number: 24, key: 32, bytes: 64 } as const;

/** Offsets in the record of a log; topics and data follow. */
const LOG = { address: 0, topics: 20, dataBytes: 24, transfer: 28, bytes: 32 } as const;

/** Offsets in the record of a changed account; its slots follow, key and value each. */
const CHANGE = {
  flags: 0,
  slots: 4,
  address: 8,
  nonce: 32,
  code: 40,
  codeBytes: 44,
  balance: 48,
  codeHash: 80,
  bytes: 112,
} as const;

/** Flags of a changed account. */
const CHANGED = { exists: 1, destroyed: 2, code: 4, storageCleared: 8 } as const;

/** Offsets in the record of a touched account; keys of its slots follow. Of a loaded one the values before and after are behind each key. */
const TOUCHED = { address: 0, slots: 24, bytes: 32, loadedSlot: 96 } as const;

/** An account as the kernel holds it. */
export interface EvmAccount {
  readonly nonce: bigint;
  readonly balance: bigint;
  /** Keccak-256 of the byte code, 32 bytes. */
  readonly codeHash: Uint8Array;
}

/** Something that the kernel does not hold and needs in order to go on. */
export interface Want {
  /** One of `WANTED`. */
  readonly kind: number;
  /** 20 bytes. */
  readonly address: Uint8Array;
  /** Of a block. */
  readonly number: number;
  /** Slot or code hash, 32 bytes. */
  readonly key: Uint8Array;
}

/** A call of a precompile that the kernel leaves to its host. */
interface PrecompileCall {
  /** Number of the precompile's standard address. */
  readonly id: number;
  readonly gas: bigint;
  readonly input: Uint8Array;
}

/** How the outermost frame ended. */
export interface EvmResult {
  readonly succeeded: boolean;
  /** Index into `EXCEPTIONS`; zero without an exception. */
  readonly exception: number;
  /** The invalid opcode, for that exception. */
  readonly opcode: number;
  readonly gasLeft: bigint;
  /** State gas that is left of the reservoir, and that was used (EIP-8037); zero before Amsterdam. */
  readonly stateGasLeft: bigint;
  readonly stateGasUsed: bigint;
  /** Sum of refunds; the limit of EIP-3529 is not applied. */
  readonly refund: bigint;
  /** Blocks that Keccak-256 hashed, those of creations included. */
  readonly keccakBlocks: number;
  /** How much less gas would give the same execution; negative if that is not known. */
  readonly spareGas: bigint;
  /** Bit `opcode & 63` is set for each executed instruction that reads the block, the price, a balance or the gas left. */
  readonly environment: bigint;
  /** 20 bytes; undefined unless a contract was created. */
  readonly createdAddress: Uint8Array | undefined;
}

/** A log of a run. */
export interface EvmLog {
  readonly address: Uint8Array;
  readonly topics: Uint8Array[];
  readonly data: Uint8Array;
  /** It stands for a transfer of ether. */
  readonly isTransfer: boolean;
}

/** What a run wrote to one account. */
export interface EvmChange {
  readonly address: Uint8Array;
  /** Undefined if the account does not exist afterwards. */
  readonly account: EvmAccount | undefined;
  /** Its storage before the run no longer counts. */
  readonly storageCleared: boolean;
  /** Byte code, if the run set it. */
  readonly code: Uint8Array | undefined;
  /** Key and value of the written slots, 32 bytes each. */
  readonly slots: readonly (readonly [key: Uint8Array, value: Uint8Array])[];
}

/** An account that a run accessed, or slots of it. */
interface EvmTouched {
  readonly address: Uint8Array;
  readonly keys: Uint8Array[];
}

/** An account that a run loaded, and those of its slots that it read or wrote; 32 bytes each (EIP-7928). */
export interface EvmLoad {
  readonly address: Uint8Array;
  readonly slots: readonly { readonly key: Uint8Array; readonly before: Uint8Array; readonly after: Uint8Array }[];
}

/** One thing that a traced run did. Depths count from 0, the outermost frame; addresses have 20 bytes, words 32. */
export type TraceRecord = TraceEnter | TraceLeave | TraceStep;

/** A bigint only where a number could not hold it: numbers take a fraction of the time. */
export type TracedGas = number | bigint;

/** A call, a creation or a SELFDESTRUCT. */
export interface TraceEnter {
  readonly kind: 'enter';
  /** Instruction that makes it; for the outermost one CALL or CREATE. */
  readonly op: number;
  readonly depth: number;
  readonly gas: TracedGas;
  /** Number of logs before it that are still there. */
  readonly logs: number;
  /** The account that executes. */
  readonly caller: Uint8Array;
  /** The account whose code runs, the new one, or the beneficiary; zeros for a creation that could not begin. */
  readonly callee: Uint8Array;
  /** Both as text. */
  readonly callerText: Hex;
  readonly calleeText: Hex;
  /** Wei, as a quantity. */
  readonly valueText: Hex;
  /** The input, or the init code of a creation, is a part of `bytes`, which are not copied. */
  readonly bytes: Uint8Array;
  readonly inputAt: number;
  readonly inputLength: number;
}

/** The end of the newest frame that is open. */
export interface TraceLeave {
  readonly kind: 'leave';
  /** Index into `EXCEPTIONS`; zero without an exception. */
  readonly exception: number;
  readonly depth: number;
  /** That is left. */
  readonly gas: TracedGas;
  /** Number of logs that are still there. */
  readonly logs: number;
  /** The instruction at which it ended, where it is, and how many words its stack had; zeros without code. */
  readonly pc: number;
  readonly op: number;
  readonly stackItems: number;
  /** Gas after that instruction, before the price of deployed code; below zero if it lacked gas. */
  readonly rest: bigint;
  /** The refunds before the frame was taken back. */
  readonly refund: bigint;
  readonly memoryBytes: number;
  /** The byte after that instruction; undefined before Amsterdam, where no instruction takes it. */
  readonly immediate: number | undefined;
  /** Of the frame's own gas spent for the state at its end; of a frame that lacked such gas, what it would have spent. */
  readonly stateGas: bigint;
  /** The output is a part of `bytes`, which are not copied. */
  readonly bytes: Uint8Array;
  readonly outputAt: number;
  readonly outputLength: number;
}

/** An instruction before it is executed. */
export interface TraceStep {
  readonly kind: 'step';
  readonly pc: number;
  readonly op: number;
  readonly gas: bigint;
  readonly depth: number;
  /** The refunds so far. */
  readonly refund: bigint;
  /** Of the frame's own gas spent for the state so far; zero before Amsterdam (EIP-8037). */
  readonly stateGas: bigint;
  /** The lowest word first. With `FLAGS.stateSteps` the topmost five. */
  readonly stack: readonly Uint8Array[];
  /** Empty without their flags. */
  readonly memory: Uint8Array;
  readonly returnData: Uint8Array;
}

/** Block and transaction that code can read. */
export interface EvmEnvironment {
  readonly number: number;
  /** Seconds. */
  readonly timestamp: number;
  /** Below 2^64. */
  readonly slotNumber: bigint;
  readonly gasLimit: bigint;
  readonly chainId: number;
  /** 20 bytes. */
  readonly coinbase: Uint8Array;
  /** The random value from Paris on, the difficulty before; 32 bytes. */
  readonly random: Uint8Array;
  /** Wei. */
  readonly baseFee: bigint;
  /** Wei. */
  readonly blobBaseFee: bigint;
  /** 20 bytes. */
  readonly origin: Uint8Array;
  /** Wei. */
  readonly gasPrice: bigint;
  /** 32 bytes each. */
  readonly blobHashes: readonly Uint8Array[];
}

/** The outermost frame of a transaction. */
interface EvmMessage {
  /** 20 bytes. */
  readonly caller: Uint8Array;
  /** 20 bytes; undefined creates a contract. */
  readonly to: Uint8Array | undefined;
  /** Wei. */
  readonly value: bigint;
  readonly data: Uint8Array;
  readonly gas: bigint;
  /** Reservoir of state gas; none if left out. */
  readonly stateGas?: bigint;
}

const MAX_GAS = 2n ** 63n - 1n;
const NO_ADDRESS = new Uint8Array(20);

/**
 * One instance of the EVM. It holds the state that it was handed, and executes one transaction at a time: `begin`, what
 * is warm, `start`, then `run` until it is done, and at last `commit` or `rollback`. Addresses have 20 bytes, keys and
 * hashes 32. The caller passes addresses and words of these lengths; they are not checked again.
 */
export class EvmKernel {
  readonly #wasm: EvmExports;
  readonly #memory: EvmMemory;
  readonly #codes = new Set<string>();
  #isBroken = false;

  /** @param wasm - exports of an unshared instance of `build` */
  constructor(
    wasm: EvmExports,
    readonly build: KernelBuild,
  ) {
    this.#wasm = wasm;
    this.#memory = new EvmMemory(wasm);
  }

  /** Whether it ran out of memory and can only be dropped. */
  get isBroken(): boolean {
    return this.#isBroken;
  }

  /** Length of its memory. */
  get memoryBytes(): number {
    return this.#memory.size;
  }

  /** Names what the kernel was configured for, so that it need not be done again; for the use of the host. */
  configuration: string | undefined;

  /** What all state that it holds was read from; undefined if that is not known. */
  #source: WeakRef<object> | undefined;

  /** Sets the rules, without any precompile, and forgets the state. @param fork - index of those that change execution */
  configure(fork: number): void {
    this.#source = undefined;
    this.#wasm.configure(fork);
    this.#codes.clear();
  }

  /** What the next runs record. @param flags - of `FLAGS` */
  record(flags: number): void {
    this.#wasm.record(flags);
  }

  /** @param id - number of the standard address whose precompile runs here; zero for an ordinary account */
  setPrecompile(address: Uint8Array, id: number): void {
    this.#writeAddress(address);
    this.#wasm.setPrecompile(id);
  }

  /** The address is warm in every transaction until `configure`. */
  warmAlways(address: Uint8Array): void {
    this.#writeAddress(address);
    this.#wasm.warmAlways();
  }

  /** Forgets the state that was handed in. Byte code is forgotten only when it takes much memory. */
  forget(): void {
    this.#source = undefined;
    this.#wasm.forget();
    this.#codes.clear();
  }

  /** Whether all state that it holds was read from here. @param source - a state that never changes */
  holdsFrom(source: object): boolean {
    return this.#source?.deref() === source;
  }

  /** Names where all state that it holds was read from, until `forget`; undefined if something was written. */
  heldFrom(source: object | undefined): void {
    this.#source = source && new WeakRef(source);
  }

  /** Forgets block hashes, and keeps the rest of the state. */
  forgetHashes(): void {
    this.#wasm.forgetHashes();
  }

  /** Whether code was handed in since `forget`. */
  hasCode(codeHash: Uint8Array): boolean {
    return this.#codes.has(bytesToKey(codeHash));
  }

  /** Hands in byte code. The kernel trusts the hash. */
  addCode(codeHash: Uint8Array, code: Uint8Array): void {
    const key = bytesToKey(codeHash);
    if (this.#codes.has(key)) return;
    const at = this.#wasm.codeSpace(code.length) >>> 0;
    const memory = this.#renewed();
    memory.write(at, code);
    memory.write(memory.io + IO.word, codeHash);
    this.#wasm.addCode();
    this.#codes.add(key);
  }

  /** Hands in an account as it is before the transaction; undefined if it does not exist. */
  loadAccount(address: Uint8Array, account: EvmAccount | undefined): void {
    const memory = this.#writeAddress(address);
    if (account !== undefined) {
      memory.writeWord(memory.io + IO.key, account.balance);
      memory.write(memory.io + IO.word, account.codeHash);
    }
    this.#wasm.loadAccount(account === undefined ? 0 : 1, account?.nonce ?? 0n);
  }

  loadSlot(address: Uint8Array, key: Uint8Array, value: Uint8Array): void {
    const memory = this.#writeAddress(address);
    memory.write(memory.io + IO.key, key);
    memory.write(memory.io + IO.word, value);
    this.#wasm.loadSlot();
  }

  loadBlockHash(number: number, hash: Uint8Array): void {
    const memory = this.#renewed();
    memory.write(memory.io + IO.word, hash);
    this.#wasm.loadBlockHash(BigInt(number));
  }

  /** Starts a transaction. */
  begin(environment: EvmEnvironment): void {
    const { length } = environment.blobHashes;
    // A run that was ended from outside left what it recorded.
    this.#wasm.emptyTrace();
    const hashesAt = length === 0 ? 0 : this.#wasm.blobHashes(length) >>> 0;
    writeEnvironment(this.#renewed(), environment, hashesAt);
    this.#wasm.begin();
  }

  /** The address is warm from the start of the transaction. */
  warmAddress(address: Uint8Array): void {
    this.#writeAddress(address);
    this.#wasm.warmAddress();
  }

  /** The slot is warm from the start of the transaction. */
  warmSlot(address: Uint8Array, key: Uint8Array): void {
    const memory = this.#writeAddress(address);
    memory.write(memory.io + IO.key, key);
    this.#wasm.warmSlot();
  }

  /** Whether an account was handed in. */
  holdsAccount(address: Uint8Array): boolean {
    this.#writeAddress(address);
    return (this.#wasm.readAccount() & 1) !== 0;
  }

  /** Present value of an account that was handed in; undefined if it does not exist. */
  account(address: Uint8Array): EvmAccount | undefined {
    this.#writeAddress(address);
    if ((this.#wasm.readAccount() & 2) === 0) return undefined;
    const memory = this.#renewed();
    return {
      nonce: memory.u64(memory.io + IO.nonce),
      balance: memory.word(memory.io + IO.key),
      codeHash: memory.copy(memory.io + IO.word, 32),
    };
  }

  /** Writes an account that was handed in. It exists afterwards, and counts as touched. */
  writeAccount(address: Uint8Array, nonce: bigint, balance: bigint): void {
    const memory = this.#writeAddress(address);
    memory.writeWord(memory.io + IO.key, balance);
    this.#wasm.writeAccount(nonce);
  }

  /** Sets the code of an account. @param codeHash - of code that was handed in, or of none */
  writeCode(address: Uint8Array, codeHash: Uint8Array): void {
    const memory = this.#writeAddress(address);
    memory.write(memory.io + IO.word, codeHash);
    this.#wasm.writeCode();
  }

  /** Prepares the outermost frame. For a creation, the nonce of the caller is raised already. */
  start({ caller, to, value, data, gas, stateGas = 0n }: EvmMessage): void {
    const dataAt = this.#wasm.dataSpace(data.length) >>> 0;
    const memory = this.#renewed();
    memory.write(dataAt, data);
    memory.write(memory.io + IO.address, caller);
    memory.writeWord(memory.io + IO.key, value);
    memory.write(memory.io + IO.word, to ?? NO_ADDRESS);
    this.#wasm.start(to === undefined ? 1 : 0, gas > MAX_GAS ? MAX_GAS : gas, stateGas);
  }

  /**
   * Charges the started transaction for an authorization (EIP-8037).
   *
   * @returns false if it cannot pay: the next `run` then ends it as out of gas, and undoes what was written since `start`
   */
  payAuthorization(gas: bigint, stateGas: bigint): boolean {
    return this.#wasm.payAuthorization(gas, stateGas) !== 0;
  }

  /** Counts an account as loaded. */
  note(address: Uint8Array): void {
    this.#writeAddress(address);
    this.#wasm.note();
  }

  /** Executes until about `slice` gas is spent. @returns one of `RUN_STATUS` */
  run(slice: number): number {
    let status: number = RUN_STATUS.memory;
    try {
      status = this.#wasm.run(BigInt(slice));
    } catch {
      // Without memory the module traps, in the middle of what it was doing.
      this.#isBroken = true;
    }
    this.#memory.renew();
    return status;
  }

  /** Gas that the last `run` spent. */
  get spent(): number {
    return Number(this.#memory.i64(this.#memory.result + RESULT.spent));
  }

  /** After `RUN_STATUS.wants`. */
  wants(): Want[] {
    return readWants(this.#memory, this.#wasm.wantCount());
  }

  /** After `RUN_STATUS.precompile`. */
  precompileCall(): PrecompileCall {
    return readPrecompileCall(this.#memory);
  }

  answerPrecompile(succeeded: boolean, gasUsed: bigint, output: Uint8Array): void {
    const at = this.#wasm.outputSpace(output.length) >>> 0;
    this.#renewed().write(at, output);
    this.#wasm.answerPrecompile(succeeded ? 1 : 0, gasUsed);
  }

  /** After `RUN_STATUS.done`, as long as the transaction is open. */
  result(): EvmResult {
    return readResult(this.#memory);
  }

  /**
   * As `readTrace`, with the flags of a trace. At least what one `run` recorded is held at a time.
   *
   * @param read - `readTrace`, which only traces load
   */
  takeTrace(
    read: (memory: EvmMemory, visit: (record: TraceRecord) => void) => boolean,
    visit: (record: TraceRecord) => void,
  ): void {
    if (read(this.#memory, visit)) this.#wasm.emptyTrace();
  }

  /** Number of logs, and bytes of return data, topics and log data together. */
  outcomeSize(): { readonly logs: number; readonly bytes: number } {
    return readOutcomeSize(this.#memory);
  }

  /** Return data of the outermost frame. */
  returned(): Uint8Array {
    return readReturned(this.#memory);
  }

  logs(): EvmLog[] {
    return readLogs(this.#memory);
  }

  /** Accounts and slots that were accessed and not warm from the start. */
  touched(): EvmTouched[] {
    const count = this.#wasm.touched();
    return readTouched(this.#renewed(), count, this.#wasm.changesPointer() >>> 0);
  }

  /** Accounts and slots that were loaded, in no order; after `finish`. */
  loads(): EvmLoad[] {
    const count = this.#wasm.loads();
    return readLoads(this.#renewed(), count, this.#wasm.changesPointer() >>> 0);
  }

  /** Removes destroyed accounts, and touched empty ones from Spurious Dragon on. */
  finish(): void {
    this.#wasm.finish();
  }

  /** What the transaction wrote, in order of the first write to each account. */
  changes(): EvmChange[] {
    const count = this.#wasm.changes();
    return readChanges(this.#renewed(), count, this.#wasm.changesPointer() >>> 0);
  }

  /** Keeps what the transaction wrote, as the state before the next one. */
  commit(): void {
    this.#wasm.commit();
  }

  /** Undoes everything since `begin`, at any point of a run. */
  rollback(): void {
    if (!this.#isBroken) this.#wasm.rollback();
  }

  #renewed(): EvmMemory {
    this.#memory.renew();
    return this.#memory;
  }

  #writeAddress(address: Uint8Array): EvmMemory {
    const memory = this.#renewed();
    memory.write(memory.io + IO.address, address);
    return memory;
  }
}

/** Most idle kernels. There are more only while that many executions go on at once. */
const MAX_IDLE = 4;
/** A kernel whose memory has grown beyond this is not kept. */
const MAX_IDLE_BYTES = 64 * 2 ** 20;

const idle: EvmKernel[] = [];
/** How many kernels are not idle. */
let inUse = 0;
/** Tasks that an execution waits for a kernel before it makes one. */
const TASKS = 8;
/** Executions that wait, in the order in which they came. */
const waiting: {
  readonly build: KernelBuild;
  tasks: number;
  readonly resolve: (kernel: EvmKernel | undefined) => void;
}[] = [];

/**
 * An idle kernel, or a new one. It may hold state of an earlier use. If several are in use, it waits a few tasks for one of them: many short
 * executions that begin at once share a few kernels so.
 *
 * @param configuration - that it should have already: to configure one takes as long as a small run
 * @param source - that its state should be from
 * @throws PlumblineError `KERNEL_UNAVAILABLE`
 */
export function takeEvmKernel(configuration: string | undefined, source?: object): EvmKernel | Promise<EvmKernel> {
  const build = evmBuild();
  const isFit = (kernel: EvmKernel) => kernel.build === build && kernel.configuration === configuration;
  const holds = source && idle.findLastIndex((kernel) => isFit(kernel) && kernel.holdsFrom(source));
  const fit = holds === undefined || holds < 0 ? idle.findLastIndex(isFit) : holds;
  const at = fit >= 0 ? fit : idle.findLastIndex((kernel) => kernel.build === build);
  inUse++;
  return at >= 0 ? idle.splice(at, 1)[0]! : newKernel(build);
}

async function newKernel(build: KernelBuild): Promise<EvmKernel> {
  try {
    const returned = inUse > MAX_IDLE ? await returnedSoon(build) : undefined;
    return returned ?? new EvmKernel(await instanceOf<EvmExports>(EVM_SOURCE, await loadEvmModule()), build);
  } catch (error) {
    inUse--;
    throw error;
  }
}

/** @param kernel - without an open transaction; not used by the caller any more */
export function returnEvmKernel(kernel: EvmKernel): void {
  inUse--;
  if (kernel.isBroken || kernel.memoryBytes > MAX_IDLE_BYTES) return;
  const at = waiting.findIndex(({ build }) => build === kernel.build);
  if (at >= 0) {
    waiting.splice(at, 1)[0]!.resolve(kernel);
    return;
  }
  if (idle.length === MAX_IDLE) idle.shift();
  idle.push(kernel);
}

/** A kernel that another execution returns within a few tasks; undefined if none does. */
function returnedSoon(build: KernelBuild): Promise<EvmKernel | undefined> {
  return new Promise((resolve) => {
    if (waiting.push({ build, tasks: TASKS, resolve }) === 1) runInNextTask(waited);
  });
}

/** A task is over for all that wait. */
function waited(): void {
  for (const one of waiting) one.tasks--;
  while (waiting[0]?.tasks === 0) waiting.shift()!.resolve(undefined);
  if (waiting.length > 0) runInNextTask(waited);
}

const LOW_64 = 0xffff_ffff_ffff_ffffn;

/** Reads and writes the linear memory of the EVM. Views become invalid when it grows, and are renewed by `renew`. */
export class EvmMemory {
  bytes: Uint8Array;
  view: DataView;
  /** Addresses of the fixed regions. */
  readonly io: number;
  readonly env: number;
  readonly result: number;
  readonly wants: number;

  constructor(private readonly wasm: EvmExports) {
    this.bytes = new Uint8Array(wasm.memory.buffer);
    this.view = new DataView(wasm.memory.buffer);
    this.io = wasm.IO.value >>> 0;
    this.env = wasm.ENV.value >>> 0;
    this.result = wasm.RESULT.value >>> 0;
    this.wants = wasm.WANTS.value >>> 0;
  }

  get size(): number {
    return this.wasm.memory.buffer.byteLength;
  }

  /** Renews the views after a call that may have grown the memory. Growth detaches the buffer of the old ones. */
  renew(): void {
    if (this.bytes.length > 0) return;
    this.bytes = new Uint8Array(this.wasm.memory.buffer);
    this.view = new DataView(this.wasm.memory.buffer);
  }

  write(at: number, bytes: Uint8Array): void {
    this.bytes.set(bytes, at);
  }

  copy(at: number, length: number): Uint8Array {
    return this.bytes.slice(at, at + length);
  }

  u32(at: number): number {
    return this.view.getUint32(at, true);
  }

  u64(at: number): bigint {
    return this.view.getBigUint64(at, true);
  }

  i64(at: number): bigint {
    return this.view.getBigInt64(at, true);
  }

  /** Writes a number below 2^53 as 8 bytes, little-endian. */
  writeNumber(at: number, value: number): void {
    this.view.setUint32(at, value % 4_294_967_296, true);
    this.view.setUint32(at + 4, Math.floor(value / 4_294_967_296), true);
  }

  /** Writes 8 bytes, little-endian; a value that does not fit becomes the largest. */
  writeUint64(at: number, value: bigint): void {
    this.view.setBigUint64(at, value > LOW_64 ? LOW_64 : value, true);
  }

  /** Writes a word: 32 bytes, big-endian. */
  writeWord(at: number, value: bigint): void {
    const { view } = this;
    if (value <= LOW_64) {
      this.bytes.fill(0, at, at + 24);
      view.setBigUint64(at + 24, value);
      return;
    }
    view.setBigUint64(at, BigInt.asUintN(64, value >> 192n));
    view.setBigUint64(at + 8, BigInt.asUintN(64, value >> 128n));
    view.setBigUint64(at + 16, BigInt.asUintN(64, value >> 64n));
    view.setBigUint64(at + 24, BigInt.asUintN(64, value));
  }

  /** Reads a word: 32 bytes, big-endian. */
  word(at: number): bigint {
    const { view } = this;
    const low = view.getBigUint64(at + 24);
    const next = view.getBigUint64(at + 16);
    const high = view.getBigUint64(at + 8);
    const highest = view.getBigUint64(at);
    if (highest === 0n && high === 0n) return next === 0n ? low : (next << 64n) | low;
    return (((((highest << 64n) | high) << 64n) | next) << 64n) | low;
  }
}

/** @param hashesAt - place for the blob hashes */
function writeEnvironment(memory: EvmMemory, environment: EvmEnvironment, hashesAt: number): void {
  const { blobHashes } = environment;
  for (const [i, hash] of blobHashes.entries()) memory.write(hashesAt + 32 * i, hash);
  const at = memory.env;
  memory.writeNumber(at + ENV.number, environment.number);
  memory.writeNumber(at + ENV.timestamp, environment.timestamp);
  memory.writeUint64(at + ENV.slotNumber, environment.slotNumber);
  memory.writeUint64(at + ENV.gasLimit, environment.gasLimit);
  memory.writeNumber(at + ENV.chainId, environment.chainId);
  memory.write(at + ENV.coinbase, environment.coinbase);
  memory.write(at + ENV.random, environment.random);
  memory.writeWord(at + ENV.baseFee, environment.baseFee);
  memory.writeWord(at + ENV.blobBaseFee, environment.blobBaseFee);
  memory.write(at + ENV.origin, environment.origin);
  memory.writeWord(at + ENV.gasPrice, environment.gasPrice);
  memory.view.setUint32(at + ENV.blobCount, blobHashes.length, true);
}

export function readWants(memory: EvmMemory, count: number): Want[] {
  const wants: Want[] = [];
  for (let i = 0, at = memory.wants; i < count; i++, at += WANT.bytes) {
    wants.push({
      kind: memory.u32(at + WANT.kind),
      address: memory.copy(at + WANT.address, 20),
      number: Number(memory.u64(at + WANT.number)),
      key: memory.copy(at + WANT.key, 32),
    });
  }
  return wants;
}

function readPrecompileCall(memory: EvmMemory): PrecompileCall {
  const at = memory.result;
  return {
    id: memory.u32(at + RESULT.precompile),
    gas: memory.i64(at + RESULT.precompileGas),
    input: memory.copy(memory.u32(at + RESULT.input), memory.u32(at + RESULT.inputBytes)),
  };
}

function readResult(memory: EvmMemory): EvmResult {
  const at = memory.result;
  const created = memory.u32(at + RESULT.created) !== 0;
  return {
    succeeded: memory.u32(at + RESULT.success) !== 0,
    exception: memory.u32(at + RESULT.exception),
    opcode: memory.u32(at + RESULT.opcode),
    gasLeft: memory.i64(at + RESULT.gasLeft),
    stateGasLeft: memory.i64(at + RESULT.reservoir),
    stateGasUsed: memory.i64(at + RESULT.stateUsed),
    refund: memory.i64(at + RESULT.refund),
    keccakBlocks: Number(memory.u64(at + RESULT.keccakBlocks)),
    spareGas: memory.i64(at + RESULT.spareGas),
    environment: memory.u64(at + RESULT.environment),
    createdAddress: created ? memory.copy(at + RESULT.createdAddress, 20) : undefined,
  };
}

function readReturned(memory: EvmMemory): Uint8Array {
  const at = memory.result;
  return memory.copy(memory.u32(at + RESULT.returned), memory.u32(at + RESULT.returnedBytes));
}

/** Number of logs, and bytes of return data, topics and log data together. */
export function readOutcomeSize(memory: EvmMemory): { readonly logs: number; readonly bytes: number } {
  const count = memory.u32(memory.result + RESULT.logCount);
  let at = memory.u32(memory.result + RESULT.logs);
  let bytes = memory.u32(memory.result + RESULT.returnedBytes);
  for (let i = 0; i < count; i++) {
    const topics = 32 * memory.u32(at + LOG.topics);
    const data = memory.u32(at + LOG.dataBytes);
    bytes += topics + data;
    at += LOG.bytes + topics + ((data + 7) & ~7);
  }
  return { logs: count, bytes };
}

export function readLogs(memory: EvmMemory): EvmLog[] {
  const logs: EvmLog[] = [];
  const count = memory.u32(memory.result + RESULT.logCount);
  let at = memory.u32(memory.result + RESULT.logs);
  for (let i = 0; i < count; i++) {
    const topicCount = memory.u32(at + LOG.topics);
    const dataBytes = memory.u32(at + LOG.dataBytes);
    const topics: Uint8Array[] = [];
    let body = at + LOG.bytes;
    for (let topic = 0; topic < topicCount; topic++, body += 32) topics.push(memory.copy(body, 32));
    logs.push({
      address: memory.copy(at + LOG.address, 20),
      topics,
      data: memory.copy(body, dataBytes),
      isTransfer: memory.u32(at + LOG.transfer) !== 0,
    });
    at = body + ((dataBytes + 7) & ~7);
  }
  return logs;
}

function readChanges(memory: EvmMemory, count: number, start: number): EvmChange[] {
  const changes: EvmChange[] = [];
  for (let i = 0, at = start; i < count; i++) {
    const flags = memory.u32(at + CHANGE.flags);
    const slotCount = memory.u32(at + CHANGE.slots);
    const slots: (readonly [Uint8Array, Uint8Array])[] = [];
    for (let slot = 0, from = at + CHANGE.bytes; slot < slotCount; slot++, from += 64) {
      slots.push([memory.copy(from, 32), memory.copy(from + 32, 32)]);
    }
    const exists = (flags & CHANGED.exists) !== 0;
    changes.push({
      address: memory.copy(at + CHANGE.address, 20),
      account: exists
        ? {
            nonce: memory.u64(at + CHANGE.nonce),
            balance: memory.word(at + CHANGE.balance),
            codeHash: memory.copy(at + CHANGE.codeHash, 32),
          }
        : undefined,
      storageCleared: (flags & CHANGED.storageCleared) !== 0,
      code:
        exists && (flags & CHANGED.code) !== 0
          ? memory.copy(memory.u32(at + CHANGE.code), memory.u32(at + CHANGE.codeBytes))
          : undefined,
      slots,
    });
    at += CHANGE.bytes + 64 * slotCount;
  }
  return changes;
}

function readTouched(memory: EvmMemory, count: number, start: number): EvmTouched[] {
  const touched: EvmTouched[] = [];
  for (let i = 0, at = start; i < count; i++) {
    const slotCount = memory.u32(at + TOUCHED.slots);
    const keys: Uint8Array[] = [];
    for (let slot = 0; slot < slotCount; slot++) keys.push(memory.copy(at + TOUCHED.bytes + 32 * slot, 32));
    touched.push({ address: memory.copy(at + TOUCHED.address, 20), keys });
    at += TOUCHED.bytes + 32 * slotCount;
  }
  return touched;
}

function readLoads(memory: EvmMemory, count: number, start: number): EvmLoad[] {
  const loads: EvmLoad[] = [];
  for (let i = 0, at = start; i < count; i++) {
    const address = memory.copy(at + TOUCHED.address, 20);
    const slotCount = memory.u32(at + TOUCHED.slots);
    at += TOUCHED.bytes;
    const slots: EvmLoad['slots'][number][] = [];
    for (let slot = 0; slot < slotCount; slot++, at += TOUCHED.loadedSlot) {
      slots.push({ key: memory.copy(at, 32), before: memory.copy(at + 32, 32), after: memory.copy(at + 64, 32) });
    }
    loads.push({ address, slots });
  }
  return loads;
}

/** Texts by the codes in assembly/evm/exceptions.ts. */
const EXCEPTIONS: readonly (string | undefined)[] = [
  undefined,
  'revert',
  'out of gas',
  'stack underflow',
  'stack overflow',
  'invalid JUMP',
  'invalid opcode',
  'static state change',
  'insufficient balance',
  'call depth exceeded',
  'create collision',
  'out of gas',
  'code size to deposit exceeds maximum code size',
  'invalid bytecode deployed',
  'initcode exceeds max initcode size',
  'nonce overflow',
  'precompile failed',
  'return data out of bounds',
];

/** Why an execution failed, by its code; undefined for the code 0, which is none. */
export function exceptionText(code: number): string | undefined {
  return code === 0 ? undefined : (EXCEPTIONS[code] ?? 'internal error');
}
