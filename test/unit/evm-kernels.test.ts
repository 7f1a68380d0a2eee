import { EVMError } from '@ethereumjs/evm';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import {
  type EvmExports,
  type EvmKernel,
  EvmMemory,
  RESULT,
  RUN_STATUS,
  readLogs,
  readOutcomeSize,
  readWants,
  returnEvmKernel,
  type TraceRecord,
  takeEvmKernel,
  WANTED,
} from '../../src/kernel/evm.js';
import { evmBuild, loadEvmModule, preferEvmBuild } from '../../src/kernel/evm-module.js';
import { readTrace } from '../../src/kernel/evm-trace.js';
import { bigIntToBytes } from '../../src/primitives/bytes.js';

/** What a module has of memory: a page, with its regions. */
function memoryOfModule() {
  const region = (value: number) => new WebAssembly.Global({ value: 'i32' }, value);
  const memory = new WebAssembly.Memory({ initial: 1 });
  const wasm = { memory, IO: region(8), ENV: region(64), RESULT: region(256), WANTS: region(512) };
  return { memory, wasm: wasm as unknown as EvmExports };
}

describe('idle kernels of the EVM', () => {
  /** Takes all that are idle, so that each test begins with none. */
  async function takeNew(configuration: string): Promise<EvmKernel> {
    const kernel = await takeEvmKernel(undefined);
    kernel.configuration = configuration;
    return kernel;
  }
  const taken: EvmKernel[] = [];
  beforeEach(async () => {
    for (let i = 0; i < 4; i++) taken.push(await takeEvmKernel(undefined));
  });
  afterEach(() => preferEvmBuild('auto'));

  it('are taken by their configuration, the newest first', async () => {
    const [one, two, other] = [await takeNew('a'), await takeNew('a'), await takeNew('b')];
    for (const kernel of [one, two, other]) returnEvmKernel(kernel);
    expect(await takeEvmKernel('a')).toBe(two);
    expect(await takeEvmKernel('a')).toBe(one);
    // None is fit: any idle one is better than a new one.
    expect(await takeEvmKernel('a')).toBe(other);
    expect([one, two, other]).not.toContain(await takeEvmKernel('a'));
  });

  it('are four at most, of which the oldest goes', async () => {
    const five: EvmKernel[] = [];
    for (const name of ['a', 'b', 'c', 'd', 'e']) five.push(await takeNew(name));
    for (const kernel of five) returnEvmKernel(kernel);
    expect(await takeEvmKernel('b')).toBe(five[1]);
    expect(five[0]).not.toBe(await takeEvmKernel('a'));
  });

  it('are of one build', async () => {
    const before = await takeNew('a');
    returnEvmKernel(before);
    preferEvmBuild('scalar');
    expect([evmBuild(), before.build]).toEqual(['scalar', 'auto']);
    const scalar = await takeEvmKernel('a');
    expect(scalar).not.toBe(before);
    expect(scalar.build).toBe('scalar');
    preferEvmBuild('auto');
    expect(await takeEvmKernel('a')).toBe(before);
  });

  it('are compiled once for each build', async () => {
    const module = await loadEvmModule();
    expect(await loadEvmModule()).toBe(module);
    preferEvmBuild('scalar');
    expect(await loadEvmModule()).not.toBe(module);
    preferEvmBuild('auto');
    expect(await loadEvmModule()).toBe(module);
  });

  it('are not those that are broken or have grown large', async () => {
    // An instance of its own, so that mutants of its limits are tried.
    const path = '../../src/kernel/evm.js?limits';
    const { returnEvmKernel, takeEvmKernel }: typeof import('../../src/kernel/evm.js') = await import(path);
    const large = { isBroken: false, memoryBytes: 64 * 2 ** 20 + 1, build: 'auto', configuration: 'large' };
    const broken = { ...large, isBroken: true, memoryBytes: 1 };
    const kept = { ...large, memoryBytes: 64 * 2 ** 20 };
    for (const kernel of [kept, large, broken]) returnEvmKernel(kernel as EvmKernel);
    expect(await takeEvmKernel('large')).toBe(kept);
    expect([large, broken]).not.toContain(await takeEvmKernel('large'));
  });

  describe('of which four are in use', () => {
    /** Four taken of an instance of its own, in which none was in use. */
    async function fourTaken(module: typeof import('../../src/kernel/evm.js')) {
      const four: EvmKernel[] = [];
      for (let i = 0; i < 4; i++) four.push(await module.takeEvmKernel(`${i}`));
      return { ...module, four };
    }
    const task = () => new Promise((resolve) => setImmediate(resolve));
    /** Tasks that one waits before it makes a kernel, at most 50. */
    async function tasksOf(taking: Promise<unknown>): Promise<number> {
      const making = [vi.spyOn(WebAssembly, 'Instance'), vi.spyOn(WebAssembly, 'instantiate')];
      let tasks = 0;
      for (; tasks < 50 && making.every(({ mock }) => mock.calls.length === 0); tasks++) await task();
      vi.restoreAllMocks();
      await taking;
      return tasks;
    }

    it('are made without waiting', async () => {
      const path = '../../src/kernel/evm.js?made';
      const { four } = await fourTaken(await import(path));
      expect(new Set(four).size).toBe(4);
    });

    it('go to those that wait, in their order', async () => {
      const path = '../../src/kernel/evm.js?order';
      const { four, takeEvmKernel, returnEvmKernel } = await fourTaken(await import(path));
      const waiting = [takeEvmKernel('x'), takeEvmKernel('y')];
      await task();
      for (const kernel of [four[2]!, four[0]!, four[1]!]) returnEvmKernel(kernel);
      expect(await Promise.all(waiting)).toEqual([four[2], four[0]]);
      // The third is idle, and so are none of those that were passed on.
      expect(await takeEvmKernel('z')).toBe(four[1]);
      expect(four).not.toContain(await takeEvmKernel('z'));
    });

    it('do not go to those that wait for another build', async () => {
      const path = '../../src/kernel/evm.js?build';
      const { four, takeEvmKernel, returnEvmKernel } = await fourTaken(await import(path));
      preferEvmBuild('scalar');
      const scalar = takeEvmKernel('x');
      preferEvmBuild('auto');
      const auto = takeEvmKernel('x');
      returnEvmKernel(four[0]!);
      expect(await auto).toBe(four[0]);
      expect((await scalar).build).toBe('scalar');
    });

    it('are made anew for one that has waited for eight tasks', async () => {
      const path = '../../src/kernel/evm.js?anew';
      const { four, takeEvmKernel } = await fourTaken(await import(path));
      const [first, second] = [takeEvmKernel('x'), takeEvmKernel('y')];
      const tasks = await tasksOf(Promise.resolve(first));
      expect(tasks).toBeGreaterThanOrEqual(8);
      expect(tasks).toBeLessThan(50);
      expect(four).not.toContain(await first);
      expect([...four, await first]).not.toContain(await second);
    });

    it('are in use no more when they are returned: the next one is made at once', async () => {
      const path = '../../src/kernel/evm.js?returned';
      const { four, takeEvmKernel, returnEvmKernel } = await fourTaken(await import(path));
      const broken = { isBroken: true, memoryBytes: 1, build: 'auto', configuration: undefined };
      returnEvmKernel(broken as unknown as EvmKernel);
      // Idle ones and those that wait are asked first: there are none, and three in use.
      expect(await tasksOf(Promise.resolve(takeEvmKernel('x')))).toBeLessThan(8);
      expect(await tasksOf(Promise.resolve(takeEvmKernel('x')))).toBeGreaterThanOrEqual(8);
      expect(four).toHaveLength(4);
    });
  });
});

