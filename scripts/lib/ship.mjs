/**
 * dist: the modules and types that entry points lead to, out of what tsc made, beside the bundles. Source maps go to a package of
 * their own, build/sourcemaps, with the sources in them.
 */
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { dirname, isAbsolute, join, relative } from 'node:path';
import { rolldown } from 'rolldown';
import { dts } from 'rolldown-plugin-dts';
import { root } from './run.mjs';

/** What tsc made: all modules without comments, and their types with them. */
export const MODULES = `${root}/build/modules`;
const TYPES = `${root}/build/types`;
const DIST = `${root}/dist`;
/** What the package of the command ships. */
export const CLI_DIST = `${root}/cli/dist`;
const MAPS = `${root}/build/sourcemaps`;

/** Entry points that ship as single modules, for bundlers and for Node: these leave out what a page does not use. */
const ENTRIES = [
  ...['index', 'hosts/opening/inline', 'verify', 'fees', 'state', 'hash', 'viem'],
  ...['react', 'wagmi', 'fee-element', 'vite', 'hardhat'],
];

/**
 * Texts of kernels and of the dictionary, which all bundles and modules import from one place, with the chunks of the workers.
 */
const TEXTS = [
  ...['evm', 'hash', 'trie'].flatMap((name) =>
    ['simd', 'scalar'].map((build) => `kernel/wasm/${name}.${build}.generated.js`),
  ),
  'fees/general.generated.js',
  'rpc/openrpc.generated.js',
];
export const TEXTS_AT = 'hosts/chunks';

/** The module that opens a node in this thread, and where the chunks of the worker have it. */
export const OPEN_INLINE = { module: 'hosts/opening/open-inline.js', at: `${TEXTS_AT}/open-inline.js` };

/** Where a module of tsc's imports something from, relative to MODULES. */
export const importedFrom = (importer, specifier) =>
  relative(MODULES, join(dirname(importer), specifier)).replaceAll('\\', '/');

/** A bundler's plugin: in chunks, which lie beside them, texts stay files of their own. */
export const SHARED_TEXTS = {
  name: 'shared-texts',
  resolveId(specifier, importer) {
    if (importer === undefined || !specifier.startsWith('.')) return;
    const file = importedFrom(importer, specifier);
    if (TEXTS.includes(file)) return { id: `./${file}`, external: true };
  },
};

/** As chunks of a worker, for `npm run size`. */
export const textChunks = () =>
  TEXTS.map((file) => ({
    fileName: `${TEXTS_AT}/${file}`,
    isEntry: false,
    imports: [],
    modules: [join(MODULES, file)],
  }));

/** Whether a module is one of ours, by its id. */
const isOurs = (id) => !relative(MODULES, id).startsWith('..') && existsSync(`${id}.map`);

/** Code of dependencies is not mapped, and some bundles import at once what others import later. */
const isWorthTelling = ({ code }) => code !== 'SOURCEMAP_BROKEN' && code !== 'INEFFECTIVE_DYNAMIC_IMPORT';

/** What all bundles begin with. */
export const BUNDLE_INPUT = {
  platform: 'browser',
  logLevel: 'warn',
  checks: { bundlerTimings: false },
  onLog: (level, log, handle) => isWorthTelling(log) && handle(level, log),
};

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

const write = (file, text) => {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
};

/** Packages stay imports. */
const isPackage = (id) => !id.startsWith('.') && !isAbsolute(id);

/** Written without blanks; the names stay, so that a printed stack can be read. */
const READABLE = {
  format: 'esm',
  minify: { compress: false, mangle: false, codegen: { removeWhitespace: true } },
  comments: { legal: false, jsdoc: false, annotation: true },
  sourcemap: 'hidden',
};

/** Modules import texts, and what opens a node, from where the chunks are; they have one depth or another. */
const FROM_CHUNKS = {
  name: 'from-chunks',
  resolveId(specifier, importer) {
    if (importer === undefined || !specifier.startsWith('.')) return;
    const file = importedFrom(importer, specifier);
    const place = file === OPEN_INLINE.module ? OPEN_INLINE.at : TEXTS.includes(file) && join(TEXTS_AT, file);
    if (!place) return;
    const path = relative(relative(MODULES, dirname(importer)), place).replaceAll('\\', '/');
    return { id: path.startsWith('.') ? path : `./${path}`, external: true };
  },
};

