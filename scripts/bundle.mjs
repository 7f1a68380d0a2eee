/**
 * Bundles the entries that have to stand alone. The module worker comes in chunks (dist/hosts/worker.js and dist/chunks),
 * so that a node loads what its kind of chain needs when it needs it; the classic service worker is one file, because it
 * cannot import.
 */
import { mkdir, writeFile } from 'node:fs/promises';
import { rolldown } from 'rolldown';
import { root } from './lib/run.mjs';
import { slimDependencies } from './lib/slim-dependencies.mjs';

/** Options both bundles begin with. */
function bundleInput(file) {
  return { input: `${root}/dist/${file}`, platform: 'browser', logLevel: 'warn', plugins: [slimDependencies()] };
}

/** Where the chunks of the worker and what they import are written down, for `npm run size`. */
export const WORKER_CHUNKS = `${root}/build/worker-chunks.json`;

/** What is known of a chunk; `module` is the one whose dynamic import loads it. */
function placeOf({ fileName, isEntry, imports, facadeModuleId }) {
  return { fileName, isEntry, imports, module: facadeModuleId?.replaceAll('\\', '/') };
}

export async function bundle() {
  // `strict` keeps what chunks share out of the entry: they would import it by its plain address, and a worker that was
  // started under another (`worker.js?v=1`) would run it a second time.
  const worker = await rolldown({ ...bundleInput('hosts/worker.js'), preserveEntrySignatures: 'strict' });
  const { output } = await worker.write({
    dir: `${root}/dist`,
    format: 'esm',
    entryFileNames: 'hosts/[name].js',
    chunkFileNames: 'chunks/[name]-[hash].js',
    minify: true,
    sourcemap: false,
  });
  await worker.close();
  await mkdir(`${root}/build`, { recursive: true });
  await writeFile(WORKER_CHUNKS, JSON.stringify(output.filter(({ type }) => type === 'chunk').map(placeOf)));
  const serviceWorker = await rolldown(bundleInput('hosts/service-worker.js'));
  await serviceWorker.write({
    file: `${root}/dist/service-worker.js`,
    format: 'iife',
    minify: true,
    codeSplitting: false,
    sourcemap: false,
  });
  await serviceWorker.close();
}
