import { runInNewContext } from 'node:vm';
import { describe, expect, test } from 'vitest';
import { type ClassicChunk, type ClassicPlan, classicScripts } from '../../scripts/lib/classic-scripts.mjs';

/** Chunks by name: what each imports, and what it may load later. */
const CHUNKS: Readonly<Record<string, { imports?: string[]; later?: string[] }>> = {
  entry: { imports: ['core'], later: ['light', 'devnet', 'replica', 'rare', 'seldom'] },
  core: {},
  light: { imports: ['group', 'both'], later: ['replica', 'once', 'rare'] },
  group: {},
  once: { imports: ['group'] },
  seldom: { imports: ['ledger'] },
  ledger: {},
  devnet: { imports: ['both', 'tries', 'ledger'], later: ['files', 'rare', 'plain'] },
  both: { later: ['rare'] },
  replica: { imports: ['group', 'tries', 'memory'] },
  tries: { later: ['kernel', 'plain'] },
  kernel: {},
  plain: {},
  files: { imports: ['memory', 'parts'] },
  memory: {},
  parts: {},
  rare: { imports: ['group', 'parts', 'curve'] },
  curve: {},
};

const PLAN: ClassicPlan = {
  script: 'sw',
  roots: { light: '/light', devnet: '/devnet', replica: '/replica' },
  shared: { 'light replica': 'light', 'devnet replica': 'tries' },
  aside: { plain: ['/plain'], later: ['/rare', '/seldom'], 'devnet-later': ['/files'] },
  always: { later: 'true', plain: 'self.isPlain' },
  beside: { devnet: 'devnet-later' },
};

const output = Object.entries(CHUNKS).map(([name, { imports = [], later = [] }]): ClassicChunk => {
  const lines = imports.map((of) => `({...require("./${of}.js")});`);
  const loads = later.map((of) => `${of}:()=>require("./${of}.js")`);
  return {
    type: 'chunk',
    fileName: `${name}.js`,
    code: `${lines.join('')}exports.name=${JSON.stringify(name)};exports.later={${loads.join(',')}};${
      name === 'entry' ? 'self.entry={name:exports.name,later:exports.later};' : ''
    }`,
    isEntry: name === 'entry',
    facadeModuleId: `/src/${name}`,
    imports: imports.map((of) => `${of}.js`),
    dynamicImports: later.map((of) => `${of}.js`),
  };
});

interface Loaded {
  readonly name: string;
  readonly later: Readonly<Record<string, () => Loaded>>;
}

/** A service worker's scope, which refuses scripts it has not imported by the end of its installation. */
async function install(kinds: readonly string[], plan = PLAN, isPlain = false) {
  const scripts = classicScripts(output, plan);
  const imported: string[] = [];
  const waits: Promise<unknown>[] = [];
  const onInstall: ((event: object) => void)[] = [];
  const self = {
    isPlain,
    location: { href: 'https://site.example/sw.js' },
    entry: undefined as unknown as Loaded,
    addEventListener: (_: string, listener: (event: object) => void) => onInstall.push(listener),
    importScripts(url: string) {
      const name = url.slice(url.lastIndexOf('/') + 1);
      if (installed && !imported.includes(name)) throw new Error(`${name} was not installed`);
      imported.push(name);
      runInNewContext(scripts.get(name)!, { self, URL, WebAssembly });
    },
  };
  let installed = false;
  runInNewContext(scripts.get('sw.js')!, { self, URL, WebAssembly });
  const atStart = [...imported];
  for (const listener of onInstall) listener({ waitUntil: (wait: Promise<unknown>) => waits.push(wait) });
  for (const kind of kinds) self.entry.later[kind]!();
  await Promise.all(waits);
  installed = true;
  return { entry: self.entry, imported, atStart, scripts };
}

/** Whatever can be loaded from a chunk on. */
function loadAll(chunk: Loaded, except: readonly string[], found = new Set<string>()): Set<string> {
  if (found.has(chunk.name)) return found;
  found.add(chunk.name);
  for (const [name, load] of Object.entries(chunk.later)) if (!except.includes(name)) loadAll(load(), except, found);
  return found;
}

describe('classic scripts', () => {
  test.each([
    [['light'], ['devnet', 'replica', 'plain'], ['sw-later.js', 'sw-light.js']],
    [['devnet'], ['light', 'replica', 'plain'], ['sw-later.js', 'sw-devnet.js', 'sw-devnet-later.js', 'sw-tries.js']],
    [
      ['light', 'replica'],
      ['devnet', 'plain'],
      ['sw-later.js', 'sw-light.js', 'sw-replica.js', 'sw-tries.js'],
    ],
  ])('of %s: the installation brings whatever it comes to later', async (kinds, without, files) => {
    const { entry, imported, atStart } = await install(kinds);
    expect(atStart).toEqual([]);
    expect([...imported].sort()).toEqual([...files].sort());
    const found = loadAll(entry, without);
    for (const kind of kinds) expect(found).toContain(kind);
    expect(found).toContain('rare');
    expect(found).toContain('seldom');
  });

  test('conditions are asked', async () => {
    expect((await install(['light'], PLAN, true)).imported).toContain('sw-plain.js');
    const { entry } = await install(['devnet']);
    expect(() => loadAll(entry, ['light', 'replica'])).toThrow('sw-plain.js was not installed');
  });

  test('every chunk is in one file', async () => {
    const { scripts } = await install(['light']);
    const texts = [...scripts.values()];
    for (const name of Object.keys(CHUNKS)) {
      expect(texts.filter((text) => text.includes(`"${name}.js"($load`)).length, name).toBe(1);
    }
  });

  test('a module that is no chunk is reported', () => {
    const wrong = { ...PLAN, aside: { later: ['/nowhere'] } };
    expect(() => classicScripts(output, wrong)).toThrow('/nowhere is no chunk of its own');
  });
});
