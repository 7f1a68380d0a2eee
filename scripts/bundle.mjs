/**
 * What ships: modules for bundlers and types (scripts/lib/ship.mjs), the command (scripts/lib/cli-bundle.mjs), and what is bundled
 * here. The module worker comes in chunks (dist/hosts/worker/worker.js and dist/hosts/chunks), so that a node loads what its kind of
 * chain needs when it needs it, and `plumbline-l2/inline` opens a node out of the same chunks; the worker of a devnet
 * (dist/hosts/worker/worker-devnet.js) in three chunks and three texts up to the first estimate, which what is used later imports. The service
 * worker cannot import() and comes as classic scripts that import each other (scripts/lib/classic-scripts.mjs).
 */
import { copyFile, mkdir, readFile, writeFile } from 'node:fs/promises';
import { pathToFileURL } from 'node:url';
import { rolldown } from 'rolldown';
import { BUILDS, KERNELS, wasmFile } from './build-wasm.mjs';
import { classicScripts } from './lib/classic-scripts.mjs';
import { bundleCli } from './lib/cli-bundle.mjs';
import { requireNoCircle } from './lib/closures.mjs';
import { writeLicenses } from './lib/licenses.mjs';
import { FIRST_ESTIMATE, loaded } from './lib/loaded-chunks.mjs';
import { root } from './lib/run.mjs';
import {
  BUNDLE_INPUT,
  CLI_DIST,
  copyTypes,
  MODULES,
  OPEN_INLINE,
  SHARED_TEXTS,
  SOURCE_MAPS,
  shipModules,
  shipSourceMaps,
  shipTypes,
  TEXTS_AT,
  textChunks,
} from './lib/ship.mjs';
import { chunkGroups, devnetGroups } from './lib/worker-chunks.mjs';

/** What the workers begin with. */
const WORKER_INPUT = {
  ...BUNDLE_INPUT,
  // A worker is imported for what it does.
  treeshake: { moduleSideEffects: [{ test: /\/hosts\/worker\/worker\.js$/, sideEffects: true }] },
};

/** Where the chunks of the worker and what they import are written down, for `npm run size`. */
export const WORKER_CHUNKS = `${root}/build/worker-chunks.json`;
/** The same for the worker of a devnet. */
export const DEVNET_CHUNKS = `${root}/build/worker-devnet-chunks.json`;

