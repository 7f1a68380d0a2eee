/** What a run has spent of its slice, and what the host wants to know of it. */

/** The run returns when the current frame has less gas than this. */
export let floor: i64 = 0;
export let keccakBlocks: u64 = 0;
export let frameCount: u32 = 0;
/** Whether transfers of ether leave a log. */
export let logsTransfers: bool = false;
/**
 * The instructions that were executed of those that read the block, the price, a balance or the gas that is left: bit
 * `opcode & 63` is set. ADDRESS, CALLER and the like are noted, too.
 */
export let environment: u64 = 0;
/** Opcode of the last invalid instruction. */
export let invalidOpcode: u32 = 0;

export function beginProgress(): void {
  keccakBlocks = 0;
  frameCount = 0;
  environment = 0;
  invalidOpcode = 0;
}

export function setTransferLogs(on: bool): void {
  logsTransfers = on;
}

export function setFloor(gas: i64): void {
  floor = gas;
}

/** Gas of the current frame changes from one number to another without being spent. */
export function passSlice(from: i64, to: i64): void {
  floor += to - from;
}

export function countFrame(): void {
  frameCount++;
}

const RATE: u64 = 136;

/** Counts Keccak-256 of this many bytes. */
export function countKeccak(bytes: u64): void {
  keccakBlocks += (bytes + RATE - 1) / RATE;
}

/** Counts Keccak-256 of one block. */
export function countBlock(): void {
  keccakBlocks++;
}

export function noteEnvironment(op: u32): void {
  environment |= (<u64>1) << (op & 63);
}

export function setInvalidOpcode(op: u32): void {
  invalidOpcode = op;
}
