import { concatBytes } from '../../../src/primitives/bytes.js';
import { call, creation, precompile, recursion } from './calls.js';
import { code, OP, pick, push } from './code.js';
import { length, place, sink, someone, WORD, word } from './operands.js';
import { type Statement, since } from './setting.js';

/*
 * Statements: pieces of programs that find the stack as they leave it, or end the program. What an instruction gives goes
 * to storage or memory, so that a wrong word is seen.
 */

const NO_OPERAND = [
  0x30, 0x32, 0x33, 0x34, 0x36, 0x38, 0x3a, 0x3d, 0x41, 0x42, 0x43, 0x44, 0x45, 0x46, 0x47, 0x58, 0x59,
];

const arithmetic: Statement = (setting) => {
  const { below } = setting;
  const newer = [
    ...(since(setting, 'constantinople') ? [0x1b, 0x1c, 0x1d] : []),
    ...(since(setting, 'osaka') ? [0x1e] : []),
  ];
  const opcode = pick(below, [
    ...[1, 2, 3, 4, 5, 6, 7, 8, 9, 0x0a, 0x0b, 0x10, 0x11, 0x12, 0x13, 0x14, 0x15, 0x16, 0x17, 0x18, 0x19, 0x1a],
    ...newer,
  ]);
  return code(push(word(setting)), push(word(setting)), push(word(setting)), opcode, sink(setting), drop(opcode));
};

/** Of three operands, what an instruction leaves is dropped. */
function drop(opcode: number): Uint8Array {
  if (opcode === 8 || opcode === 9) return code();
  return [0x15, 0x19, 0x1e].includes(opcode) ? code(OP.POP, OP.POP) : code(OP.POP);
}

const memory: Statement = (setting) => {
  const { below } = setting;
  const [to, from, size] = [push(place(setting)), push(place(setting)), push(length(setting))];
  switch (below(since(setting, 'cancun') ? 9 : 8)) {
    case 0:
      return code(push(word(setting)), to, OP.MSTORE);
    case 1:
      return code(push(word(setting)), to, OP.MSTORE8);
    case 2:
      return code(to, OP.MLOAD, sink(setting));
    case 3:
      return code(size, from, to, OP.CALLDATACOPY);
    case 4:
      return code(size, from, to, OP.CODECOPY);
    case 5:
      return code(size, from, to, someone(setting), OP.EXTCODECOPY);
    case 6:
      return code(size, to, OP.KECCAK256, sink(setting));
    case 7:
      return code(push(word(setting)), OP.CALLDATALOAD, sink(setting));
    default:
      return code(size, from, to, OP.MCOPY);
  }
};

const storage: Statement = (setting) => {
  const { below } = setting;
  const key = below(12) === 0 ? push(word(setting)) : push(below(4));
  const value = below(3) === 0 ? push(0) : push(below(4));
  return below(3) === 0 ? code(key, OP.SLOAD, sink(setting)) : code(value, key, OP.SSTORE);
};

const transient: Statement = (setting) => {
  const { below } = setting;
  if (!since(setting, 'cancun')) return storage(setting);
  const key = push(below(3));
  return below(2) === 0 ? code(key, OP.TLOAD, sink(setting)) : code(push(below(4)), key, OP.TSTORE);
};

const log: Statement = (setting) => {
  const topics = setting.below(5);
  const pushes = Array.from({ length: topics }, () => push(word(setting)));
  return code(...pushes, push(length(setting)), push(place(setting)), OP.LOG0 + topics);
};

const account: Statement = (setting) => {
  const { below } = setting;
  const opcode = pick(below, [OP.BALANCE, OP.EXTCODESIZE, OP.EXTCODEHASH]);
  return code(someone(setting), opcode, sink(setting));
};

const environment: Statement = (setting) => {
  const { below } = setting;
  const newer = [
    ...(since(setting, 'london') ? [0x48] : []),
    ...(since(setting, 'shanghai') ? [0x5f] : []),
    ...(since(setting, 'cancun') ? [0x4a] : []),
  ];
  const roll = below(8);
  if (roll === 0)
    return code(
      push(pick(below, [0, 743, 744, 998, 999, 1000, 1001, 1n << 64n, WORD - 1n])),
      OP.BLOCKHASH,
      sink(setting),
    );
  if (roll === 1 && since(setting, 'cancun')) return code(push(word(setting)), OP.BLOBHASH, sink(setting));
  // Gas left reaches memory or storage now and then: each price before it then counts.
  if (roll === 2) return code(OP.GAS, sink(setting));
  return code(pick(below, [...NO_OPERAND, ...newer]), sink(setting));
};