/** Modules of the entry points, without what none of them leads to. */
export async function shipModules() {
  const build = await rolldown({
    ...BUNDLE_INPUT,
    input: Object.fromEntries(ENTRIES.map((name) => [name, `${MODULES}/${name}.js`])),
    external: isPackage,
    plugins: [FROM_CHUNKS, SOURCE_MAPS],
  });
  await build.write({ ...READABLE, dir: DIST, preserveModules: true, preserveModulesRoot: MODULES });
  await build.close();
  for (const file of TEXTS) {
    const text = readFileSync(join(MODULES, file), 'utf8').replace(/\n\/\/# sourceMappingURL=.*\n?$/, '\n');
    write(join(DIST, TEXTS_AT, file), text);
  }
  await shipIndexOfNode();
}

/**
 * `plumbline-l2` under the condition `node`. A bundler that makes a server of a program is not to follow the addresses of the workers:
 * Node has no such workers, and where there are some the package is not bundled. All other modules are those of pages.
 */
async function shipIndexOfNode() {
  const held = ['index.js', 'hosts/worker/client.js'];
  const others = {
    name: 'modules-of-pages',
    resolveId(specifier, importer) {
      if (importer === undefined || !specifier.startsWith('.')) return;
      const file = importedFrom(importer, specifier);
      if (!held.includes(file)) return { id: `../${file}`, external: true };
    },
    renderChunk: (code) => ({
      code: code.replaceAll(
        /new URL\((["'`])\.\/(worker[\w-]*\.js)\1, ?import\.meta\.url\)/g,
        'new URL("../hosts/worker/$2", String(import.meta.url))',
      ),
      map: null,
    }),
  };
  const build = await rolldown({
    ...BUNDLE_INPUT,
    input: `${MODULES}/index.js`,
    external: isPackage,
    plugins: [others, SOURCE_MAPS],
  });
  await build.write({ ...READABLE, file: `${DIST}/node/index.js` });
  await build.close();
}

/**
 * Types of some entry points with what they lead to, in few files.
 *
 * @param entries - module, by the name of the file
 * @param directory - to write them to
 */
export async function shipTypes(entries, directory) {
  const build = await rolldown({
    ...BUNDLE_INPUT,
    input: Object.fromEntries(Object.entries(entries).map(([name, file]) => [name, `${TYPES}/${file}.d.ts`])),
    external: isPackage,
    plugins: [dts({ dtsInput: true, tsconfig: false })],
  });
  await build.write({ dir: directory, format: 'esm', chunkFileNames: 'types/[name]-[hash].d.ts' });
  await build.close();
}

/** Types of entry points that are scripts or files, and export nothing that has a type. */
export function copyTypes(...files) {
  for (const file of files) {
    mkdirSync(dirname(join(DIST, file)), { recursive: true });
    cpSync(join(TYPES, file), join(DIST, file));
  }
}

/** The sources of a map as paths from the root of the repository, with their text. */
function withSources(map, directory) {
  const paths = map.sources.map((source) => relative(root, join(directory, source)).replaceAll('\\', '/'));
  // tsc names src from build/modules, where the file that ships is in dist.
  const sources = paths.map((path) => path.slice(path.search(/\bsrc\//)));
  return {
    ...map,
    sourceRoot: '',
    sources,
    sourcesContent: sources.map((path) => readFileSync(join(root, path), 'utf8')),
  };
}

/** Moves the maps out of what ships: to `dist` those of the one package, and to `cli/dist` those of the other. */
export function shipSourceMaps({ name, version, license, repository, publishConfig }) {
  rmSync(MAPS, { recursive: true, force: true });
  for (const directory of [DIST, CLI_DIST]) {
    const maps = readdirSync(directory, { withFileTypes: true, recursive: true });
    for (const { parentPath, name: file } of maps.filter((one) => one.name.endsWith('.js.map'))) {
      const path = join(parentPath, file);
      const map = withSources(JSON.parse(readFileSync(path, 'utf8')), parentPath);
      write(join(MAPS, relative(root, path)), JSON.stringify(map));
      rmSync(path);
    }
  }
  const manifest = {
    name: `${name}-sourcemaps`,
    version,
    description: `Source maps of ${name} and ${name}-cli, with the sources in them: that of a file has its path, and .map behind it.`,
    license,
    repository,
    publishConfig,
    files: ['dist', 'cli/dist'],
  };
  write(`${MAPS}/package.json`, `${JSON.stringify(manifest, null, 2)}\n`);
}
