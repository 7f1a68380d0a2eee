import { readFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import type { Browser } from 'playwright';
import { createServer } from 'vite';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createInlineNode } from '../../src/hosts/opening/inline.js';
import type { PlumblineNode } from '../../src/hosts/provider/node-handle.js';
import { plumbline } from '../../src/vite.js';
import { type MockEndpoint, serveMock } from '../support/mock-chain.js';
import { VITE_5 } from './builds.js';
import { executablePath, launch, outcomeOf, serveFiles } from './page.js';
import { INDEX } from './programs.js';
import { ANSWERS, bin, type Packed, packPackage, run } from './project.js';

/** The oldest version that the kit is for, and the newest. test/slow/newcomer.test.ts tries Vite 7. */
const VERSIONS = [
  ['Vite 5', VITE_5],
  ['Vite 8', bin('vite')],
] as const;

const TOKEN = `{ to: '0x7e57c0de00000000000000000000000000007e57', data: '0xa9059cbb' + '25'.padStart(64, '0') + '1'.padStart(64, '0') }`;

/** A page that estimates, with a light node at `#light` and its endpoint, and tries what its policy forbids. */
const PROGRAM = `import { createNode, devnet } from 'plumbline-l2';
async function estimate() {
  const [kind, endpoint] = location.hash.slice(1).split('=');
  const node = await createNode(kind === 'light' ? { chain: { kind, network: devnet(), endpoints: [endpoint] } } : {});
  const from = '0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266';
  const fees = await node.request({ method: 'linea_estimateGas', params: [{ from, ...${TOKEN} }] });
  await node.close();
  let evaluated = 'allowed';
  try { new Function('return 1')(); } catch (error) { evaluated = error.name; }
  return { fees, evaluated };
}
estimate().then((outcome) => { window.outcome = outcome; }, (error) => { window.outcome = error.message; });
`;

const configOf = (plugin: string | undefined): string =>
  plugin === undefined
    ? "export default { base: './', worker: { format: 'es' } };"
    : `import { plumbline } from 'plumbline-l2/vite';
export default { base: './', plugins: [plumbline(${plugin})] };`;

const policyOf = (html: string) =>
  /<meta http-equiv="Content-Security-Policy" content="([^"]*)"/.exec(html)?.[1]?.replaceAll('&#39;', "'");
const preloadedBy = (html: string) =>
  [
    ...html.matchAll(
      /<link rel="modulepreload" crossorigin(?:="")? href="\.\/([^"]+)"|<link rel="modulepreload" href="\.\/([^"]+)" crossorigin/g,
    ),
  ]
    .map(([, one, other]) => one ?? other!)
    .sort();

