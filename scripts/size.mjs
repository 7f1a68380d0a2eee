/**
 * `npm run size`: prints what each entry point and each kind of node loads, gzip, beside its budget, and fails when one is
 * exceeded. What is loaded is found by following the static imports of chunks, from an entry and from those dynamic imports
 * that a use comes to; the other chunks are printed below, with what each adds.
 *
 * `npm run size -- bundlers` prints instead what a page loads until it has its first estimate, by the bundler that built it, as Chromium
 * loads it.
 */
import { readFile } from 'node:fs/promises';
import { gzipSync } from 'node:zlib';
import { rolldown } from 'rolldown';
import { buildDemo, buildLibrary } from './build.mjs';
import { DEVNET_CHUNKS, placeOf, WORKER_CHUNKS } from './bundle.mjs';
import { EXECUTION, FEES, FIRST_ESTIMATE, kernel, LIGHT, loaded, STORE } from './lib/loaded-chunks.mjs';
import { bin, root, run } from './lib/run.mjs';

const KB = 1000;
const WIDTH = 58;

/** What a page imports of an entry point, bundled by itself, with the dynamic imports it comes to. */
const ENTRIES = [
  {
    name: 'plumbline-l2/verify: verify a proof, WASM included',
    file: 'verify.js',
    use: ['verifyLineaProof', 'verifyL1Anchor', 'loadHasher'],
    modules: [kernel('hash')],
    budget: 40 * KB,
  },
  {
    name: 'plumbline-l2/verify: finality of layer 1, BLS included',
    file: 'verify.js',
    use: ['verifyConsensusUpdate'],
    modules: ['consensus/judge-consensus.js'],
    budget: 38 * KB,
    // Without the chunk of @noble, BLS12-381 and SHA-256; precompiles load them, too.
    ownBudget: 12 * KB,
  },
  {
    name: 'plumbline-l2/verify: a bundle of evidence',
    file: 'verify.js',
    use: ['verifyEvidence'],
    modules: ['evidence/judge-evidence.js', kernel('hash')],
    budget: 64 * KB,
  },
  { name: 'plumbline-l2: entry with its worker client', file: 'index.js', use: '*', modules: [], budget: 20 * KB },
  { name: 'plumbline-l2/fees, WASM included', file: 'fees.js', use: '*', modules: [], budget: 20 * KB },
  {
    name: 'plumbline-l2/state: apply blocks and prove, WASM included',
    file: 'state.js',
    use: ['openState', 'decodeTrieLog'],
    modules: [kernel('trie')],
    budget: 45 * KB,
  },
  {
    name: 'plumbline-l2/state, all of it',
    file: 'state.js',
    use: '*',
    modules: ['store/idb-store.js', 'store/fence.js', kernel('trie'), kernel('hash')],
    budget: 75 * KB,
  },
  { name: 'plumbline-l2/hash, WASM included', file: 'hash.js', use: '*', modules: [kernel('hash')], budget: 20 * KB },
  {
    name: 'plumbline-l2/inline before a chain is chosen',
    file: 'hosts/opening/inline.js',
    use: ['createInlineNode'],
    modules: [],
    budget: 10 * KB,
  },
];

/** By it a page with `storeName` shares its store with other tabs. */
const SHARING = ['hosts/sharing/open-shared.js'];
const PROOFS = ['chain/light/settlement/settlement.js', 'proof/linea-proof.js', 'kernel/hasher.js', kernel('hash')];
/** Layer 1 followed by its consensus. */
const CONSENSUS = [
  'hosts/opening/open-consensus.js',
  'chain/light/layer-one-follower.js',
  'chain/light/light-client-record.js',
];
const DEVNET = ['hosts/opening/open-devnet.js', kernel('trie')];
const GENERAL = ['fees/general.generated.js'];

/** What a light node loads of its own accord, and to know the state that an estimate reads. */
const FOR_ESTIMATE = [
  'hosts/opening/endpoint-check.js',
  'chain/light/state/block-lists.js',
  'chain/light/state/prefetch-call.js',
];

