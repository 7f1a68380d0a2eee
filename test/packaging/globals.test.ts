import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { transformSync } from 'rolldown/utils';
import { describe, expect, test } from 'vitest';
import { root } from './project.js';

/** What only Node has, and what only the thread of a page has: no name of these may be taken for granted in a worker. */
const FOREIGN = [
  ...['Buffer', 'process', 'global', 'require', 'module', 'exports', '__dirname', '__filename', 'setImmediate'],
  ...['window', 'document', 'localStorage', 'sessionStorage', 'XMLHttpRequest', 'HTMLElement', 'DOMParser', 'alert'],
];
const MARK = 'PLUMBLINE_FREE_';
const define = Object.fromEntries(FOREIGN.map((name) => [name, MARK + name]));

/** The foreign globals a module names. The compiler replaces what is no variable of the module's own, and nothing else. */
function foreignIn(file: string): string[] {
  const { code, errors } = transformSync('module.js', readFileSync(file, 'utf8'), { define });
  expect(errors).toEqual([]);
  const found = code.matchAll(new RegExp(`${MARK}(\\w+)`, 'g'));
  return [...new Set([...found].map((match) => match[1]!))].sort();
}

function scripts(directory: string): string[] {
  return readdirSync(directory, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith('.js'))
    .map((entry) => `${entry.parentPath}/${entry.name}`);
}

const dist = `${root}/dist`;
/** What tsc made of src, before it is bundled. */
const modules = `${root}/build/modules`;
const built = scripts(dist).filter((file) => !file.startsWith(`${dist}/demo/`));
/** Bundles: ours and the dependencies in one. */
const isBundle = (file: string): boolean =>
  /\/chunks\/|\/hosts\/worker\/worker(?:-devnet)?\.js$|dist\/service-worker[^/]*\.js$/.test(file);
/** Entry points of browsers, and the sources of the two bundles. */
const ENTRIES = [
  ...['index', 'verify', 'fees', 'state', 'hash', 'viem'],
  ...['hosts/opening/inline', 'hosts/worker/service-worker'],
].map((name) => join(modules, `${name}.js`));
const IMPORT = /\b(?:from|import)\s*\(?\s*['"`]([^'"`]+)['"`]/g;

/** What modules reach, by imports of any kind. */
function reachable(entries: readonly string[]): { files: string[]; packages: Set<string> } {
  const files = new Set<string>();
  const packages = new Set<string>();
  const visit = (file: string): void => {
    if (files.has(file)) return;
    files.add(file);
    for (const [, target = ''] of readFileSync(file, 'utf8').matchAll(IMPORT)) {
      if (target.startsWith('.')) visit(join(dirname(file), target));
      else packages.add(target);
    }
  };
  for (const entry of entries) visit(entry);
  return { files: [...files], packages };
}

describe('what ships to the browser', () => {
  test('our own modules name no global of Node or of a page', () => {
    const { files, packages } = reachable(ENTRIES);
    expect(files.length).toBeGreaterThan(200);
    expect([...packages].filter((name) => name.startsWith('node:'))).toEqual([]);
    const found = files
      .map((file) => [file.slice(modules.length), foreignIn(file)])
      .filter(([, names]) => names!.length > 0);
    expect(found).toEqual([]);
  });

  test('worker and service worker, with the dependencies in them, name none either', () => {
    const files = built.filter(isBundle);
    expect(files.length).toBeGreaterThan(10);
    expect([...new Set(files.flatMap(foreignIn))]).toEqual([]);
  });

  test('the search finds a module that does name one', () => {
    // The command may: it proves that the search sees what it looks for.
    expect(foreignIn(`${modules}/hosts/cli/cli.js`)).toContain('process');
  });
});
