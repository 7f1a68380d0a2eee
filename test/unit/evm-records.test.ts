import { keccak_256 } from '@noble/hashes/sha3.js';
import { describe, expect, it } from 'vitest';
import {
  type EvmEnvironment,
  type EvmKernel,
  FLAGS,
  RUN_STATUS,
  type TraceStep,
  takeEvmKernel,
  WANTED,
} from '../../src/kernel/evm.js';
import { readTrace } from '../../src/kernel/evm-trace.js';
import { bigIntToBytes, compareBytes, concatBytes, equalBytes } from '../../src/primitives/bytes.js';
import { type Hex, hexToBytes } from '../../src/primitives/hex.js';
import { CONTRACT, SENDER, STRANGER } from '../support/evm.js';

const BERLIN = 8;
const OSAKA = 14;
const sender = hexToBytes(SENDER);
const contract = hexToBytes(CONTRACT);
const stranger = hexToBytes(STRANGER);
const word = (value: number | bigint) => bigIntToBytes(BigInt(value), 32);
const none = keccak_256(new Uint8Array(0));
const hex = (value: number) => value.toString(16).padStart(2, '0');
const message = { caller: sender, to: contract, value: 0n, data: new Uint8Array(0), gas: 1_000_000n };
/** Each value is another one, and has bytes at both ends. */
const environment: EvmEnvironment = {
  number: 2 ** 33 + 1,
  timestamp: 2 ** 34 + 2,
  slotNumber: 2n ** 64n - 1n,
  gasLimit: 2n ** 40n + 3n,
  chainId: 2 ** 35 + 4,
  coinbase: new Uint8Array(20).fill(0xc0),
  random: word(2n ** 255n + 5n),
  baseFee: 2n ** 130n + 6n,
  blobBaseFee: 2n ** 70n + 7n,
  origin: new Uint8Array(20).fill(0x01),
  gasPrice: 2n ** 131n + 8n,
  blobHashes: [],
};

async function started(code: Hex, fork = OSAKA, flags = 0): Promise<EvmKernel> {
  const kernel = await takeEvmKernel(undefined);
  kernel.configure(fork);
  kernel.record(flags);
  const bytes = hexToBytes(code);
  expect(kernel.hasCode(keccak_256(bytes))).toBe(false);
  kernel.addCode(keccak_256(bytes), bytes);
  expect(kernel.hasCode(keccak_256(bytes))).toBe(true);
  kernel.loadAccount(sender, { nonce: 3n, balance: 10n ** 18n, codeHash: none });
  kernel.loadAccount(contract, { nonce: 1n, balance: 5n, codeHash: keccak_256(bytes) });
  for (const key of [1, 2]) kernel.loadSlot(contract, word(key), word(key));
  kernel.begin(environment);
  kernel.start(message);
  return kernel;
}

