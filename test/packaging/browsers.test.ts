import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { type Browser, chromium } from 'playwright';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { BROWSER_ARGS } from '../../scripts/lib/browser.mjs';
import { executablePath, outcomeOf, type StaticServer, serveFiles } from './page.js';
import { bin, ESTIMATE, type Packed, packPackage, run } from './project.js';

/** Opens a node as the address of the page says, and tells what came of it. */
const MAIN = `import { createNode, registerRpcProxy } from 'plumbline-l2';
import { createInlineNode } from 'plumbline-l2/inline';
import { estimate } from './estimate.js';
const query = new URLSearchParams(location.search);
const proxy = () => registerRpcProxy({ scriptUrl: '/service-worker.js' });
const open = query.has('inline') ? createInlineNode : query.has('proxy') ? proxy : createNode;
const storeName = query.get('store') ?? undefined;
const about = { locks: navigator.locks !== undefined, secure: isSecureContext };
open(storeName === undefined ? {} : { storeName }).then(
  async (node) => ({ ...about, build: node.info.kernelBuild, ...(await estimate(node)) }),
  ({ name, code, details }) => ({ ...about, name, code, details }),
).then((outcome) => { window.outcome = outcome; });
`;

/** A name that only these browsers know, for this machine: pages of it are no secure context, as those of loopback are. */
const HOST = 'plumbline.test';

describe.skipIf(executablePath === undefined)('browsers that lack something', () => {
  let packed: Packed;
  let server: StaticServer;

  beforeAll(async () => {
    packed = await packPackage();
    const project = packed.project('lacking', {
      'index.html': '<!doctype html><title>lacking</title><script type="module" src="./main.js"></script>',
      'estimate.js': ESTIMATE,
      'main.js': MAIN,
    });
    const entries = ['main.js', 'worker=plumbline-l2/worker', 'worker-devnet=plumbline-l2/worker-devnet'];
    await run(bin('esbuild'), [...entries, '--bundle', '--splitting', '--format=esm', '--outdir=out'], project);
    cpSync(join(project, 'index.html'), join(project, 'out/index.html'));
    server = await serveFiles(join(project, 'out'));
  });
  afterAll(async () => {
    for (const browser of browsers.values()) await (await browser).close();
    await server?.close();
  });

  /** By their flags. */
  const browsers = new Map<string, Promise<Browser>>();

  /** @param flag - of the browser @param url - relative, or of another host name */
  async function outcome(flag: string | undefined, url: string): Promise<unknown> {
    const args = [...BROWSER_ARGS, ...(flag === undefined ? [] : [flag])];
    const key = String(flag);
    const browser = browsers.get(key) ?? chromium.launch({ executablePath: executablePath!, args });
    browsers.set(key, browser);
    const result = await outcomeOf(await browser, new URL(url, server.url).href);
    return result.outcome;
  }

  const where = [
    ['a worker', '/'],
    ['the page', '/?inline'],
  ] as const;

  test.each(where)('with everything there, the SIMD build estimates in %s', async (_, url) => {
    expect(await outcome(undefined, url)).toMatchObject({
      build: 'simd',
      locks: true,
      transfer: { gasLimit: '0x5208' },
    });
  });

  test.each(where)('without WebAssembly the start fails with KERNEL_UNAVAILABLE, in %s', async (_, url) => {
    expect(await outcome('--js-flags=--jitless', url)).toMatchObject({
      name: 'PlumblineError',
      code: 'KERNEL_UNAVAILABLE',
      details: { reason: 'this engine has no WebAssembly' },
    });
  });

  test.each(where)('without SIMD the scalar build estimates in %s', async (_, url) => {
    expect(await outcome('--js-flags=--no-enable-sse4-1 --no-enable-ssse3', url)).toMatchObject({
      build: 'scalar',
      transfer: { gasLimit: '0x5208', baseFeePerGas: '0x7' },
    });
  });

  test.each(['/?store=insecure', '/?inline&store=insecure-inline'])(
    'without Web Locks, as on a plain http page, a stored node opens and estimates: %s',
    async (url) => {
      const address = new URL(url, server.url);
      address.hostname = HOST;
      expect(await outcome(`--host-resolver-rules=MAP ${HOST} 127.0.0.1`, address.href)).toMatchObject({
        locks: false,
        secure: false,
        build: 'simd',
        transfer: { gasLimit: '0x5208', baseFeePerGas: '0x7' },
      });
    },
  );

  test('without service workers, as on a plain http page, the proxy fails with WORKER_FAILED', async () => {
    const address = new URL('/?proxy', server.url);
    address.hostname = HOST;
    expect(await outcome(`--host-resolver-rules=MAP ${HOST} 127.0.0.1`, address.href)).toMatchObject({
      secure: false,
      name: 'PlumblineError',
      code: 'WORKER_FAILED',
    });
  });
});
