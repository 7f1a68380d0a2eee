/*
 * Slow because it builds two pages with each of nine bundlers. `npm run size -- bundlers` runs it.
 */
import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { gzipSync } from 'node:zlib';
import type { Browser } from 'playwright';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { createInlineNode } from '../../src/hosts/opening/inline.js';
import type { PlumblineNode } from '../../src/hosts/provider/node-handle.js';
import { BUNDLERS, type Bundler } from '../packaging/builds.js';
import { executablePath, launch, outcomeOf, serveFiles } from '../packaging/page.js';
import { INDEX } from '../packaging/programs.js';
import { ANSWERS, type Packed, packPackage, root } from '../packaging/project.js';
import { type MockEndpoint, serveMock } from '../support/mock-chain.js';

const KINDS = ['light', 'devnet'] as const;
type Kind = (typeof KINDS)[number];

/** In place of the dictionary that pages load from the address of a public network: as long, and not counted. */
const DICTIONARY = Buffer.from(Array.from({ length: 65_536 }, (_, i) => (i * i) >> 5));
const sha256 = `0x${createHash('sha256').update(DICTIONARY).digest('hex')}`;

/** The fee of a token transfer, and a request that says that it is there. */
const program = (names: string, options: string): string => `import { ${names} } from 'plumbline-l2';
const from = '0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266';
const data = '0xa9059cbb' + '25'.padStart(64, '0') + '1'.padStart(64, '0');
const call = { from, to: '0x7e57c0de00000000000000000000000000007e57', data };
createNode(${options})
  .then((node) => node.request({ method: 'linea_estimateGas', params: [call] }))
  .then((fees) => fetch('./index.html').then(() => { window.outcome = fees; }))
  .catch((error) => { window.outcome = error.message; });
`;
const pageOf = (kind: Kind, endpoint: string): string =>
  kind === 'devnet'
    ? program('createNode', '')
    : program(
        'createNode, devnet',
        `{
  chain: {
    kind: 'light',
    network: { ...devnet(), dictionary: { name: 'own', sha256: '${sha256}', byteLength: ${DICTIONARY.length} } },
    endpoints: ['${endpoint}'],
  },
  dictionary: { kind: 'url', url: new URL('./dictionary.bin', location.href).href },
}`,
      );

interface Size {
  readonly files: number;
  readonly bytes: number;
  readonly gzip: number;
}
const kb = (bytes: number): string => `${(bytes / 1000).toFixed(1)} KB`;

describe.skipIf(executablePath === undefined)('what a page loads up to its first estimate', () => {
  let packed: Packed;
  let browser: Browser;
  let chain: PlumblineNode;
  let endpoint: MockEndpoint;
  const sizes = new Map<string, Size>();

  beforeAll(async () => {
    [packed, browser, chain] = await Promise.all([packPackage(), launch(), createInlineNode()]);
    endpoint = await serveMock(chain);
  });
  afterAll(async () => {
    await browser?.close();
    await endpoint?.close();
    await chain?.close();
    const rows = [...sizes].map(([name, { files, bytes, gzip }]) => [name, `${files} files`, kb(bytes), kb(gzip)]);
    const widths = [0, 1, 2, 3].map((at) => Math.max(...rows.map((row) => row[at]!.length)));
    const lines = rows.map(([name, ...cells]) =>
      [name!.padEnd(widths[0]!), ...cells.map((cell, at) => cell.padStart(widths[at + 1]!))].join('  '),
    );
    console.log(`up to the first estimate: files, bytes, bytes with gzip\n${lines.join('\n')}`);
  });

  /** What the server of the built page sent until the page had its estimate. */
  async function measure(out: string): Promise<Size> {
    writeFileSync(join(out, 'dictionary.bin'), DICTIONARY);
    const server = await serveFiles(out);
    onTestFinished(() => server.close());
    expect(await outcomeOf(browser, server.url)).toEqual({ outcome: ANSWERS.token, troubles: [] });
    const before = server.sent.slice(0, server.sent.lastIndexOf(join(out, 'index.html')));
    const files = [...new Set(before)].filter((file) => basename(file) !== 'dictionary.bin');
    const contents = files.map((file) => readFileSync(file));
    const sum = (lengthOf: (content: Buffer) => number) =>
      contents.reduce((total, content) => total + lengthOf(content), 0);
    return {
      files: files.length,
      bytes: sum(({ length }) => length),
      gzip: sum((content) => gzipSync(content, { level: 9 }).length),
    };
  }

  test.for(Object.entries<Bundler>(BUNDLERS))('%s', async ([key, { name, packages, settings, build }], { skip }) => {
    for (const kind of KINDS) {
      const files = { 'index.html': INDEX, 'main.js': pageOf(kind, endpoint.url), ...settings(kind) };
      const folder = `size-${kind}-${key}`;
      const project = packages ? await packed.installed(folder, files, packages) : packed.project(folder, files);
      if (project === undefined) {
        console.warn(`size: npm reaches no registry here, so ${name} is not measured`);
        return skip('npm reaches no registry here');
      }
      await build(project);
      sizes.set(`${name}: ${kind === 'light' ? 'light node' : 'devnet'}`, await measure(join(project, 'out')));
    }
  });

  // A light node checks its endpoints beside the estimate: what that loads may come before or after it.
  test('README has these figures, to three percent and one file', () => {
    const readme = readFileSync(`${root}/README.md`, 'utf8');
    for (const kind of ['light node', 'devnet']) {
      const { gzip, files } = sizes.get(`${BUNDLERS.vite8.name}: ${kind}`)!;
      const [row, count, size] = new RegExp(`^\\| .*${kind} \\| (\\d+) files, ([\\d.]+) KB \\|$`, 'm').exec(readme)!;
      expect(Math.abs(Number(count) - files), `${row} has now ${files} files`).toBeLessThan(2);
      expect(Math.abs(Number(size) / (gzip / 1000) - 1), `${row} is now ${kb(gzip)}`).toBeLessThan(0.03);
    }
  });
});