/** What the worker loads for a use, by the modules its dynamic imports come to. */
const USES = [
  { name: 'worker before a chain is chosen', modules: [], budget: 10 * KB },
  { name: 'light node that never executes', modules: [...LIGHT, ...STORE, ...PROOFS], budget: 100 * KB },
  {
    name: 'the same with storeName, shared between tabs',
    modules: [...LIGHT, ...STORE, ...SHARING, ...PROOFS],
    budget: 109 * KB,
  },
  {
    name: 'light node: first estimate',
    modules: [...FIRST_ESTIMATE.light, ...STORE, ...SHARING, ...FOR_ESTIMATE],
    budget: 135 * KB,
  },
  {
    name: 'light node of layer 1, its consensus included',
    modules: [...LIGHT, ...STORE, ...CONSENSUS],
    budget: 122 * KB,
  },
  { name: 'devnet, by another than its own worker', modules: [...DEVNET, ...GENERAL, ...FEES], budget: 175 * KB },
];

/** What the worker of a devnet begins with, which goes as far as its first estimate: the kernel of the EVM is part of it. */
const DEVNET_BUDGET = 164.5 * KB;

/** Chunks printed by themselves: what they add to the light node or, where that never loads them, to the devnet. */
const EXTRAS = [
  { name: 'execution', modules: FEES, on: LIGHT },
  { name: 'recovery of signers', modules: ['kernel/recovery.js'], on: [...LIGHT, ...EXECUTION] },
  { name: 'signing', modules: ['chain/devnet/mining/dev-signature.js'], on: DEVNET },
  {
    name: 'pairing curves',
    modules: ['evm/bn254.js', 'evm/bls12381.js', 'evm/point-evaluation.js'],
    on: [...LIGHT, ...EXECUTION],
  },
  { name: 'signatures over P-256', modules: ['evm/p256.js'], on: [...LIGHT, ...EXECUTION] },
  { name: 'block bodies, receipts and logs', modules: ['chain/light/block-contents.js'], on: LIGHT },
  { name: 'sending transactions', modules: ['chain/light/submit.js'], on: LIGHT },
  { name: 'seals', modules: ['proof/seals.js'], on: LIGHT },
  { name: 'proofs of the zk state, with their kernel', modules: PROOFS, on: LIGHT },
  { name: 'a store shared between tabs', modules: SHARING, on: LIGHT },
  { name: 'consensus of layer 1', modules: CONSENSUS, on: [...LIGHT, ...STORE] },
  {
    name: 'what is settled, read',
    modules: ['chain/light/settled-reads.js', 'chain/light/settlement/settled-blocks.js'],
    on: [...LIGHT, ...STORE],
  },
  {
    name: 'names of ENS',
    modules: ['rpc/methods/names.js', '@adraffy/ens-normalize/dist/index.mjs'],
    on: [...LIGHT, ...EXECUTION],
  },
  {
    name: 'messages to layer 1',
    modules: ['rpc/methods/messages.js', 'messages/find-claim.js'],
    on: [...LIGHT, ...STORE],
  },
  { name: 'status of the endpoints', modules: ['hosts/opening/endpoint-check.js'], on: LIGHT },
  { name: 'replica', modules: ['hosts/opening/open-replica.js', kernel('trie')], on: LIGHT },
  { name: 'fork of a network', modules: ['hosts/opening/open-fork.js'], on: [...LIGHT, ...EXECUTION, ...DEVNET] },
  { name: 'general dictionary', modules: GENERAL, on: LIGHT },
  { name: 'devnet', modules: DEVNET, on: [] },
];

/** Classic scripts, which are there for good once the service worker is installed (scripts/bundle.mjs). */
const SERVICE_WORKER = [
  { name: 'with a light node', files: ['', '-light'], budget: 193 * KB },
  { name: 'beside a light node: several chains in one node', files: ['-chains'], budget: 2 * KB },
  { name: 'with a devnet', files: ['', '-devnet', '-tries'], budget: 208 * KB },
  { name: 'beside either: what few calls reach', files: ['-later'], budget: 74 * KB },
  { name: 'beside a devnet: files', files: ['-devnet-later'], budget: 12 * KB },
  { name: 'beside either: consensus of layer 1', files: ['-consensus'], budget: 21 * KB },
  { name: 'beside either: traces', files: ['-traces'], budget: 14 * KB },
  { name: 'beside either: previews', files: ['-preview'], budget: 24 * KB },
  { name: 'beside either: previews of signatures', files: ['-signatures'], budget: 11 * KB },
  { name: 'beside either: diagnosis of transactions', files: ['-diagnosis'], budget: 10.5 * KB },
  { name: 'beside either: names of ENS', files: ['-names'], budget: 30 * KB },
  { name: 'beside either: messages to layer 1', files: ['-messages'], budget: 10 * KB },
  { name: 'beside either: the description of the methods', files: ['-openrpc'], budget: 20 * KB },
  { name: 'beside a devnet: what tools seldom ask', files: ['-tools'], budget: 5 * KB },
  { name: 'beside a devnet: methods of wallets', files: ['-wallet'], budget: 5.5 * KB },
  { name: 'beside a devnet: its layer 1', files: ['-beacon'], budget: 12 * KB },
  { name: 'beside a light node: replica', files: ['-replica', '-tries'], budget: 45 * KB },
  { name: 'where there is no SIMD', files: ['-scalar'], budget: 39 * KB },
];