describe('a kernel whose module is another', () => {
  /** It runs as it is told, and notes what it is asked for. */
  async function open(run: () => number) {
    const asked: unknown[] = [];
    const { wasm } = memoryOfModule();
    const module = {
      ...{ ...wasm, run, dataSpace: () => 1024 },
      start: (creates: number, gas: bigint) => asked.push([creates, gas]),
      rollback: () => asked.push('rollback'),
    };
    // An instance of its own, so that mutants of its limits are tried.
    const path = '../../src/kernel/evm.js?limits';
    const { EvmKernel }: typeof import('../../src/kernel/evm.js') = await import(path);
    return { asked, kernel: new EvmKernel(module as unknown as EvmExports, 'auto') };
  }

  it('starts with the gas that it is given, up to what an i64 holds', async () => {
    const { asked, kernel } = await open(() => RUN_STATUS.done);
    const message = { caller: new Uint8Array(20), to: undefined, value: 0n, data: new Uint8Array(0) };
    for (const gas of [5n, 2n ** 63n - 1n, 2n ** 63n, 2n ** 64n]) kernel.start({ ...message, gas });
    expect(asked).toEqual([5n, ...Array(3).fill(2n ** 63n - 1n)].map((gas) => [1, gas]));
  });

  it('that traps is broken, and is asked for nothing more', async () => {
    const broken = await open(() => {
      throw new WebAssembly.RuntimeError('unreachable');
    });
    expect([broken.kernel.isBroken, broken.kernel.memoryBytes]).toEqual([false, 65_536]);
    expect(broken.kernel.run(1)).toBe(RUN_STATUS.memory);
    broken.kernel.rollback();
    expect([broken.kernel.isBroken, broken.asked]).toEqual([true, []]);
    const whole = await open(() => RUN_STATUS.slice);
    expect(whole.kernel.run(1)).toBe(RUN_STATUS.slice);
    whole.kernel.rollback();
    expect([whole.kernel.isBroken, whole.asked]).toEqual([false, ['rollback']]);
  });
});

