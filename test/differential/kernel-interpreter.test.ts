import { describe, expect, it } from 'vitest';
import type { TransactionMessage } from '../../src/evm/transaction-message.js';
import { HARDFORKS } from '../../src/networks/network.js';
import { concatBytes } from '../../src/primitives/bytes.js';
import { bytesToHex, hexToBytes } from '../../src/primitives/hex.js';
import { compare, forkIndex, show } from '../support/oracle/compare-kernel.js';
import { precompileInputs } from '../support/precompile-inputs.js';
import { seededRandom } from '../support/random.js';
import { CALLS } from '../support/random-opcodes.js';
import { addressOf, programMessage, push, randomMessage, randomState, statement } from '../support/random-programs.js';

/*
 * The same runs go through the kernel and through @ethereumjs/evm: gas, outcome, logs, counts, what was touched, every
 * change of the state and every error have to be the same, under each fork a network can have.
 */

const RUNS = 40;
/** Without point evaluation: the oracle has no trusted setup. */
const INPUTS = precompileInputs().filter(([id]) => id !== 0x0a);

/** Those after the first that changes blob parameters alone run by the same rules. */
const FORKS = HARDFORKS.slice(0, forkIndex('bpo1') + 1);

describe.each(FORKS)('under %s', (hardfork) => {
  it('random programs of all instructions, in transactions of all types, run alike', async () => {
    const ends = new Map<string, number>();
    for (let seed = 1; seed <= 3; seed++) {
      const below = seededRandom(7919 * seed + 31 * forkIndex(hardfork));
      const messages = Array.from({ length: RUNS }, () => randomMessage(below, hardfork));
      for (const end of await compare(hardfork, randomState(below, hardfork), messages))
        ends.set(end, (ends.get(end) ?? 0) + 1);
    }
    // A differential test of nothing but failures would show little.
    expect(ends.get('succeeded') ?? 0, show([...ends])).toBeGreaterThan(RUNS / 4);
    expect(ends.size, show([...ends])).toBeGreaterThan(3);
  });

  it('each instruction alone, with and without its operands, runs alike', async () => {
    const below = seededRandom(4242 + forkIndex(hardfork));
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
    expect(ends[0] === 'succeeded').toBe(forkIndex(hardfork) < forkIndex('london'));
  });

  it('precompiles answer alike, with valid and invalid inputs and with too little gas', async () => {
    const messages = INPUTS.flatMap(([at, data]) =>
      [3_000_000n, 60_000n].map((gasLimit) => programMessage({ to: hexToBytes(addressOf(at)), data, gasLimit })),
    );
    const ends = await compare(hardfork, randomState(seededRandom(5), hardfork), messages);
    expect(ends).toContain('succeeded');
    // Before Byzantium none costs so much.
    if (forkIndex(hardfork) >= forkIndex('byzantium')) expect(ends).toContain('out of gas');
  });

  it('precompiles that contracts call answer alike', async () => {
    const below = seededRandom(99 + forkIndex(hardfork));
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
