import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Alloc, AllocState } from '../../conformance/alloc-state.js';
import type { Machine } from '../../src/evm/interpreter/machine.js';
import type { TransactionMessage } from '../../src/evm/transactions/transaction-message.js';
import { HARDFORKS, type Hardfork } from '../../src/networks/network.js';
import { concatBytes } from '../../src/primitives/bytes.js';
import { bytesToHex, hexToBytes } from '../../src/primitives/hex.js';
import { blockContext } from '../support/evm.js';
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
import { bundleExecution, type ExecutionBundle, type ExecutionBundles } from '../support/slimmed-interpreter.js';

/*
 * The package's bundles leave out parts of @ethereumjs/evm (scripts/lib/slim-dependencies.mjs). Here the same runs go
 * through the interpreter as it is published and as it is shipped: gas, outcome, logs, counts, what was touched, every
 * change of the state and every error have to be the same, under each fork a network can have.
 */

const CHAIN_ID = 1;
const RUNS = 40;
/** After so many runs all that they have changed is compared, too: what they have changed only grows. */
const TOGETHER = 16;

let bundles: ExecutionBundles;
beforeAll(async () => {
  bundles = await bundleExecution();
});
afterAll(() => bundles.close());

const from = (hardfork: Hardfork) => HARDFORKS.indexOf(hardfork);

function open({ Machine, StateOverlay }: ExecutionBundle, hardfork: Hardfork, alloc: Alloc): Promise<Machine> {
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
  return Machine.open({ chainId: CHAIN_ID, forks }, block, new StateOverlay(new AllocState(alloc)));
}

/** What one run came to, as text that shows every difference. */
async function traceOf(
  bundle: ExecutionBundle,
  machine: Machine,
  message: TransactionMessage,
  withChanges: boolean,
): Promise<string> {
  let outcome: unknown;
  try {
    outcome = await bundle.runTransaction(machine, message, {
      leniency: { nonce: 'any', gasAboveCap: true },
      counting: true,
      reportTouched: true,
    });
  } catch (error) {
    const { name, code, message: text, details } = error as Error & { code?: unknown; details?: unknown };
    outcome = { name, code, text, details };
  }
  return show({ outcome, changes: withChanges && (await machine.state.changes()) });
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
  const { whole, slim } = bundles;
  const [one, other] = [await open(whole, hardfork, alloc), await open(slim, hardfork, alloc)];
  const ends: string[] = [];
  for (const [i, message] of messages.entries()) {
    const withChanges = i % TOGETHER === TOGETHER - 1 || i === messages.length - 1;
    const expected = await traceOf(whole, one, message, withChanges);
    expect(`${hardfork} ${i} ${await traceOf(slim, other, message, withChanges)}`).toBe(`${hardfork} ${i} ${expected}`);
    const { outcome } = JSON.parse(expected) as { outcome: { succeeded?: boolean; exception?: string; code?: string } };
    ends.push(outcome.succeeded === true ? 'succeeded' : (outcome.exception ?? outcome.code ?? 'thrown'));
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
    const messages = precompileInputs().flatMap(([at, data]) =>
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
    for (const [i, [at, data]] of precompileInputs().entries()) {
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
