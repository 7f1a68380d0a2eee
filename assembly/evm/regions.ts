/**
 * Memory of the EVM kernel.
 *
 * Static, at fixed places:
 *
 *   IO       128 bytes   parameters: A address (20) at +0, B word at +32, C word or address at +64, D at +96
 *   ENV      256 bytes   block and transaction environment, see below
 *   RESULT   160 bytes   outcome of a run, see below
 *   WANTS   1024 bytes   what a run needs to go on
 *
 * Grown when needed, from the allocator:
 *
 *   frames      one record per call depth, 208 bytes each, 1 025 of them
 *   stacks      one arena: the stack of a frame begins above its caller's
 *   memories    one arena: calldata of the transaction, then the memory of each frame above its caller's
 *   accounts    records that never move, found by a hash index of addresses
 *   slots       the same, found by account and key
 *   codes       byte code by its hash, followed by zeros, with a bitmap of jump destinations made at the first jump
 *   journal     undo records of the transaction, 48 bytes each
 *   logs, return data, changes   one buffer each
 *
 * Words are four u64 limbs, least significant first; at the boundary (IO, ENV, WANTS, changes, logs) they are 32 bytes
 * big-endian.
 */

export const IO: usize = memory.data(128, 16);
export const IO_ADDRESS: usize = IO;
export const IO_WORD: usize = IO + 32;
export const IO_HASH: usize = IO + 64;
export const IO_NONCE: usize = IO + 96;

export const ENV: usize = memory.data(256, 16);
export const ENV_NUMBER: usize = ENV;
export const ENV_TIMESTAMP: usize = ENV + 8;
export const ENV_GAS_LIMIT: usize = ENV + 16;
export const ENV_CHAIN_ID: usize = ENV + 24;
export const ENV_COINBASE: usize = ENV + 32;
export const ENV_RANDAO: usize = ENV + 64;
export const ENV_BASE_FEE: usize = ENV + 96;
export const ENV_BLOB_BASE_FEE: usize = ENV + 128;
export const ENV_ORIGIN: usize = ENV + 160;
export const ENV_GAS_PRICE: usize = ENV + 192;
export const ENV_BLOB_COUNT: usize = ENV + 224;
export const ENV_SLOT_NUMBER: usize = ENV + 232;

export const RESULT: usize = memory.data(160, 16);
export const RESULT_SUCCESS: usize = RESULT;
export const RESULT_EXCEPTION: usize = RESULT + 4;
export const RESULT_OPCODE: usize = RESULT + 8;
export const RESULT_CREATED: usize = RESULT + 12;
export const RESULT_GAS: usize = RESULT + 16;
export const RESULT_REFUND: usize = RESULT + 24;
export const RESULT_RETURN: usize = RESULT + 32;
export const RESULT_RETURN_BYTES: usize = RESULT + 36;
export const RESULT_LOGS: usize = RESULT + 40;
export const RESULT_LOG_BYTES: usize = RESULT + 44;
export const RESULT_LOG_COUNT: usize = RESULT + 48;
export const RESULT_PRECOMPILE: usize = RESULT + 52;
export const RESULT_PRECOMPILE_GAS: usize = RESULT + 56;
export const RESULT_INPUT: usize = RESULT + 64;
export const RESULT_INPUT_BYTES: usize = RESULT + 68;
export const RESULT_KECCAK_BLOCKS: usize = RESULT + 72;
export const RESULT_SPARE_GAS: usize = RESULT + 80;
export const RESULT_SPENT: usize = RESULT + 88;
export const RESULT_CREATED_ADDRESS: usize = RESULT + 96;
export const RESULT_FRAMES: usize = RESULT + 120;
export const RESULT_TRACE_BYTES: usize = RESULT + 124;
export const RESULT_TRACE: usize = RESULT + 128;
export const RESULT_ENVIRONMENT: usize = RESULT + 136;
export const RESULT_RESERVOIR: usize = RESULT + 144;
export const RESULT_STATE_USED: usize = RESULT + 152;

/** Why `run` returned. */
export const DONE: i32 = 0;
export const SLICE: i32 = 1;
export const WANTED: i32 = 2;
export const PRECOMPILE: i32 = 3;
export const TRACE_FULL: i32 = 5;
/** Not returned: the interpreter goes on. */
export const GO_ON: i32 = -1;
