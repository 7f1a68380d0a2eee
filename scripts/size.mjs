/**
 * `npm run size`: prints what each door and each kind of node loads, gzip, beside its budget, and fails when one is
 * exceeded. What is loaded is found by following the static imports of chunks, from an entry and from those dynamic imports
 * that a use comes to; the other chunks are printed below, with what each adds.
 */
import { readFile } from 'node:fs/promises';
import { gzipSync } from 'node:zlib';
import { rolldown } from 'rolldown';
import { buildLibrary } from './build.mjs';
import { WORKER_CHUNKS } from './bundle.mjs';
import { root } from './lib/run.mjs';

const KB = 1000;
const WIDTH = 58;

/** What a page imports of a door, bundled by itself. Without a budget the figure is only printed. */
const DOORS = [
  {
    name: 'plumbline/verify: verify a proof, WASM included',
    file: 'verify.js',
    use: ['verifyLineaProof', 'verifyL1Anchor', 'loadHasher'],
    budget: 40 * KB,
  },
  { name: 'plumbline: entry with its worker client', file: 'index.js', use: '*', budget: 20 * KB },
  { name: 'plumbline/fees', file: 'fees.js', use: '*' },
];

const LIGHT = ['hosts/open-light.js'];
const EXECUTION = ['evm/estimate-gas.js'];
const STORE = ['store/idb-store.js'];
const PROOFS = ['proof/linea-proof.js'];

/** What the worker loads for a use, by the modules its dynamic imports come to. */
const USES = [
  { name: 'worker before a chain is chosen', modules: [] },
  { name: 'light node that never executes', modules: [...LIGHT, ...STORE, ...PROOFS], budget: 90 * KB },
  {
    name: 'light node: first estimate',
    modules: [...LIGHT, ...STORE, ...EXECUTION, 'chain/light/rehearsal.js'],
    budget: 150 * KB,
  },
  { name: 'devnet: start', modules: ['hosts/open-devnet.js', 'dictionary/general.generated.js'] },
];

/** Chunks printed by themselves: what they add to the light node or, where that never loads them, to the devnet. */
const EXTRAS = [
  { name: 'execution', module: 'evm/estimate-gas.js', on: LIGHT },
  { name: 'pairing curves', module: 'evm/curves.js', on: [...LIGHT, ...EXECUTION] },
  { name: 'block bodies, receipts and logs', module: 'chain/light/read-contents.js', on: LIGHT },
  { name: 'sending transactions', module: 'chain/light/submit.js', on: LIGHT },
  { name: 'seals', module: 'proof/seal-checks.js', on: LIGHT },
  { name: 'zk hash kernel', module: 'kernel/hasher.js', on: LIGHT },
  { name: 'replica', module: 'hosts/open-replica.js', on: LIGHT },
  { name: 'general dictionary', module: 'dictionary/general.generated.js', on: LIGHT },
  { name: 'devnet', module: 'hosts/open-devnet.js', on: [] },
];

/** One classic script with everything inside, so that nothing in it can be left for later. */
const SERVICE_WORKER = { name: 'service worker (devnet), one file; wanted: 200 KB', file: 'service-worker.js' };

const gzipBytes = (code) => gzipSync(code, { level: 9 }).length;

/** A page that imports names of a door, in the chunks a bundler makes of it. */
async function pageOf({ file, use }) {
  const virtual = 'page.js';
  const names = use === '*' ? '*' : `{ ${use.join(', ')} }`;
  const page = {
    name: 'page',
    resolveId: (id) => (id === virtual ? id : undefined),
    load: (id) => (id === virtual ? `export ${names} from ${JSON.stringify(`${root}/dist/${file}`)};` : undefined),
  };
  const build = await rolldown({ input: virtual, platform: 'browser', logLevel: 'silent', plugins: [page] });
  const { output } = await build.generate({ format: 'esm', minify: true });
  await build.close();
  return output.filter(({ type }) => type === 'chunk').map((chunk) => ({ ...chunk, size: gzipBytes(chunk.code) }));
}

/** The worker as it is shipped. */
async function shippedWorker() {
  const chunks = JSON.parse(await readFile(WORKER_CHUNKS, 'utf8'));
  const sizes = chunks.map(({ fileName }) => readFile(`${root}/dist/${fileName}`).then(gzipBytes));
  return Promise.all(chunks.map(async (chunk, i) => ({ ...chunk, size: await sizes[i] })));
}

/** Chunks that are loaded with the entry and with the dynamic imports of some modules. */
function loaded(chunks, modules) {
  const byName = new Map(chunks.map((chunk) => [chunk.fileName, chunk]));
  const found = new Set();
  const follow = (chunk) => {
    if (chunk === undefined || found.has(chunk)) return;
    found.add(chunk);
    for (const name of chunk.imports) follow(byName.get(name));
  };
  follow(chunks.find(({ isEntry }) => isEntry));
  for (const module of modules) {
    const chunk = chunks.find((candidate) => candidate.module?.endsWith(`/${module}`));
    if (chunk === undefined) throw new Error(`${module} is no chunk of its own: is it imported statically?`);
    follow(chunk);
  }
  return found;
}

const sizeOf = (chunks) => [...chunks].reduce((sum, { size }) => sum + size, 0);

let exceeded = false;

function print(name, size, budget) {
  const over = budget !== undefined && size > budget;
  exceeded ||= over;
  const beside = budget === undefined ? '' : ` of ${(budget / KB).toFixed(0)} KB${over ? '  EXCEEDED' : ''}`;
  console.log(`${name.padEnd(WIDTH)} ${(size / KB).toFixed(1).padStart(6)} KB gzip${beside}`);
}

await buildLibrary();
for (const door of DOORS) print(door.name, sizeOf(loaded(await pageOf(door), [])), door.budget);

const worker = await shippedWorker();
for (const { name, modules, budget } of USES) print(`worker, ${name}`, sizeOf(loaded(worker, modules)), budget);
print(SERVICE_WORKER.name, gzipBytes(await readFile(`${root}/dist/${SERVICE_WORKER.file}`)));

console.log('\nLoaded by the worker when used, beside what is there already:');
for (const { name, module, on } of EXTRAS) {
  const before = loaded(worker, on);
  const added = [...loaded(worker, [...on, module])].filter((chunk) => !before.has(chunk));
  print(`  ${name}`, sizeOf(added));
}
process.exitCode = exceeded ? 1 : 0;
