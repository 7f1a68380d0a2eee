import { keccak_256 } from '@noble/hashes/sha3.js';
import { describe, expect, it } from 'vitest';
import {
  type EvmEnvironment,
  type EvmKernel,
  FLAGS,
  RUN_STATUS,
  type TraceEnter,
  type TraceLeave,
  type TraceStep,
  takeEvmKernel,
  WANTED,
} from '../../src/kernel/evm.js';
import { readTrace } from '../../src/kernel/evm-trace.js';
import { bigIntToBytes } from '../../src/primitives/bytes.js';
import { bytesToHex, type Hex, hexToBytes } from '../../src/primitives/hex.js';
import { CONTRACT, FIRST_CREATED, SECOND_CREATED, SENDER } from '../support/evm.js';

const OSAKA = 14;
const sender = hexToBytes(SENDER);
const contract = hexToBytes(CONTRACT);
const word = (value: number | bigint) => bigIntToBytes(BigInt(value), 32);
const none = keccak_256(new Uint8Array(0));
const environment: EvmEnvironment = {
  number: 100,
  timestamp: 1_700_000_000,
  slotNumber: 2n ** 64n - 1n,
  gasLimit: 30_000_000n,
  chainId: 1,
  coinbase: new Uint8Array(20).fill(9),
  random: word(0),
  baseFee: 7n,
  blobBaseFee: 1n,
  origin: sender,
  gasPrice: 7n,
  blobHashes: [word(0xb10b), word(2n ** 255n)],
};
const message = { caller: sender, to: contract, value: 9n, data: Uint8Array.of(1, 2, 3), gas: 100_000n };

/** A kernel with a rich sender of nonce 0, and a contract with this code and slot 1 empty. */
async function open(code: Hex, flags = 0): Promise<EvmKernel> {
  const kernel = await takeEvmKernel(undefined);
  kernel.configure(OSAKA);
  kernel.record(flags);
  const bytes = hexToBytes(code);
  kernel.addCode(keccak_256(bytes), bytes);
  kernel.loadAccount(sender, { nonce: 0n, balance: 10n ** 18n, codeHash: none });
  kernel.loadAccount(contract, { nonce: 1n, balance: 5n, codeHash: keccak_256(bytes) });
  kernel.loadSlot(contract, word(1), word(0));
  return kernel;
}

async function started(code: Hex, flags = 0, changes: Partial<typeof message> = {}): Promise<EvmKernel> {
  const kernel = await open(code, flags);
  kernel.begin(environment);
  kernel.start({ ...message, ...changes });
  return kernel;
}

/** MSTORE 5 at 0; LOG1 of it with topic 0xaa; SSTORE 7 in slot 1; RETURN it. Gas of each by the Yellow Paper and EIP-2929. */
const CODE: Hex = '0x60055f5260aa60205fa1600760015560205ff3';
const STEPS: [pc: number, op: number, gas: number, stack: number[], memory: number][] = [
  [0, 0x60, 100_000, [], 0],
  [2, 0x5f, 99_997, [5], 0],
  [3, 0x52, 99_995, [5, 0], 0],
  [4, 0x60, 99_989, [], 32],
  [6, 0x60, 99_986, [0xaa], 32],
  [8, 0x5f, 99_983, [0xaa, 32], 32],
  [9, 0xa1, 99_981, [0xaa, 32, 0], 32],
  [10, 0x60, 98_975, [], 32],
  [12, 0x60, 98_972, [7], 32],
  [14, 0x55, 98_969, [7, 1], 32],
  [15, 0x60, 76_869, [], 32],
  [17, 0x5f, 76_866, [32], 32],
  [18, 0xf3, 76_864, [32, 0], 32],
];
const LEFT = 76_864n;

