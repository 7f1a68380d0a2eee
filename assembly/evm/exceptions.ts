/** Why a frame failed. The host has a text for each (src/kernel/evm). */
export const NONE: i32 = 0;
export const REVERT: i32 = 1;
export const OUT_OF_GAS: i32 = 2;
export const STACK_UNDERFLOW: i32 = 3;
export const STACK_OVERFLOW: i32 = 4;
export const INVALID_JUMP: i32 = 5;
export const INVALID_OPCODE: i32 = 6;
export const STATIC_STATE_CHANGE: i32 = 7;
export const INSUFFICIENT_BALANCE: i32 = 8;
export const CALL_DEPTH: i32 = 9;
export const CREATE_COLLISION: i32 = 10;
export const CODE_STORE_OUT_OF_GAS: i32 = 11;
export const CODE_TOO_LARGE: i32 = 12;
export const INVALID_CODE: i32 = 13;
export const INIT_CODE_TOO_LARGE: i32 = 14;
export const NONCE_OVERFLOW: i32 = 15;
export const PRECOMPILE_FAILED: i32 = 16;
