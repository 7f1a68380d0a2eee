/** `npm run size`: bundles each door as a page would, prints its gzip size beside its budget, fails when one is exceeded. */
import { readFile } from 'node:fs/promises';
import { gzipSync } from 'node:zlib';
import { rolldown } from 'rolldown';
import { buildLibrary } from './build.mjs';
import { root } from './lib/run.mjs';

const KB = 1000;

/** What a page imports, and how many bytes of gzip all of it may have. Without a budget the figure is only printed. */
const DOORS = [
  {
    name: 'plumbline/verify: verify a proof, WASM included',
    file: 'verify.js',
    use: ['verifyLineaProof', 'verifyL1Anchor', 'loadHasher'],
    budget: 40 * KB,
  },
  { name: 'plumbline: worker client', file: 'index.js', use: ['createNode'], budget: 20 * KB },
  { name: 'plumbline/fees', file: 'fees.js', use: '*' },
  { name: 'worker, all of it', file: 'hosts/worker.js', use: 'as it is' },
  { name: 'service worker, all of it', file: 'service-worker.js', use: 'as it is' },
];

const gzipBytes = (code) => gzipSync(code, { level: 9 }).length;

async function gzipOf({ file, use }) {
  if (use === 'as it is') return gzipBytes(await readFile(`${root}/dist/${file}`));
  const names = use === '*' ? '*' : `{ ${use.join(', ')} }`;
  const virtual = 'page.js';
  const build = await rolldown({
    input: virtual,
    platform: 'browser',
    logLevel: 'silent',
    plugins: [
      {
        name: 'page',
        resolveId: (id) => (id === virtual ? id : undefined),
        load: (id) => (id === virtual ? `export ${names} from ${JSON.stringify(`${root}/dist/${file}`)};` : undefined),
      },
    ],
  });
  const { output } = await build.generate({ format: 'esm', minify: true });
  await build.close();
  // Only what the page loads to begin with: chunks of dynamic imports are loaded when used.
  const first = output.filter((chunk) => chunk.type === 'chunk' && !chunk.isDynamicEntry);
  return first.reduce((sum, chunk) => sum + gzipBytes(chunk.code), 0);
}

await buildLibrary();
let exceeded = false;
for (const door of DOORS) {
  const size = await gzipOf(door);
  const over = door.budget !== undefined && size > door.budget;
  exceeded ||= over;
  const budget = door.budget === undefined ? '' : ` of ${(door.budget / KB).toFixed(0)} KB${over ? '  EXCEEDED' : ''}`;
  console.log(`${door.name.padEnd(52)} ${(size / KB).toFixed(1)} KB gzip${budget}`);
}
process.exitCode = exceeded ? 1 : 0;
