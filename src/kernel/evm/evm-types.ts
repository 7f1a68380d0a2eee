import type { Hex } from '../../primitives/hex.js';

/** What a run of the EVM asks for and answers. */

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
export interface PrecompileCall {
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
export interface EvmTouched {
  readonly address: Uint8Array;
  readonly keys: Uint8Array[];
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
export interface EvmMessage {
  /** 20 bytes. */
  readonly caller: Uint8Array;
  /** 20 bytes; undefined creates a contract. */
  readonly to: Uint8Array | undefined;
  /** Wei. */
  readonly value: bigint;
  readonly data: Uint8Array;
  readonly gas: bigint;
}