/** Kernels as files. */
const KERNELS = [
  { name: 'hash', builds: ['simd', 'scalar'], budget: 13 * KB },
  { name: 'trie', builds: ['simd', 'scalar'], budget: 17 * KB },
  { name: 'calldata', builds: ['simd'], budget: 3 * KB },
  { name: 'secp256k1', builds: ['simd'], budget: 6 * KB },
  { name: 'keccak', builds: ['simd'], budget: 2 * KB },
  { name: 'blake2f', builds: ['simd'], budget: 1 * KB },
];

const gzipBytes = (code) => gzipSync(code, { level: 9 }).length;

/** A page that imports names of an entry point, in the chunks a bundler makes of it. */
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
  return output
    .filter(({ type }) => type === 'chunk')
    .map((chunk) => ({ ...placeOf(chunk), size: gzipBytes(chunk.code) }));
}

/** The worker as it is shipped. */
async function shippedWorker(file) {
  const chunks = JSON.parse(await readFile(file, 'utf8'));
  const sizes = chunks.map(({ fileName }) => readFile(`${root}/dist/${fileName}`).then(gzipBytes));
  return Promise.all(chunks.map(async (chunk, i) => ({ ...chunk, size: await sizes[i] })));
}

const sizeOf = (chunks) => [...chunks].reduce((sum, { size }) => sum + size, 0);

let exceeded = false;

function print(name, size, budget) {
  const over = budget !== undefined && size > budget;
  exceeded ||= over;
  const beside = budget === undefined ? '' : ` of ${(budget / KB).toFixed(0)} KB${over ? '  EXCEEDED' : ''}`;
  console.log(`${name.padEnd(WIDTH)} ${(size / KB).toFixed(1).padStart(6)} KB gzip${beside}`);
}

const fileBytes = async (name) => gzipBytes(await readFile(`${root}/dist/${name}`));
const sum = (numbers) => numbers.reduce((total, number) => total + number, 0);

if (process.argv[2] === 'bundlers') {
  await buildDemo();
  const options = ['--project', 'slow', '--disable-console-intercept', '--reporter=dot'];
  process.exit(await run(bin('vitest'), ['run', ...options, 'test/slow/bundler-sizes']));
}

await buildLibrary();
for (const entry of ENTRIES) {
  const chunks = [...loaded(await pageOf(entry), entry.modules)];
  print(entry.name, sizeOf(chunks), entry.budget);
  if (entry.ownBudget === undefined) continue;
  const own = chunks.filter(({ modules }) => !modules.some((id) => id.includes('/node_modules/')));
  print('  our own code of it', sizeOf(own), entry.ownBudget);
}

const worker = await shippedWorker(WORKER_CHUNKS);
for (const { name, modules, budget } of USES) print(`worker, ${name}`, sizeOf(loaded(worker, modules)), budget);
print('worker, devnet: first estimate', sizeOf(loaded(await shippedWorker(DEVNET_CHUNKS), [])), DEVNET_BUDGET);
for (const { name, files, budget } of SERVICE_WORKER) {
  const sizes = files.map((file) => fileBytes(`service-worker${file}.js`));
  print(`service worker, ${name}`, sum(await Promise.all(sizes)), budget);
}
for (const { name, builds, budget } of KERNELS) {
  for (const build of builds) {
    print(`kernel ${name}.${build}.wasm`, await fileBytes(`kernel/wasm/${name}.${build}.wasm`), budget);
  }
}

console.log('\nLoaded by the worker when used, beside what is there already:');
for (const { name, modules, on } of EXTRAS) {
  const before = loaded(worker, on);
  const added = [...loaded(worker, [...on, ...modules])].filter((chunk) => !before.has(chunk));
  print(`  ${name}`, sizeOf(added));
}
process.exitCode = exceeded ? 1 : 0;
