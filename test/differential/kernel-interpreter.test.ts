import { describe, expect, it } from 'vitest';
import { type Alloc, AllocState } from '../../conformance/alloc-state.js';
import { Machine } from '../../src/evm/interpreter/machine.js';
import { type AccountChange, StateOverlay } from '../../src/evm/state/state-overlay.js';
import { runTransaction } from '../../src/evm/transactions/transaction.js';
import type { TransactionMessage, TransactionOutcome } from '../../src/evm/transactions/transaction-message.js';
import { preferEvmBuild } from '../../src/kernel/evm/evm-module.js';
import { HARDFORKS, type Hardfork } from '../../src/networks/network.js';
import { compareBytes, concatBytes, isZeroBytes } from '../../src/primitives/bytes.js';
import { bytesToHex, hexToBytes } from '../../src/primitives/hex.js';
import { blockContext } from '../support/evm.js';
import { OracleMachine } from '../support/oracle/machine.js';
import { OracleOverlay } from '../support/oracle/state-overlay.js';
import { oracleTransaction } from '../support/oracle/transaction.js';
import { precompileInputs } from '../support/precompile-inputs.js';
import { seededRandom } from '../support/random.js';
import { CALLS } from '../support/random-opcodes.js';
import {
  addressOf,
  PROGRAM_COINBASE,
  programMessage,
  push,
  randomMessage,
  randomState,
  statement,
} from '../support/random-programs.js';

/*
 * The same runs go through the kernel and through @ethereumjs/evm: gas, outcome, logs, counts, what was touched, every
 * change of the state and every error have to be the same, under each fork a network can have.
 */

const CHAIN_ID = 1;
const RUNS = 40;
/** Without point evaluation: the oracle has no trusted setup. */
const INPUTS = precompileInputs().filter(([id]) => id !== 0x0a);
/** After so many runs all that they have changed is compared, too: what they have changed only grows. */
const TOGETHER = 16;

const from = (hardfork: Hardfork) => HARDFORKS.indexOf(hardfork);

/** One of the two: a machine with its way to run a transaction. */
interface Subject {
  run(message: TransactionMessage): Promise<TransactionOutcome>;
  changes(): Promise<readonly AccountChange[]>;
}

async function open(subject: 'oracle' | 'simd' | 'scalar', hardfork: Hardfork, alloc: Alloc): Promise<Subject> {
  const blobs = { target: 3, max: 6, baseFeeUpdateFraction: 3_338_477n };
  const forks = [{ hardfork, block: 0, ...(from(hardfork) >= from('cancun') && { blobs }) }];
  const london = from(hardfork) >= from('london');
  const block = blockContext({
    gasLimit: 100_000_000n,
    baseFeePerGas: london ? 7n : 0n,
    coinbase: hexToBytes(PROGRAM_COINBASE),
    prevRandao: new Uint8Array(32).fill(0x5a),
    difficulty: from(hardfork) < from('paris') ? 131_072n : undefined,
    blobBaseFee: 3n,
  });
  const options = {
    leniency: { nonce: 'any', gasAboveCap: true },
    counting: true,
    reportTouched: true,
  } as const;
  const network = { chainId: CHAIN_ID, forks };
  const reader = new AllocState(alloc);
  if (subject === 'oracle') {
    const machine = await OracleMachine.open(network, block, new OracleOverlay(reader));
    return {
      run: (message) => oracleTransaction(machine, message, options),
      changes: () => machine.state.changes(),
    };
  }
  const machine = await Machine.open(network, block, new StateOverlay(reader));
  preferEvmBuild(subject);
  await machine.enter();
  preferEvmBuild('auto');
  return {
    run: (message) => runTransaction(machine, message, options),
    changes: () => machine.state.changes(),
  };
}

/** What @ethereumjs/evm says of a precompile that fails. */
const PRECOMPILE_FAILURES: readonly unknown[] = [
  ...['invalid input length', 'point not on curve', 'input is empty', 'fp point not in field', 'value out of range'],
  ...['revert', 'out of gas'],
];

