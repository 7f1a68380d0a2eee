/**
 * Bundles the entries for Node (scripts/lib/node-bundle.mjs), and those that have to stand alone. The module worker comes in chunks (dist/hosts/worker/worker.js and dist/hosts/chunks),
 * so that a node loads what its kind of chain needs when it needs it; that of a devnet (dist/hosts/worker/worker-devnet.js) in three
 * chunks up to the first estimate, which those that are used later import. The service worker cannot import() and comes as
 * classic scripts that import each other (scripts/lib/classic-scripts.mjs).
 */
import { copyFile, mkdir, readFile, writeFile } from 'node:fs/promises';
import { pathToFileURL } from 'node:url';
import { rolldown } from 'rolldown';
import { BUILDS, KERNELS, wasmFile } from './build-wasm.mjs';
import { classicScripts } from './lib/classic-scripts.mjs';
import { requireNoCircle } from './lib/closures.mjs';
import { writeLicenses } from './lib/licenses.mjs';
import { FIRST_ESTIMATE, loaded } from './lib/loaded-chunks.mjs';
import { bundleForNode, isWorthTelling, SOURCE_MAPS } from './lib/node-bundle.mjs';
import { root } from './lib/run.mjs';
import { MODULES, sharedTexts, shipModules, shipSourceMaps, textChunks } from './lib/ship.mjs';
import { chunkGroups, devnetGroups } from './lib/worker-chunks.mjs';

/** Options both bundles begin with. */
function bundleInput(file) {
  return {
    input: `${MODULES}/${file}`,
    platform: 'browser',
    logLevel: 'warn',
    checks: { bundlerTimings: false },
    // A worker is imported for what it does.
    treeshake: { moduleSideEffects: [{ test: /\/hosts\/worker\/worker\.js$/, sideEffects: true }] },
    plugins: [SOURCE_MAPS],
    onLog: (level, log, handle) => isWorthTelling(log) && handle(level, log),
  };
}

/** Where the chunks of the worker and what they import are written down, for `npm run size`. */
export const WORKER_CHUNKS = `${root}/build/worker-chunks.json`;
/** The same for the worker of a devnet. */
export const DEVNET_CHUNKS = `${root}/build/worker-devnet-chunks.json`;

/** What is known of a chunk; a dynamic import of one of its modules loads it. */
export function placeOf({ fileName, isEntry, imports, moduleIds }) {
  return { fileName, isEntry, imports, modules: moduleIds.map((id) => id.replaceAll('\\', '/')) };
}

/**
 * The service worker: service-worker.js and files beside it. It fetches, while it is installed, those of its kind of chain
 * (src/hosts/worker/service-worker.ts imports that), what few calls reach (`later`, `devnet-later`, `tools`, `wallet`, `beacon`,
 * `consensus`, `traces`, `preview`, `signatures`, `diagnosis`, `names`, `messages` and `openrpc`), and `scalar` where there is no SIMD.
 */
const serviceWorkerPlan = (simdProbe) => ({
  script: 'service-worker',
  roots: {
    light: '/hosts/opening/open-light.js',
    chains: '/hosts/opening/open-chains.js',
    devnet: '/hosts/opening/open-devnet.js',
    replica: '/hosts/opening/open-replica.js',
  },
  shared: { 'light chains replica': 'light', 'light chains': 'light', 'devnet replica': 'tries' },
  aside: {
    scalar: ['/hash.scalar.generated.js', '/trie.scalar.generated.js', '/evm.scalar.generated.js'],
    later: [
      '/evm/precompiles.js',
      '/evm/bn254.js',
      '/evm/bls12381.js',
      '/evm/point-evaluation.js',
      '/evm/p256.js',
      '/fees/general.generated.js',
      '/rpc/methods/debug_raw.js',
      '/rpc/methods/access-lists.js',
      '/rpc/methods/prices.js',
      '/rpc/methods/explainEstimate.js',
      '/rpc/filter-registry.js',
      '/rpc/methods/eth_config.js',
      '/rpc/methods/sequencer.js',
      '/rpc/methods/send-sync.js',
      '/rpc/methods/eth_simulateV1.js',
      '/evm/simulate.js',
      '/chain/light/state/simulation-states.js',
      '/chain/light/state/block-lists.js',
      '/hosts/sharing/lease-election.js',
      '/upstream/feed.js',
      '/kernel/recovery.js',
    ],
    'devnet-later': [
      '/hosts/opening/genesis-file.js',
      '/chain/devnet/import-blocks.js',
      '/chain/devnet/chain-file.js',
      '/chain/devnet/chain-transfer.js',
      '/chain/devnet/mining/dev-signature.js',
    ],
    wallet: ['/rpc/methods/wallet-calls.js', '/rpc/methods/wallet-chains.js', '/rpc/methods/wallet.js'],
    consensus: [
      '/hosts/opening/open-consensus.js',
      '/chain/light/layer-one-follower.js',
      '/chain/light/light-client-record.js',
      '/chain/light/settlement/settled-blocks.js',
      '/chain/light/settled-reads.js',
      '/evidence/collect-evidence.js',
      '/chain/light/consensus-answers.js',
      '/evidence/judge-evidence.js',
      '/proof/unchanged-slot.js',
      '/rpc/methods/exportEvidence.js',
    ],
    traces: ['/rpc/methods/debug_trace.js', '/rpc/methods/infura_simulateTransactions.js'],
    preview: ['/rpc/methods/previewTransaction.js'],
    signatures: ['/rpc/methods/previewSignature.js'],
    diagnosis: ['/rpc/methods/diagnoseTransaction.js', '/chain/light/unmined.js'],
    openrpc: ['/rpc/methods/discover.js'],
    names: ['/rpc/methods/names.js', '/@adraffy/ens-normalize/dist/index.mjs'],
    messages: ['/rpc/methods/messages.js', '/messages/find-claim.js', '/messages/run-claim.js'],
    tools: [
      '/rpc/methods/devnet-info.js',
      '/rpc/methods/devnet-mine-detailed.js',
      '/rpc/methods/devnet-reorg.js',
      '/rpc/methods/devnet-state-dump.js',
      '/rpc/methods/devnet-tokens.js',
    ],
    beacon: [
      '/chain/devnet/layer-one/anchoring.js',
      '/chain/devnet/layer-one/layer-one-chain.js',
      '/chain/devnet/layer-one/simulated-beacon.js',
      '/hosts/opening/open-layer-one.js',
      '/rpc/beacon-request.js',
      '/rpc/methods/beacon-api.js',
    ],
  },
  always: { later: 'true', scalar: `!WebAssembly.validate(new Uint8Array([${simdProbe}]))` },
  beside: {
    light: 'consensus',
    devnet: 'devnet-later',
    'devnet-later': 'tools',
    tools: 'wallet',
    wallet: 'beacon',
    beacon: 'consensus',
    consensus: 'traces',
    traces: 'preview',
    preview: 'signatures',
    signatures: 'diagnosis',
    diagnosis: 'names',
    names: 'messages',
    messages: 'openrpc',
  },
});

