import { readdirSync, readFileSync, statSync } from 'node:fs';
import { SourceMap, type SourceMapPayload, type SourceMapping } from 'node:module';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { type Packed, packPackage, root } from './project.js';

/** All that belongs into a package. */
const MEANT = [
  /^(?:README|CHANGELOG|LICENSE)(?:\.md)?$|^package\.json$/,
  /^dist\/(?:[\w-]+\/)*[\w.-]+\.(?:js|d\.ts|wasm)$/,
  /^dist\/licenses\.txt$/,
];

/** Installed, without dependencies; 4 MB are promised for `plumbline-l2` (docs/decisions.md). */
const MOST_BYTES = 5_200_000;
const DEPENDENCIES = ['@ethereumjs/rlp', '@noble/curves', '@noble/hashes', 'comlink', 'idb'];

/** Texts of errors that a file of each kind has, and where they come from. */
const THROWN = [
  [/^dist\/hosts\/worker\/client\.js$/, 'this environment has no workers', 'src/hosts/worker/client.ts'],
  [
    /^dist\/hosts\/chunks\//,
    'is not a dev account; sign with one of DEV_ACCOUNTS',
    'src/chain/devnet/mining/impersonation.ts',
  ],
] as const;

describe('the packed package', () => {
  let packed: Packed;
  let inside: string;
  let files: string[];
  beforeAll(async () => {
    packed = await packPackage();
    inside = join(packed.directory, 'plumbline-l2');
    files = readdirSync(inside, { withFileTypes: true, recursive: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name).slice(inside.length + 1))
      .sort();
  });

  const read = (file: string) => readFileSync(join(inside, file), 'latin1');

  test('has what is meant to ship and nothing else', () => {
    expect(files.filter((file) => !MEANT.some((pattern) => pattern.test(file)))).toEqual([]);
    expect(files.filter((file) => /^dist\/demo\/|\/reference\/|test/.test(file) && !/test-token/.test(file))).toEqual(
      [],
    );
  });

  test('contains no path of the machine that built it', () => {
    expect(files.filter((file) => read(file).includes(root) || read(file).includes(`${homedir()}/`))).toEqual([]);
  });

  test('needs five packages and no more', () => {
    const { dependencies } = JSON.parse(read('package.json')) as { dependencies: Record<string, string> };
    expect(Object.keys(dependencies)).toEqual(DEPENDENCIES);
  });

  test('is below 5.2 MB, without maps and without comments that name some', () => {
    const bytes = files.reduce((sum, file) => sum + statSync(join(inside, file)).size, 0);
    expect(bytes).toBeLessThan(MOST_BYTES);
    const scripts = files.filter((file) => file.endsWith('.js'));
    expect(scripts.filter((file) => read(file).includes('sourceMappingURL'))).toEqual([]);
  });

  test('has the tables of names in files that nothing else comes with', () => {
    // A message of the normalizer, which minifying leaves alone.
    const having = files.filter((file) => file.endsWith('.js') && read(file).includes('illegal mixture'));
    expect(having).toEqual([
      expect.stringMatching(/^dist\/hosts\/chunks\/normalizer-[\w-]+\.js$/),
      'dist/service-worker-names.js',
    ]);
    // The package has 38 KB of it as a file for browsers.
    for (const file of having) expect(statSync(join(inside, file)).size).toBeLessThan(48_000);
  });

  test('has its source maps in a package of their own, one for each module and bundle, with the sources in them', () => {
    const maps = `${root}/build/sourcemaps`;
    const { name, version } = JSON.parse(readFileSync(`${maps}/package.json`, 'utf8')) as Record<string, string>;
    expect(`${name}@${version}`).toBe(
      `plumbline-l2-sourcemaps@${(JSON.parse(read('package.json')) as { version: string }).version}`,
    );
    // Service workers are put together from bundles, texts are no code, and the entry of a worker only imports.
    const without =
      /^dist\/(?:service-worker|hosts\/chunks\/(?:kernel|fees|rpc|rolldown-runtime)|hosts\/worker\/worker-devnet\.js)/;
    const onlyImports = /^(?:(?:import|export)\b[^;]*;\s*)+$/;
    const own = files.filter((file) => file.endsWith('.js') && !without.test(file));
    const scripts = own.filter((file) => !onlyImports.test(read(file)));
    expect(scripts.length).toBeGreaterThan(150);
    for (const file of scripts) {
      const map = JSON.parse(readFileSync(`${maps}/${file}.map`, 'utf8')) as SourceMapPayload;
      for (const [i, source] of map.sources.entries()) {
        expect(map.sourcesContent[i], `${file}: ${source}`).toBe(readFileSync(join(root, source), 'utf8'));
      }
    }
  });

  test.each(THROWN)('a position in %s leads to the line of src that has the text', (pattern, text, source) => {
    const file = files.find((one) => pattern.test(one) && read(one).includes(text))!;
    const lines = read(file).split('\n');
    const line = lines.findIndex((one) => one.includes(text));
    const payload = JSON.parse(readFileSync(`${root}/build/sourcemaps/${file}.map`, 'utf8')) as SourceMapPayload;
    const found = new SourceMap(payload).findEntry(line, lines[line]!.indexOf(text)) as SourceMapping;
    expect(found.originalSource).toBe(source);
    const original = readFileSync(join(root, source), 'utf8').split('\n')[found.originalLine];
    expect(original).toContain(text);
  });

  test('lists the licences of what is bundled', () => {
    const text = read('dist/licenses.txt');
    // Of the code that the bundles have, by names that minifying leaves alone.
    for (const name of [
      '@adraffy/ens-normalize',
      '@ethereumjs/rlp',
      '@noble/curves',
      '@noble/hashes',
      'comlink',
      'idb',
    ]) {
      const { version, license } = JSON.parse(readFileSync(`${root}/node_modules/${name}/package.json`, 'utf8')) as {
        version: string;
        license: string;
      };
      expect(text).toContain(`\n${name} ${version}: ${license}\n`);
    }
    const listed = text.match(/^\S+ \d+\.\d+\.\d+: \S+$/gm) ?? [];
    expect(listed).toEqual([...new Set(listed)].sort());
    expect(text).toMatch(/Mozilla Public License Version 2\.0/);
    expect(text).toMatch(/Apache License\s+Version 2\.0/);
    expect(text).toMatch(/Paul Miller/);
  });

  test('what a page can import of plumbline-l2/inline names no module of Node', () => {
    const seen = new Set<string>();
    const visit = (file: string) => {
      if (seen.has(file)) return;
      seen.add(file);
      const text = readFileSync(file, 'utf8');
      expect(text, file).not.toMatch(/(?:\bfrom|\bimport|\bimport\()\s*["`]node:/);
      for (const [, path] of text.matchAll(/(?:\bfrom|\bimport|\bimport\()\s*["`](\.[^"`]+\.js)["`]/g))
        visit(join(file, '..', path!));
    };
    visit(join(inside, 'dist/hosts/opening/inline.js'));
    expect(seen.size).toBeGreaterThan(20);
  });
});

describe('the packed package of the command', () => {
  let inside: string;
  beforeAll(async () => {
    inside = join((await packPackage()).directory, 'plumbline-l2-cli');
  });
  const read = (file: string) => readFileSync(join(inside, file), 'latin1');

  test('has the command, the server and the demo page, and nothing of the machine', () => {
    const files = readdirSync(inside, { withFileTypes: true, recursive: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name).slice(inside.length + 1));
    const meant = [...MEANT, /^dist\/demo\/(?:assets\/)?[\w.-]+\.(?:html|css|svg|wasm)$/];
    expect(files.filter((file) => !meant.some((pattern) => pattern.test(file)))).toEqual([]);
    expect(files).toEqual(
      expect.arrayContaining(['dist/cli.js', 'dist/serve.js', 'dist/serve.d.ts', 'dist/demo/index.html']),
    );
    expect(files.filter((file) => read(file).includes(root) || read(file).includes(`${homedir()}/`))).toEqual([]);
  });

  test('needs what a server needs, and is of the version of the other', () => {
    const { dependencies, version } = JSON.parse(read('package.json')) as {
      dependencies: Record<string, string>;
      version: string;
    };
    expect(Object.keys(dependencies)).toEqual(['@hono/node-server', 'hono', 'ws']);
    expect(version).toBe((JSON.parse(readFileSync(`${root}/package.json`, 'utf8')) as { version: string }).version);
  });

  test('lists the licences of what is bundled', () => {
    for (const name of ['@adraffy/ens-normalize', '@ethereumjs/rlp', '@noble/curves', '@noble/hashes'])
      expect(read('dist/licenses.txt')).toMatch(new RegExp(`^${name} \\d+\\.\\d+\\.\\d+: (?:MIT|MPL-2\\.0)$`, 'm'));
  });
});