describe('the memory of the EVM', () => {
  const open = () => {
    const { memory, wasm } = memoryOfModule();
    return { memory, kernel: new EvmMemory(wasm) };
  };

  it('has its regions where the module says', () => {
    const { io, env, result, wants, size } = open().kernel;
    expect([io, env, result, wants, size]).toEqual([8, 64, 256, 512, 65_536]);
  });

  it('holds words of 32 bytes, big-endian', () => {
    const { kernel } = open();
    for (const bits of [0n, 1n, 63n, 64n, 65n, 127n, 128n, 191n, 192n, 193n, 255n]) {
      for (const value of [2n ** bits, 2n ** bits - 1n, (2n ** 256n - 1n) >> bits, 0x1234567890abcdefn << bits]) {
        const word = value % 2n ** 256n;
        kernel.bytes.fill(0xff);
        kernel.writeWord(100, word);
        expect(kernel.copy(99, 34)).toEqual(Uint8Array.of(0xff, ...bigIntToBytes(word, 32), 0xff));
        expect(kernel.word(100)).toBe(word);
      }
    }
  });

  it('holds numbers of 8 bytes, little-endian, of which the largest stands for more', () => {
    const { kernel } = open();
    const bytesAt = (at: number) => [...kernel.copy(at, 8)];
    kernel.writeNumber(40, 2 ** 40 + 2 ** 32 + 515);
    expect(bytesAt(40)).toEqual([3, 2, 0, 0, 1, 1, 0, 0]);
    kernel.writeNumber(40, 2 ** 32 - 1);
    expect(bytesAt(40)).toEqual([255, 255, 255, 255, 0, 0, 0, 0]);
    kernel.writeUint64(40, 0x0102n);
    expect([bytesAt(40), kernel.u64(40), kernel.u32(40)]).toEqual([[2, 1, 0, 0, 0, 0, 0, 0], 0x0102n, 0x0102]);
    for (const value of [2n ** 64n - 1n, 2n ** 64n, 2n ** 200n]) {
      kernel.writeUint64(40, value);
      expect([kernel.u64(40), kernel.i64(40)]).toEqual([2n ** 64n - 1n, -1n]);
    }
  });

  it('is read anew once it has grown, and only then', () => {
    const { memory, kernel } = open();
    const { bytes, view } = kernel;
    kernel.write(10, Uint8Array.of(7));
    kernel.renew();
    expect([kernel.bytes, kernel.view]).toEqual([bytes, view]);
    expect(kernel.bytes).toBe(bytes);
    memory.grow(1);
    kernel.renew();
    expect([kernel.bytes.length, kernel.view.byteLength, kernel.size]).toEqual([131_072, 131_072, 131_072]);
    expect(kernel.copy(10, 1)).toEqual(Uint8Array.of(7));
  });
});

