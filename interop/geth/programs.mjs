// Small EVM programs by chance, the same ones for the same seed: three contracts that compute, jump, write, call one another and
// precompiles, create, log, destroy themselves and fail.
import { hex, word } from '../lib.mjs';

export const ENTRY = '0x00000000000000000000000000000000000a1a10';
const CONTRACTS = [ENTRY, '0x00000000000000000000000000000000000a1a20', '0x00000000000000000000000000000000000a1a30'];
const STRANGER = '0x00000000000000000000000000000000000a1a40';

/** Instructions that leave one word, by the number of operands that they take. */
const COMPUTING = [
  [
    0x30, 0x32, 0x33, 0x34, 0x36, 0x38, 0x3a, 0x3d, 0x41, 0x42, 0x43, 0x44, 0x45, 0x46, 0x47, 0x48, 0x4a, 0x58, 0x59,
    0x5a, 0x5f,
  ],
  [0x15, 0x19, 0x35, 0x40, 0x49, 0x51, 0x54, 0x5c],
  [
    0x01, 0x02, 0x03, 0x04, 0x05, 0x06, 0x07, 0x0a, 0x0b, 0x10, 0x11, 0x12, 0x13, 0x14, 0x16, 0x17, 0x18, 0x1a, 0x1b,
    0x1c, 0x1d, 0x20,
  ],
  [0x08, 0x09],
];
/** Instructions that leave nothing: MSTORE, MSTORE8, SSTORE, TSTORE; CALLDATACOPY, CODECOPY, RETURNDATACOPY, MCOPY. */
const WRITING = [0x52, 0x53, 0x55, 0x55, 0x55, 0x5d];
const COPYING = [0x37, 0x39, 0x3e, 0x5e];
/** BALANCE, EXTCODESIZE, EXTCODEHASH: they name an account. */
const LOOKING = [0x31, 0x3b, 0x3f];
const CALLS = [0xf1, 0xf2, 0xf4, 0xfa];

/** Numbers from 0 to `bound - 1` by mulberry32. */
function dice(seed) {
  let state = seed >>> 0;
  return (bound) => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) % bound;
  };
}

const byte = (number) => number.toString(16).padStart(2, '0');
const push = (digits) => `${byte(0x5f + digits.length / 2)}${digits}`;
const small = (number) => push(number < 256 ? byte(number) : number.toString(16).padStart(6, '0'));

