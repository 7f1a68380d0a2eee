import { bytesToKey } from '../../primitives/bytes.js';
import type { KernelBuild } from '../contracts.js';
import { type EvmExports, IO, RESULT, RUN_STATUS } from './evm-exports.js';
import { EvmMemory } from './evm-memory.js';
import {
  readChanges,
  readLogs,
  readOutcomeSize,
  readPrecompileCall,
  readResult,
  readReturned,
  readTouched,
  readWants,
  writeEnvironment,
} from './evm-records.js';
import type {
  EvmAccount,
  EvmChange,
  EvmEnvironment,
  EvmLog,
  EvmMessage,
  EvmResult,
  EvmTouched,
  PrecompileCall,
  TraceRecord,
  Want,
} from './evm-types.js';
import type { readTrace } from './trace-records.js';

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

  /** Sets the rules, without any precompile, and forgets the state. @param fork - index of those that change execution */
  configure(fork: number): void {
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
    this.#wasm.forget();
    this.#codes.clear();
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
  start({ caller, to, value, data, gas }: EvmMessage): void {
    const dataAt = this.#wasm.dataSpace(data.length) >>> 0;
    const memory = this.#renewed();
    memory.write(dataAt, data);
    memory.write(memory.io + IO.address, caller);
    memory.writeWord(memory.io + IO.key, value);
    memory.write(memory.io + IO.word, to ?? NO_ADDRESS);
    this.#wasm.start(to === undefined ? 1 : 0, gas > MAX_GAS ? MAX_GAS : gas);
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
  takeTrace(read: typeof readTrace, visit: (record: TraceRecord) => void): void {
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