describe.skipIf(executablePath === undefined)('plumbline-l2/vite, in a real build and in Chromium', () => {
  let packed: Packed;
  let browser: Browser;
  let chain: PlumblineNode;
  let endpoint: MockEndpoint;

  beforeAll(async () => {
    [packed, browser, chain] = await Promise.all([packPackage(), launch(), createInlineNode()]);
    endpoint = await serveMock(chain);
  });
  afterAll(async () => {
    await browser?.close();
    await endpoint?.close();
    await chain?.close();
  });

  async function build(name: string, command: string, plugin?: string) {
    const files = { 'index.html': INDEX, 'main.js': PROGRAM, 'vite.config.js': configOf(plugin) };
    const project = packed.project(name, files);
    await run(command, ['build', '--outDir', 'out', '--logLevel', 'warn'], project);
    return { out: join(project, 'out'), html: readFileSync(join(project, 'out/index.html'), 'utf8') };
  }

  /** Runs what was built; its outcome, and the scripts it loaded. */
  async function opened(out: string, kind: 'devnet' | 'light') {
    const server = await serveFiles(out);
    const context = await browser.newContext();
    const scripts = new Set<string>();
    context.on('request', (request) => {
      const { pathname } = new URL(request.url());
      if (pathname.endsWith('.js')) scripts.add(pathname.slice(1));
    });
    try {
      const { outcome, troubles } = await outcomeOf(context, `${server.url}#${kind}=${endpoint.url}`);
      // A public network has a dictionary of its own, and loads no general one.
      const loaded = [...scripts].filter((file) => kind === 'devnet' || !file.includes('general.generated')).sort();
      return { outcome, troubles, scripts: loaded };
    } finally {
      await context.close();
      await server.close();
    }
  }

  test.each(VERSIONS)('%s: a devnet, with its scripts and its policy', async (name, command) => {
    const { out, html } = await build(`kit-${name.replace(' ', '')}`, command, "{ kind: 'devnet', connect: [] }");
    expect(policyOf(html)).toBe(
      "script-src 'self' 'wasm-unsafe-eval'; worker-src 'self'; connect-src 'self'; object-src 'none'; base-uri 'none'",
    );
    const { outcome, troubles, scripts } = await opened(out, 'devnet');
    expect({ outcome, troubles }).toEqual({ outcome: { fees: ANSWERS.token, evaluated: 'EvalError' }, troubles: [] });
    expect(preloadedBy(html).length).toBeGreaterThan(3);
    expect(scripts).toEqual(expect.arrayContaining(preloadedBy(html)));
  });

  test('the page begins to load what the first estimate loads, and nothing else', async () => {
    const vite = bin('vite');
    const without = await build('kit-without', vite);
    const bare = (files: readonly string[]) => files.map((file) => file.replace(/-[\w-]{8}\.js$/, '')).sort();
    for (const kind of ['devnet', 'light'] as const) {
      const plain = await opened(without.out, kind);
      expect(plain.outcome).toEqual({ fees: ANSWERS.token, evaluated: 'allowed' });
      const origins = kind === 'light' ? [new URL(endpoint.url).origin] : [];
      const { out, html } = await build(
        `kit-${kind}`,
        vite,
        `{ kind: '${kind}', connect: ${JSON.stringify(origins)} }`,
      );
      const found = await opened(out, kind);
      expect(found).toMatchObject({ outcome: { fees: ANSWERS.token, evaluated: 'EvalError' }, troubles: [] });
      // What the page itself loads, and not its worker.
      const ofPage = (file: string) => /\/(?:index|require-known|preload-helper|dist)-/.test(file);
      const loaded = bare(plain.scripts.filter((file) => !ofPage(file)));
      const preloaded = bare(preloadedBy(html));
      // A light node meanwhile loads what checks its endpoints in the background.
      if (kind === 'light') {
        const parts = ['worker', 'light', 'node', 'evm', 'evm.simd'].map((part) =>
          expect.stringMatching(`/${part}\\b`),
        );
        expect(preloaded).toEqual(expect.arrayContaining(parts));
        expect(loaded).toEqual(expect.arrayContaining(preloaded));
      } else expect(preloaded).toEqual(loaded);
    }
  });

  test('a policy of the page stays alone', () => {
    const { configResolved, transformIndexHtml } = plumbline({ kind: 'devnet', connect: [] });
    configResolved({ base: '/', command: 'build' });
    const tagsOf = (html: string) => transformIndexHtml.handler(html, { path: '/index.html' }).map(({ tag }) => tag);
    expect(tagsOf('<meta http-equiv="content-security-policy" content="script-src \'self\'">')).toEqual([]);
    expect(tagsOf('<meta name="viewport">')).toEqual(['meta']);
  });

  test('vite dev serves the package as it is, and the page has no policy', async () => {
    const project = packed.project('kit-dev', {
      'index.html': INDEX,
      'main.js': PROGRAM,
      'vite.config.js': configOf("{ kind: 'devnet', connect: [] }"),
    });
    const server = await createServer({ root: project, logLevel: 'error', server: { port: 0, host: '127.0.0.1' } });
    try {
      await server.listen();
      const { port } = server.httpServer!.address() as AddressInfo;
      expect(server.config.optimizeDeps.exclude).toContain('plumbline-l2');
      expect(await outcomeOf(browser, `http://127.0.0.1:${port}/`)).toEqual({
        outcome: { fees: ANSWERS.token, evaluated: 'allowed' },
        troubles: [],
      });
    } finally {
      await server.close();
    }
  });
});