/** Writes code. `below` gives the numbers; `depth` is how deep the created contracts are nested. */
function writer(below, depth = 0) {
  const one = (list) => list[below(list.length)];
  const bytes = (length) => Array.from({ length }, () => byte(below(256))).join('');
  const account = () => {
    const kind = below(10);
    if (kind === 0) return push(byte(1 + below(20))); // mostly precompiles
    if (kind === 1) return '41'; // COINBASE
    if (kind === 2) return '30'; // ADDRESS
    return push(one([...CONTRACTS, STRANGER]).slice(2));
  };
  const number = () => {
    const kind = below(12);
    if (kind === 0) return push(bytes(32));
    if (kind === 1) return push('ff'.repeat(32));
    if (kind === 2) return push(`80${'00'.repeat(31)}`);
    if (kind === 3) return push(bytes(1 + below(31)));
    return small(below(96));
  };
  const slot = () => small(below(4));
  const place = () => small(below(60) === 0 ? [3_000, 16_000_000][below(2)] + below(3_000) : below(96));
  const some = (count, make) => Array.from({ length: count }, make).join('');
  /** What an instruction left is kept in a slot, in memory, on the stack or nowhere. */
  const kept = () => one([() => `${slot()}55`, () => `${place()}52`, () => '50', () => '50', () => '', () => ''])();

  const kinds = {
    compute() {
      const operands = one([0, 1, 1, 2, 2, 2, 3]);
      const opcode = one(COMPUTING[operands]);
      if (opcode === 0x51) return `${place()}51${kept()}`;
      if (opcode === 0x54 || opcode === 0x5c) return `${slot()}${byte(opcode)}${kept()}`;
      if (opcode === 0x20) return `${small(below(80))}${place()}20${kept()}`;
      return `${some(operands, number)}${byte(opcode)}${kept()}`;
    },
    write() {
      const opcode = one(WRITING);
      const at = opcode < 0x55 ? place() : slot();
      return `${below(3) === 0 ? small(below(2)) : number()}${at}${byte(opcode)}`;
    },
    copy() {
      const opcode = one(COPYING);
      const exact = opcode === 0x3e && below(8) > 0; // beyond what a call returned it fails
      return `${exact ? '3d5f' : `${small(below(70))}${small(below(40))}`}${place()}${byte(opcode)}`;
    },
    look: () =>
      below(4) === 0 ? `${small(below(70))}5f${place()}${account()}3c` : `${account()}${byte(one(LOOKING))}${kept()}`,
    stack: () => `${some(2 + below(3), number)}${byte(0x80 + below(4))}${byte(0x90 + below(4))}${kept()}`,
    log() {
      const topics = below(5);
      return `${some(topics, number)}${small(below(70))}${place()}${byte(0xa0 + topics)}`;
    },
    call() {
      const opcode = one(CALLS);
      const value = opcode < 0xf4 ? (below(3) === 0 ? small(1 + below(4)) : '5f') : '';
      const gas = below(2) === 0 ? '5a' : small(below(40_000) + 256);
      const areas = `${small(below(70))}${place()}${small(below(140))}${place()}`;
      return `${areas}${value}${account()}${gas}${byte(opcode)}${kept()}`;
    },
    /** Init code of at most 32 bytes, or of more by MSTOREs, is written to memory and run. */
    create() {
      const init = depth > 0 ? bytes(1 + below(20)) : writer(below, 1).code(2 + below(3), 0);
      const words = (init.slice(0, 384).match(/.{1,64}/g) ?? []).map((part) => part.padEnd(64, '0'));
      const stored = words.map((part, at) => `7f${part}${small(at * 32)}52`).join('');
      const salted = below(2) === 0;
      const size = small(Math.min(init.length, 384) / 2);
      return `${stored}${salted ? small(below(3)) : ''}${size}5f${below(4) === 0 ? small(below(3)) : '5f'}${salted ? 'f5' : 'f0'}${kept()}`;
    },
    end: () =>
      one([
        () => '00',
        () => `${small(below(70))}${place()}f3`,
        () => `${small(below(70))}${place()}fd`,
        () => 'fe',
        () => `${account()}ff`,
        () => `${number()}56`, // a jump to nowhere
        () => bytes(1), // any byte, with what is on the stack
      ])(),
  };
  const chances = [
    ...Array(6).fill('compute'),
    ...Array(4).fill('write'),
    ...Array(3).fill('call'),
    ...'copy look look stack log create branch loop'.split(' '),
  ];
  /** `count` statements that begin at this byte of the code. */
  function statements(count, start) {
    let code = '';
    for (let at = 0; at < count; at++) {
      const here = start + code.length / 2;
      const kind = below(30) === 0 ? 'end' : one(chances);
      if (kind === 'branch') {
        // PUSH condition, PUSH2 target, JUMPI, what is jumped over, JUMPDEST
        const condition = below(3) === 0 ? `${number()}${number()}11` : '3615'; // CALLDATASIZE, ISZERO
        const over = statements(1, here + condition.length / 2 + 4);
        const target = here + condition.length / 2 + 4 + over.length / 2;
        code += `${condition}${push(target.toString(16).padStart(4, '0'))}57${over}5b`;
      } else if (kind === 'loop') {
        // A counter in a transient slot of its own: PUSH n TSTORE, JUMPDEST, body, TLOAD less 1, DUP1 TSTORE, JUMPI
        const counter = push(byte(0x40 + below(100)));
        const begin = `${small(1 + below(4))}${counter}5d`;
        const top = here + begin.length / 2;
        const body = kinds[one(['compute', 'write', 'log'])]();
        const back = push(top.toString(16).padStart(4, '0'));
        code += `${begin}5b${body}6001${counter}5c0380${counter}5d${back}57`;
      } else code += kinds[kind]();
    }
    return code;
  }
  return { bytes, code: statements };
}

/** A call of the first contract, with the overrides that put the programs there. */
export function programCall(seed) {
  const below = dice(seed * 7_919 + 1);
  const write = writer(below);
  const overrides = {};
  for (const address of CONTRACTS) {
    // Some values on the stack for what takes more than it pushes.
    const some = '6001600260036004';
    const code = `0x${some}${write.code(address === ENTRY ? 6 + below(10) : 2 + below(6), some.length / 2)}`;
    const slots = Object.fromEntries([0, 1, 2].map((at) => [`0x${word(at)}`, `0x${word(below(3))}`]));
    overrides[address] = {
      code,
      balance: hex(below(5)),
      nonce: hex(1 + below(3)),
      [below(2) === 0 ? 'state' : 'stateDiff']: slots,
    };
  }
  // An account with delegated code: EIP-7702.
  if (below(4) === 0) overrides[CONTRACTS[2]].code = `0xef0100${CONTRACTS[1].slice(2)}`;
  return {
    data: `0x${write.bytes(below(70))}`,
    gas: hex(below(5) === 0 ? 30_000 + below(60_000) : 250_000),
    overrides,
  };
}
