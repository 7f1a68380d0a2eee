import { cpSync, readdirSync, writeFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import type { Browser } from 'playwright';
import { createServer } from 'vite';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { BUNDLERS } from './builds.js';
import { executablePath, expectAnswers, launch, outcomeOf, policyWithHashes, STRICT_CSP, serveFiles } from './page.js';
import { IN_PAGE, IN_WORKER, INDEX, STATE_PAGE, webpackProgram } from './programs.js';
import { ANSWERS, bin, type Packed, packPackage, run } from './project.js';
import { STATE_ANSWERS } from './state-program.js';

/** webpack warns of files as large as these are when they are not minified. */
const UNMINIFIED = { optimization: { minimize: false }, performance: { hints: false } };

describe.skipIf(executablePath === undefined)('the packed package, bundled, in Chromium', () => {
  let packed: Packed;
  let browser: Browser;

  beforeAll(async () => {
    [packed, browser] = await Promise.all([packPackage(), launch()]);
  });
  afterAll(async () => {
    await browser?.close();
  });

  test('vite build, as it comes; what a policy forbids is named with its remedy', async () => {
    const project = packed.project('vite', IN_WORKER);
    await run(bin('vite'), ['build', '--outDir', 'out'], project);
    await expectAnswers(browser, join(project, 'out'));
    const refusals = [
      [" 'wasm-unsafe-eval'", '', 'KERNEL_UNAVAILABLE', /add 'wasm-unsafe-eval' to script-src/],
      [
        "worker-src 'self'",
        "worker-src 'none'",
        'WORKER_FAILED',
        /worker-src .* forbids its script http:.*worker.*\.js$/,
      ],
    ] as const;
    for (const [allowed, forbidden, code, message] of refusals) {
      const server = await serveFiles(join(project, 'out'), STRICT_CSP.replace(allowed, forbidden));
      try {
        expect((await outcomeOf(browser, server.url)).outcome).toEqual([code, expect.stringMatching(message)]);
      } finally {
        await server.close();
      }
    }
  });

  test('vite build, with workers split into chunks, estimates', async () => {
    const project = packed.project('vite-chunks', {
      ...IN_WORKER,
      'vite.config.js': "export default { worker: { format: 'es' } };",
    });
    await run(bin('vite'), ['build', '--outDir', 'out'], project);
    expect(readdirSync(join(project, 'out/assets')).length).toBeGreaterThan(10);
    await expectAnswers(browser, join(project, 'out'));
  });

  test('vite dev serves a page that estimates', async () => {
    const project = packed.project('vite-dev', IN_WORKER);
    const server = await createServer({ root: project, logLevel: 'error', server: { port: 0, host: '127.0.0.1' } });
    try {
      await server.listen();
      const { port } = server.httpServer!.address() as AddressInfo;
      expect(await outcomeOf(browser, `http://127.0.0.1:${port}/`)).toEqual({ outcome: ANSWERS, troubles: [] });
    } finally {
      await server.close();
    }
  });

  // What webpack minifies is tried in test/slow/webpack-minified.test.ts: it takes as long as all that is here.
  test('webpack 5 builds a page that estimates', async () => {
    const project = packed.project('webpack', { ...IN_WORKER, 'build.js': webpackProgram(UNMINIFIED) });
    await run(process.execPath, ['build.js'], project);
    cpSync(join(project, 'index.html'), join(project, 'out/index.html'));
    await expectAnswers(browser, join(project, 'out'));
  });

  test.each([BUNDLERS.esbuild, BUNDLERS.rolldown])('$name', async ({ name, settings, build }) => {
    const project = packed.project(name.split(',')[0]!, { ...IN_WORKER, ...settings() });
    await build(project);
    await expectAnswers(browser, join(project, 'out'));
  });

  test('esbuild, the worker copied as it is', async () => {
    const project = packed.project('esbuild-copy', IN_WORKER);
    await run(bin('esbuild'), ['main.js', '--bundle', '--format=esm', '--outfile=out/app/main.js'], project);
    const dist = join(project, 'node_modules/plumbline-l2/dist');
    for (const name of ['worker.js', 'worker-devnet.js']) {
      cpSync(join(dist, 'hosts/worker', name), join(project, 'out/app', name));
    }
    cpSync(join(dist, 'hosts/chunks'), join(project, 'out/chunks'), { recursive: true });
    writeFileSync(join(project, 'out/index.html'), INDEX.replace('./main.js', './app/main.js'));
    await expectAnswers(browser, join(project, 'out'));
  });

  test('esbuild, the node in the thread of the page', async () => {
    const project = packed.project('esbuild-inline', IN_PAGE);
    await run(bin('esbuild'), ['main.js', '--bundle', '--splitting', '--format=esm', '--outdir=out'], project);
    cpSync(join(project, 'index.html'), join(project, 'out/index.html'));
    await expectAnswers(browser, join(project, 'out'));
  });

  test('a zk state in the page, by esbuild and by vite: applied, stored in IndexedDB, proved, followed', async () => {
    const project = packed.project('state', STATE_PAGE);
    await run(bin('esbuild'), ['main.js', '--bundle', '--splitting', '--format=esm', '--outdir=out'], project);
    cpSync(join(project, 'index.html'), join(project, 'out/index.html'));
    await expectAnswers(browser, join(project, 'out'), STRICT_CSP, STATE_ANSWERS);
    await run(bin('vite'), ['build', '--outDir', 'vite'], project);
    await expectAnswers(browser, join(project, 'vite'), STRICT_CSP, STATE_ANSWERS);
  });

  test('no bundler: the modules as published, with an import map', async () => {
    const imports = {
      'plumbline-l2': './node_modules/plumbline-l2/dist/index.js',
      comlink: './node_modules/comlink/dist/esm/comlink.mjs',
      '@noble/hashes/': './node_modules/@noble/hashes/',
    };
    const map = `<script type="importmap">${JSON.stringify({ imports })}</script>`;
    const html = INDEX.replace('<script', `${map}<script`);
    const project = packed.project('plain', { ...IN_WORKER, 'index.html': html });
    await expectAnswers(browser, project, policyWithHashes(html));
  });
});