describe('records of the kernel', () => {
  it('give each caller its own text, also where two differ in one byte', async () => {
    const kernel = await started('0x00', OSAKA, FLAGS.calls);
    const base = Uint8Array.from({ length: 20 }, (_, i) => 12 * i + 1);
    const near = Array.from(base, (_, changed) => base.map((byte, i) => (i === changed ? byte ^ 0x80 : byte)));
    // In turns, so that texts which share a place in a table replace each other.
    for (const caller of [new Uint8Array(20), ...near.flatMap((one) => [base, one, base])]) {
      kernel.rollback();
      kernel.loadAccount(caller, { nonce: 0n, balance: 0n, codeHash: none });
      kernel.begin(environment);
      kernel.start({ ...message, caller });
      kernel.run(1000);
      const texts: Hex[] = [];
      kernel.takeTrace(readTrace, (record) => record.kind === 'enter' && texts.push(record.callerText));
      expect(texts).toEqual([`0x${Buffer.from(caller).toString('hex')}`]);
    }
  });

  it('say what code can read of block and transaction', async () => {
    const opcodes = { number: 0x43, timestamp: 0x42, gasLimit: 0x45, chainId: 0x46, coinbase: 0x41, random: 0x44 };
    const all = { ...opcodes, baseFee: 0x48, blobBaseFee: 0x4a, origin: 0x32, gasPrice: 0x3a };
    // Each with MSTORE at its place, then RETURN of ten words.
    const stores = Object.values(all).map((opcode, i) => `${hex(opcode)}61${(32 * i).toString(16).padStart(4, '0')}52`);
    const kernel = await started(`0x${stores.join('')}6101405ff3`);
    expect(kernel.run(1_000_000)).toBe(RUN_STATUS.done);
    const read = Object.values(all).reduce((bits, opcode) => bits | (1n << BigInt(opcode & 63)), 0n);
    expect(kernel.result()).toMatchObject({ succeeded: true, environment: read });
    const words = Object.keys(all).map((name, i) => [name, kernel.returned().slice(32 * i, 32 * i + 32)]);
    const { number, timestamp, gasLimit, chainId, random, baseFee, blobBaseFee, gasPrice } = environment;
    const address = (bytes: Uint8Array) => Uint8Array.of(...new Uint8Array(12), ...bytes);
    expect(Object.fromEntries(words)).toEqual({
      ...{ number: word(number), timestamp: word(timestamp), gasLimit: word(gasLimit), chainId: word(chainId), random },
      ...{ baseFee: word(baseFee), blobBaseFee: word(blobBaseFee), gasPrice: word(gasPrice) },
      ...{ coinbase: address(environment.coinbase), origin: address(environment.origin) },
    });
  });

  it('have the hashes of blobs of each transaction, however many others had', async () => {
    // BLOBHASH of 0 to 6, returned.
    const code = `0x${[0, 1, 2, 3, 4, 5, 6].map((i) => `60${hex(i)}4960${hex(32 * i)}52`).join('')}60e05ff3`;
    const kernel = await started(code as Hex);
    kernel.rollback();
    for (const count of [0, 5, 3, 7, 0, 300]) {
      const blobHashes = Array.from({ length: count }, (_, i) => word((BigInt(i + 1) << 200n) + BigInt(count)));
      kernel.begin({ ...environment, blobHashes });
      kernel.start(message);
      kernel.run(1_000_000);
      const expected = Array.from({ length: 7 }, (_, i) => blobHashes[i] ?? word(0));
      expect(kernel.returned(), `${count} blobs`).toEqual(concatBytes(...expected));
      kernel.rollback();
    }
  });

  it('have logs with data of any length, one after the other', async () => {
    // MSTORE of 0xff…; LOG0 of 3 bytes, LOG2 of 8 with topics 1 and 2, LOG1 of 13 with topic 3.
    const code = '0x5f195f52' + '60035fa0' + '6002600160085fa2' + '6003600d5fa1' + '60015ff3';
    const kernel = await started(code as Hex);
    kernel.run(1_000_000);
    const log = (bytes: number, ...topics: number[]) => {
      return { address: contract, topics: topics.map(word), data: new Uint8Array(bytes).fill(0xff), isTransfer: false };
    };
    expect(kernel.logs()).toEqual([log(3), log(8, 1, 2), log(13, 3)]);
    expect(kernel.outcomeSize()).toEqual({ logs: 3, bytes: 1 + 3 + 8 + 13 + 3 * 32 });
  });

  it('have all that is wanted at once, and all that was touched', async () => {
    // SLOAD of 1, 2, 1; BALANCE of the stranger; EXTCODEHASH of 0xabcd.
    const code = `0x60015460025460015473${STRANGER.slice(2)}3161abcd3f00`;
    const kernel = await started(code as Hex);
    const other = new Uint8Array(20);
    other.set([0xab, 0xcd], 18);
    for (let i = 0; i < 3 && kernel.run(1_000_000) === RUN_STATUS.wants; i++) {
      for (const { kind, address } of kernel.wants()) {
        expect([WANTED.account, WANTED.accountAndCode]).toContain(kind);
        kernel.loadAccount(address, { nonce: 0n, balance: 1n, codeHash: none });
      }
    }
    expect(kernel.result().succeeded).toBe(true);
    const touched = kernel.touched().map(({ address, keys }) => ({ address, keys: keys.toSorted(compareBytes) }));
    expect(touched).toEqual([
      { address: contract, keys: [word(1), word(2)] },
      { address: stranger, keys: [] },
      { address: other, keys: [] },
    ]);
  });

  it('have changes of several accounts, each with its slots', async () => {
    // SSTORE of 5 in 1 and of 0 in 2; CALL to the stranger with 3 wei; SSTORE of 6 in 1.
    const code = `0x60056001555f6002555f5f5f5f600373${STRANGER.slice(2)}5af150600660015500`;
    const kernel = await started(code as Hex);
    for (let i = 0; i < 3 && kernel.run(1_000_000) === RUN_STATUS.wants; i++) {
      for (const { address } of kernel.wants()) kernel.loadAccount(address, undefined);
    }
    // EIP-3529: a slot that is cleared refunds 4800.
    expect([kernel.result().succeeded, kernel.result().refund]).toEqual([true, 4800n]);
    kernel.finish();
    const account = (nonce: bigint, balance: bigint, codeHash: Uint8Array) => ({ nonce, balance, codeHash });
    const rest = { storageCleared: false, code: undefined };
    const changes = kernel.changes().map((change) => ({
      ...change,
      slots: change.slots.toSorted(([a], [b]) => compareBytes(a, b)),
    }));
    expect(changes.filter(({ address }) => !equalBytes(address, sender))).toEqual([
      {
        ...{ ...rest, address: contract, account: account(1n, 2n, keccak_256(hexToBytes(code as Hex))) },
        slots: [
          [word(1), word(6)],
          [word(2), word(0)],
        ],
      },
      { ...rest, address: stranger, account: account(0n, 3n, none), slots: [] },
    ]);
  });

  it('have the storage of an account that is destroyed as cleared', async () => {
    // SELFDESTRUCT to the sender: before Cancun the account and its slots are gone.
    const kernel = await started(`0x73${SENDER.slice(2)}ff`, BERLIN);
    expect(kernel.run(1_000_000)).toBe(RUN_STATUS.done);
    kernel.finish();
    const [cleared, ...others] = kernel.changes().filter(({ storageCleared }) => storageCleared);
    expect(cleared).toMatchObject({ address: contract, account: undefined });
    expect(others).toEqual([]);
  });

  it('are the state before the next transaction once they are kept', async () => {
    // SSTORE of 6 in 1; in the next one SLOAD of 1, returned.
    const kernel = await started('0x600660015500');
    kernel.run(1_000_000);
    kernel.finish();
    kernel.commit();
    expect(kernel.changes()).toEqual([]);
    // No transaction is open any more.
    kernel.rollback();
    kernel.begin(environment);
    const load = hexToBytes('0x6001545f5260205ff3');
    kernel.addCode(keccak_256(load), load);
    kernel.writeCode(contract, keccak_256(load));
    kernel.start(message);
    kernel.run(1_000_000);
    expect(kernel.returned()).toEqual(word(6));
  });

  it('have the depth of an instruction, its memory and what was returned to it', async () => {
    // With data, CALLDATACOPY of its two bytes to 1, RETURN of them.
    // Without, MSTORE of 0xabcd, CALL to itself with its last two bytes, STOP.
    const code = '0x361560105760025f60013760026001f35b61abcd5f525f5f6002601e5f305af100';
    const kernel = await started(code, OSAKA, FLAGS.steps | FLAGS.memory | FLAGS.returnData);
    kernel.run(1_000_000);
    const steps: TraceStep[] = [];
    kernel.takeTrace(readTrace, (record) => record.kind === 'step' && steps.push(record));
    const shown = (pc: number, at: number) => {
      const { depth, memory, returnData } = steps.find((step) => step.pc === pc && step.depth === at)!;
      return { depth, memory, returnData };
    };
    const empty = new Uint8Array(0);
    expect(shown(0, 0)).toEqual({ depth: 0, memory: empty, returnData: empty });
    expect(shown(0, 1)).toEqual({ depth: 1, memory: empty, returnData: empty });
    const inner = concatBytes(Uint8Array.of(0, 0xab, 0xcd), new Uint8Array(29));
    expect(shown(15, 1)).toEqual({ depth: 1, memory: inner, returnData: empty });
    expect(shown(32, 0)).toEqual({ depth: 0, memory: word(0xabcd), returnData: Uint8Array.of(0xab, 0xcd) });
  });
});
