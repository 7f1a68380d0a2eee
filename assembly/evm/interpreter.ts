// biome-ignore-all lint/suspicious/noAssignInExpressions: gas is charged in the condition that checks it

import { ACCOUNT_BALANCE } from './accounts';
import { blobHashAt } from './blocks';
import { call } from './calls';
import { findJumps, jumpsOf } from './codes';
import { create } from './creations';
import { addmod, div, mod, mulmod, sdiv, smod } from './division';
import { leave, leaveWith } from './ending';
import { INVALID_OPCODE, NONE, REVERT } from './exceptions';
import { BYZANTIUM, CANCUN, CONSTANTINOPLE, EXP_BYTE_GAS, FORK, ISTANBUL, OSAKA, SHANGHAI, SLOAD_GAS } from './forks';
import {
  FRAME_ACCOUNT,
  FRAME_CODE,
  FRAME_CODE_LENGTH,
  FRAME_CODE_RECORD,
  FRAME_FIRST,
  FRAME_GAS,
  FRAME_JUMPS,
  FRAME_MEMORY,
  FRAME_MEMORY_SIZE,
  FRAME_PC,
  FRAME_TOP,
  frame,
  growMemory,
  memoryArena,
  memoryGas,
  regionEnd,
  stackArena,
  TOO_FAR,
} from './frames';
import { loseConclusion } from './gas-path';
import { hasOperands, isDefined, reasonOf } from './instructions';
import { hashPiece } from './keccak';
import { countKeccak, floor, noteEnvironment, setInvalidOpcode } from './progress';
import { copyBytes, copyCode, loadInput, readAccount, readBlockHash, readEnvironment } from './reading';
import { GO_ON, SLICE, TRACE_FULL, WANTED } from './regions';
import { clearReturn, returnLength, setReturn } from './return-data';
import { byteAt, clz, exp, sar, shl, shr, signextend } from './shifts';
import { SLOT_HAS_TRANSIENT, SLOT_TRANSIENT, SLOT_VALUE, slotAt } from './slots';
import { decodePair, decodeSingle, firstItem, secondItem } from './stack-access';
import { accessSlot, coldSlotGas, knowsSlot, transaction } from './state';
import { log, selfDestruct, storeSlot, storeTransient } from './storage';
import { isTraceFull, stepMask, traceStep } from './trace';
import { wantSlot } from './wants';
import { add, byteLength, copy, eq, fromBytes, isZero, lt, mul, setU64, slt, sub, toBytes, zero } from './word';

/** Not a status: the instruction could not go on, for the reason that `reasonOf` finds. */
const FAILED: i32 = -2;
const FULL_STACK: usize = 1023 * 32;
const MEMORY_PLACES: u64 = 1 << 32;
/** Whether the next instruction was recorded before the run returned. */
let skipsStep: bool = false;
const DIGEST: usize = memory.data(32, 16);
/** Bytes that KECCAK256 hashes before the run returns: a few milliseconds while an engine still has its first, slow code. */
const HASH_PIECE: usize = 1 << 17;
/** Bytes of the current KECCAK256 that are hashed. */
let hashed: usize = 0;

/** Before a transaction: the one before may have ended between two pieces of a hash. */
export function beginInstructions(): void {
  hashed = 0;
  skipsStep = false;
}

/** Stores the registers of the current frame. */
function park(pc: usize, sp: usize, gas: i64): void {
  store<u32>(frame, <u32>pc, FRAME_PC);
  store<u32>(frame, <u32>(sp - stackArena), FRAME_TOP);
  store<i64>(frame, gas, FRAME_GAS);
}

function memoryOfFrame(): usize {
  return memoryArena + load<u32>(frame, FRAME_MEMORY);
}