/** What a devnet needs at once is in the chunks of its start. */
const TEXTS_OF_START = ['evm.simd.generated.js', 'trie.simd.generated.js', 'general.generated.js'];
const DEVNET_WORKER = 'hosts/worker/worker-devnet.js';

/**
 * Has the entry import all chunks of its start at once: a browser knows what a chunk imports only when that has arrived. By
 * `import()`, because webpack makes one file of what is imported otherwise, and warns of its size.
 */
async function importAll(output) {
  const entry = output.find(({ isEntry }) => isEntry);
  const all = new Set(entry.imports);
  // What is added is looked at in its turn.
  for (const name of all) for (const inner of output.find(({ fileName }) => fileName === name).imports) all.add(inner);
  const imports = [...all].map((name) => `import("../${name.slice('hosts/'.length)}")`);
  // An error that is reported reaches the page.
  const code = `Promise.all([${imports.join(',')}]).catch((e)=>reportError(e));\n`;
  await writeFile(`${root}/dist/${entry.fileName}`, code);
}

/** Leaves out a kind of chain that a worker is not given to open. */
const without = (module, name) => ({
  name: `without-${module}`,
  load(id) {
    if (!id.replaceAll('\\', '/').endsWith(`/hosts/opening/${module}.js`)) return;
    const code = `import { PlumblineError } from '../../errors.js';
      export function ${name}() {
        const reason = 'it does not open this kind of chain';
        throw new PlumblineError('WORKER_FAILED', reason, { reason });
      }`;
    return { code, map: { mappings: '' } };
  },
});

/** Bundles a worker in chunks, and checks that none imports the entry. */
async function bundleWorker(file, groupsOf, more) {
  const input = { ...bundleInput(file), ...more };
  const alone = await rolldown({ ...input, logLevel: 'silent', preserveEntrySignatures: 'strict' });
  const groups = groupsOf((await alone.generate({ format: 'esm' })).output);
  await alone.close();
  const worker = await rolldown({ ...input, preserveEntrySignatures: 'allow-extension' });
  const { output } = await worker.write({
    dir: `${root}/dist`,
    format: 'esm',
    entryFileNames: 'hosts/worker/[name].js',
    chunkFileNames: 'hosts/chunks/[name]-[hash].js',
    codeSplitting: { groups, includeDependenciesRecursively: false },
    minify: true,
    sourcemap: 'hidden',
  });
  await worker.close();
  requireNoCircle(output);
  // It would be imported by its plain address: a worker that was started under another (`worker.js?v=1`) would run twice.
  const entry = output.find(({ isEntry }) => isEntry).fileName;
  const importing = output.find(({ imports }) => imports?.includes(entry));
  if (importing !== undefined) throw new Error(`${importing.fileName} imports the entry of the worker`);
  return output;
}

async function writeChunks(file, output) {
  await mkdir(`${root}/build`, { recursive: true });
  await writeFile(
    file,
    JSON.stringify([...output.filter(({ type }) => type === 'chunk').map(placeOf), ...textChunks()]),
  );
}

