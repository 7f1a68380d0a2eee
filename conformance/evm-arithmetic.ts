import { Machine } from '../src/evm/machine.js';
import { StateOverlay } from '../src/evm/state-overlay.js';
import { simulateTransaction } from '../src/evm/transaction.js';
import { bigIntToBytes, concatBytes, ZERO_ADDRESS, ZERO_WORD } from '../src/primitives/bytes.js';
import { bytesToHex, type Hex, hexToBytes } from '../src/primitives/hex.js';
import { AllocState } from './alloc-state.js';
import { archiveFiles } from './archive.js';
import { type Area, differs, type Material, type Report } from './area.js';

/** Operands of an instruction, the top of the stack first, and what it gives. */
interface Vector {
  name: string;
  operands: Hex[];
  expected: Hex;
}

/** @source ethereum/go-ethereum@02b73d4e core/vm/testdata `testcases_NAME.json`: X is pushed first */
interface PublishedVector {
  X: string;
  Y: string;
  Expected: string;
}

const ARCHIVE = 'state-tests/evm-vectors.tar.gz';
const GENERATED = 'evm-vectors/arithmetic-generated.json';

const OPCODES: Readonly<Record<string, number>> = {
  add: 0x01,
  mul: 0x02,
  sub: 0x03,
  div: 0x04,
  sdiv: 0x05,
  mod: 0x06,
  smod: 0x07,
  addmod: 0x08,
  mulmod: 0x09,
  exp: 0x0a,
  signext: 0x0b,
  lt: 0x10,
  gt: 0x11,
  slt: 0x12,
  sgt: 0x13,
  eq: 0x14,
  iszero: 0x15,
  and: 0x16,
  or: 0x17,
  xor: 0x18,
  not: 0x19,
  byte: 0x1a,
  shl: 0x1b,
  shr: 0x1c,
  sar: 0x1d,
  clz: 0x1e,
};

/** Arithmetic instructions, each in a program that returns its result. */
export const arithmeticArea: Area = {
  name: 'evm-vectors/arithmetic',
  usesKernel: true,
  files: (material) => [ARCHIVE, GENERATED].filter(material.has),
  async run(material, report) {
    for (const path of this.files(material)) {
      const vectors = path === ARCHIVE ? publishedVectors(material) : generatedVectors(material);
      for (const [name, some] of vectors) await checkVectors(name, some, report);
    }
  },
};

/** Files with their vectors. */
function* publishedVectors(material: Material): Iterable<readonly [string, Vector[]]> {
  for (const file of archiveFiles(material.place(ARCHIVE))) {
    const name = /testcases_(\w+)\.json$/.exec(file.name)?.[1];
    if (name === undefined) continue;
    const vectors = (JSON.parse(file.text()) as PublishedVector[]).map(({ X, Y, Expected }): Vector => {
      return { name, operands: [`0x${Y}`, `0x${X}`], expected: `0x${Expected}` };
    });
    yield [file.name, vectors];
  }
}

function generatedVectors(material: Material): Iterable<readonly [string, Vector[]]> {
  return [[GENERATED, material.json<{ cases: Vector[] }>(GENERATED).cases]];
}

async function checkVectors(file: string, vectors: readonly Vector[], report: Report): Promise<void> {
  const alloc = Object.fromEntries(vectors.map((vector, i) => [addressOf(i), { code: bytesToHex(programOf(vector)) }]));
  const network = { chainId: 1, forks: [{ hardfork: 'osaka', block: 0 } as const] };
  const block = {
    number: 1,
    timestamp: 1,
    gasLimit: 30_000_000n,
    baseFeePerGas: 0n,
    coinbase: ZERO_ADDRESS,
    prevRandao: ZERO_WORD,
    blockHash: async () => ZERO_WORD,
  };
  const machine = await Machine.open(network, block, new StateOverlay(new AllocState(alloc)));
  for (const [i, { name, operands, expected }] of vectors.entries()) {
    await report.check(`${file} ${i}: ${name} ${operands.join(' ')}`, async () => {
      const { succeeded, returnData } = await simulateTransaction(machine, {
        from: hexToBytes(addressOf(vectors.length)),
        to: hexToBytes(addressOf(i)),
        nonce: 0n,
        gasLimit: 100_000n,
        gasPrice: 0n,
        value: 0n,
        data: new Uint8Array(0),
      });
      return differs([true, BigInt(expected)], [succeeded, BigInt(bytesToHex(returnData))]);
    });
  }
  machine.close();
}

function addressOf(index: number): Hex {
  return bytesToHex(bigIntToBytes(0xa0_0000n + BigInt(index), 20));
}

/** Pushes the operands, does the instruction, and returns the word that it gives. */
function programOf({ name, operands }: Vector): Uint8Array {
  const opcode = OPCODES[name];
  if (opcode === undefined) throw new Error(`no such instruction is known: ${name}`);
  const pushes = [...operands].reverse().map((operand) => {
    return concatBytes(Uint8Array.of(0x7f), bigIntToBytes(BigInt(operand), 32));
  });
  // PUSH1 0, MSTORE, PUSH1 32, PUSH1 0, RETURN
  const end = Uint8Array.of(opcode, 0x60, 0, 0x52, 0x60, 32, 0x60, 0, 0xf3);
  return concatBytes(...pushes, end);
}
