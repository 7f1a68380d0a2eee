/**
 * Builds everything that is not committed: kernels, dictionary, library (dist/), command (cli/dist) and demo page (dist/demo, and a copy in cli/dist).
 * Each step is skipped when its sources have not changed since it last ran; `--force` runs them all.
 */
import { cp, rm } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { ensureInstalled, unlessFresh } from './lib/prepare.mjs';
import { bin, mustRun, root } from './lib/run.mjs';

/** What tests and tools need: the generated modules. */
export async function buildGenerated() {
  await ensureInstalled();
  await unlessFresh('wasm', ['assembly', 'asconfig.json', 'scripts/build-wasm.mjs'], async () => {
    const { buildWasm } = await import('./build-wasm.mjs');
    await buildWasm();
  });
  await unlessFresh('dictionary', ['scripts/build-dictionary.mjs', 'scripts/dictionary'], async () => {
    const { buildDictionary } = await import('./build-dictionary.mjs');
    await buildDictionary();
  });
  await unlessFresh('methods', ['src/rpc/methods', 'scripts/build-methods.mjs'], async () => {
    const { buildMethods } = await import('./build-methods.mjs');
    await buildMethods();
  });
  await unlessFresh('openrpc', ['src/rpc', 'docs/methods.md', 'scripts/build-openrpc.mjs'], async () => {
    const { buildOpenRpc } = await import('./build-openrpc.mjs');
    await buildOpenRpc();
  });
}

/** The library: per-file modules and types by tsc into build/, then into dist what ships of them, and the bundles of rolldown. */
export async function buildLibrary() {
  await buildGenerated();
  const sources = [
    'src',
    'assembly',
    'package-lock.json',
    'tsconfig.json',
    'tsconfig.build.json',
    'scripts/bundle.mjs',
    'scripts/lib/classic-scripts.mjs',
    'scripts/lib/licenses.mjs',
    'scripts/lib/worker-chunks.mjs',
    'scripts/lib/cli-bundle.mjs',
    'scripts/lib/closures.mjs',
    'scripts/lib/rest-groups.mjs',
    'scripts/lib/ship.mjs',
    'cli/package.json',
    'package.json',
    'scripts/dictionary',
  ];
  await unlessFresh('library', sources, async () => {
    await rm(`${root}/dist`, { recursive: true, force: true });
    await rm(`${root}/build/.demo`, { force: true });
    await rm(`${root}/build/modules`, { recursive: true, force: true });
    await rm(`${root}/build/types`, { recursive: true, force: true });
    await Promise.all(['build', 'types'].map((what) => mustRun(bin('tsc'), ['-p', `tsconfig.${what}.json`])));
    const { bundle } = await import('./bundle.mjs');
    await bundle();
  });
}

export async function buildDemo() {
  await buildLibrary();
  await unlessFresh('demo', ['demo', 'src', 'scripts/lib/published.mjs'], async () => {
    await mustRun(bin('vite'), ['build', 'demo', '--logLevel', 'warn']);
    await cp(`${root}/dist/demo`, `${root}/cli/dist/demo`, { recursive: true });
  });
}

/** Tools written in TypeScript: bench and conformance, with the sources they call. */
export async function buildTools() {
  await buildGenerated();
  await unlessFresh(
    'tools',
    [
      'src',
      'bench',
      'conformance',
      'test/support',
      'test/reference',
      'assembly',
      'scripts/dictionary',
      'tsconfig.tools.json',
    ],
    () => mustRun(bin('tsc'), ['-p', 'tsconfig.tools.json']),
  );
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  if (process.argv.includes('--force')) await rm(`${root}/build`, { recursive: true, force: true });
  await buildDemo();
}