describe('a run of the kernel', () => {
  it('has its result, logs, output and changes', async () => {
    const kernel = await started(CODE);
    expect(kernel.run(1_000_000)).toBe(RUN_STATUS.done);
    expect(kernel.result()).toEqual({
      succeeded: true,
      exception: 0,
      opcode: 0,
      gasLeft: LEFT,
      stateGasLeft: 0n,
      stateGasUsed: 0n,
      refund: 0n,
      keccakBlocks: 0,
      spareGas: kernel.result().spareGas,
      environment: kernel.result().environment,
      createdAddress: undefined,
    });
    expect(BigInt(kernel.spent)).toBe(message.gas - LEFT);
    expect(kernel.returned()).toEqual(word(5));
    expect(kernel.logs()).toEqual([{ address: contract, topics: [word(0xaa)], data: word(5), isTransfer: false }]);
    expect(kernel.outcomeSize()).toEqual({ logs: 1, bytes: 32 + 32 + 32 });
    kernel.finish();
    const after = (nonce: bigint, balance: bigint, codeHash: Uint8Array) => ({ nonce, balance, codeHash });
    const hash = keccak_256(hexToBytes(CODE));
    const untouched = { storageCleared: false, code: undefined };
    expect(kernel.changes()).toEqual([
      { ...untouched, address: sender, account: after(0n, 10n ** 18n - 9n, none), slots: [] },
      { ...untouched, address: contract, account: after(1n, 14n, hash), slots: [[word(1), word(7)]] },
    ]);
    kernel.commit();
    expect(kernel.account(contract)).toEqual(after(1n, 14n, hash));
  });

  it('ends with its slice, and leaves nothing when it is rolled back', async () => {
    const kernel = await started('0x5b5f56');
    expect(kernel.run(1000)).toBe(RUN_STATUS.slice);
    expect(kernel.spent).toBeGreaterThanOrEqual(1000);
    kernel.rollback();
    expect(kernel.account(sender)?.balance).toBe(10n ** 18n);
    expect(kernel.account(contract)?.balance).toBe(5n);
  });

  it('fails with its exception, and has no more gas than a run may', async () => {
    const kernel = await started('0xfe', 0, { gas: 2n ** 70n });
    expect(kernel.run(1_000_000)).toBe(RUN_STATUS.done);
    expect(kernel.result()).toMatchObject({ succeeded: false, exception: 6, opcode: 0xfe, gasLeft: 0n });
    const rich = await started('0x00', 0, { gas: 2n ** 70n });
    rich.run(1_000_000);
    expect(rich.result()).toMatchObject({ succeeded: true, gasLeft: 2n ** 63n - 1n });
  });

  it('creates at the address that follows from the nonce, and keeps the code', async () => {
    for (const [nonce, created] of [
      [1n, FIRST_CREATED],
      [2n, SECOND_CREATED],
    ] as const) {
      const kernel = await open('0x00');
      kernel.loadAccount(hexToBytes(created), undefined);
      expect(kernel.holdsAccount(hexToBytes(created))).toBe(true);
      expect(kernel.account(hexToBytes(created))).toBeUndefined();
      kernel.begin(environment);
      kernel.writeAccount(sender, nonce, 10n ** 18n);
      // Returns one byte, 0x05.
      kernel.start({ ...message, to: undefined, data: hexToBytes('0x60055f5360015ff3') });
      kernel.run(1_000_000);
      expect(bytesToHex(kernel.result().createdAddress!)).toBe(created);
      kernel.finish();
      const change = kernel.changes().find(({ address }) => bytesToHex(address) === created)!;
      expect(change).toMatchObject({
        account: { nonce: 1n, balance: 9n, codeHash: keccak_256(Uint8Array.of(5)) },
        code: Uint8Array.of(5),
      });
    }
  });

  it('asks for what it lacks', async () => {
    // BALANCE of 0xabcd; SLOAD of slot 2; BLOCKHASH of 99.
    const kernel = await started('0x61abcd31506002545060634050', 0, { value: 0n });
    expect(kernel.run(1_000_000)).toBe(RUN_STATUS.wants);
    const stranger = new Uint8Array(20);
    stranger.set([0xab, 0xcd], 18);
    expect(kernel.wants()).toMatchObject([{ kind: WANTED.account, address: stranger }]);
    expect(kernel.holdsAccount(stranger)).toBe(false);
    kernel.loadAccount(stranger, undefined);
    expect(kernel.run(1_000_000)).toBe(RUN_STATUS.wants);
    expect(kernel.wants()).toMatchObject([{ kind: WANTED.slot, address: contract, key: word(2) }]);
    kernel.loadSlot(contract, word(2), word(3));
    expect(kernel.run(1_000_000)).toBe(RUN_STATUS.wants);
    expect(kernel.wants()).toMatchObject([{ kind: WANTED.blockHash, number: 99 }]);
    kernel.loadBlockHash(99, word(1));
    expect(kernel.run(1_000_000)).toBe(RUN_STATUS.done);
    expect(kernel.touched()).toEqual([
      { address: contract, keys: [word(2)] },
      { address: stranger, keys: [] },
    ]);
  });

  it('leaves precompiles to its host', async () => {
    // MSTORE8 7 at 0; CALL 9 with one byte; RETURN 2 bytes of its output.
    const kernel = await open('0x60075f5360025f60015f5f60095af15060025ff3');
    const nine = new Uint8Array(20);
    nine[19] = 9;
    kernel.setPrecompile(nine, 9);
    kernel.loadAccount(nine, undefined);
    kernel.begin(environment);
    kernel.start(message);
    expect(kernel.run(1_000_000)).toBe(RUN_STATUS.precompile);
    const { id, gas, input } = kernel.precompileCall();
    expect([id, input]).toEqual([9, Uint8Array.of(7)]);
    kernel.answerPrecompile(true, gas - 1n, Uint8Array.of(8, 9));
    kernel.run(1_000_000);
    expect([kernel.result().succeeded, kernel.returned()]).toEqual([true, Uint8Array.of(8, 9)]);
  });

  it('reads the hashes of blobs', async () => {
    // BLOBHASH of 1.
    const kernel = await started('0x6001495f5260205ff3');
    kernel.run(1_000_000);
    expect(kernel.returned()).toEqual(word(2n ** 255n));
  });

  it('pays less for what is warm from the start', async () => {
    // SLOAD of slot 1: 2100 cold, 100 warm (EIP-2929), and PUSH1.
    const spent = async (warm: (kernel: EvmKernel) => void) => {
      const kernel = await open('0x60015400');
      kernel.begin(environment);
      warm(kernel);
      kernel.start(message);
      kernel.run(1_000_000);
      return kernel.spent;
    };
    expect(await spent(() => undefined)).toBe(2103);
    const warmed = (kernel: EvmKernel) => {
      kernel.loadSlot(contract, word(2), word(0));
      kernel.warmSlot(contract, word(1));
    };
    expect(await spent(warmed)).toBe(103);
  });
});

