/**
 * Bundles the entries that have to stand alone. The module worker comes in chunks (dist/hosts/worker.js and dist/chunks),
 * so that a node loads what its kind of chain needs when it needs it; the classic service worker is one file, because it
 * cannot import.
 */
import { mkdir, writeFile } from 'node:fs/promises';
import { rolldown } from 'rolldown';
import { root } from './lib/run.mjs';

/** Ends with a path of a dependency, whichever way the system writes it. */
const isFile = (id, path) => id.replaceAll('\\', '/').endsWith(`/node_modules/${path}`);

/**
 * Parts of dependencies that no node of ours runs, or not always, and that they import statically: file, text in it, and
 * what takes its place. A text that is not there any more fails the build.
 */
const REPLACED = [
  // Curves are handed in and loaded when a precompile needs them (src/evm/lazy-curves.ts).
  ['@ethereumjs/evm/dist/esm/evm.js', 'opts.bls ?? new NobleBLS()', 'opts.bls'],
  ['@ethereumjs/evm/dist/esm/constructors.js', 'opts.bn254 = new NobleBN254();', ''],
  // Block access lists are in no fork yet.
  [
    '@ethereumjs/evm/dist/esm/evm.js',
    'opts.blockLevelAccessList ?? createBlockLevelAccessList()',
    'opts.blockLevelAccessList',
  ],
  // A state is always handed in.
  ['@ethereumjs/evm/dist/esm/constructors.js', 'opts.stateManager = new SimpleStateManager();', ''],
];

/** Modules that stand for others: logging is off, EOF is in no fork, and nobody asks for fork ids. */
const STAND_INS = new Map([
  [
    'debug/src/browser.js',
    'const off = Object.assign(() => {}, { enabled: false, extend: () => off });\nexport default () => off;',
  ],
  [
    '@ethereumjs/evm/dist/esm/eof/container.js',
    `const none = () => { throw new Error('EOF is not built in'); };
     export const EOFContainerMode = {};
     export class EOFContainer { constructor() { none(); } }
     export const validateEOF = none;`,
  ],
  [
    '@ethereumjs/common/dist/esm/crc.js',
    "export const crc32 = () => { throw new Error('fork ids are not built in'); };",
  ],
  ['@ethereumjs/evm/dist/esm/eof/stackDelta.js', 'export const stackDelta = {};'],
]);

/** The rolldown plugin that leaves out of dependencies what would only be carried along. */
function slimDependencies() {
  const missing = new Set([...REPLACED.map(([file]) => file), ...STAND_INS.keys()]);
  return {
    name: 'slim-dependencies',
    load(id) {
      for (const [file, code] of STAND_INS) {
        if (!isFile(id, file)) continue;
        missing.delete(file);
        return code;
      }
    },
    transform(code, id) {
      let changed = code;
      for (const [file, text, instead] of REPLACED) {
        if (!isFile(id, file)) continue;
        if (!code.includes(text)) throw new Error(`${file} has no "${text}" any more: see scripts/bundle.mjs`);
        changed = changed.replace(text, instead);
        missing.delete(file);
      }
      return changed === code ? undefined : changed;
    },
    buildEnd(error) {
      if (error === undefined && missing.size > 0) throw new Error(`not found to slim: ${[...missing].join(', ')}`);
    },
  };
}

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
