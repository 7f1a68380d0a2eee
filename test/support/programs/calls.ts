import { code, OP, type Part, pick, push, store } from './code.js';
import { initCode } from './init-code.js';
import { length, place, sink, someone, WORD } from './operands.js';
import { type Setting, type Statement, since } from './setting.js';

/* Statements that call another account, create one, or call their own program. */

/** Keeps what is left by a call: size and, mostly, bytes of what it returned. */
function keepReturned(setting: Setting): Uint8Array {
  const { below } = setting;
  const size = code(OP.RETURNDATASIZE, sink(setting));
  switch (below(6)) {
    case 0:
      return size;
    case 1:
      // One byte more than there is: fails.
      return below(4) > 0 ? size : code(push(1), OP.RETURNDATASIZE, push(0), OP.RETURNDATACOPY);
    case 2:
      return code(push(below(40)), push(below(3)), push(place(setting)), OP.RETURNDATACOPY);
    default:
      return code(OP.RETURNDATASIZE, push(0), push(32 * below(9)), OP.RETURNDATACOPY, size);
  }
}

function gasFor({ below }: Setting): Uint8Array {
  const roll = below(10);
  if (roll < 5) return code(OP.GAS);
  if (roll < 7) return push(below(3_000));
  return roll < 9
    ? push(3_000 + below(60_000))
    : push(pick(below, [0n, 2300n, 1n << 64n, (1n << 63n) - 1n, WORD - 1n]));
}

/** A call of any kind, of an address that is on the stack when `to` is undefined. */
function callOf(setting: Setting, to: Uint8Array | undefined, opcode: number): Uint8Array {
  const { below } = setting;
  const valued = opcode === OP.CALL || opcode === OP.CALLCODE;
  const value =
    below(3) === 0 ? pick<Part>(below, [push(1), push(2), OP.SELFBALANCE, push(1n << 100n), push(WORD - 1n)]) : push(0);
  const memory = [push(length(setting)), push(place(setting)), push(length(setting)), push(place(setting))];
  const operands = code(...memory, ...(valued ? [value] : []));
  // DUP of what was on top before the operands.
  const target = to ?? code(OP.DUP1 + memory.length + (valued ? 1 : 0));
  return code(operands, target, gasFor(setting), opcode, sink(setting), keepReturned(setting));
}

const CALLS = [OP.CALL, OP.CALL, OP.CALLCODE, OP.DELEGATECALL, OP.STATICCALL];

export const call: Statement = (setting) => callOf(setting, someone(setting), pick(setting.below, CALLS));

export const precompile: Statement = (setting) => {
  const { below } = setting;
  const [at, data] = pick(below, setting.precompiles);
  const opcode = pick(below, CALLS);
  const valued = opcode === OP.CALL || opcode === OP.CALLCODE;
  const gas = below(3) === 0 ? push(below(50_000)) : code(OP.GAS);
  return code(
    store(0, data),
    ...[push(below(2) * 64), push(0x200), push(data.length), push(0), ...(valued ? [push(0)] : [])],
    ...[push(at), gas, opcode, sink(setting)],
    ...[OP.RETURNDATASIZE, push(0), push(0x300), OP.RETURNDATACOPY],
    ...[OP.RETURNDATASIZE, push(0x300), OP.KECCAK256, push(below(4)), OP.SSTORE],
  );
};

export const creation: Statement = (setting) => {
  const { below } = setting;
  const init = initCode(setting);
  const second = since(setting, 'constantinople') && below(2) === 0;
  const size = below(12) === 0 ? push(length(setting)) : push(init.length);
  const value = below(4) === 0 ? push(below(3)) : push(0);
  // Salts are few, so that the same address comes up again.
  const create = code(...(second ? [push(below(2))] : []), size, push(0), value, second ? OP.CREATE2 : OP.CREATE);
  const use = below(3) === 0 ? code(OP.DUP1, sink(setting)) : callOf(setting, undefined, pick(below, CALLS));
  return code(store(0, init), create, use, keepReturned(setting), sink(setting));
};

/** Calls itself with all gas until that or the depth ends, and counts on the way back. */
export const recursion: Statement = (setting) => {
  const { below } = setting;
  const opcode = pick(below, [OP.CALL, OP.CALL, OP.DELEGATECALL, OP.STATICCALL, OP.CALLCODE]);
  const valued = opcode === OP.CALL || opcode === OP.CALLCODE;
  const operands = code(push(32), push(0), push(0), push(0), ...(valued ? [push(0)] : []));
  const write = opcode === OP.STATICCALL ? code(OP.POP) : code(push(1), OP.SLOAD, 0x01, push(1), OP.SSTORE);
  return code(operands, OP.ADDRESS, OP.GAS, opcode, write, push(32), push(0), OP.RETURN);
};
