/** Exports of evm.wasm; see assembly/evm.ts. Integers in records are little-endian, words and addresses big-endian. */
export interface EvmExports {
  readonly memory: WebAssembly.Memory;
  /** Operands: address at 0, words at 32, 64 and 96. */
  readonly IO: WebAssembly.Global;
  /** Block and transaction, at the offsets `ENV`. */
  readonly ENV: WebAssembly.Global;
  /** Result of the last `run`, at the offsets `RESULT`. */
  readonly RESULT: WebAssembly.Global;
  /** Records of what the kernel wants, at the offsets `WANT`. */
  readonly WANTS: WebAssembly.Global;
  configure(fork: number): void;
  record(flags: number): void;
  setMemoryLimit(bytes: number): void;
  setPrecompile(id: number): void;
  warmAlways(): void;
  forget(): void;
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
  start(create: number, gas: bigint): void;
  run(slice: bigint): number;
  wantCount(): number;
  outputSpace(length: number): number;
  answerPrecompile(success: number, gasUsed: bigint): void;
  finish(): void;
  changes(): number;
  touched(): number;
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
} as const;

/** Kinds of `WANT` records. */
export const WANTED = { account: 1, accountAndCode: 2, slot: 3, blockHash: 4, code: 5 } as const;

/** Offsets in the record of one thing that the kernel wants, and its length. */
export const WANT = { kind: 0, address: 4, number: 24, key: 32, bytes: 64 } as const;

/** Offsets in the record of a log; topics and data follow. */
export const LOG = { address: 0, topics: 20, dataBytes: 24, transfer: 28, bytes: 32 } as const;

/** Offsets in the record of a changed account; its slots follow, key and value each. */
export const CHANGE = {
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
export const CHANGED = { exists: 1, destroyed: 2, code: 4, storageCleared: 8 } as const;

/** Offsets in the record of a touched account; keys of its slots follow. */
export const TOUCHED = { address: 0, slots: 24, bytes: 32 } as const;
