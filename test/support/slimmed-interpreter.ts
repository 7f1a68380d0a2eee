import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { type Plugin, rolldown } from 'rolldown';
import { slimDependencies } from '../../scripts/lib/slim-dependencies.mjs';
import type { Machine } from '../../src/evm/interpreter/machine.js';
import type { StateOverlay } from '../../src/evm/state/state-overlay.js';
import type { runTransaction } from '../../src/evm/transactions/transaction.js';

/** What executes, of one bundle: its classes are not those of another. */
export interface ExecutionBundle {
  readonly Machine: typeof Machine;
  readonly StateOverlay: typeof StateOverlay;
  readonly runTransaction: typeof runTransaction;
}

/** The same code twice: with the dependencies as they are, and slimmed as in the package. */
export interface ExecutionBundles {
  readonly whole: ExecutionBundle;
  readonly slim: ExecutionBundle;
  close(): Promise<void>;
}

const dist = fileURLToPath(new URL('../../dist/', import.meta.url));
const ENTRY = 'execution';

const entry: Plugin = {
  name: ENTRY,
  resolveId: (id) => (id === ENTRY ? id : undefined),
  load: (id) =>
    id === ENTRY
      ? ['interpreter/machine', 'state/state-overlay', 'transactions/transaction']
          .map((file) => `export * from '${dist}evm/${file}.js';`)
          .join('\n')
      : undefined,
};

async function bundle(directory: string, plugins: readonly Plugin[]): Promise<ExecutionBundle> {
  const build = await rolldown({
    input: ENTRY,
    platform: 'browser',
    logLevel: 'warn',
    plugins: [entry, ...plugins],
  });
  const format = {
    dir: directory,
    format: 'esm',
    entryFileNames: '[name].mjs',
    chunkFileNames: '[name]-[hash].mjs',
  } as const;
  await build.write(format);
  await build.close();
  return import(pathToFileURL(join(directory, `${ENTRY}.mjs`)).href);
}

/** Bundles what is built in dist/evm, as the worker's bundle is made. */
export async function bundleExecution(): Promise<ExecutionBundles> {
  const directory = await mkdtemp(join(tmpdir(), 'plumbline-execution-'));
  const close = () => rm(directory, { recursive: true, force: true });
  try {
    const whole = await bundle(join(directory, 'whole'), []);
    const slim = await bundle(join(directory, 'slim'), [slimDependencies() as Plugin]);
    return { whole, slim, close };
  } catch (error) {
    await close();
    throw error;
  }
}