export async function bundle() {
  const manifest = JSON.parse(await readFile(`${root}/package.json`, 'utf8'));
  shipModules(manifest.exports);
  const inNode = await bundleForNode();
  const devnet = await bundleWorker(DEVNET_WORKER, devnetGroups, {
    plugins: [
      without('open-light', 'openLight'),
      without('open-fork', 'openForkNode'),
      without('open-chains', 'openChains'),
      sharedTexts('.', TEXTS_OF_START),
      SOURCE_MAPS,
    ],
  });
  await importAll(devnet);
  await writeChunks(DEVNET_CHUNKS, devnet);
  const output = await bundleWorker('hosts/worker/worker.js', chunkGroups, {
    plugins: [sharedTexts('.'), SOURCE_MAPS],
  });
  await preloadKinds(output);
  await writeChunks(WORKER_CHUNKS, output);
  await writeFirstEstimate();
  const inServiceWorker = await bundleServiceWorker();
  const modules = [...inNode, ...devnet, ...output, ...inServiceWorker].flatMap(({ moduleIds = [] }) => moduleIds);
  writeLicenses(modules, `${root}/dist/licenses.txt`);
  await copyKernels();
  shipSourceMaps(manifest);
}

/** Writes into the plugin for Vite which chunks the first estimate of a node loads. */
async function writeFirstEstimate() {
  const filesOf = async (file, modules) =>
    [...loaded(JSON.parse(await readFile(file, 'utf8')), modules)].map(({ fileName }) =>
      fileName.slice('hosts/'.length),
    );
  const files = {
    devnet: await filesOf(DEVNET_CHUNKS, FIRST_ESTIMATE.devnet),
    light: await filesOf(WORKER_CHUNKS, FIRST_ESTIMATE.light),
  };
  const plugin = `${root}/dist/vite.js`;
  const code = await readFile(plugin, 'utf8');
  const none = '{"devnet":[],"light":[]}';
  if (!code.includes(none)) throw new Error(`${plugin} does not have the place for the chunks of the first estimate`);
  await writeFile(plugin, code.replace(none, JSON.stringify(files)));
}

/**
 * Has the import of a kind of chain fetch all its chunks at once: a browser knows what a chunk imports only when that has
 * arrived. A page that imports them one by one does without.
 */
async function preloadKinds(output) {
  const chunks = new Map(output.filter(({ type }) => type === 'chunk').map((chunk) => [chunk.fileName, chunk]));
  const closure = (name, found = new Set()) => {
    for (const imported of chunks.get(name)?.imports ?? []) {
      if (!found.has(imported)) closure(imported, found.add(imported));
    }
    return found;
  };
  const here = closure(output.find(({ isEntry }) => isEntry).fileName);
  for (const kind of ['devnet', 'light']) {
    const chunk = [...chunks.values()].find(({ name }) => name === kind);
    const importing = [...chunks.values()].find(({ dynamicImports, fileName }) => {
      return dynamicImports.includes(chunk.fileName) && here.has(fileName);
    });
    const path = (fileName) => `import(\`./${fileName.slice('hosts/chunks/'.length)}\`)`;
    const own = path(chunk.fileName);
    const file = `${root}/dist/${importing.fileName}`;
    const code = await readFile(file, 'utf8');
    if (!code.includes(own)) throw new Error(`${file} does not import the chunk ${kind} as expected`);
    const others = [...closure(chunk.fileName)].filter((name) => !here.has(name)).map(path);
    // Behind all else, and called in as many characters: the source map stays right.
    const name = `$${kind}`;
    const together = `function ${name}(){return Promise.all([${[own, ...others]}]).then(([kind])=>kind)}`;
    await writeFile(file, `${code.trimEnd().replaceAll(own, `${name}()`.padEnd(own.length))}\n${together}\n`);
  }
}

/** @returns what the bundler made of it, before it was put into scripts */
async function bundleServiceWorker() {
  const input = {
    ...bundleInput('hosts/worker/service-worker.js'),
    plugins: [without('open-fork', 'openForkNode')],
  };
  const build = await rolldown({ ...input, preserveEntrySignatures: 'strict' });
  const { output } = await build.generate({
    format: 'cjs',
    dynamicImportInCjs: false,
    entryFileNames: '[name].js',
    chunkFileNames: '[name].js',
    minify: true,
    sourcemap: false,
  });
  await build.close();
  const { SIMD_PROBE } = await import(pathToFileURL(`${MODULES}/kernel/simd.js`).href);
  const scripts = classicScripts(output, serviceWorkerPlan(SIMD_PROBE));
  for (const [name, text] of scripts) await writeFile(`${root}/dist/${name}`, text);
  return output;
}

/** For those who serve the kernels as files: `dist/kernel/wasm/NAME.BUILD.wasm`. */
async function copyKernels() {
  for (const kernel of KERNELS) {
    for (const build of BUILDS) {
      await copyFile(wasmFile(kernel, build), `${root}/dist/kernel/wasm/${kernel}.${build}.wasm`);
    }
  }
}
