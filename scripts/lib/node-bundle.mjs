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
import { withRest } from './rest-groups.mjs';
import { root } from './run.mjs';
import { importedFrom, MODULES, sharedTexts } from './ship.mjs';

/** Entry points, and the command: name in dist/node, and module. */
const ENTRIES = {
  index: 'index.js',
  inline: 'hosts/opening/inline.js',
  verify: 'verify.js',
  fees: 'fees.js',
  state: 'state.js',
  hash: 'hash.js',
  viem: 'viem.js',
  hardhat: 'hardhat.js',
  serve: 'hosts/cli/server.js',
  cli: 'hosts/cli/cli.js',
};

/** Packages that only a server needs; curves and the tables of names, which few programs come to: installed with ours, and imported from where they are. */
const OUTSIDE = [/^node:/, 'ws', 'hono', /^hono\//, /^@hono\//, /^@noble\/curves\//, '@adraffy/ens-normalize'];

/** Whether a module is one of dist, by its id. */
const isOurs = (id) => !relative(MODULES, id).startsWith('..') && existsSync(`${id}.map`);

/** Code of dependencies is not mapped, and some bundles import at once what others import later. */
export const isWorthTelling = ({ code }) => code !== 'SOURCEMAP_BROKEN' && code !== 'INEFFECTIVE_DYNAMIC_IMPORT';

/** Maps of our modules lead on to src; code of dependencies is not mapped. */
export const SOURCE_MAPS = {
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

/** The modules of classes that a program may ask for by `instanceof`: one for all entry points, whatever else they bundle. */
const SHARED = {
  name: 'shared',
  resolveId(specifier, importer) {
    if (importer === undefined || !specifier.startsWith('.')) return;
    const file = importedFrom(importer, specifier);
    if (['errors.js', 'hosts/provider/provider-error.js'].includes(file))
      return { id: `../../${file}`, external: true };
  },
  /** Paths are those of a chunk; an entry lies above. */
  renderChunk: (code, { isEntry }) =>
    isEntry ? { code: code.replaceAll(/(["'])\.\.\/\.\.\/(?=errors|hosts)/g, '$1../'), map: null } : undefined,
};

/**
 * The workers are where they are for all. A bundler that makes a server of the program is not to follow their address: Node
 * has no such workers, and where there are some the package is not bundled.
 */
const WORKER_URLS = {
  name: 'worker-urls',
  renderChunk(code) {
    if (!code.includes('import.meta.url')) return;
    return {
      code: code.replaceAll(
        /new URL\((["'`])\.\/(worker[\w-]*\.js)\1, import\.meta\.url\)/g,
        'new URL("../hosts/worker/$2", String(import.meta.url))',
      ),
      map: null,
    };
  },
};

/** The entry points that are imported: nothing is added to what each exports. The option for all does not go with groups. */
const STRICT_ENTRIES = {
  name: 'strict-entries',
  buildStart() {
    for (const [name, file] of Object.entries(ENTRIES)) {
      if (name !== 'cli')
        this.emitFile({
          type: 'chunk',
          name,
          fileName: `${name}.js`,
          id: `${MODULES}/${file}`,
          preserveSignature: 'strict',
        });
    }
  },
};

/** The first that holds decides; what has no rule stays a chunk of its own. Each is below those that come after it. */
function groupsOf(output) {
  const { chunks, closure, modulesOf } = closuresIn(output);
  const entry = (name) => closure([`/modules/${ENTRIES[name]}`]);
  const [verify, state, serve, cli] = ['verify', 'state', 'serve', 'cli'].map(entry);
  const inline = entry('inline');
  const small = [verify, inline, ...['index', 'fees', 'hash', 'viem'].map(entry)];
  const [light, devnet] = ['light', 'devnet'].map((kind) => closure([`/hosts/opening/open-${kind}.js`]));
  const execution = closure(['/estimate/estimation.js', '/kernel/calldata-sizer.js']);
  const proofs = closure(['/proof/linea-proof.js', '/kernel/hasher.js']);
  const settlement = closure(['/chain/light/settlement/settlement.js']);
  const later = closure([
    '/chain/light/read-contents.js',
    '/chain/light/submit.js',
    '/proof/seals.js',
    '/hosts/sharing/open-shared.js',
    '/store/metered-store.js',
    '/store/idb-store.js',
    '/chain/light/light-cache.js',
    '/hosts/opening/open-replica.js',
  ]);
  const http = closure(['/rpc/http.js']);
  const options = closure(['/hosts/options/require-known.js']);
  const storedDevnet = closure(['/chain/devnet/storage/find-stored.js', '/chain/devnet/checkpoint-loader.js']);
  const nodes = [light, devnet, execution];
  const used = [...nodes, proofs, later];
  const held = (chunk, sets) => sets.filter((set) => set.has(chunk)).length;
  const isBase = (chunk) => !verify.has(chunk) && held(chunk, small) > 0 && held(chunk, used) > 0;
  const rules = [
    ['inline', (chunk) => inline.has(chunk)],
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
    // Pages have these, too: nothing of a server or the command comes with them.
    ['http', (chunk) => http.has(chunk)],
    ['options', (chunk) => options.has(chunk)],
    ['server', (chunk) => serve.has(chunk) && cli.has(chunk)],
  ];
  const groupOf = new Map();
  for (const chunk of chunks.values()) {
    const rule = rules.find(([, holds]) => holds(chunk));
    if (rule !== undefined && (!chunk.isEntry || inline.has(chunk)))
      for (const id of modulesOf(chunk)) groupOf.set(id, rule[0]);
  }
  return withRest(
    output,
    rules.map(([name]) => name),
    groupOf,
    { common: inline, kinds: [light, devnet, ...['cli', 'serve', 'verify', 'state'].map(entry)], apart: [] },
  );
}

/** @returns what the bundler made of it */
export async function bundleForNode() {
  const input = {
    input: Object.fromEntries(Object.entries(ENTRIES).map(([name, file]) => [name, `${MODULES}/${file}`])),
    platform: 'browser',
    checks: { bundlerTimings: false },
    external: OUTSIDE,
    plugins: [SHARED, sharedTexts('../../hosts/chunks'), SOURCE_MAPS, WORKER_URLS],
    onLog: (level, log, handle) => isWorthTelling(log) && handle(level, log),
  };
  // Without the optimization that puts what is shared into entries: what each uses is to be seen.
  const alone = await rolldown({ ...input, logLevel: 'silent', experimental: { chunkOptimization: false } });
  const { output: parts } = await alone.generate({ format: 'esm' });
  const groups = groupsOf(parts);
  await alone.close();
  const build = await rolldown({
    ...input,
    input: { cli: `${MODULES}/${ENTRIES.cli}` },
    plugins: [STRICT_ENTRIES, ...input.plugins],
    logLevel: 'warn',
    preserveEntrySignatures: 'allow-extension',
  });
  await rm(`${root}/dist/node`, { recursive: true, force: true });
  const { output } = await build.write({
    dir: `${root}/dist/node`,
    format: 'esm',
    entryFileNames: '[name].js',
    chunkFileNames: 'chunks/[name]-[hash].js',
    codeSplitting: { groups, includeDependenciesRecursively: false },
    // So that a printed stack can be read.
    minify: false,
    comments: { legal: false, jsdoc: false, annotation: true },
    sourcemap: 'hidden',
  });
  await build.close();
  for (const { name, exports } of output.filter(({ isEntry }) => isEntry)) {
    const meant = parts.find((part) => part.isEntry && part.name === name).exports;
    if (`${[...exports].sort()}` !== `${[...meant].sort()}`)
      throw new Error(`${name} exports ${exports}, not ${meant}`);
  }
  return output;
}
