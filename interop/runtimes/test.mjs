// Where plumbline runs: bundlers with a page in Chromium, content security policies, SES lockdown and Compartment, LavaMoat.
import assert from 'node:assert/strict';
import { execFile, spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { extname, join, normalize } from 'node:path';
import { promisify } from 'node:util';
import LavaMoat from '@lavamoat/webpack';
import { rspack } from '@rspack/core';
import { build as esbuild } from 'esbuild';
import { createInlineNode } from 'plumbline-l2/inline';
import { serve } from 'plumbline-l2-cli';
import { build as vite } from 'vite';
import webpack from 'webpack';
import { BROWSER_ARGS, findBrowser } from '../../scripts/lib/browser.mjs';
import { atEnd, check, fault, main, skip, until } from '../lib.mjs';

const here = import.meta.dirname;
const ESTIMATE = { gasLimit: '0x5208' };
const CSP = "default-src 'self'; script-src 'self' 'wasm-unsafe-eval'; worker-src 'self'";
const TYPES = {
  '.html': 'text/html',
  '.js': 'text/javascript',
  '.mjs': 'text/javascript',
  '.wasm': 'application/wasm',
};
/** Builds stand beside the packages, which they find by this place. */
const folder = mkdtempSync(join(here, 'node_modules/.interop-'));
const page = (script, isModule = true) =>
  `<!doctype html><meta charset="utf-8"><title>page</title><script ${isModule ? 'type="module"' : 'defer'} src="${script}"></script>`;

main(async () => {
  atEnd(() => rmSync(folder, { recursive: true, force: true }));
  await lockdowns();
  await compartment();
  const executablePath = await findBrowser();
  if (executablePath === undefined)
    return skip('bundlers, policies and LavaMoat', 'there is no Chromium on this machine');
  const { chromium } = await import('playwright');
  const browser = await chromium.launch({ executablePath, args: BROWSER_ARGS });
  atEnd(() => browser.close());
  await bundlers(browser);
  await lavamoat(browser);
});

async function lockdowns() {
  const settings = {
    'by default': {},
    'as MetaMask': {
      overrideTaming: 'severe',
      errorTaming: 'unsafe',
      consoleTaming: 'unsafe',
      localeTaming: 'unsafe',
      errorTrapping: 'none',
      unhandledRejectionTrapping: 'none',
    },
    "overrideTaming 'min'": { overrideTaming: 'min' },
    "evalTaming 'no-eval'": { evalTaming: 'no-eval' },
  };
  for (const [what, options] of Object.entries(settings))
    for (const order of ['before', 'after'])
      await check(`SES 2.3.0: lockdown ${what}, ${order} the import: estimate, send, receipt, linea_getProof`, () => {
        const child = spawnSync(process.execPath, ['ses-child.mjs', JSON.stringify(options), order], {
          cwd: here,
          encoding: 'utf8',
        });
        assert.equal(child.status, 0, child.stderr);
        assert.deepEqual(JSON.parse(child.stdout), { ...ESTIMATE, status: '0x1', isProved: true });
      });
}

async function compartment() {
  const outfile = join(folder, 'compartment.cjs');
  const options = { bundle: true, format: 'cjs', platform: 'browser', outfile, logLevel: 'silent' };
  await esbuild({
    ...options,
    entryPoints: [join(here, 'compartment-code.js')],
    define: { 'import.meta.url': '"http://localhost/"' },
  });
  const node = await createInlineNode();
  for (let at = 0; at < 6; at++) await node.request({ method: 'evm_mine' });
  const server = await serve(node, { port: 0 });
  atEnd(() => server.close());
  for (const [what, url] of [
    ['a devnet', ''],
    ['a light node', `http://127.0.0.1:${server.port}`],
  ])
    await check(
      `SES 2.3.0: ${what} in a Compartment that has what a Snap has: estimate, preview, zk proof`,
      async () => {
        const child = promisify(execFile)(process.execPath, ['compartment-child.mjs', outfile, url], { cwd: here });
        const { gasLimit, lost, proved } = JSON.parse((await child).stdout);
        assert.deepEqual([gasLimit, lost, proved], [ESTIMATE.gasLimit, '-1', true]);
      },
    );
}

/** Serves a folder under a policy. */
async function served(directory, policy) {
  const server = createServer((request, response) => {
    const path = normalize(new URL(request.url, 'http://page').pathname).replace(/^\/$/, '/index.html');
    try {
      const bytes = readFileSync(join(directory, path));
      const headers = { 'content-type': TYPES[extname(path)] ?? 'application/octet-stream' };
      response.writeHead(200, policy === null ? headers : { ...headers, 'content-security-policy': policy }).end(bytes);
    } catch {
      response.writeHead(404).end();
    }
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  atEnd(() => server.close());
  return `http://127.0.0.1:${server.address().port}/`;
}

async function outcomeOf(browser, directory, policy = CSP) {
  const tab = await browser.newPage();
  const troubles = [];
  tab.on('pageerror', (error) => troubles.push(error.message));
  tab.on('console', (message) => message.type() === 'error' && troubles.push(message.text()));
  await tab.goto(await served(directory, policy));
  try {
    const outcome = () =>
      tab.evaluate('globalThis.outcome ?? JSON.parse(document.documentElement.getAttribute("outcome"))');
    return await until('an outcome', outcome, 30_000);
  } catch (error) {
    throw new Error(`${error.message}: ${troubles.join('; ')}`);
  } finally {
    await tab.close();
  }
}

async function bundlers(browser) {
  const place = (name) => {
    const path = join(folder, name);
    mkdirSync(path, { recursive: true });
    return path;
  };
  const packed = async (compiler) => {
    const stats = await promisify(compiler.run.bind(compiler))();
    if (stats.hasErrors()) throw new Error(stats.toString({ all: false, errors: true }));
  };
  const settings = (path) => ({
    mode: 'production',
    context: here,
    entry: join(here, 'page.js'),
    output: { path, filename: 'page.js', publicPath: '/' },
    performance: { hints: false },
  });
  const builds = [
    [
      'Vite 8.3.8',
      async (path) => {
        const root = place('vite-source');
        writeFileSync(join(root, 'index.html'), page('./page.js'));
        writeFileSync(join(root, 'page.js'), readFileSync(join(here, 'page.js')));
        await vite({
          root,
          logLevel: 'error',
          configFile: false,
          worker: { format: 'es' },
          build: { outDir: path, emptyOutDir: true, target: 'esnext' },
        });
      },
    ],
    [
      'webpack 5.99.9',
      async (path) => {
        await packed(webpack(settings(path)));
        writeFileSync(join(path, 'index.html'), page('page.js', false));
      },
    ],
    [
      'Rspack 2.3.3',
      async (path) => {
        await packed(rspack(settings(path)));
        writeFileSync(join(path, 'index.html'), page('page.js', false));
      },
    ],
    [
      'esbuild 0.28.2 with the worker entries',
      async (path) => {
        const entryPoints = {
          page: join(here, 'page.js'),
          worker: 'plumbline-l2/worker',
          'worker-devnet': 'plumbline-l2/worker-devnet',
        };
        await esbuild({
          entryPoints,
          bundle: true,
          splitting: true,
          format: 'esm',
          outdir: path,
          absWorkingDir: here,
          logLevel: 'silent',
        });
        writeFileSync(join(path, 'index.html'), page('page.js'));
      },
    ],
  ];
  for (const [name, build] of builds) {
    const path = place(name.split(' ')[0]);
    await check(`${name}: a page under the strict policy answers linea_estimateGas`, async () => {
      await build(path);
      assert.deepEqual(await outcomeOf(browser, path), ESTIMATE);
    });
  }
  const built = join(folder, 'Vite');
  await check("without 'wasm-unsafe-eval': KERNEL_UNAVAILABLE, which names it", async () => {
    const { code, message } = await outcomeOf(browser, built, CSP.replace(" 'wasm-unsafe-eval'", ''));
    assert.equal(code, 'KERNEL_UNAVAILABLE');
    assert.match(message, /wasm-unsafe-eval/);
  });
  await check("with worker-src 'none': WORKER_FAILED, which names the script", async () => {
    const { code, message } = await outcomeOf(browser, built, CSP.replace("worker-src 'self'", "worker-src 'none'"));
    assert.equal(code, 'WORKER_FAILED');
    assert.match(message, /worker-src .* forbids its script http:/);
  });
}

/**
 * webpack with LavaMoat's plugin. It names packages by their places below its project, so this one has plumbline and what it
 * needs as copies.
 */
async function lavamoat(browser) {
  const project = join(folder, 'lavamoat');
  const path = join(project, 'out');
  const root = join(here, '../..');
  const { dependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  for (const name of Object.keys(dependencies))
    cpSync(join(root, 'node_modules', name), join(project, 'node_modules', name), {
      recursive: true,
      dereference: true,
    });
  for (const part of ['dist', 'package.json'])
    cpSync(join(root, part), join(project, 'node_modules/plumbline-l2', part), { recursive: true });
  mkdirSync(path);
  writeFileSync(
    join(project, 'package.json'),
    JSON.stringify({ name: 'page', version: '1.0.0', dependencies: { 'plumbline-l2': '*' } }),
  );
  cpSync(join(here, 'inline-page.js'), join(project, 'index.js'));
  const build = async (settings) => {
    const plugin = new LavaMoat({
      generatePolicy: true,
      rootDir: project,
      policyLocation: join(project, 'policy'),
      // Without the `^` SES would stand in each of the chunks, which end on this name.
      inlineLockdown: /^page\.js$/,
      readableResourceIds: true,
    });
    const compiler = webpack({
      ...settings,
      devtool: false,
      performance: { hints: false },
      context: project,
      entry: './index.js',
      output: { path, filename: 'page.js', publicPath: '/' },
      plugins: [plugin],
    });
    const stats = await promisify(compiler.run.bind(compiler))();
    if (stats.hasErrors()) throw new Error(stats.toString({ all: false, errors: true }).slice(0, 500));
  };
  const isRefused = /@noble\/curves\/abstract\/[\s\S]*E_VALIDATION/;
  await fault(
    '@noble/curves 2.4.0',
    'methods named eval are refused by @lavamoat/webpack 1.5.3 where webpack leaves unused code in',
    () => assert.rejects(build({ mode: 'none' }), isRefused),
  );
  const policy = JSON.parse(readFileSync(join(here, 'lavamoat-policy.json'), 'utf8'));
  const globals = Object.keys(policy.resources['plumbline-l2'].globals);
  await check(
    `@lavamoat/webpack 1.5.3: a minified page under the policy of ${globals.length} globals answers linea_estimateGas`,
    async () => {
      await build({ mode: 'production' });
      writeFileSync(join(path, 'index.html'), page('page.js', false));
      assert.deepEqual(await outcomeOf(browser, path, CSP), ESTIMATE);
    },
  );
  await check('@lavamoat/webpack 1.5.3: the generated policy is lavamoat-policy.json', () =>
    assert.deepEqual(JSON.parse(readFileSync(join(project, 'policy/policy.json'), 'utf8')), policy),
  );
}
