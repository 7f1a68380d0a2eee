import { readdirSync, readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { type Packed, packPackage, root } from './project.js';

/** All that belongs into the package. */
const MEANT = [
  /^(?:README|CHANGELOG|LICENSE)(?:\.md)?$|^package\.json$/,
  /^docs\/(?:guides\/)?[a-z-]+\.md$/,
  /^src\/(?:[\w-]+\/)*[\w.-]+\.ts$/,
  /^dist\/(?:[\w-]+\/)*[\w.-]+\.(?:js|js\.map|d\.ts|wasm)$/,
  /^dist\/licenses\.txt$/,
];

describe('the packed package', () => {
  let packed: Packed;
  let inside: string;
  let files: string[];
  beforeAll(async () => {
    packed = await packPackage();
    inside = join(packed.directory, 'package');
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

  test('has source maps that lead to sources in it', () => {
    const maps = files.filter((file) => file.endsWith('.map'));
    expect(maps.length).toBeGreaterThan(200);
    const lost = maps.flatMap((file) => {
      const { sources } = JSON.parse(read(file)) as { sources: string[] };
      return sources.map((source) => join(file, '..', source)).filter((source) => !files.includes(source));
    });
    expect(lost).toEqual([]);
  });

  test('lists the licences of what is bundled', () => {
    const text = read('dist/licenses.txt');
    // Of the code that the bundles have, by names that minifying leaves alone.
    for (const name of ['@ethereumjs/rlp', '@noble/curves', '@noble/hashes', 'comlink', 'idb', 'cockatiel']) {
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
});
