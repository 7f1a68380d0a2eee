/**
 * dist: the modules and types that entry points lead to, out of what tsc made, beside the bundles. Source maps go to a package of
 * their own, build/sourcemaps, with the sources in them.
 */
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { root } from './run.mjs';

/** What tsc made: all modules without comments, and their types with them. */
export const MODULES = `${root}/build/modules`;
const TYPES = `${root}/build/types`;
const DIST = `${root}/dist`;
const SOURCE_MAPS = `${root}/build/sourcemaps`;

/** Entry points that ship as single modules, for bundlers: these leave out what a page does not use. */
const ENTRIES = ['index', 'verify', 'fees', 'state', 'hash', 'viem', 'react', 'wagmi', 'fee-element', 'vite'].map(
  (name) => `${name}.js`,
);

const IMPORT = /\b(?:from|import)\s*\(?\s*['"](\.[^'"]+)['"]/g;

/** Files that some lead to by imports of any kind, relative to a directory. @param nameOf - file that an import names */
function reachable(directory, files, nameOf = (path) => path) {
  const found = new Set();
  const visit = (file) => {
    if (found.has(file)) return;
    found.add(file);
    const text = readFileSync(join(directory, file), 'utf8');
    for (const [, target] of text.matchAll(IMPORT)) visit(nameOf(join(dirname(file), target)));
  };
  for (const file of files) visit(file);
  return [...found].sort();
}

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
const TEXTS_AT = 'hosts/chunks';

/** Where a module of tsc's imports something from, relative to MODULES. */
export const importedFrom = (importer, specifier) =>
  relative(MODULES, join(dirname(importer), specifier)).replaceAll('\\', '/');

/**
 * A bundler's plugin: texts stay files of their own.
 *
 * @param from - path of them from the chunks of the bundle
 * @param taken - those that a bundle takes in, by the ends of their paths
 */
export const sharedTexts = (from, taken = []) => ({
  name: 'shared-texts',
  resolveId(specifier, importer) {
    if (importer === undefined || !specifier.startsWith('.')) return;
    const file = importedFrom(importer, specifier);
    if (TEXTS.includes(file) && !taken.some((end) => file.endsWith(end)))
      return { id: `${from}/${file}`, external: true };
  },
});

/** As chunks of a worker, for `npm run size`. */
export const textChunks = () =>
  TEXTS.map((file) => ({
    fileName: `${TEXTS_AT}/${file}`,
    isEntry: false,
    imports: [],
    modules: [join(MODULES, file)],
  }));

const write = (file, text) => {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
};

/** A module without the comment that names its map, and with the place of texts in its imports. */
function shipped(file) {
  const text = readFileSync(join(MODULES, file), 'utf8').replace(/\n\/\/# sourceMappingURL=.*\n?$/, '\n');
  return text.replaceAll(IMPORT, (whole, target) => {
    const imported = importedFrom(join(MODULES, file), target);
    if (!TEXTS.includes(imported)) return whole;
    const path = relative(dirname(join(DIST, file)), join(DIST, TEXTS_AT, imported)).replaceAll('\\', '/');
    return whole.replace(target, path.startsWith('.') ? path : `./${path}`);
  });
}

/** Modules and types of the entry points. @param exports - of package.json */
export function shipModules(exports) {
  for (const file of reachable(MODULES, ENTRIES)) {
    if (TEXTS.includes(file)) continue;
    write(join(DIST, file), shipped(file));
    write(join(DIST, `${file}.map`), readFileSync(join(MODULES, `${file}.map`), 'utf8'));
  }
  for (const file of TEXTS) write(join(DIST, TEXTS_AT, file), shipped(file));
  const types = [...new Set(Object.values(exports).flatMap(({ types }) => types ?? []))];
  const first = types.map((path) => relative('dist', path));
  for (const file of reachable(TYPES, first, (path) => path.replace(/\.js$/, '.d.ts'))) {
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

/** Moves the maps out of dist. */
export function shipSourceMaps({ name, version, license, repository, publishConfig }) {
  rmSync(SOURCE_MAPS, { recursive: true, force: true });
  const maps = readdirSync(DIST, { withFileTypes: true, recursive: true }).filter((one) =>
    one.name.endsWith('.js.map'),
  );
  for (const { parentPath, name: file } of maps) {
    const path = join(parentPath, file);
    const map = withSources(JSON.parse(readFileSync(path, 'utf8')), parentPath);
    write(join(SOURCE_MAPS, relative(root, path)), JSON.stringify(map));
    rmSync(path);
  }
  const manifest = {
    name: `${name}-sourcemaps`,
    version,
    description: `Source maps of ${name}, with the sources in them: that of a file has its path, and .map behind it.`,
    license,
    repository,
    publishConfig,
    files: ['dist'],
  };
  write(`${SOURCE_MAPS}/package.json`, `${JSON.stringify(manifest, null, 2)}\n`);
  cpSync(`${root}/LICENSE`, `${SOURCE_MAPS}/LICENSE`);
}