/** Address of the instruction that a jump goes to; 0 if it is no JUMPDEST. */
function jumpTarget(word: usize): usize {
  const at = load<u64>(word);
  if ((load<u64>(word, 8) | load<u64>(word, 16) | load<u64>(word, 24)) !== 0) return 0;
  if (at >= <u64>load<u32>(frame, FRAME_CODE_LENGTH)) return 0;
  let jumps = <usize>load<u32>(frame, FRAME_JUMPS);
  if (jumps === 0) jumps = findJumpsOfFrame();
  const bit = load<u8>(jumps + <usize>(at >> 3)) & (1 << (<u8>at & 7));
  return bit === 0 ? 0 : <usize>load<u32>(frame, FRAME_CODE) + <usize>at;
}

function findJumpsOfFrame(): usize {
  const record = <usize>load<u32>(frame, FRAME_CODE_RECORD);
  const code = <usize>load<u32>(frame, FRAME_CODE);
  const jumps = record === 0 ? findJumps(code, load<u32>(frame, FRAME_CODE_LENGTH)) : jumpsOf(record);
  store<u32>(frame, <u32>jumps, FRAME_JUMPS);
  return jumps;
}

/** Puts the `count` bytes after an instruction on the stack. */
function pushBytes(from: usize, count: u32, out: usize): void {
  zero(out);
  let at = from + count;
  while (at >= from + 8) {
    at -= 8;
    store<u64>(out, bswap<u64>(load<u64>(at)));
    out += 8;
  }
  if (at > from) store<u64>(out, bswap<u64>(load<u64>(from)) >> (64 - ((<u64>(at - from)) << 3)));
}

/** Whether an instruction takes the gas for its call from the top of the stack. */
function takesGas(op: u32): bool {
  return op === 0xf1 || op === 0xf2 || op === 0xf4 || op === 0xfa;
}

function swap(a: usize, b: usize): void {
  const a0 = load<u64>(a);
  const a1 = load<u64>(a, 8);
  const a2 = load<u64>(a, 16);
  const a3 = load<u64>(a, 24);
  copy(b, a);
  store<u64>(b, a0);
  store<u64>(b, a1, 8);
  store<u64>(b, a2, 16);
  store<u64>(b, a3, 24);
}

/**
 * Runs the current frame, and those it calls, until the outermost ends or the host must do something. Registers of the
 * current frame are in locals; instructions that may end or open a frame get them in the frame record (`park`). An
 * instruction that lacks state changes nothing, and runs again. One that leaves the `switch` without a status has failed.
 *
 * @returns status; never `GO_ON`
 */