describe('what the memory of the EVM holds', () => {
  const view = () => new EvmMemory(memoryOfModule().wasm);

  it('is all that is wanted, 64 bytes each (assembly/evm/wants.ts)', () => {
    const memory = view();
    const [address, key] = [new Uint8Array(20).fill(0xad), new Uint8Array(32).fill(0x4e)];
    memory.write(512, Uint8Array.of(3, 0, 0, 0, ...address, ...new Uint8Array(8), ...key));
    memory.write(576, Uint8Array.of(4, 0, 0, 0, ...new Uint8Array(20), 99));
    expect(readWants(memory, 2)).toEqual([
      { kind: WANTED.slot, address, number: 0, key },
      { kind: WANTED.blockHash, address: new Uint8Array(20), number: 99, key: new Uint8Array(32) },
    ]);
  });

  it('is as many logs as there are, whatever is behind them (assembly/evm/logs.ts)', () => {
    const memory = view();
    memory.view.setUint32(memory.result + RESULT.logs, 1024, true);
    memory.view.setUint32(memory.result + RESULT.logCount, 1, true);
    // An address, one topic and three bytes of data, filled up to eight.
    memory.write(1024, Uint8Array.of(...new Uint8Array(20).fill(0xad), 1, 0, 0, 0, 3, 0, 0, 0));
    memory.bytes.fill(0xff, 1024 + 32 + 32 + 8);
    expect(readOutcomeSize(memory)).toEqual({ logs: 1, bytes: 32 + 3 });
    expect(readLogs(memory)).toMatchObject([{ topics: [new Uint8Array(32)], data: new Uint8Array(3) }]);
  });

  it('is a trace, or none, with values of all sizes (assembly/evm/trace.ts)', () => {
    const memory = view();
    const texts: string[] = [];
    const visit = (record: TraceRecord) => record.kind === 'enter' && texts.push(record.valueText);
    memory.view.setUint32(memory.result + RESULT.trace, 1024, true);
    expect([readTrace(memory, visit), texts]).toEqual([false, []]);
    memory.view.setUint32(memory.result + RESULT.traceBytes, 104, true);
    // Kind and length; the value is the word at 72.
    memory.write(1024, Uint8Array.of(1, 0, 0, 0, 104));
    for (const value of [0n, 1n, 2n ** 255n, 2n ** 256n - 1n]) {
      memory.write(1024 + 72, bigIntToBytes(value, 32));
      expect(readTrace(memory, visit)).toBe(true);
      expect(texts.pop()).toBe(`0x${value.toString(16)}`);
    }
  });
});

describe('the text of an exception', () => {
  it('is that of its code (assembly/evm/exceptions.ts), where @ethereumjs/evm has one, its text', async () => {
    // Loaded here, so that mutants of the table count as covered.
    // An instance of its own, so that mutants of the texts are tried.
    const path = '../../src/kernel/evm.js?texts';
    const { exceptionText }: typeof import('../../src/kernel/evm.js') = await import(path);
    const { errorMessages: text } = EVMError;
    expect(Array.from({ length: 19 }, (_, code) => exceptionText(code))).toEqual([
      undefined,
      text.REVERT,
      text.OUT_OF_GAS,
      text.STACK_UNDERFLOW,
      text.STACK_OVERFLOW,
      text.INVALID_JUMP,
      text.INVALID_OPCODE,
      text.STATIC_STATE_CHANGE,
      text.INSUFFICIENT_BALANCE,
      'call depth exceeded',
      text.CREATE_COLLISION,
      text.OUT_OF_GAS,
      text.CODESIZE_EXCEEDS_MAXIMUM,
      text.INVALID_BYTECODE_RESULT,
      text.INITCODE_SIZE_VIOLATION,
      'nonce overflow',
      'precompile failed',
      'return data out of bounds',
      text.INTERNAL_ERROR,
    ]);
  });
});
