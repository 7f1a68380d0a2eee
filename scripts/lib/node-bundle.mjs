/**
 * The entry points for Node (`node` in the `exports` of package.json): dist/node, a few files in place of the hundreds of modules
 * that other bundlers take their pick of. Opening those, one after the other, is most of the time to a first estimate. All
 * entries are one bundle, so that a program that imports two of them has each class once.
 */
import { existsSync } from 'node:fs';
import { readFile, rm } from 'node:fs/promises';
import { relative } from 'node:path';
import { rolldown } from 'rolldown';
import { closuresIn } from './closures.mjs';
import { root } from './run.mjs';

/** Entry points, and the command: name in dist/node, and module. */
const ENTRIES = {
  index: 'index.js',
  inline: 'hosts/opening/inline.js',
  verify: 'verify.js',
  fees: 'fees.js',
  state: 'state.js',
  hash: 'hash.js',
  viem: 'viem.js',
  serve: 'hosts/server/serve.js',
  cli: 'hosts/cli/cli.js',
};

/** Packages that only a server needs: installed with ours, and imported from where they are. */
const OUTSIDE = [/^node:/, 'ws', 'hono', /^hono\//, /^@hono\//];

/** Whether a module is one of dist, by its id. */
const isOurs = (id) => !relative(`${root}/dist`, id).startsWith('..') && existsSync(`${id}.map`);

/** Maps of our modules lead on to src; those of dependencies are left out, since their sources do not ship. */
const SOURCE_MAPS = {
  name: 'source-maps',
  async load(id) {
    if (!isOurs(id)) return;
    return { code: await readFile(id, 'utf8'), map: JSON.parse(await readFile(`${id}.map`, 'utf8')) };
  },
  transform: {
    order: 'post',
    handler: (code, id) => (isOurs(id) ? undefined : { code, map: { mappings: '' } }),
  },
};

/** The workers are where they are for all. */
const WORKER_URLS = {
  name: 'worker-urls',
  renderChunk(code) {
    if (!code.includes('import.meta.url')) return;
    return {
      code: code.replaceAll(/new URL\((["'`])\.\/(worker[\w-]*\.js)\1/g, 'new URL("../hosts/worker/$2"'),
      map: null,
    };
  },
};

/** The first that holds decides; what has no rule stays a chunk of its own. Each is below those that come after it. */
function groupsOf(output) {
  const { chunks, closure, modulesOf } = closuresIn(output);
  const entry = (name) => closure([`/dist/${ENTRIES[name]}`]);
  const [verify, state, serve, cli] = ['verify', 'state', 'serve', 'cli'].map(entry);
  const small = [verify, ...['inline', 'index', 'fees', 'hash', 'viem'].map(entry)];
  const [light, devnet] = ['light', 'devnet'].map((kind) => closure([`/hosts/opening/open-${kind}.js`]));
  const execution = closure(['/estimate/estimation.js', '/kernel/calldata-sizer.js', '/kernel/sizer-cache.js']);
  const proofs = closure(['/proof/zk/linea-proof.js', '/kernel/hasher.js']);
  const settlement = closure(['/chain/light/settlement/settlement.js']);
  const later = closure([
    '/chain/light/contents/read-contents.js',
    '/chain/light/contents/submit.js',
    '/proof/headers/seal-checks.js',
    '/hosts/sharing/open-shared.js',
    '/store/metered-store.js',
    '/store/idb-store.js',
    '/chain/light/light-cache.js',
    '/hosts/opening/open-replica.js',
  ]);
  const storedDevnet = closure(['/chain/devnet/storage/find-stored.js', '/chain/devnet/recovery/checkpoint-loader.js']);
  const nodes = [light, devnet, execution];
  const used = [...nodes, proofs, later];
  const held = (chunk, sets) => sets.filter((set) => set.has(chunk)).length;
  const isBase = (chunk) => !verify.has(chunk) && held(chunk, small) > 0 && held(chunk, used) > 0;
  const rules = [
    ['base', (chunk) => held(chunk, small) > 1 || isBase(chunk)],
    ['proofs', (chunk) => verify.has(chunk) && held(chunk, used) > 0],
    ['node', (chunk) => light.has(chunk) && held(chunk, [devnet, execution]) > 0],
    ['light', (chunk) => light.has(chunk)],
    ['execution', (chunk) => execution.has(chunk)],
    ['settlement', (chunk) => settlement.has(chunk) && !verify.has(chunk)],
    ['zk', (chunk) => state.has(chunk) && held(chunk, [proofs, later, devnet]) > 0],
    ['transactions', (chunk) => later.has(chunk) && devnet.has(chunk)],
    ['devnet', (chunk) => devnet.has(chunk)],
    ['stored-devnet', (chunk) => storedDevnet.has(chunk)],
    ['server', (chunk) => serve.has(chunk) && cli.has(chunk)],
  ];
  const groupOf = new Map();
  for (const chunk of chunks.values()) {
    const rule = rules.find(([, holds]) => holds(chunk));
    if (rule !== undefined && !chunk.isEntry) for (const id of modulesOf(chunk)) groupOf.set(id, rule[0]);
  }
  return rules.map(([name], i) => ({
    name,
    priority: rules.length - i,
    test: (id) => groupOf.get(id.replaceAll('\\', '/')) === name,
  }));
}

/** @returns what the bundler made of it */
export async function bundleForNode() {
  const input = {
    input: Object.fromEntries(Object.entries(ENTRIES).map(([name, file]) => [name, `${root}/dist/${file}`])),
    platform: 'browser',
    checks: { bundlerTimings: false },
    external: OUTSIDE,
    plugins: [SOURCE_MAPS, WORKER_URLS],
    onLog: (level, log, handle) => log.code !== 'SOURCEMAP_BROKEN' && handle(level, log),
  };
  const alone = await rolldown({ ...input, logLevel: 'silent' });
  const { output: parts } = await alone.generate({ format: 'esm' });
  const groups = groupsOf(parts);
  await alone.close();
  const build = await rolldown({ ...input, logLevel: 'warn', preserveEntrySignatures: 'allow-extension' });
  await rm(`${root}/dist/node`, { recursive: true, force: true });
  const { output } = await build.write({
    dir: `${root}/dist/node`,
    format: 'esm',
    entryFileNames: '[name].js',
    chunkFileNames: 'chunks/[name]-[hash].js',
    codeSplitting: { groups, includeDependenciesRecursively: false },
    // So that a printed stack can be read.
    minify: false,
    sourcemap: true,
    sourcemapExcludeSources: true,
  });
  await build.close();
  for (const { name, exports } of output.filter(({ isEntry }) => isEntry)) {
    const meant = parts.find((part) => part.isEntry && part.name === name).exports;
    if (`${[...exports].sort()}` !== `${[...meant].sort()}`)
      throw new Error(`${name} exports ${exports}, not ${meant}`);
  }
  return output;
}