/** What is known of a chunk; a dynamic import of one of its modules loads it. */
export function placeOf({ fileName, isEntry, imports, moduleIds }) {
  return { fileName, isEntry, imports: [...imports], modules: moduleIds.map((id) => id.replaceAll('\\', '/')) };
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
      '/chain/light/state/mapping-guesses.js',
      '/chain/light/heads/sealed-head.js',
      '/proof/seals.js',
      '/hosts/sharing/lease-election.js',
      '/upstream/feed.js',
      '/kernel/recovery.js',
    ],
    'devnet-later': [
      '/hosts/opening/genesis-file.js',
      '/chain/devnet/state/request-queues.js',
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
    openrpc: ['/rpc/methods/discover.js', '/rpc/openrpc.generated.js'],
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
      '/chain/devnet/anchoring.js',
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

/** What a devnet needs at once besides its chunks. */
const TEXTS_OF_START = [
  'kernel/wasm/evm.simd.generated.js',
  'kernel/wasm/trie.simd.generated.js',
  'fees/general.generated.js',
];

/** Entry points with types: file in dist without its end, and module. */
const TYPED_ENTRIES = {
  index: 'index',
  'hosts/opening/inline': 'hosts/opening/inline',
  verify: 'verify',
  fees: 'fees',
  state: 'state',
  hash: 'hash',
  viem: 'viem',
  react: 'react',
  wagmi: 'wagmi',
  'fee-element': 'fee-element',
  vite: 'vite',
  hardhat: 'hardhat',
};
const UNTYPED_ENTRIES = ['file-entries.d.ts'];

/**
 * Has the entry import all chunks of its start at once: a browser knows what a chunk imports only when that has arrived. By
 * `import()`, because webpack makes one file of what is imported otherwise, and warns of its size.
 */
async function importAll(output) {
  const entry = entryOf(output);
  const all = new Set(entry.imports);
  // What is added is looked at in its turn. Texts, which chunks import by other names, are added below.
  for (const name of all) {
    const chunk = output.find(({ fileName }) => fileName === name);
    if (chunk === undefined) all.delete(name);
    for (const inner of chunk?.imports ?? []) all.add(inner);
  }
  for (const text of TEXTS_OF_START) all.add(`${TEXTS_AT}/${text}`);
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

/** What opens a node, out of the chunks of the worker, for `plumbline-l2/inline`. */
const OPENING = {
  name: 'opening',
  buildStart() {
    const id = `${MODULES}/${OPEN_INLINE.module}`;
    this.emitFile({ type: 'chunk', name: 'opening', fileName: OPEN_INLINE.at, id, preserveSignature: 'strict' });
  },
};

/**
 * Bundles a worker in chunks, and checks that none imports the entry.
 *
 * @param beside - plugins that add entries, which have no say in the chunks
 */
async function bundleWorker(file, groupsOf, plugins, beside = []) {
  const input = { ...WORKER_INPUT, input: `${MODULES}/${file}` };
  const alone = await rolldown({ ...input, plugins, logLevel: 'silent', preserveEntrySignatures: 'strict' });
  const groups = groupsOf((await alone.generate({ format: 'esm' })).output);
  await alone.close();
  const options = { plugins: [...beside, ...plugins], preserveEntrySignatures: 'allow-extension' };
  const worker = await rolldown({ ...input, ...options });
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
  for (const { fileName } of output.filter(({ isEntry }) => isEntry)) {
    const importing = output.find(({ imports }) => imports?.includes(fileName));
    if (importing !== undefined) throw new Error(`${importing.fileName} imports ${fileName}`);
  }
  return output;
}

const entryOf = (output) => output.find(({ fileName }) => fileName.startsWith('hosts/worker/'));

/** For `npm run size`. @param texts - those that the worker begins with */
async function writeChunks(file, output, texts = []) {
  await mkdir(`${root}/build`, { recursive: true });
  const worker = placeOf(entryOf(output));
  worker.imports.push(...texts.map((text) => `${TEXTS_AT}/${text}`));
  const others = output.filter(({ type, isEntry }) => type === 'chunk' && !isEntry).map(placeOf);
  await writeFile(file, JSON.stringify([worker, ...others, ...textChunks()]));
}

export async function bundle() {
  const manifest = JSON.parse(await readFile(`${root}/package.json`, 'utf8'));
  await shipModules();
  await shipTypes(TYPED_ENTRIES, `${root}/dist`);
  copyTypes(...UNTYPED_ENTRIES);
  writeLicenses(modulesOf(await bundleCli()), CLI_DIST);
  await shipTypes({ serve: 'hosts/cli/server' }, CLI_DIST);
  const devnet = await bundleWorker('hosts/worker/worker-devnet.js', devnetGroups, [
    without('open-light', 'openLight'),
    without('open-fork', 'openForkNode'),
    without('open-chains', 'openChains'),
    SHARED_TEXTS,
    SOURCE_MAPS,
  ]);
  await importAll(devnet);
  await writeChunks(DEVNET_CHUNKS, devnet, TEXTS_OF_START);
  const plugins = [SHARED_TEXTS, SOURCE_MAPS];
  const output = await bundleWorker('hosts/worker/worker.js', chunkGroups, plugins, [OPENING]);
  await preloadKinds(output);
  await writeChunks(WORKER_CHUNKS, output);
  await writeFirstEstimate();
  const inServiceWorker = await bundleServiceWorker();
  writeLicenses(modulesOf([...devnet, ...output, ...inServiceWorker]), `${root}/dist`);
  await copyKernels();
  shipSourceMaps(manifest);
}

const modulesOf = (output) => output.flatMap(({ moduleIds = [] }) => moduleIds);
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
  const here = closure(entryOf(output).fileName);
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
    ...WORKER_INPUT,
    input: `${MODULES}/hosts/worker/service-worker.js`,
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
