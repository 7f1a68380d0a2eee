import type { GenesisAlloc } from '../src/chain/devnet/state/genesis.js';
import { bytesToHex, type Hex, hexToBytes } from '../src/primitives/hex.js';
import { callData, contracts } from '../test/support/contracts.js';
import { code, OP, push, pushAddress, store } from '../test/support/programs/code.js';
import { swapScene } from '../test/support/swap-scene.js';

/** A call that keeps an interpreter busy, and what its time is held to. */
export interface EvmProgram {
  readonly name: string;
  readonly alloc: GenesisAlloc;
  readonly call: { readonly from: Hex; readonly to: Hex; readonly data: Hex };
  /** At least so many times as fast as @ethereumjs/evm. */
  readonly overEthereumjs?: number;
  /** At most so many times the time of revm. */
  readonly overRevm: number;
  /** The same, if anvil runs revm. */
  readonly overAnvil: number;
}

const CALLER: Hex = `0x${'ca'.repeat(20)}`;
const MAIN: Hex = `0x${'a0'.repeat(20)}`;
const CALLEE: Hex = `0x${'b0'.repeat(20)}`;
const ETHER = 10n ** 18n;
const MULMOD = 0x09;
const AND = 0x16;
const SUB = 0x03;

type Bars = Pick<EvmProgram, 'overEthereumjs' | 'overRevm' | 'overAnvil'>;

/** Repeats a body that leaves the stack as it finds it, the counter on top. */
function times(count: number, body: Uint8Array): Uint8Array {
  const begin = push(count);
  const turn = code(OP.JUMPDEST, body, push(1), OP.SWAP1, SUB, OP.DUP1, push(begin.length), OP.JUMPI);
  return code(begin, turn, OP.POP);
}

const RETURN_MEMORY = code(push(32), push(0), OP.RETURN);

function calling(address: Hex): Uint8Array {
  return code(push(0), push(0), push(0), push(0), push(0), pushAddress(address), OP.GAS, OP.CALL);
}

function program(name: string, main: Uint8Array, bars: Bars, more: GenesisAlloc = {}): EvmProgram {
  const alloc = { [MAIN]: { nonce: 1n, code: bytesToHex(main) }, ...more };
  return { name, alloc, call: { from: CALLER, to: MAIN, data: '0x' }, ...bars };
}

/** The rows of the area, each with its bars. */
export async function evmPrograms(): Promise<EvmProgram[]> {
  const usual = { overEthereumjs: 10, overRevm: 2, overAnvil: 4 };
  const hard = { overRevm: 2, overAnvil: 6 };
  const contract = (bytes: Uint8Array): GenesisAlloc => ({ [CALLEE]: { nonce: 1n, code: bytesToHex(bytes) } });
  const keepTop = code(push(0), OP.MSTORE, RETURN_MEMORY);
  const prime = code(0x7f, hexToBytes(`0x${'f'.repeat(56)}fffffc2f`));
  // [x, counter] -> [x * x mod p, counter]
  const square = code(OP.SWAP1, prime, OP.DUP1 + 1, OP.DUP1, MULMOD, OP.SWAP1, OP.POP, OP.SWAP1);
  const start = code(0x7f, hexToBytes(`0x${'9e3779b97f4a7c15'.repeat(4)}`));
  // Places of jumps follow from the program's beginning, so what stands before a loop goes into a contract of its own.
  const squares = code(push(60_000), start, OP.SWAP1, turnAt(start.length + 4, square), OP.POP, keepTop);
  const deploy = code(push(1), push(0), OP.RETURN);
  const creation = code(push(deploy.length), push(0), push(0), OP.CREATE, OP.POP);
  // Calls itself with all gas, to the limit of depth.
  const recursive = code(push(0), push(0), push(0), push(0), push(0), OP.ADDRESS, OP.GAS, OP.CALL, OP.STOP);
  return [
    program('counting loop', code(times(300_000, code()), RETURN_MEMORY), {
      overEthereumjs: 40,
      overRevm: 2,
      overAnvil: 4,
    }),
    program('mulmod', squares, usual),
    program(
      'keccak256 of 64 bytes',
      code(times(30_000, code(push(64), push(0), OP.KECCAK256, push(0), OP.MSTORE)), RETURN_MEMORY),
      usual,
    ),
    program('sload', code(times(30_000, code(OP.DUP1, push(63), AND, OP.SLOAD, OP.POP)), RETURN_MEMORY), usual),
    program('calls', code(times(8_000, code(calling(CALLEE), OP.POP)), RETURN_MEMORY), usual, contract(code(OP.STOP))),
    creations(creation, deploy, { ...usual, overRevm: 1.5 }),
    await swaps(usual),
    program(
      'recursion to depth 1024',
      code(times(5, code(calling(CALLEE), OP.POP)), RETURN_MEMORY),
      hard,
      contract(recursive),
    ),
    program(
      'EXTCODECOPY of 24 KiB',
      code(times(6_000, code(push(24_576), push(0), push(0), pushAddress(CALLEE), OP.EXTCODECOPY)), RETURN_MEMORY),
      hard,
      contract(new Uint8Array(24_576).fill(OP.JUMPDEST)),
    ),
  ];
}

/** The turn of a loop whose counter is on the stack already, at this place of the program. */
function turnAt(place: number, body: Uint8Array): Uint8Array {
  return code(OP.JUMPDEST, body, push(1), OP.SWAP1, SUB, OP.DUP1, push(place), OP.JUMPI);
}

function creations(body: Uint8Array, deploy: Uint8Array, bars: Bars) {
  const words = store(0, deploy);
  const begin = code(words, push(2_500));
  return program('creations', code(begin, turnAt(begin.length, body), OP.POP, RETURN_MEMORY), bars);
}

/** A contract that trades a hundred times through the router. */
async function swaps(bars: Bars): Promise<EvmProgram> {
  const compiled = await contracts();
  const scene = swapScene(compiled, MAIN);
  const swap = callData(compiled.Router, 'swap(uint256,uint256,address[],address)', ETHER, 1n, scene.tokens, MAIN);
  const size = hexToBytes(swap).length;
  const copy = code(OP.CALLDATASIZE, push(0), push(0), OP.CALLDATACOPY);
  const begin = code(copy, push(100));
  const trade = code(
    push(0),
    push(0),
    push(size),
    push(0),
    push(0),
    pushAddress(scene.router),
    OP.GAS,
    OP.CALL,
    OP.POP,
  );
  const main = code(begin, turnAt(begin.length, trade), OP.POP, RETURN_MEMORY);
  const one = program('100 swaps', main, bars, scene.alloc);
  return { ...one, call: { ...one.call, data: swap } };
}