const stack: Statement = (setting) => {
  const { below } = setting;
  const count = 1 + below(16);
  const words = concatBytes(...Array.from({ length: count + 1 }, () => push(below(250))));
  const opcode = below(2) === 0 ? OP.DUP1 + count - 1 : OP.SWAP1 + count - 1;
  const left = count + 1 + (opcode < OP.SWAP1 ? 1 : 0);
  return code(words, opcode, ...Array.from({ length: left }, () => sink(setting)));
};

/** A forward jump that is taken or not. The place is found by PC, so that the statement can stand anywhere. */
const jump: Statement = (setting) => {
  const { below } = setting;
  const skipped = code(push(below(9)), push(below(4)), OP.SSTORE);
  // PC, PUSH1 distance, ADD, then JUMP or JUMPI, the part that is skipped, JUMPDEST.
  if (below(2) === 0) return code(OP.PC, push(skipped.length + 5), 0x01, OP.JUMP, skipped, OP.JUMPDEST);
  const condition = push(below(2) === 0 ? 0n : word(setting));
  const distance = skipped.length + 5;
  return code(condition, OP.PC, push(distance), 0x01, OP.JUMPI, skipped, OP.JUMPDEST);
};

/** Counts down from a small number. The counter lies on the stack. */
const loop: Statement = (setting) => {
  const { below } = setting;
  const body = below(3) === 0 ? storage(setting) : arithmetic(setting);
  // The place of the JUMPDEST stays on the stack below the counter.
  const turn = code(body, push(1), OP.SWAP1, 0x03, OP.DUP1, OP.DUP1 + 2, OP.JUMPI);
  return code(OP.PC, push(6), 0x01, push(1 + below(6)), code(OP.JUMPDEST), turn, OP.POP, OP.POP);
};

/** Ends the program, mostly in a way that shows something. */
export const ending: Statement = (setting) => {
  const { below } = setting;
  const range = code(push(length(setting)), push(place(setting)));
  const roll = below(24);
  if (roll < 10) return code(push(0x120), push(0), OP.RETURN);
  if (roll < 14) return code(range, OP.RETURN);
  if (roll < 17) return code(range, OP.REVERT);
  if (roll < 19) return code(someone(setting), OP.SELFDESTRUCT);
  switch (roll) {
    case 19:
      return code(OP.INVALID);
    case 20:
      return code(below(256));
    case 21:
      // Into the data of a PUSH.
      return code(OP.PC, push(6), 0x01, OP.JUMP, 0x61, OP.JUMPDEST, OP.JUMPDEST, OP.STOP);
    case 22:
      return code(push(word(setting)), OP.JUMP);
    default:
      return code(OP.STOP);
  }
};

/** Fills the stack to the last place, and sometimes beyond. */
const overflow: Statement = ({ below }) => {
  const more = pick(below, [900, 1017, 1018, 1019, 1020, 1021, 1022, 1023, 1024]);
  // Counts in memory at 0x400: JUMPDEST, push a word, count up, again while below.
  const start = code(push(0), push(0x400), OP.MSTORE, OP.PC, push(8), 0x01, push(0x420), OP.MSTORE);
  const turn = code(
    ...[OP.JUMPDEST, push(7), push(1), push(0x400), OP.MLOAD, 0x01, OP.DUP1, push(0x400), OP.MSTORE],
    ...[push(more), 0x11, push(0x420), OP.MLOAD, OP.JUMPI],
  );
  return code(start, turn, OP.STOP);
};

const underflow: Statement = ({ below }) => code(...Array.from({ length: 1 + below(3) }, () => OP.POP), below(256));

/** Kinds of programs by the statements that they have more of. */
export const THEMES: Readonly<Record<string, readonly Statement[]>> = {
  mixed: [arithmetic, memory, storage, transient, log, account, environment, call, creation, stack, jump, loop],
  calls: [call, call, call, storage, memory, log, account],
  creations: [creation, creation, call, storage, account],
  destruction: [call, creation, account, storage],
  transient: [transient, transient, transient, call, storage],
  returned: [call, memory, call, log],
  memory: [memory, memory, memory, log],
  arithmetic: [arithmetic, arithmetic, arithmetic, stack, loop],
  precompiles: [precompile, precompile, storage],
  control: [jump, loop, stack, arithmetic, environment],
  stack: [stack, overflow, underflow],
  recursion: [storage, recursion, call],
};