describe('the trace of a run', () => {
  it('has each instruction with what is before it', async () => {
    const kernel = await started(CODE, FLAGS.calls | FLAGS.steps | FLAGS.memory | FLAGS.returnData);
    kernel.run(1_000_000);
    const steps: TraceStep[] = [];
    kernel.takeTrace(readTrace, (record) => record.kind === 'step' && steps.push(record));
    expect(steps).toEqual(
      STEPS.map(([pc, op, gas, stack, memory]) => ({
        kind: 'step',
        ...{ pc, op, gas: BigInt(gas), depth: 0, refund: 0n, stateGas: 0n },
        stack: stack.map(word),
        memory: memory === 0 ? new Uint8Array(0) : word(5),
        returnData: new Uint8Array(0),
      })),
    );
    const again: unknown[] = [];
    kernel.takeTrace(readTrace, (record) => again.push(record.kind));
    expect(again).toEqual([]);
  });

  it('has calls, with their ends', async () => {
    const kernel = await started(CODE, FLAGS.calls);
    kernel.run(1_000_000);
    const seen: unknown[] = [];
    kernel.takeTrace(readTrace, (record) => {
      if (record.kind === 'enter') {
        const { op, depth, gas, logs, caller, callee, callerText, calleeText, valueText } = record as TraceEnter;
        const input = record.bytes.slice(record.inputAt, record.inputAt + record.inputLength);
        seen.push({ op, depth, gas, logs, caller, callee, callerText, calleeText, valueText, input });
      } else if (record.kind === 'leave') {
        const { exception, depth, gas, logs, pc, op, stackItems } = record as TraceLeave;
        const output = record.bytes.slice(record.outputAt, record.outputAt + record.outputLength);
        seen.push({ exception, depth, gas, logs, pc, op, stackItems, output });
      } else seen.push(record);
    });
    expect(seen).toEqual([
      {
        ...{ op: 0xf1, depth: 0, gas: 100_000, logs: 0, valueText: '0x9', input: message.data },
        ...{ caller: sender, callee: contract, callerText: SENDER, calleeText: CONTRACT },
      },
      { exception: 0, depth: 0, gas: Number(LEFT), logs: 1, pc: 18, op: 0xf3, stackItems: 2, output: word(5) },
    ]);
  });

  it('has gas above 2^53 as a bigint, and values of all sizes', async () => {
    for (const [gas, shown] of [
      [2n ** 53n - 1n, 2 ** 53 - 1],
      [2n ** 53n, 2n ** 53n],
      [2n ** 32n + 5n, 2 ** 32 + 5],
    ] as const) {
      for (const [value, text] of [
        [0n, '0x0'],
        [2n ** 33n, '0x200000000'],
        [1n, '0x1'],
      ] as const) {
        const kernel = await started('0x00', FLAGS.calls, { gas, value });
        kernel.run(1000);
        const enters: unknown[] = [];
        kernel.takeTrace(readTrace, (record) => record.kind === 'enter' && enters.push([record.gas, record.valueText]));
        expect(enters).toEqual([[shown, text]]);
      }
    }
  });

  it('of a run that was ended from outside is forgotten', async () => {
    const kernel = await started('0x5b5f56', FLAGS.calls | FLAGS.steps);
    kernel.run(100);
    kernel.rollback();
    kernel.begin(environment);
    kernel.start({ ...message, to: sender });
    kernel.run(1000);
    const kinds: string[] = [];
    kernel.takeTrace(readTrace, ({ kind }) => kinds.push(kind));
    expect(kinds).toEqual(['enter', 'leave']);
  });

  it('names transfers, if they are wanted', async () => {
    const kernel = await started('0x00', FLAGS.transfers);
    kernel.run(1000);
    expect(kernel.logs().map(({ isTransfer }) => isTransfer)).toEqual([true]);
    const plain = await started('0x00');
    plain.run(1000);
    expect(plain.logs()).toEqual([]);
  });
});
