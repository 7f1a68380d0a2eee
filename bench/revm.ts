import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import type { Hex } from '../src/primitives/hex.js';
import { Anvil, anvilPath } from '../test/support/anvil.js';
import { costOf, idleShareOf } from './cost.js';
import { allocOf, GAS, HARDFORK, revmRun } from './evm-engines.js';
import type { EvmProgram } from './evm-programs.js';

/*
 * revm as the anchor of the programs: built from bench/revm where Cargo is on the machine, else as anvil runs it. Anvil's figure
 * includes its inspectors, so its bars are wider.
 */

/** A program in revm. */
export interface RevmProgram {
  readonly returned: Hex;
  /** Milliseconds of processor time of a run. */
  cost(): Promise<number>;
  close(): Promise<void>;
}

export interface Revm {
  readonly kind: 'native' | 'anvil';
  open(program: EvmProgram): Promise<RevmProgram>;
  close(): Promise<void>;
}

/** @returns undefined if there is neither Cargo nor anvil */
export async function startRevm(): Promise<Revm | undefined> {
  const native = builtWithCargo();
  if (native !== undefined)
    return { kind: 'native', open: (program) => openNative(native, program), close: async () => {} };
  if (anvilPath() === undefined) return undefined;
  const anvil = await Anvil.start(HARDFORK, ['--gas-limit', String(GAS)]);
  return {
    kind: 'anvil',
    open: async (program) => {
      const run = await revmRun(anvil, program);
      const idleShare = await idleShareOf(anvil);
      const { returned } = await run();
      return { returned, cost: () => costOf(run, () => anvil.cpuMs(), idleShare), close: async () => {} };
    },
    close: () => anvil.close(),
  };
}

/** Path of the program of bench/revm; undefined where it cannot be built. */
function builtWithCargo(): string | undefined {
  try {
    execFileSync('cargo', ['--version'], { stdio: 'ignore' });
  } catch {
    return undefined;
  }
  const args = ['build', '--release', '--manifest-path', 'bench/revm/Cargo.toml', '--target-dir', 'build/revm'];
  try {
    execFileSync('cargo', args, { stdio: ['ignore', 'ignore', 'pipe'] });
  } catch (error) {
    console.log(
      `revm was not built; anvil takes its place: ${String((error as { stderr?: unknown }).stderr ?? error)}`,
    );
    return undefined;
  }
  return 'build/revm/release/revm-bench';
}

async function openNative(path: string, { alloc, call }: EvmProgram): Promise<RevmProgram> {
  const child = spawn(path, { stdio: ['pipe', 'pipe', 'inherit'] });
  const lines = createInterface(child.stdout)[Symbol.asyncIterator]();
  const ask = async (line: string): Promise<string> => {
    child.stdin.write(`${line}\n`);
    const { value, done } = await lines.next();
    if (done) throw new Error('revm has ended');
    return value as string;
  };
  const program = { ...call, gas: `0x${GAS.toString(16)}`, alloc: allocOf(alloc) };
  const returned = (await ask(JSON.stringify(program))) as Hex;
  return {
    returned,
    cost: async () => Number(await ask('run')),
    close: async () => {
      const ended = once(child, 'exit');
      child.stdin.end();
      await ended;
    },
  };
}