/** What one run came to. */
interface Trace {
  readonly outcome: Record<string, unknown>;
  readonly touched: readonly string[];
  readonly changes: readonly AccountChange[] | undefined;
}

async function traceOf(subject: Subject, message: TransactionMessage, withChanges: boolean): Promise<Trace> {
  let outcome: Record<string, unknown>;
  let touched: string[] = [];
  try {
    const {
      spareGas: _,
      environment: _reads,
      touched: accesses = [],
      counts = {},
      ...rest
    } = await subject.run(message);
    // The oracle has no trusted setup: every point evaluation fails, and none is counted.
    const { PRECOMPILE_POINT_EVALUATION_FAILURE_EFFECTIVE_CALLS: __, ...counted } = counts;
    outcome = inOrder({ ...rest, counts: inOrder(counted) });
    touched = accesses.flatMap(({ address, storageKeys }) =>
      [new Uint8Array(0), ...storageKeys].map((key) => bytesToHex(concatBytes(address, key))),
    );
  } catch (error) {
    const { name, code, message: text, details } = error as Error & { code?: unknown; details?: unknown };
    outcome = { name, code, text, details };
  }
  return { outcome, touched, changes: withChanges ? sorted(await subject.changes()) : undefined };
}

function inOrder(value: object): Record<string, unknown> {
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** In an order of their own: that of the first writes is not compared. */
function sorted(changes: readonly AccountChange[]): AccountChange[] {
  return [...changes]
    .sort((a, b) => compareBytes(a.address, b.address))
    .map((change) => ({ ...change, slots: [...change.slots].sort((a, b) => compareBytes(a.key, b.key)) }));
}

function show(value: unknown): string {
  return JSON.stringify(
    value,
    (_, member: unknown) => {
      if (member instanceof Uint8Array) return bytesToHex(member);
      return typeof member === 'bigint' ? `${member}n` : member;
    },
    1,
  );
}

/** Runs the messages one after another on both, and compares after each. @returns how the runs ended */
async function compare(hardfork: Hardfork, alloc: Alloc, messages: readonly TransactionMessage[]): Promise<string[]> {
  const oracle = await open('oracle', hardfork, alloc);
  const kernel = await open('simd', hardfork, alloc);
  const scalar = await open('scalar', hardfork, alloc);
  const ends: string[] = [];
  for (const [i, message] of messages.entries()) {
    const withChanges = i % TOGETHER === TOGETHER - 1 || i === messages.length - 1;
    const expected = await traceOf(oracle, message, withChanges);
    const actual = await traceOf(kernel, message, withChanges);
    // @ethereumjs/evm lists created contracts before Cancun, and accesses for which the gas was short.
    expect(expected.touched, `${hardfork} ${i}`).toEqual(expect.arrayContaining([...actual.touched]));
    const { outcome } = actual;
    const isPrecompile = message.to !== undefined && isZeroBytes(message.to.subarray(0, 18));
    if (isPrecompile && PRECOMPILE_FAILURES.includes(expected.outcome.exception)) {
      expect(['precompile failed', 'out of gas']).toContain(outcome.exception);
      expected.outcome.exception = outcome.exception;
    }
    const text = ({ outcome, changes }: Trace) => `${hardfork} ${i} ${show({ outcome, changes })}`;
    expect(text(actual)).toBe(text(expected));
    expect(await traceOf(scalar, message, withChanges)).toEqual(actual);
    ends.push(outcome.succeeded === true ? 'succeeded' : String(outcome.exception ?? outcome.code ?? 'thrown'));
  }
  return ends;
}

/** Those after the first that changes blob parameters alone run by the same rules. */
const FORKS = HARDFORKS.slice(0, from('bpo1') + 1);

describe.each(FORKS)('under %s', (hardfork) => {
  it('random programs of all instructions, in transactions of all types, run alike', async () => {
    const ends = new Map<string, number>();
    for (let seed = 1; seed <= 3; seed++) {
      const below = seededRandom(7919 * seed + 31 * from(hardfork));
      const messages = Array.from({ length: RUNS }, () => randomMessage(below, hardfork));
      for (const end of await compare(hardfork, randomState(below, hardfork), messages))
        ends.set(end, (ends.get(end) ?? 0) + 1);
    }
    // A differential test of nothing but failures would show little.
    expect(ends.get('succeeded') ?? 0, show([...ends])).toBeGreaterThan(RUNS / 4);
    expect(ends.size, show([...ends])).toBeGreaterThan(3);
  });

  it('each instruction alone, with and without its operands, runs alike', async () => {
    const below = seededRandom(4242 + from(hardfork));
    const alloc = randomState(below, hardfork);
    const messages: TransactionMessage[] = [];
    for (let opcode = 0; opcode < 256; opcode++) {
      const at = addressOf(0xb0_0000 + opcode);
      // What it gives is stored, so that it is compared; a bare one meets an empty stack.
      alloc[at] = {
        nonce: '0x1',
        code: bytesToHex(concatBytes(statement(below, opcode), push(9), Uint8Array.of(0x55))),
      };
      const bare = addressOf(0xb1_0000 + opcode);
      alloc[bare] = { nonce: '0x1', code: bytesToHex(Uint8Array.of(opcode, 0x5a, 0x5f, 0x55)) };
      for (const to of [at, bare]) messages.push(programMessage({ to: hexToBytes(to), gasLimit: 200_000n }));
    }
    const ends = await compare(hardfork, alloc, messages);
    expect(ends.filter((end) => end === 'succeeded').length).toBeGreaterThan(60);
    expect(ends).toContain('invalid opcode');
    expect(ends).toContain('stack underflow');
  });

  it('regions of no bytes may lie anywhere', async () => {
    const alloc = randomState(seededRandom(11), hardfork);
    const callee = BigInt(addressOf(0xf0_0000));
    // It returns the word at 0.
    alloc[addressOf(0xf0_0000)] = { nonce: '0x1', code: '0x60206000f3' };
    const messages: TransactionMessage[] = [];
    for (const far of [2n ** 27n, 2n ** 32n - 1n, 2n ** 63n, 2n ** 256n - 1n]) {
      const withValue = (to: bigint) => [50_000n, to, 0n, far, 0n, far, 0n];
      const withoutValue = (to: bigint) => [50_000n, to, far, 0n, far, 0n];
      const operands: readonly (readonly [opcode: number, operands: readonly bigint[]])[] = [
        [0x20, [far, 0n]],
        ...[0x37, 0x39, 0x5e].map((opcode) => [opcode, [far, far, 0n]] as const),
        [0x3e, [far, 0n, 0n]],
        [0x3c, [callee, far, far, 0n]],
        ...[0xa0, 0xf3, 0xfd].map((opcode) => [opcode, [far, 0n]] as const),
        [0xf0, [0n, far, 0n]],
        [0xf5, [0n, far, 0n, 0n]],
        // A contract, the identity and SHA-256.
        ...[callee, 4n, 2n].flatMap((to) => [
          ...[0xf1, 0xf2].map((opcode) => [opcode, withValue(to)] as const),
          ...[0xf4, 0xfa].map((opcode) => [opcode, withoutValue(to)] as const),
        ]),
      ];
      for (const [opcode, values] of operands) {
        const to = addressOf(0xf1_0000 + messages.length);
        const pushes = [...values].reverse().map((value) => push(value, 32));
        // The size of its memory is kept, too.
        const rest = concatBytes(Uint8Array.of(0x59), push(1), Uint8Array.of(0x55));
        alloc[to] = { nonce: '0x1', code: bytesToHex(concatBytes(...pushes, Uint8Array.of(opcode), rest)) };
        messages.push(programMessage({ to: hexToBytes(to), gasLimit: 300_000n }));
      }
    }
    const ends = await compare(hardfork, alloc, messages);
    expect(ends.filter((end) => end === 'succeeded').length).toBeGreaterThan(messages.length / 2);
  });

  it('a precompile that is called keeps its ether', async () => {
    const alloc = randomState(seededRandom(12), hardfork);
    const messages: TransactionMessage[] = [];
    for (const precompile of [1n, 2n, 4n, 5n]) {
      alloc[addressOf(Number(precompile))] = { balance: '0x5' };
      for (const [opcode, values] of [
        [0xf1, [0n]],
        [0xf1, [1n]],
        [0xf2, [1n]],
        [0xf4, []],
        [0xfa, []],
      ] as const) {
        const to = addressOf(0xf2_0000 + messages.length);
        const operands = [50_000n, precompile, ...values, 0n, 0n, 0n, 0n];
        const pushes = operands.reverse().map((value) => push(value, 32));
        alloc[to] = { nonce: '0x1', balance: '0x9', code: bytesToHex(concatBytes(...pushes, Uint8Array.of(opcode))) };
        messages.push(programMessage({ to: hexToBytes(to), gasLimit: 300_000n }));
      }
    }
    const ends = await compare(hardfork, alloc, messages);
    expect(ends.filter((end) => end === 'succeeded').length).toBeGreaterThan(messages.length / 2);
  });

  it('contract creations at the limits of code size end alike', async () => {
    // Code is what the first byte says, so many bytes of it: RETURN of memory after MSTORE8.
    const deploying = (first: number, length: number) =>
      concatBytes(push(first), push(0), Uint8Array.of(0x53), push(length, 3), push(0), Uint8Array.of(0xf3));
    const codes = [0xef, 0xee, 0xfe, 0x00].flatMap((first) => [1, 2, 23].map((length) => deploying(first, length)));
    const lengths = [0x5fff, 0x6000, 0x6001, 0x8000, 0x8001].map((length) => deploying(0x01, length));
    const initCodes = [0xbfff, 0xc000, 0xc001].map((length) => {
      const code = new Uint8Array(length);
      code.set(deploying(0x5b, 3));
      return code;
    });
    const messages = [...codes, ...lengths, ...initCodes].map((data) => {
      return programMessage({ to: undefined, data, gasLimit: 16_000_000n });
    });
    const ends = await compare(hardfork, randomState(seededRandom(6), hardfork), messages);
    expect(ends.slice(-6)).toContain('succeeded');
    expect(ends[0] === 'succeeded').toBe(from(hardfork) < from('london'));
  });

  it('precompiles answer alike, with valid and invalid inputs and with too little gas', async () => {
    const messages = INPUTS.flatMap(([at, data]) =>
      [3_000_000n, 60_000n].map((gasLimit) => programMessage({ to: hexToBytes(addressOf(at)), data, gasLimit })),
    );
    const ends = await compare(hardfork, randomState(seededRandom(5), hardfork), messages);
    expect(ends).toContain('succeeded');
    // Before Byzantium none costs so much.
    if (from(hardfork) >= from('byzantium')) expect(ends).toContain('out of gas');
  });

  it('precompiles that contracts call answer alike', async () => {
    const below = seededRandom(99 + from(hardfork));
    const alloc = randomState(below, hardfork);
    const messages: TransactionMessage[] = [];
    for (const [i, [at, data]] of INPUTS.entries()) {
      // Copies the calldata, calls with it in one of four ways, keeps the result and what came back of it.
      const opcode = CALLS[i % CALLS.length]!;
      const value = opcode === 0xf1 || opcode === 0xf2 ? push(0) : new Uint8Array(0);
      const code = concatBytes(
        Uint8Array.of(0x36, 0x60, 0, 0x60, 0, 0x37),
        push(32),
        push(0),
        Uint8Array.of(0x36),
        push(0),
        value,
        push(at, 2),
        push([1_000, 40_000, 2_000_000][i % 3]!, 3),
        Uint8Array.of(opcode),
        concatBytes(push(3), Uint8Array.of(0x55), push(0), Uint8Array.of(0x51), push(4), Uint8Array.of(0x55)),
      );
      const caller = addressOf(0xd0_0000 + i);
      alloc[caller] = { nonce: '0x1', code: bytesToHex(code) };
      messages.push(programMessage({ to: hexToBytes(caller), data, gasLimit: 4_000_000n }));
    }
    expect(await compare(hardfork, alloc, messages)).toContain('succeeded');
  });
});