export function interpret(): i32 {
  let status = GO_ON;
  const marks = stepMask;
  let mask = skipsStep ? 0 : marks;
  skipsStep = false;
  while (status === GO_ON) {
    let pc = <usize>load<u32>(frame, FRAME_PC);
    let sp = stackArena + load<u32>(frame, FRAME_TOP);
    let gas = load<i64>(frame, FRAME_GAS);
    let size = <u64>load<u32>(frame, FRAME_MEMORY_SIZE);
    let base = memoryOfFrame();
    const bottom = stackArena + load<u32>(frame, FRAME_FIRST);
    const full = bottom + FULL_STACK;
    const least = max(floor, 0);
    if (gas < floor) return SLICE;
    status = FAILED;
    for (;;) {
      const op = <u32>load<u8>(pc) | mask;
      mask = marks;
      switch (op) {
        case 0x00: // STOP
          clearReturn();
          park(pc, sp, gas);
          status = leave(NONE);
          break;
        case 0x01: // ADD
          if (sp < bottom + 32 || (gas -= 3) < 0) break;
          add(sp, sp - 32, sp - 32);
          sp -= 32;
          pc++;
          continue;
        case 0x02: // MUL
          if (sp < bottom + 32 || (gas -= 5) < 0) break;
          mul(sp, sp - 32, sp - 32);
          sp -= 32;
          pc++;
          continue;
        case 0x03: // SUB
          if (sp < bottom + 32 || (gas -= 3) < 0) break;
          sub(sp, sp - 32, sp - 32);
          sp -= 32;
          pc++;
          continue;
        case 0x04: // DIV
          if (sp < bottom + 32 || (gas -= 5) < 0) break;
          div(sp, sp - 32, sp - 32);
          sp -= 32;
          pc++;
          continue;
        case 0x05: // SDIV
          if (sp < bottom + 32 || (gas -= 5) < 0) break;
          sdiv(sp, sp - 32, sp - 32);
          sp -= 32;
          pc++;
          continue;
        case 0x06: // MOD
          if (sp < bottom + 32 || (gas -= 5) < 0) break;
          mod(sp, sp - 32, sp - 32);
          sp -= 32;
          pc++;
          continue;
        case 0x07: // SMOD
          if (sp < bottom + 32 || (gas -= 5) < 0) break;
          smod(sp, sp - 32, sp - 32);
          sp -= 32;
          pc++;
          continue;
        case 0x08: // ADDMOD
          if (sp < bottom + 64 || (gas -= 8) < 0) break;
          addmod(sp, sp - 32, sp - 64, sp - 64);
          sp -= 64;
          pc++;
          continue;
        case 0x09: // MULMOD
          if (sp < bottom + 64 || (gas -= 8) < 0) break;
          mulmod(sp, sp - 32, sp - 64, sp - 64);
          sp -= 64;
          pc++;
          continue;
        case 0x0a: // EXP
          if (sp < bottom + 32 || (gas -= 10 + EXP_BYTE_GAS * <i64>byteLength(sp - 32)) < 0) break;
          exp(sp, sp - 32, sp - 32);
          sp -= 32;
          pc++;
          continue;
        case 0x0b: // SIGNEXTEND
          if (sp < bottom + 32 || (gas -= 5) < 0) break;
          signextend(sp, sp - 32, sp - 32);
          sp -= 32;
          pc++;
          continue;
        case 0x10: // LT
          if (sp < bottom + 32 || (gas -= 3) < 0) break;
          setU64(<u64>lt(sp, sp - 32), sp - 32);
          sp -= 32;
          pc++;
          continue;
        case 0x11: // GT
          if (sp < bottom + 32 || (gas -= 3) < 0) break;
          setU64(<u64>lt(sp - 32, sp), sp - 32);
          sp -= 32;
          pc++;
          continue;
        case 0x12: // SLT
          if (sp < bottom + 32 || (gas -= 3) < 0) break;
          setU64(<u64>slt(sp, sp - 32), sp - 32);
          sp -= 32;
          pc++;
          continue;
        case 0x13: // SGT
          if (sp < bottom + 32 || (gas -= 3) < 0) break;
          setU64(<u64>slt(sp - 32, sp), sp - 32);
          sp -= 32;
          pc++;
          continue;
        case 0x14: // EQ
          if (sp < bottom + 32 || (gas -= 3) < 0) break;
          setU64(<u64>eq(sp, sp - 32), sp - 32);
          sp -= 32;
          pc++;
          continue;
        case 0x15: // ISZERO
          if (sp < bottom || (gas -= 3) < 0) break;
          setU64(<u64>isZero(sp), sp);
          pc++;
          continue;
        case 0x16: // AND
          if (sp < bottom + 32 || (gas -= 3) < 0) break;
          store<u64>(sp - 32, load<u64>(sp) & load<u64>(sp - 32));
          store<u64>(sp - 32, load<u64>(sp, 8) & load<u64>(sp - 32, 8), 8);
          store<u64>(sp - 32, load<u64>(sp, 16) & load<u64>(sp - 32, 16), 16);
          store<u64>(sp - 32, load<u64>(sp, 24) & load<u64>(sp - 32, 24), 24);
          sp -= 32;
          pc++;
          continue;
        case 0x17: // OR
          if (sp < bottom + 32 || (gas -= 3) < 0) break;
          store<u64>(sp - 32, load<u64>(sp) | load<u64>(sp - 32));
          store<u64>(sp - 32, load<u64>(sp, 8) | load<u64>(sp - 32, 8), 8);
          store<u64>(sp - 32, load<u64>(sp, 16) | load<u64>(sp - 32, 16), 16);
          store<u64>(sp - 32, load<u64>(sp, 24) | load<u64>(sp - 32, 24), 24);
          sp -= 32;
          pc++;
          continue;
        case 0x18: // XOR
          if (sp < bottom + 32 || (gas -= 3) < 0) break;
          store<u64>(sp - 32, load<u64>(sp) ^ load<u64>(sp - 32));
          store<u64>(sp - 32, load<u64>(sp, 8) ^ load<u64>(sp - 32, 8), 8);
          store<u64>(sp - 32, load<u64>(sp, 16) ^ load<u64>(sp - 32, 16), 16);
          store<u64>(sp - 32, load<u64>(sp, 24) ^ load<u64>(sp - 32, 24), 24);
          sp -= 32;
          pc++;
          continue;
        case 0x19: // NOT
          if (sp < bottom || (gas -= 3) < 0) break;
          store<u64>(sp, ~load<u64>(sp));
          store<u64>(sp, ~load<u64>(sp, 8), 8);
          store<u64>(sp, ~load<u64>(sp, 16), 16);
          store<u64>(sp, ~load<u64>(sp, 24), 24);
          pc++;
          continue;
        case 0x1a: // BYTE
          if (sp < bottom + 32 || (gas -= 3) < 0) break;
          byteAt(sp, sp - 32, sp - 32);
          sp -= 32;
          pc++;
          continue;
        case 0x1b: // SHL
          if (FORK < CONSTANTINOPLE || sp < bottom + 32 || (gas -= 3) < 0) break;
          shl(sp, sp - 32, sp - 32);
          sp -= 32;
          pc++;
          continue;
        case 0x1c: // SHR
          if (FORK < CONSTANTINOPLE || sp < bottom + 32 || (gas -= 3) < 0) break;
          shr(sp, sp - 32, sp - 32);
          sp -= 32;
          pc++;
          continue;
        case 0x1d: // SAR
          if (FORK < CONSTANTINOPLE || sp < bottom + 32 || (gas -= 3) < 0) break;
          sar(sp, sp - 32, sp - 32);
          sp -= 32;
          pc++;
          continue;
        case 0x1e: // CLZ
          if (FORK < OSAKA || sp < bottom || (gas -= 5) < 0) break;
          clz(sp, sp);
          pc++;
          continue;
        case 0x20: {
          // KECCAK256
          if (sp < bottom + 32) break;
          const end = regionEnd(sp, sp - 32);
          const length = load<u32>(sp - 32);
          const cost = 30 + 6 * <i64>((<u64>length + 31) >> 5);
          gas = end >= TOO_FAR ? -1 : gas - cost - (end > size ? memoryGas(size, end) : 0);
          if (gas < 0) break;
          if (end > size) {
            size = growMemory(size, end);
            base = memoryOfFrame();
          }
          hashed = hashPiece(base + load<u32>(sp), length, DIGEST, hashed, HASH_PIECE);
          if (hashed !== 0) {
            // It runs again and hashes the next piece. The larger memory is paid for.
            park(pc, sp, gas + cost);
            skipsStep = true;
            return SLICE;
          }
          countKeccak(<u64>length);
          sp -= 32;
          fromBytes(DIGEST, sp);
          pc++;
          continue;
        }
        case 0x35: // CALLDATALOAD
          if (sp < bottom || (gas -= 3) < 0) break;
          loadInput(sp);
          pc++;
          continue;
        case 0x30: // ADDRESS
        case 0x32: // ORIGIN
        case 0x33: // CALLER
        case 0x34: // CALLVALUE
        case 0x36: // CALLDATASIZE
        case 0x38: // CODESIZE
        case 0x3a: // GASPRICE
        case 0x41: // COINBASE
        case 0x42: // TIMESTAMP
        case 0x43: // NUMBER
        case 0x44: // PREVRANDAO
        case 0x45: // GASLIMIT
        case 0x46: // CHAINID
        case 0x48: // BASEFEE
        case 0x4a: // BLOBBASEFEE
        case 0x4b: // SLOTNUM
          if (op > 0x45 && !isDefined(op)) break;
          if (sp >= full || (gas -= 2) < 0) break;
          sp += 32;
          noteEnvironment(op);
          readEnvironment(op, sp);
          pc++;
          continue;
        case 0x31: // BALANCE
        case 0x3b: // EXTCODESIZE
        case 0x3f: // EXTCODEHASH
          if (!isDefined(op) || sp < bottom) break;
          noteEnvironment(op);
          park(pc, sp, gas);
          status = readAccount(op);
          break;
        case 0x37: // CALLDATACOPY
        case 0x39: // CODECOPY
        case 0x3e: // RETURNDATACOPY
        case 0x5e: // MCOPY
          if (!isDefined(op) || sp < bottom + 64) break;
          park(pc, sp, gas);
          status = copyBytes(op);
          break;
        case 0x3c: // EXTCODECOPY
          if (sp < bottom + 96) break;
          park(pc, sp, gas);
          status = copyCode();
          break;
        case 0x3d: // RETURNDATASIZE
          if (FORK < BYZANTIUM || sp >= full || (gas -= 2) < 0) break;
          sp += 32;
          setU64(<u64>returnLength, sp);
          pc++;
          continue;
        case 0x40: // BLOCKHASH
          if (sp < bottom) break;
          noteEnvironment(op);
          park(pc, sp, gas);
          status = readBlockHash();
          break;
        case 0x47: // SELFBALANCE
          if (FORK < ISTANBUL || sp >= full || (gas -= 5) < 0) break;
          noteEnvironment(op);
          sp += 32;
          copy(<usize>load<u32>(frame, FRAME_ACCOUNT) + ACCOUNT_BALANCE, sp);
          pc++;
          continue;
        case 0x49: // BLOBHASH
          if (FORK < CANCUN || sp < bottom || (gas -= 3) < 0) break;
          blobHashAt(sp);
          pc++;
          continue;
        case 0x50: // POP
          if (sp < bottom || (gas -= 2) < 0) break;
          sp -= 32;
          pc++;
          continue;
        case 0x51: // MLOAD
        case 0x52: // MSTORE
        case 0x53: {
          // MSTORE8
          if (!hasOperands(op, (<i32>(sp - bottom) >> 5) + 1) || (gas -= 3) < 0) break;
          const offset = load<u64>(sp);
          if ((load<u64>(sp, 8) | load<u64>(sp, 16) | load<u64>(sp, 24)) !== 0 || offset >= MEMORY_PLACES) {
            gas = -1;
            break;
          }
          const end = offset + (op === 0x53 ? 1 : 32);
          if (end > size) {
            if ((gas -= memoryGas(size, end)) < 0) break;
            size = growMemory(size, end);
            base = memoryOfFrame();
          }
          const place = base + <usize>offset;
          if (op === 0x51) fromBytes(place, sp);
          else {
            if (op === 0x52) toBytes(sp - 32, place);
            else store<u8>(place, load<u8>(sp - 32));
            sp -= 64;
          }
          pc++;
          continue;
        }
        case 0x54: {
          // SLOAD
          if (sp < bottom) break;
          const account = <usize>load<u32>(frame, FRAME_ACCOUNT);
          const slot = slotAt(account, sp);
          const left = gas - SLOAD_GAS - coldSlotGas(slot);
          if (left < 0) {
            gas = left;
            break;
          }
          if (!knowsSlot(account, slot)) {
            park(pc, sp, gas);
            skipsStep = true;
            return wantSlot(account, slot);
          }
          gas = left;
          accessSlot(slot);
          copy(slot + SLOT_VALUE, sp);
          pc++;
          continue;
        }
        case 0x55: // SSTORE
          if (sp < bottom + 32) break;
          park(pc, sp, gas);
          status = storeSlot();
          break;
        case 0x56: {
          // JUMP
          if (sp < bottom || (gas -= 8) < 0) break;
          const target = jumpTarget(sp);
          if (target === 0) break;
          sp -= 32;
          pc = target;
          continue;
        }
        case 0x57: {
          // JUMPI
          if (sp < bottom + 32 || (gas -= 10) < 0) break;
          let target = pc + 1;
          if (!isZero(sp - 32) && (target = jumpTarget(sp)) === 0) break;
          sp -= 64;
          pc = target;
          continue;
        }
        case 0x58: // PC
          if (sp >= full || (gas -= 2) < 0) break;
          sp += 32;
          setU64(<u64>(pc - <usize>load<u32>(frame, FRAME_CODE)), sp);
          pc++;
          continue;
        case 0x59: // MSIZE
          if (sp >= full || (gas -= 2) < 0) break;
          sp += 32;
          setU64(size, sp);
          pc++;
          continue;
        case 0x5a: // GAS
          if (sp >= full || (gas -= 2) < 0) break;
          if (!takesGas(load<u8>(pc, 1))) loseConclusion();
          noteEnvironment(op);
          sp += 32;
          setU64(<u64>gas, sp);
          pc++;
          continue;
        case 0x5b: // JUMPDEST
          if ((gas -= 1) >= least) {
            pc++;
            continue;
          }
          if (gas < 0) break;
          park(pc + 1, sp, gas);
          return SLICE;
        case 0x5c: {
          // TLOAD
          if (FORK < CANCUN || sp < bottom || (gas -= 100) < 0) break;
          const slot = slotAt(<usize>load<u32>(frame, FRAME_ACCOUNT), sp);
          if (load<u32>(slot, SLOT_HAS_TRANSIENT) === transaction) copy(slot + SLOT_TRANSIENT, sp);
          else zero(sp);
          pc++;
          continue;
        }
        case 0x5d: // TSTORE
          if (FORK < CANCUN || sp < bottom + 32) break;
          park(pc, sp, gas);
          status = storeTransient();
          break;
        case 0x5f: // PUSH0
          if (FORK < SHANGHAI || sp >= full || (gas -= 2) < 0) break;
          sp += 32;
          zero(sp);
          pc++;
          continue;
        case 0x60: // PUSH1
          if (sp >= full || (gas -= 3) < 0) break;
          sp += 32;
          setU64(<u64>load<u8>(pc, 1), sp);
          pc += 2;
          continue;
        case 0x61: // PUSH2
          if (sp >= full || (gas -= 3) < 0) break;
          sp += 32;
          setU64(<u64>bswap<u16>(load<u16>(pc, 1)), sp);
          pc += 3;
          continue;
        case 0x63: // PUSH4
          if (sp >= full || (gas -= 3) < 0) break;
          sp += 32;
          setU64(<u64>bswap<u32>(load<u32>(pc, 1)), sp);
          pc += 5;
          continue;
        case 0x7f: // PUSH32
          if (sp >= full || (gas -= 3) < 0) break;
          sp += 32;
          fromBytes(pc + 1, sp);
          pc += 33;
          continue;
        case 0x62: // PUSH3 to PUSH31
        case 0x64:
        case 0x65:
        case 0x66:
        case 0x67:
        case 0x68:
        case 0x69:
        case 0x6a:
        case 0x6b:
        case 0x6c:
        case 0x6d:
        case 0x6e:
        case 0x6f:
        case 0x70:
        case 0x71:
        case 0x72:
        case 0x73:
        case 0x74:
        case 0x75:
        case 0x76:
        case 0x77:
        case 0x78:
        case 0x79:
        case 0x7a:
        case 0x7b:
        case 0x7c:
        case 0x7d:
        case 0x7e:
          if (sp >= full || (gas -= 3) < 0) break;
          sp += 32;
          pushBytes(pc + 1, op - 0x5f, sp);
          pc += op - 0x5e;
          continue;
        case 0x80: // DUP1
          if (sp < bottom || sp >= full || (gas -= 3) < 0) break;
          copy(sp, sp + 32);
          sp += 32;
          pc++;
          continue;
        case 0x81: // DUP2 to DUP16
        case 0x82:
        case 0x83:
        case 0x84:
        case 0x85:
        case 0x86:
        case 0x87:
        case 0x88:
        case 0x89:
        case 0x8a:
        case 0x8b:
        case 0x8c:
        case 0x8d:
        case 0x8e:
        case 0x8f: {
          const from = sp - ((op - 0x80) << 5);
          if (from < bottom || sp >= full || (gas -= 3) < 0) break;
          copy(from, sp + 32);
          sp += 32;
          pc++;
          continue;
        }
        case 0x90: // SWAP1 to SWAP16
        case 0x91:
        case 0x92:
        case 0x93:
        case 0x94:
        case 0x95:
        case 0x96:
        case 0x97:
        case 0x98:
        case 0x99:
        case 0x9a:
        case 0x9b:
        case 0x9c:
        case 0x9d:
        case 0x9e:
        case 0x9f: {
          const other = sp - ((op - 0x8f) << 5);
          if (other < bottom || (gas -= 3) < 0) break;
          swap(sp, other);
          pc++;
          continue;
        }
        case 0xa0: // LOG0 to LOG4
        case 0xa1:
        case 0xa2:
        case 0xa3:
        case 0xa4:
          if (!hasOperands(op, (<i32>(sp - bottom) >> 5) + 1)) break;
          park(pc, sp, gas);
          status = log(op - 0xa0);
          break;
        case 0xe6: // DUPN
        case 0xe7: // SWAPN
        case 0xe8: {
          // EXCHANGE
          if (!isDefined(op) || (gas -= 3) < 0) break;
          const immediate = <u32>load<u8>(pc, 1);
          const items = (<i32>(sp - bottom) >> 5) + 1;
          const reason = op === 0xe8 ? decodePair(immediate, items) : decodeSingle(immediate, items, op === 0xe6);
          if (reason !== NONE) {
            if (reason === INVALID_OPCODE) setInvalidOpcode(op);
            park(pc, sp, gas);
            status = leaveWith(reason, gas);
            break;
          }
          if (op === 0xe6) {
            sp += 32;
            copy(sp - firstItem, sp);
          } else swap(sp - firstItem, sp - secondItem);
          pc += 2;
          continue;
        }
        case 0xf0: // CREATE
        case 0xf5: // CREATE2
          if (!isDefined(op) || !hasOperands(op, (<i32>(sp - bottom) >> 5) + 1)) break;
          park(pc, sp, gas);
          status = create(op);
          break;
        case 0xf1: // CALL
        case 0xf2: // CALLCODE
        case 0xf4: // DELEGATECALL
        case 0xfa: // STATICCALL
          if (!isDefined(op) || !hasOperands(op, (<i32>(sp - bottom) >> 5) + 1)) break;
          park(pc, sp, gas);
          status = call(op);
          break;
        case 0xf3: // RETURN
        case 0xfd: {
          // REVERT
          if (!isDefined(op) || sp < bottom + 32) break;
          const end = regionEnd(sp, sp - 32);
          if (end >= TOO_FAR) {
            gas = -1;
            break;
          }
          if (end > size) {
            if ((gas -= memoryGas(size, end)) < 0) break;
            growMemory(size, end);
          }
          setReturn(memoryOfFrame() + load<u32>(sp), load<u32>(sp - 32));
          park(pc, sp, gas);
          status = leave(op === 0xf3 ? NONE : REVERT);
          break;
        }
        case 0xff: // SELFDESTRUCT
          if (sp < bottom) break;
          park(pc, sp, gas);
          status = selfDestruct();
          break;
        default:
          if (op < 256) break;
          // The instruction is recorded, and then executed with the mask off.
          park(pc, sp, gas);
          traceStep();
          mask = 0;
          if (!isTraceFull()) continue;
          skipsStep = true;
          return TRACE_FULL;
      }
      if (status === FAILED) {
        const reason = reasonOf(op, (<i32>(sp - bottom) >> 5) + 1, gas);
        if (reason === INVALID_OPCODE) setInvalidOpcode(op);
        park(pc, sp, max(gas, 0));
        status = leaveWith(reason, gas);
      }
      break;
    }
  }
  if (status === WANTED) skipsStep = true;
  return status;
}
